//! Letters about several matches: each match is ruled on with its own part of the letter.

use serde::Serialize;

use super::{Answer, Orders, SeatLetter};
use crate::ledger::TokenOf;
use crate::request::Command;

/// What became of a part of a letter.
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
        match command {
            _ if self.cause.token == TokenOf::Own => None,
            Command::Tell(_) => Some("TELL"),
            Command::Resign { .. } => Some("RESIGN"),
            Command::Draw => Some("DRAW"),
            Command::Extend { .. } => Some("EXTEND"),
            Command::Agree => Some("AGREE"),
            Command::Claim => Some("CLAIM"),
            Command::Substitute => Some("SUBSTITUTE"),
            Command::Protest(_) => Some("PROTEST"),
            Command::Status
            | Command::Report(_)
            | Command::History
            | Command::Hint
            | Command::Absent { .. }
            | Command::Withdraw
            | Command::TellGm(_)
            | Command::Help(_)
            | Command::Games
            | Command::Rules(_)
            | Command::Matches
            | Command::Challenge { .. }
            | Command::Accept(_)
            | Command::Decline(_)
            | Command::Open { .. }
            | Command::Join(_)
            | Command::Confirm { .. }
            | Command::Deny(_)
            | Command::Never(_)
            | Command::Settings(_)
            | Command::Address { .. }
            | Command::Leave { .. }
            | Command::Gm(_) => None,
        }
    }
}
