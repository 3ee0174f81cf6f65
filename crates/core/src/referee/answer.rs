//! The answer to a letter, before it is worded.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::reply::Reply;
use super::words::Passing;
use crate::dialect::is_square;
use crate::game::any::Filing;
use crate::game::{Fault, Line};
use crate::letter::{Digest, split_words};
use crate::request::wish::{Care, Topic};
use crate::request::{LeftOut, OrderElsewhere};

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
    /// Lines that are orders of another game, without effect.
    pub elsewhere_orders: Vec<OrderElsewhere>,
    /// Whether the letter is from a GM and begins a line with GM, as instructions to the referee do.
    pub instructs: bool,
    /// Orders that a later line of the same letter overrides.
    pub replaced: Vec<Line>,
    /// Whether the seat has a new reply token, because the letter showed the old one to others.
    pub token_renewed: bool,
    /// Time of arrival, if a GM has accepted the letter since.
    pub accepted_since: Option<DateTime<Utc>>,
    /// The orders that answering `YES` would file.
    pub offered: Option<Proposal>,
    /// Whether orders that were not firm wait for the deadline now, because of the letter's words.
    pub deferred: bool,
    /// The reason why the letter could not be read at all.
    pub unread: Option<String>,
    /// The names of attached files, which were not read.
    pub attachments: Vec<String>,
    /// Whether its words contain neither a number nor a piece of a game, and so are about something other
    /// than orders.
    pub is_only_chat: bool,
    /// The letter's wishes in words, one for each subject.
    pub wishes: Vec<Wishes>,
    /// Whether and when the GM gets the letter's words.
    pub passed_on: Option<Passing>,
    /// Whether every GM who gets them plays against the seat.
    pub gm_is_opponent: bool,
    /// Whether a text that is passed on was too long and is truncated.
    pub cuts_text: bool,
    /// The outcomes of the other parts of the letter. The shell fills them in.
    pub others: Vec<OtherPart>,
    /// The other matches in which the absences of the letter count. The shell fills them in.
    pub elsewhere: AbsentElsewhere,
    /// The seasons during which the absences of the letter count, or more time. The shell fills them in.
    pub seasons: Vec<SeasonEnd>,
    /// The lines that the faults refer to, as written.
    pub quoted: Vec<Line>,
    /// For each of `replies`, the earlier reports that it repeats. The shell fills them in.
    pub reports: Vec<PastReports>,
    /// Counts of the requests that were not carried out, because the letter asks for too much.
    pub left_out: LeftOut,
}

/// A letter's wish in words about one subject, and the lines that fulfil it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Wishes {
    pub care: Option<Care>,
    pub topic: Option<Topic>,
    /// The lines of each act that fulfils the wish, the best one first.
    pub acts: Vec<Vec<String>>,
    /// The word under which the rules explain what the letter asks about.
    pub about: Option<String>,
    /// Days of more time that the acts ask for.
    pub days: Option<u32>,
    /// The days of absence that are left, if the letter wishes for more.
    pub days_left: Option<i64>,
    /// Whether the letter names no days of its absence, or only the first, so that the act is an example.
    pub lacks_days: bool,
    /// Whether a date can be read in two ways, one for each act.
    pub is_unclear: bool,
    /// Whether the letter agrees to something that the opponent has not asked for.
    pub agrees_to_nothing: bool,
    /// Whether the letter refuses what the opponent has asked for.
    pub refuses: bool,
    /// Whether it says neither yes nor no for sure.
    pub is_open: bool,
    /// Whether the letter complains that orders have not arrived.
    pub misses_orders: bool,
    /// Whether the letter tells of the opponent's trouble or absence.
    pub is_of_rival: bool,
}

impl Wishes {
    /// Whether the letter asks for the signs on the board.
    pub fn asks_for_signs(&self) -> bool {
        self.topic == Some(Topic::Legend)
    }

    /// Adds an act of one line.
    pub fn add(&mut self, line: String) {
        self.acts.push(vec![line]);
    }

    pub fn extend(&mut self, line: Option<String>) {
        self.acts.extend(line.map(|line| vec![line]));
    }

    /// Adds a command that counts only with CONFIRM.
    pub fn add_confirmed(&mut self, verb: &str) {
        self.add(format!("{verb} CONFIRM"));
    }

    /// Returns the lines of the link to each act: without CONFIRM, so that an accidental tap cannot end a
    /// match.
    pub fn linked(&self) -> impl Iterator<Item = Vec<&str>> {
        let without = |line: &'_ str| line.strip_suffix(" CONFIRM").map_or(line.len(), str::len);
        self.acts.iter().map(move |act| act.iter().map(|line| &line[..without(line)]).collect())
    }
}

