//! Letters that are ruled on some time after they came: those that were not proven to be their player's, once the player
//! has confirmed them, and those that a GM has accepted.

use chrono::{DateTime, Utc};

use super::Match;
use crate::game::{Due, Fault, Seat};
use crate::letter::Digest;

/// The player's word that a letter is theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// The player's answer to the notice.
    pub by: Digest,
    /// When the confirmed letter came. It counts as of then.
    pub arrived: DateTime<Utc>,
}

/// A GM's word that a letter is to be ruled on after all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// The name of the GM.
    pub by: String,
    /// When the letter came.
    pub arrived: DateTime<Utc>,
}

/// Refuses orders that are ruled on too late: another phase is open than when they came, or the seat has filed since.
pub(super) fn superseded(game_match: &Match, seat: Seat, due: &Due, arrived: DateTime<Utc>) -> Option<Fault> {
    let opened = game_match.adjudicated.last().map_or(game_match.opened_at, |(_, _, at)| *at);
    if arrived < opened {
        let local = arrived.with_timezone(&game_match.terms.zone);
        let turn = due.turn;
        return Some(Fault::whole(format!(
            "Your letter came on {}, before turn {turn} was open, so its orders are not for turn {turn}.",
            local.format("%a %-d %b at %H:%M %Z")
        )));
    }
    let filed_later = game_match.held[seat].as_ref().is_some_and(|held| held.at > arrived);
    filed_later.then(|| Fault::whole("You filed other orders after this letter came; they stand."))
}
