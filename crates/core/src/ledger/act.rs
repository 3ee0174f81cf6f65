//! Acts on a match that come neither from a letter nor from the clock.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use super::fact::{MailIdentity, PauseReason};
use super::holder::SeatPins;
use super::seal::SealKey;
use super::settings::{PlayerSettings, TermsChange, is_default};
use crate::game::any::Choices;
use crate::game::{BySeat, Line, OrderLines, Phase, Seat};
use crate::letter::Digest;

/// An act on one match by the GM or, where noted, by the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", content = "of", rename_all = "snake_case")]
pub enum Act {
    /// Opens the match. Only the first entry has this cause.
    Open {
        /// The player's letter that opened it, by ACCEPT, JOIN or CHALLENGE.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        letter: Option<Digest>,
    },
    /// Suspends the deadlines.
    Pause { reason: PauseReason },
    /// Resumes a paused match; its deadline is at the set hour.
    Resume,
    /// Ends the match without a winner.
    Abandon,
    /// Moves the deadline by whole days.
    Extend { days: u32 },
    /// Adjudicates the open phase. Seats that have not filed get the filing that the rules assume.
    Adjudicate,
    /// Voids the result: the match counts as annulled. It may already be over; if not, it ends.
    Annul { reason: String },
    /// Changes some terms from the next phase on.
    Terms(TermsChange),
    /// Records a note for the GMs.
    Note { text: String },
    /// Sends a text to one side or both. The ledger records its digest, and the match stores the text.
    Tell {
        to: Option<Seat>,
        digest: Digest,
        #[serde(skip)]
        text: String,
    },
    /// Makes the seat lose the match.
    Forfeit(Seat),
    /// Ends a match that has run out of time; this seat used more of it, or `None` if both used about the
    /// same. By the program.
    MoreTime(Option<Seat>),
    /// Gives the seat to another player, or to the house at a level. The shell stores the player and a new
    /// token. Leftovers of the former player's last letter (a refusal to repeat, orders that YES would file)
    /// become void.
    Replace {
        seat: Seat,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        house: Option<String>,
        #[serde(default, skip_serializing_if = "is_default")]
        settings: PlayerSettings,
        /// Whether the former player is not rated.
        #[serde(default, skip_serializing_if = "is_default")]
        excused: bool,
    },
    /// Gives the seat a new reply token, which the shell draws and stores.
    RenewToken(Seat),
    /// Gives the seat a new reply token because its player asked, or others saw the old one. By the program.
    RenewOwnToken(Seat),
    /// Resigns for the seat's player, who leaves the club. By the program.
    Leave(Seat),
    /// Notes an absence that the seat's player announced in this letter about another of their matches, and
    /// which counts in all of them. The shell notifies each opponent once. By the program.
    Absent {
        seat: Seat,
        from: NaiveDate,
        to: NaiveDate,
        letter: Digest,
        /// The player's CONFIRM, if the letter was not proven to be theirs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirmed_by: Option<Digest>,
    },
    /// Changes the name of the seat's player. With `told_once`, the shell tells both players in one letter
    /// for all their matches, so the ruling sends none.
    Rename {
        seat: Seat,
        name: String,
        #[serde(default, skip_serializing_if = "is_default")]
        told_once: bool,
    },
    /// Notes that the seat's player has changed the settings of their letters. By the program.
    Set { seat: Seat, settings: PlayerSettings },
    /// Files these orders for the seat.
    File { seat: Seat, orders: Vec<Line> },
    /// Reopens an adjudicated turn, or decides it on other orders.
    Correct(Correction),
    /// Notes that a letter to the seat, made at `sent`, bounced. By the program.
    Bounced { seat: Seat, sent: DateTime<Utc> },
    /// Notes that the mail server has only now accepted the letter that opened the phase to the seat, written
    /// at `written`. Its deadline moves by the delay. By the program.
    SentLate { seat: Seat, written: DateTime<Utc> },
    /// Notes that an automatic absence note came from the seat. By the program.
    Away(Seat),
    /// Notes that mail to the seat arrives again.
    Restored(Seat),
    /// Notes that the referee was down from `since` until now. A deadline in that time is extended by the
    /// length of the outage. By the program.
    Slide { since: DateTime<Utc> },
    /// Ends the waits for second thoughts that were over when a letter came at `until`, which is ruled on again after a
    /// backup was restored. By the program.
    CatchUp { until: DateTime<Utc> },
    /// Resets the deadline that was moved while the clock was ahead. By the program.
    ClockSetBack,
    /// Sets the deadline again at its local time, which is at this moment by zone data of a newer edition. By the program.
    ZonesChanged { deadline: DateTime<Utc> },
    /// Changes the seat's reply token or its player's addresses. By the program.
    PinHolder {
        seat: Seat,
        pins: SeatPins,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        letter: Option<Digest>,
    },
    /// Changes the referee's address, the club's own templates or the procedure.
    SetMailIdentity(MailIdentity),
    /// Shows the GM what the rules hide. The ledger records the GM, the material, and the reason.
    Unseal { what: String, reason: String },
    /// Adds an entry that lists letters and deliveries that are not yet listed in any entry. By the program,
    /// after the end.
    ListLetters,
    /// Renames a forgotten player, who held `seat` if any, to `name`. After the end.
    Forget {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seat: Option<Seat>,
        name: String,
    },
}

