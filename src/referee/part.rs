//! Letters about several matches: each match is ruled on with its own part of the letter.

use serde::Serialize;

use super::{Answer, Orders, SeatLetter};
use crate::ledger::TokenOf;
use crate::request::{Command, Concern};

/// The outcome of a part of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartOutcome {
    Sealed,
    NotFiled,
    Checked,
    /// It had no orders.
    Answered,
}

/// Another part of the letter that is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherPart {
    pub match_id: String,
    pub outcome: PartOutcome,
}

impl Answer {
    /// Returns what became of the letter, in a word.
    pub fn outcome(&self) -> PartOutcome {
        match &self.orders {
            Orders::Refused { .. } => PartOutcome::NotFiled,
            Orders::None | Orders::Sealed { .. } | Orders::Checked { .. } | Orders::Conditions { .. }
                if self.unread.is_some() || !self.faults.is_empty() =>
            {
                PartOutcome::NotFiled
            }
            Orders::Sealed { .. } | Orders::Conditions { sealed: Some(_), .. } => PartOutcome::Sealed,
            Orders::Checked { .. } | Orders::Conditions { sealed: None, .. } => PartOutcome::Checked,
            Orders::None => PartOutcome::Answered,
        }
    }
}

impl SeatLetter {
    /// Returns the name of a command that is not carried out, because it needs the token of this match.
    pub(super) fn lacks_token_for(&self, command: &Command) -> Option<&'static str> {
        let is_good = self.cause.token == TokenOf::Own
            || command.concern() != Concern::MatchAct
            || matches!(command, Command::Absent { .. } | Command::Withdraw | Command::TellGm(_));
        (!is_good).then(|| command.name())
    }
}
