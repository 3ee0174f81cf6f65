//! The values that the site lists, which the daemon fills from its rows.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::plot::PlotPoint;
use crate::club::reliability::Reliability;
use crate::game::any::GameKind;
use crate::game::{BySeat, Outcome};

/// A match as the site lists it.
#[derive(Clone, Debug)]
pub struct ListedMatch {
    pub id: String,
    pub game: GameKind,
    /// As the club shows them.
    pub names: BySeat<String>,
    /// The players' numbers; `None` for the house.
    pub players: BySeat<Option<i64>>,
    pub options: String,
    /// The ID of its event.
    pub event: Option<String>,
    /// The open turn, while it runs.
    pub turn: Option<u32>,
    /// The result, once it is over.
    pub end: Option<(Outcome, DateTime<Utc>)>,
}

/// A player as the site shows one.
#[derive(Clone, Debug)]
pub struct ListedMember {
    pub id: i64,
    pub name: String,
    pub reliability: Reliability,
}

/// A rating after a result.
#[derive(Clone, Debug)]
pub struct ListedRating {
    pub player: i64,
    pub game: GameKind,
    pub point: PlotPoint,
    /// As letters show it.
    pub shown: String,
    /// The number of rated results so far.
    pub results: u32,
}

/// An open seat.
#[derive(Clone, Debug, Serialize)]
pub struct OpenSeat {
    pub code: String,
    pub by: String,
    pub game: &'static str,
    /// Days for a turn.
    pub days: u32,
}
