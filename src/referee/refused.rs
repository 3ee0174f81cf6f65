//! Letters that were refused, as a match stores them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::EarlierOrders;
use crate::game::Line;
use crate::game::any::GameKind;

/// A seat's last letter for the open phase, which was refused: what its orders are checked by again before the seat is told
/// again. No sentence is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedLetter {
    /// The lines that its player wrote.
    pub lines: Vec<Line>,
    /// See [`SeatLetter::texts_withheld`](super::SeatLetter::texts_withheld).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts_withheld: Option<Vec<GameKind>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_turn: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_match: Option<String>,
    /// Its time of arrival, if it was ruled on later than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierOrders>,
    /// When the seat was told last.
    pub told_at: DateTime<Utc>,
}
