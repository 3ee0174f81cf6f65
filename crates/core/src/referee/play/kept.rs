//! Values that a match keeps in addition to its position: offers to file, late or returned letters, refusals,
//! a player who has vanished, whether the club's own templates are known, and the acts of GMs during the
//! match that both sides read about with the result.

use chrono::{DateTime, NaiveDateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::game::any::AnyState;
use crate::game::condition::ConditionNews;
use crate::game::{BySeat, Line, OrderLines, Phase, Seat};
use crate::ledger::LetterCause;
use crate::letter::Digest;
use crate::referee::words::Passing;
use crate::zone::Zone;

/// Legal orders that our answer to a letter offered, because the letter was refused for its doubtful lines. A
/// reply of `YES` to our answer files them, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedOrders {
    /// The length of the ledger after the ruling, as our letter's Message-ID names it.
    pub seq: u64,
    pub orders: Vec<String>,
    pub wait: bool,
}

/// The time by which a deadline was moved because letters that opened its phase were sent late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentLate {
    pub phase_no: u32,
    pub seconds: i64,
}

/// A move of the open phase's deadline that depended on the machine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockMove {
    pub at: DateTime<Utc>,
    /// The time by which the deadline was moved.
    pub seconds: i64,
    /// The beginning of the outage, if it was moved because of one.
    pub since: Option<DateTime<Utc>>,
}

/// A player who has missed too many turns, while the opponent may decide on the seat. No deadline runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vanished {
    pub seat: Seat,
    pub until: DateTime<Utc>,
    /// `until` as players read it, in the zone of the match.
    #[serde(default)]
    pub local_until: Option<NaiveDateTime>,
    /// Whether the opponent goes on against the house, which the program is about to seat.
    pub agreed: bool,
}

impl Vanished {
    /// Sets the time until which the opponent can choose.
    pub fn choose_by(&mut self, until: DateTime<Utc>, zone: Zone) {
        (self.until, self.local_until) = (until, Some(until.with_timezone(&zone).naive_local()));
    }
}

/// The consequences of bounces of letters to a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounces {
    /// Time of the first bounce since mail last arrived.
    pub since: Option<DateTime<Utc>>,
    /// Whether a letter made since then also bounced.
    pub again: bool,
    /// Whether a deadline was moved because of them, which happens once in a match.
    pub had_grace: bool,
}

impl Bounces {
    /// Notes that mail arrives again.
    pub fn restore(&mut self) {
        *self = Bounces { had_grace: self.had_grace, ..Bounces::default() };
    }
}

/// A seat's last letter for the open phase, which was refused: only the data needed to check its orders again
/// before the seat is reminded, without the sentences of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedLetter {
    pub cause: LetterCause,
    /// The lines that its player wrote.
    pub lines: Vec<Line>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_turn: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_match: Option<String>,
    /// The time at which the seat was told last.
    pub told_at: DateTime<Utc>,
}

/// A seat's knowledge of the club's own templates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WordingNews {
    /// It was told about those in force, or there never were any.
    #[default]
    Known,
    /// The next letter will mention them.
    Pending,
    /// The letters of the last ruling mention them.
    InLastLetters,
}

impl WordingNews {
    /// Returns the knowledge after another ruling: if its letters mentioned the change, the seat knows it.
    pub(super) fn after_ruling(self) -> WordingNews {
        match self {
            WordingNews::InLastLetters => WordingNews::Known,
            WordingNews::Known | WordingNews::Pending => self,
        }
    }
}

/// A text from a GM, which the ledger names by its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GmMessage {
    /// `None` for both sides.
    pub to: Option<Seat>,
    pub at: DateTime<Utc>,
    pub text: String,
}

/// A record that a GM was shown what the rules hide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsealing {
    /// The name of the GM.
    pub gm: String,
    pub at: DateTime<Utc>,
    /// A noun phrase, such as `the account of turn 4`.
    pub what: String,
    /// In the GM's own words, on one line.
    pub reason: String,
}

impl GmMessage {
    /// Returns the digest under which the ledger names the text.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }
}

/// The news that a player has not read yet, or reads in a letter that still waits for the house.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Untold {
    /// The state before the first of `turns`.
    pub before: AnyState,
    pub turns: Vec<UntoldTurn>,
    pub left_out: usize,
    pub missed: Vec<Seat>,
    pub conditions: Vec<ConditionNews>,
    /// Times at which the orders of the first turn came.
    pub filed: BySeat<Option<DateTime<Utc>>>,
    pub letter: Option<DelayedLetter>,
}

/// A turn with its filings as order lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UntoldTurn {
    pub phase: Phase,
    pub turn: u32,
    pub filings: BySeat<Option<OrderLines>>,
}

/// A letter that waits for the house.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayedLetter {
    pub to: Seat,
    /// Its place among the letters of its ruling.
    pub index: usize,
    /// Its pin, once it is worded.
    pub pin: Option<Digest>,
    /// Number of turns, counted from the first, that it reports.
    pub turns: usize,
    /// `None` for a player who wants no receipts.
    pub receipt: Option<DelayedReceipt>,
}

/// A receipt that contains only what the referee itself knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayedReceipt {
    pub to: Digest,
    pub message_id: Option<String>,
    pub orders: OrderLines,
    pub sealed: Digest,
    pub replaced: bool,
    pub dropped: Vec<String>,
    pub remarks: Vec<Line>,
    pub overridden: Vec<Line>,
    pub attachments: Vec<String>,
    pub passed_on: Option<Passing>,
    pub gm_is_opponent: bool,
}

impl Untold {
    /// Returns the news that remains if the held letter is sent; `None` if the letter reports everything.
    pub fn after_letter(mut self) -> Option<Untold> {
        let Some(letter) = self.letter.take() else { return Some(self) };
        let told = letter.turns.min(self.turns.len());
        for UntoldTurn { filings, .. } in self.turns.drain(..told) {
            let filings = self.before.unseal(&filings).unwrap_or_default();
            self.before.adjudicate(&filings);
        }
        self.missed.clear();
        self.conditions.clear();
        self.filed = BySeat::default();
        Some(self).filter(|left| !left.turns.is_empty())
    }
}