/// The outcome of a letter's absences in its player's other matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AbsentElsewhere {
    /// Matches in which they count, too.
    pub noted: Vec<String>,
    /// Matches in which the player has too few days of absence left.
    pub refused: Vec<String>,
    /// The events of the matches in which they count.
    pub events: BTreeSet<String>,
}

/// The running season of an event, which ends whatever absences its players announce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeasonEnd {
    pub event: String,
    pub name: String,
    /// The time, in the player's zone.
    pub ends: String,
    /// The rule for the matches that still run then: `unfinished` of the plan.
    pub decides: String,
}

impl Answer {
    /// Summarizes the outcome of the letter.
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
        let drops_orders = matches!(&self.orders, Orders::Sealed { dropped, .. } if !dropped.is_empty());
        matches!(
            self.orders,
            Orders::Sealed { firm_at: None, .. }
                | Orders::Conditions { sealed: Some(_), wait: false, firm_at: None, .. }
        ) && !drops_orders
            && self.replies.is_empty()
            && self.faults.is_empty()
            && self.remarks.is_empty()
            && self.wishes.is_empty()
            && self.elsewhere_orders.is_empty()
            && self.replaced.is_empty()
            && !self.token_renewed
            && self.accepted_since.is_none()
            && self.attachments.is_empty()
            && self.passed_on.is_none()
            && !self.cuts_text
            && self.left_out == LeftOut::default()
    }

    /// Whether the letter contained only words for a person, which the GM gets.
    pub fn is_only_words(&self) -> bool {
        self.passed_on.is_some()
            && matches!(self.orders, Orders::None)
            && self.replies.is_empty()
            && self.faults.is_empty()
    }

    /// Whether the words name a square and ask nothing: their author may take them for orders.
    pub fn seems_to_order(&self) -> bool {
        let mut texts = self.remarks.iter().map(|line| line.text.as_str());
        texts.clone().any(|text| split_words(text).any(is_square)) && !texts.any(|text| text.contains('?'))
    }

    /// Whether the letter contained nothing to act on, and was not about something else, so that its answer
    /// shows what orders look like.
    pub fn asks_for_orders(&self) -> bool {
        matches!(self.orders, Orders::None)
            && self.replies.is_empty()
            && self.faults.is_empty()
            && self.offered.is_none()
            && self.wishes.is_empty()
            && !self.is_only_chat
    }

    /// Whether its orders cannot stand, and were not only checked.
    pub fn is_refusal(&self) -> bool {
        matches!(self.orders, Orders::Refused { check: false, .. })
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
    /// Number of older ones left out, because they would make the answer too long.
    pub left_out: usize,
}

/// An earlier report, as it was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PastReport {
    /// Its subject line.
    pub title: String,
    pub lines: Vec<String>,
}

/// Orders that answering `YES` would file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposal {
    pub orders: Vec<String>,
    pub wait: bool,
    pub kind: ProposalKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalKind {
    /// All orders that the letter may mean.
    Whole,
    /// The orders in the letter's other lines, without the doubtful ones.
    Rest,
    /// The last offer again, because the letter's `YES` did not answer it.
    Again,
}

/// The outcome of the orders in a letter.
#[derive(Clone, Debug, Default)]
pub enum Orders {
    /// The letter had none.
    #[default]
    None,
    /// They are filed.
    Sealed {
        filing: Filing,
        sealed: Digest,
        wait: bool,
        /// The time from which they are firm, unless they are.
        firm_at: Option<DateTime<Utc>>,
        /// Whether the letter may take them back, so that the answer asks.
        asks: bool,
        /// Whether they stood already, and the letter only makes them firm.
        is_confirmed: bool,
        /// Whether they replace those that the seat filed before.
        replaced: bool,
        /// Orders filed earlier that neither stand nor have a successor.
        dropped: Vec<String>,
    },
    /// `CHECK`: what would have been filed.
    Checked { filing: Filing },
    /// They cannot stand, or could not if they were filed (`CHECK`).
    Refused {
        faults: Vec<Fault>,
        check: bool,
        /// All orders, with an example in place of each that is illegal, if they are legal like that.
        corrected: Vec<String>,
    },
    /// Conditional orders; `sealed` is absent if they were only checked.
    Conditions {
        lines: Vec<String>,
        sealed: Option<Digest>,
        /// The time from which they are firm, unless they are.
        firm_at: Option<DateTime<Utc>>,
        replaced: bool,
        /// Whether the letter says `WAIT`, which has no effect here.
        wait: bool,
    },
}