impl Act {
    /// Returns the act that sends a text to one side or both.
    pub fn tell(to: Option<Seat>, text: String) -> Act {
        Act::Tell { to, digest: Digest::of(text.as_bytes()), text }
    }

    /// Returns the act of a GM that pauses a match, in the GM's own words.
    pub fn pause(reason: String) -> Act {
        Act::Pause { reason: PauseReason::Gm(reason) }
    }

    /// Returns the player's letter that the act follows from, and the CONFIRM for it.
    pub(super) fn letters(&self) -> (Option<Digest>, Option<Digest>) {
        match self {
            Act::Open { letter } | Act::PinHolder { letter, .. } => (*letter, None),
            Act::Absent { letter, confirmed_by, .. } => (Some(*letter), *confirmed_by),
            _ => (None, None),
        }
    }
}

/// A turn of the house in its seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HousePlay {
    pub seat: Seat,
    /// The version of the computer player.
    pub version: u32,
    pub orders: Vec<String>,
    /// The SHA-256 of the canonical JSON of everything the seat was shown and filed.
    pub seen: Digest,
    /// Set if the seat's level found no legal turn, so these are the orders of an easier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<HouseFailure>,
}

/// A turn that was decided wrongly, and its correction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    pub turn: u32,
    pub reason: String,
    pub choices: Choices,
    /// The adjudications in force, from the ledger: phase, turn and filings.
    pub decided: Vec<(Phase, u32, BySeat<Option<OrderLines>>)>,
    /// The orders that should have counted. `None` reopens the turn, and both sides file again.
    pub orders: Option<(Seat, Vec<Line>)>,
    /// Set if the players were told the end of the match, and with it the secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_key: Option<NewKey>,
}

/// A new secret for later salts and dice. The ledger records only its pin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewKey {
    pub pin: Digest,
    #[serde(skip)]
    pub key: Option<SealKey>,
}

impl NewKey {
    pub fn new(key: SealKey) -> NewKey {
        NewKey { pin: key.pin(), key: Some(key) }
    }
}

impl Correction {
    /// Returns the index of the first adjudication that the correction voids, or `None` if the turn was not
    /// adjudicated. A turn may have several phases: the corrected one is the phase in which the seat filed.
    pub fn first_voided(&self) -> Option<usize> {
        self.decided.iter().position(|(_, decided, filings)| {
            *decided == self.turn && self.orders.as_ref().is_none_or(|(seat, _)| filings[*seat].is_some())
        })
    }
}

/// The reason why a level found no legal turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HouseFailure {
    Panicked,
    /// The rules do not allow its choice.
    Refused,
}
