//! The book of an event: what was announced, who entered, which sections were drawn, which results count. It has
//! the form of a match's ledger, one chain for all seasons, and names players by number only. It hides nothing,
//! so its entries have no salt.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use super::{Chained, Head, millis, truncate_to_millis};
use crate::game::named_enum;
use crate::game::{BySeat, Outcome, Reason, Seat};
use crate::letter::Digest;

/// An entry of a book.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BookEntry {
    pub event: String,
    /// The entry's number in its book, from 1, without gaps.
    pub seq: u64,
    /// UTC, to the millisecond.
    #[serde(with = "millis")]
    pub at: DateTime<Utc>,
    pub cause: BookCause,
    #[serde(flatten)]
    pub fact: BookFact,
    /// The hash of the previous entry; all zeros in the first.
    pub prev: Digest,
}

/// The cause of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BookCause {
    /// The player's letter with this digest.
    Letter(Digest),
    /// The GM with this name, for this reason.
    Gm {
        name: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// The clock, because the fact was due.
    Clock {},
}

/// A fact about an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, IntoStaticStr)]
#[serde(tag = "kind", content = "body")]
pub enum BookFact {
    /// `terms` are the terms of its matches; `opens` is the time of the draw, if it is fixed.
    EventAnnounced { format: u32, plan: Value, terms: Value, opens: Option<DateTime<Utc>> },
    /// The player entered the event.
    Entered { player: i64 },
    /// A GM took the player out, or the program did because no letter reaches the player.
    Struck { player: i64 },
    /// The player gave the event up.
    Left { player: i64 },
    /// `to` takes over matches, points and place.
    Replaced { from: i64, to: i64 },
    /// A date moved, or nobody can enter from now on.
    PlanChanged {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opens: Option<DateTime<Utc>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ends: Option<DateTime<Utc>>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        closed: bool,
    },
    /// `list` is the order of the draw, `figures` the ratings that it used, each with its player. `given`: a GM
    /// supplied the sections.
    SectionsDrawn {
        season: u32,
        list: Vec<i64>,
        figures: Vec<(i64, i64)>,
        sections: Vec<Vec<i64>>,
        ends: DateTime<Utc>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        given: bool,
    },
    /// A match of the season was opened between these players.
    MatchOpened {
        season: u32,
        first: i64,
        second: i64,
        #[serde(rename = "match")]
        match_id: String,
    },
    /// The result between these players counts from now on.
    ResultEntered { season: u32, first: i64, second: i64, result: BookResult },
    /// The match was reopened, or its end corrected.
    ResultVoided {
        #[serde(rename = "match")]
        match_id: String,
        end: Digest,
    },
    /// The places of each section. After this entry, nothing in the season changes.
    StandingsClosed { season: u32, places: Vec<Vec<BookPlace>>, vanished: Vec<i64> },
    /// The event ends without standings; its matches continue as friendly ones.
    Cancelled {},
    /// A note of a GM.
    Noted { text: String },
}

/// The result of one match of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookResult {
    /// The match; `None` if it was played elsewhere.
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    pub match_id: Option<String>,
    /// The hash of the entry that ended the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Digest>,
    pub outcome: BookOutcome,
    /// The seat that missed too many turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vanished: Option<Seat>,
    /// Seconds of each seat's own time.
    pub own: BySeat<i64>,
}

named_enum! {
    /// The outcome of a match, as it counts for points.
    pub enum BookOutcome {
        First = "first",
        Second = "second",
        Draw = "draw",
        /// Both missed too many turns together: nobody gets a point.
        Both = "both lost",
        /// It ended without a result.
        None = "none",
    }
}

/// A place in a section when its season closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookPlace {
    pub player: i64,
    pub place: u32,
    /// Points, in total and in the direct encounter, in halves; Sonneborn-Berger in quarters.
    pub points: u32,
    pub direct: u32,
    pub berger: u32,
    pub wins: u32,
}

impl BookPlace {
    /// Returns points, direct encounter, Sonneborn-Berger and wins as decimal numbers.
    pub fn figures(&self) -> [String; 4] {
        [
            fraction(self.points, 2.0),
            fraction(self.direct, 2.0),
            fraction(self.berger, 4.0),
            self.wins.to_string(),
        ]
    }
}

fn fraction(parts: u32, of: f64) -> String {
    (f64::from(parts) / of).to_string()
}

pub type ChainedBookEntry = Chained<BookEntry>;

impl BookFact {
    /// The fact's name, which is the `kind` of its entry.
    pub fn kind(&self) -> &'static str {
        self.into()
    }
}

impl BookOutcome {
    /// Returns how a result counts for a seat, in halves of a point: `None` if it does not count.
    pub fn halves(self, seat: Seat) -> Option<u32> {
        match self {
            BookOutcome::First => Some(if seat == Seat::First { 2 } else { 0 }),
            BookOutcome::Second => Some(if seat == Seat::Second { 2 } else { 0 }),
            BookOutcome::Draw => Some(1),
            BookOutcome::Both => Some(0),
            BookOutcome::None => None,
        }
    }

    /// Converts the outcome of a match.
    pub fn of(outcome: &Outcome) -> BookOutcome {
        match (outcome.winner, outcome.reason) {
            (Some(Seat::First), _) => BookOutcome::First,
            (Some(Seat::Second), _) => BookOutcome::Second,
            (None, Reason::BothForfeited) => BookOutcome::Both,
            (None, Reason::Abandoned | Reason::Annulled) => BookOutcome::None,
            (None, _) => BookOutcome::Draw,
        }
    }
}

/// Appends a fact to a book that ends at `head`, and advances the head.
pub fn append(
    event: &str,
    head: &mut Head,
    at: DateTime<Utc>,
    cause: &BookCause,
    fact: BookFact,
) -> ChainedBookEntry {
    let chained = Chained::from(BookEntry {
        event: event.to_owned(),
        seq: head.seq + 1,
        at: truncate_to_millis(at),
        cause: cause.clone(),
        fact,
        prev: head.hash,
    });
    *head = Head { seq: chained.entry.seq, hash: chained.hash };
    chained
}
