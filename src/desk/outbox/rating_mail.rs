//! Letters to players whose rating was recomputed.

use super::mail::{self, PlainEnvelope};
use crate::club::rating::Rating;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::game::any::GameKind;
use crate::referee::DispatchKind;
use crate::report::ClubLetter;

/// A player whose rating in a game has changed.
#[derive(Clone, Copy, Debug)]
pub struct Rerated {
    pub player: i64,
    pub game: GameKind,
    pub before: Rating,
    pub after: Rating,
}

/// Tells their new ratings to the players who have an address.
pub fn tell_rerated(desk: &mut Desk<'_>, rerated: &[Rerated]) -> Decided<()> {
    for one in rerated {
        let listed = desk.rows.listed_players()?.iter().find(|listed| listed.id == one.player);
        let Some((listed, address)) = listed.and_then(|listed| Some((listed, listed.address.as_deref()?)))
        else {
            continue;
        };
        let letter = ClubLetter::Rerated {
            game: one.game.key(),
            game_name: one.game.name(),
            before: one.before.shown(),
            after: one.after.shown(),
        };
        // Include the figure: ratings may be recomputed twice at the same instant, and each letter needs its
        // own Message-ID.
        let (at, after) = (desk.at().timestamp_millis(), one.after.figure);
        let unique = format!("g.{}.{}.{at}.{after}", one.player, one.game.key());
        let to = PlainEnvelope { name: &listed.name, address, unique: &unique, kind: DispatchKind::Notice };
        mail::send(desk, &letter, &to)?;
    }
    Ok(())
}
