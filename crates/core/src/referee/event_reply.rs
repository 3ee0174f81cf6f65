//! Events as letters show them. The shell fills them in: the referee itself knows no event.

use serde::{Deserialize, Serialize};

/// An event in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLine {
    /// `EV-SPRING`.
    pub id: String,
    pub name: String,
    pub game_name: String,
    pub format: String,
    pub stage: String,
    /// Whether entry is closed.
    pub closed: bool,
    /// The time of the next draw, and whether that waits until the event is full.
    pub opens: Option<String>,
    pub when_full: bool,
    pub ends: Option<String>,
    pub season: u32,
    pub entrants: usize,
    pub most: Option<usize>,
    pub section_size: usize,
    pub games: usize,
    pub days: u32,
    pub bank: u32,
    pub reliable: Option<u32>,
    /// `from 1400 to 1600`, or empty.
    pub rating: String,
    pub rated: bool,
    /// Whether the reader has entered.
    pub is_in: bool,
    /// The head of its book.
    pub head: String,
}

/// The answer to words about an event, for somebody who plays in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventWord {
    pub id: String,
    pub name: String,
    pub ends: String,
    /// The number of the reader's matches in the season, and of those without a result.
    pub matches: usize,
    pub open: usize,
    /// Whether the words are about leaving it.
    pub leaves: bool,
}

/// The standings of a season.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standings {
    pub id: String,
    pub name: String,
    pub format: String,
    pub season: u32,
    pub closed: bool,
    pub ends: String,
    pub sections: Vec<SectionTable>,
    /// The acts of GMs in it.
    pub acts: Vec<GmEventAct>,
    pub head: String,
}

/// The table of a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionTable {
    pub no: usize,
    pub rows: Vec<StandingRow>,
    /// Matches without a result.
    pub running: usize,
}

/// A player in a table; columns as text, with their widths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingRow {
    pub place: String,
    pub player: String,
    pub points: String,
    pub direct: String,
    pub berger: String,
    pub wins: String,
}

/// An act of a GM in an event, as the book records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GmEventAct {
    /// `entered`, `struck`, `replaced`, `changed`, `decided` or `noted`.
    pub kind: String,
    pub gm: String,
    pub who: String,
    pub by: String,
    pub reason: String,
}

/// The load that a plan causes, and the limit of the outbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLoad {
    /// Number of entrants that the figures assume.
    pub entrants: usize,
    pub matches: usize,
    pub each: usize,
    pub letters_at_once: usize,
    pub letters_a_day: usize,
    /// Maximum letters that the outbox may send per day; 0 for no limit.
    pub per_day: u32,
}

/// A fault of a plan: its line, the reason, and an example of a valid line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFault {
    /// The number of the line, from 1; 0 if a key is missing.
    pub line: usize,
    pub says: String,
    pub example: String,
}

/// The reason why a command about an event had no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum EventRejection {
    /// There is no such event. `nearest` lists similar ones.
    NoSuchEvent { nearest: Vec<String> },
    /// The event has no such season.
    NoSeason { seasons: u32 },
    /// The sender has already entered.
    AlreadyIn { opens: Option<String> },
    /// It is over, cancelled, closed, or a cup that has begun.
    Closed { stage: String },
    /// The event has `most` entrants, the limit.
    Full { most: usize },
    /// The sender left or was struck since the last draw, so only a GM can enter them again.
    Gone,
    /// The sender has filed fewer turns in time than the event demands.
    Unreliable { percent: u32, says: String },
    /// The sender's rating is outside `wanted`.
    Rating { wanted: String, figure: String },
    /// The sender recently vanished from an event or left one.
    Barred { until: String },
    /// The sender wants at most `limit` running matches.
    Limit { limit: u32, needs: usize },
    /// The sender has not entered.
    NotIn,
    /// LEAVE without CONFIRM, which would resign the `running` matches.
    Unconfirmed { running: usize },
    /// Only registered players can see names.
    NamesForPlayers,
}
