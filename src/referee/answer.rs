//! The answer to a letter, before it is worded.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::reply::Reply;
use super::words::Passing;
use crate::game::any::Filing;
use crate::game::{Fault, Line};
use crate::letter::Digest;
use crate::request::LeftOut;

/// The answer to one letter.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The letter it answers.
    pub to: Option<Digest>,
    /// Its Message-ID, if a report answers it later.
    pub message_id: Option<String>,
    pub orders: Orders,
    /// One for each command of the letter, in order.
    pub replies: Vec<Reply>,
    /// Faults of commands.
    pub faults: Vec<Fault>,
    /// Lines without effect.
    pub remarks: Vec<Line>,
    /// Orders that a later line of the same letter overrides.
    pub replaced: Vec<Line>,
    /// The seat has a new reply token, because the letter showed the old one to others.
    pub token_renewed: bool,
    /// Time of arrival, if a GM has accepted the letter since.
    pub accepted_since: Option<DateTime<Utc>>,
    /// The orders beside the letter's doubtful lines, which `YES` would file.
    pub offered: Option<Filing>,
    /// Why the letter could not be read at all.
    pub unread: Option<String>,
    /// The names of attached files, which were not read.
    pub attachments: Vec<String>,
    /// Whether and when the GM gets the letter's words.
    pub passed_on: Option<Passing>,
    /// Every GM who gets them plays against the seat.
    pub gm_is_opponent: bool,
    /// A text that is passed on was too long, and is cut.
    pub cuts_text: bool,
    /// The outcomes of the other parts of the letter. The shell fills them in.
    pub others: Vec<OtherPart>,
    /// The other matches in which the absences of the letter count. The shell fills them in.
    pub elsewhere: AbsentElsewhere,
    /// The lines that the faults refer to, as written.
    pub quoted: Vec<Line>,
    /// For each of `replies`, the earlier reports that it repeats. The shell fills them in.
    pub reports: Vec<PastReports>,
    /// The parts of the letter that were not followed, because it asks for too much.
    pub left_out: LeftOut,
}

/// The outcome of a letter's absences in its player's other matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AbsentElsewhere {
    /// Matches in which they count, too.
    pub noted: Vec<String>,
    /// Matches in which the player has too few days of absence left.
    pub refused: Vec<String>,
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

    /// Whether it only says that orders were filed.
    pub fn is_plain_receipt(&self) -> bool {
        matches!(self.orders, Orders::Sealed { .. } | Orders::Conditions { sealed: Some(_), wait: false, .. })
            && self.replies.is_empty()
            && self.faults.is_empty()
            && self.remarks.is_empty()
            && self.replaced.is_empty()
            && !self.token_renewed
            && self.accepted_since.is_none()
            && self.attachments.is_empty()
            && self.passed_on.is_none()
            && !self.cuts_text
            && self.left_out == LeftOut::default()
    }

    /// Whether the letter only held words for a person, which the GM gets.
    pub fn is_only_words(&self) -> bool {
        self.passed_on.is_some()
            && matches!(self.orders, Orders::None)
            && self.replies.is_empty()
            && self.faults.is_empty()
    }

    /// Whether the letter held nothing to act on, so that its answer shows how orders look.
    pub fn asks_for_orders(&self) -> bool {
        matches!(self.orders, Orders::None) && self.replies.is_empty() && self.faults.is_empty()
    }

    /// Returns the faults of the orders, then those of the commands.
    pub fn all_faults(&self) -> impl Iterator<Item = &Fault> {
        let of_orders = match &self.orders {
            Orders::Refused { faults, .. } => &faults[..],
            Orders::None | Orders::Sealed { .. } | Orders::Checked { .. } | Orders::Conditions { .. } => &[],
        };
        of_orders.iter().chain(&self.faults)
    }
}

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

/// Earlier reports that one command asks for, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PastReports {
    pub reports: Vec<PastReport>,
    /// Number of older ones that would make the answer too long.
    pub left_out: usize,
}

/// An earlier report, as it was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PastReport {
    /// Its subject line.
    pub title: String,
    pub lines: Vec<String>,
}

/// The outcome of the orders in a letter.
#[derive(Clone, Debug, Default)]
pub enum Orders {
    /// The letter had none.
    #[default]
    None,
    /// They are filed.
    Sealed { filing: Filing, sealed: Digest, wait: bool, replaced: bool },
    /// `CHECK`: what would have been filed.
    Checked { filing: Filing },
    /// They cannot stand, or could not if they were filed (`CHECK`).
    Refused { faults: Vec<Fault>, check: bool },
    /// Conditional orders; `sealed` is absent if they were only checked.
    Conditions {
        lines: Vec<String>,
        sealed: Option<Digest>,
        replaced: bool,
        /// The letter says `WAIT`, which has no effect here.
        wait: bool,
    },
}
