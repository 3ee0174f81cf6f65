//! The cause of a ruling: everything that the ruling follows from, apart from the match and the letter
//! itself.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::act::{Act, HousePlay};
use super::millis;
use super::settings::is_default;
use crate::game::Seat;
use crate::game::any::GameKind;
use crate::letter::Digest;
use crate::request::Beside;

/// The cause of a ruling. `L` is the letter: its circumstances, as entries hold them, or the letter as it was
/// read (`referee::Matter`).
///
/// `phase` is the number of the phase that was open when the cause arose. In another phase the cause has no
/// effect, unless its act is valid in every phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause<L = Box<LetterCause>> {
    /// A letter from a seat.
    Letter(L),
    /// Something is due.
    Clock { phase: u32 },
    /// The GM with this name.
    Gm { name: String, phase: u32, act: Act },
    /// The computer player has found its turn.
    House { phase: u32, play: HousePlay },
    /// The referee acts by itself, as after an outage, or on a player's wish that concerns several matches.
    Program { phase: u32, act: Act },
}

/// A letter from a seat, and the facts that the ruling on it cannot derive from its bytes and the match: who
/// vouched for it, and how much room its answer and its notices had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LetterCause {
    /// The SHA-256 of its raw bytes.
    pub letter: Digest,
    pub seat: Seat,
    #[serde(with = "millis")]
    pub received: DateTime<Utc>,
    /// Whether it was signed, if the DNS answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dkim: Option<Signature>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub token: TokenOf,
    /// The SHA-256 of the lines of its part, each followed by a line feed, if only a part is about this
    /// match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Digest>,
    /// The player's letter that confirmed it, if it was not proven at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed_by: Option<Digest>,
    /// The GM who accepted it, if it was taken for automatic mail, exceeded a limit or was set aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_by: Option<String>,
    /// Whether it shows the seat's reply token to others, so that the seat gets a new one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shows_token: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub answer: Permission,
    /// The opponent's room for notices about the letter's acts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub opponent: Allowance,
    /// The GM's room for notices about the letter's acts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gm: Allowance,
    /// Whether every GM holds a seat of the match, and one of them the opponent's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gm_plays: bool,
    /// Whether the letter resigns, but comes from an address that its player added only a few days ago.
    #[serde(default, skip_serializing_if = "is_default")]
    pub holds_resignation: bool,
    /// The number of answers to the seat that were suppressed since the last one that was sent. The answer
    /// mentions it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub left_out: u32,
    /// The player's other games whose orders occur in its texts. If there are any, none of the texts is
    /// passed on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld_for: Vec<GameKind>,
    /// The letter's words beside its orders and commands.
    #[serde(default, skip_serializing_if = "is_default")]
    pub beside: Beside,
    /// The open question to the seat that the letter answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// The advice of the house, if the letter asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
}

/// A question that we asked a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Question {
    /// Whether the seat agrees to more time.
    Extension,
    /// Whether it accepts a draw.
    Draw,
    /// Whether it takes its orders back.
    Withdrawal,
}

/// Whether a letter has a valid DKIM signature of its sender's domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signature {
    Passed,
    Missing,
}

/// The match whose reply token a letter contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenOf {
    /// The match that is ruled on.
    #[default]
    Own,
    /// Another match of the same player.
    Other,
}

/// Whether the answer to a letter is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    #[default]
    Now,
    /// The seat has had too many answers, or the same one several times in a row.
    Suppressed,
}

/// Number of notices that a reader may still get about the acts of a letter, within the limit of its player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Allowance {
    /// The player was forgotten, and has no address.
    Unreachable,
    Letters(u8),
}

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance::Letters(Allowance::MOST)
    }
}

impl Allowance {
    /// Maximum notices that one letter can cause to one reader. It is small, because one notice reports all
    /// acts of a kind.
    pub const MOST: u8 = 6;

    /// Whether there is room for another notice.
    pub fn has_place(self) -> bool {
        matches!(self, Allowance::Letters(1..))
    }

    /// Uses up one notice, and returns whether there was room for it.
    pub fn spend(&mut self) -> bool {
        match self {
            Allowance::Unreachable | Allowance::Letters(0) => false,
            Allowance::Letters(left) => {
                *left -= 1;
                true
            }
        }
    }
}

/// The orders that the house would give in a player's place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// The version of the house.
    pub version: u32,
    pub orders: Vec<String>,
}

impl LetterCause {
    /// Returns a letter that nobody had to vouch for, with room for its answer and its notices.
    pub fn new(letter: Digest, seat: Seat, received: DateTime<Utc>) -> LetterCause {
        LetterCause {
            letter,
            seat,
            received,
            dkim: None,
            token: TokenOf::Own,
            part: None,
            confirmed_by: None,
            accepted_by: None,
            shows_token: false,
            answer: Permission::Now,
            opponent: Allowance::default(),
            gm: Allowance::default(),
            gm_plays: false,
            holds_resignation: false,
            left_out: 0,
            withheld_for: Vec::new(),
            beside: Beside::Nothing,
            question: None,
            hint: None,
        }
    }

    /// Returns the letter's time of arrival if it was ruled on later, because somebody had to vouch for it.
    pub fn came_earlier(&self) -> Option<DateTime<Utc>> {
        let is_late = self.confirmed_by.is_some() || self.accepted_by.is_some();
        is_late.then_some(self.received)
    }
}

impl Cause {
    /// Returns the cause of a match that opens by itself, or by a player's ACCEPT, JOIN or CHALLENGE.
    pub fn opening(letter: Option<Digest>) -> Cause {
        Cause::Program { phase: 0, act: Act::Open { letter } }
    }

    /// Returns the letter that the ruling is on.
    pub fn letter(&self) -> Option<&LetterCause> {
        match self {
            Cause::Letter(letter) => Some(letter),
            Cause::Clock { .. } | Cause::Gm { .. } | Cause::House { .. } | Cause::Program { .. } => None,
        }
    }

    /// Returns the act of a GM or of the program.
    pub fn act(&self) -> Option<&Act> {
        match self {
            Cause::Gm { act, .. } | Cause::Program { act, .. } => Some(act),
            Cause::Letter(_) | Cause::Clock { .. } | Cause::House { .. } => None,
        }
    }

    /// Returns the letters that the cause names: its own and the CONFIRM for it, or those that its act
    /// follows from.
    pub fn letters(&self) -> impl Iterator<Item = Digest> {
        let (letter, confirmed_by) = match self {
            Cause::Letter(letter) => (Some(letter.letter), letter.confirmed_by),
            Cause::Gm { act, .. } | Cause::Program { act, .. } => act.letters(),
            Cause::Clock { .. } | Cause::House { .. } => (None, None),
        };
        letter.into_iter().chain(confirmed_by)
    }
}
