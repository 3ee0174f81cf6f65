//! Letters that were refused, as a match stores them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::game::Line;
use crate::ledger::LetterCause;

/// A seat's last letter for the open phase, which was refused: what its orders are checked by again before the seat is told
/// again. No sentence is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedLetter {
    pub cause: LetterCause,
    /// The lines that its player wrote.
    pub lines: Vec<Line>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_turn: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_match: Option<String>,
    /// When the seat was told last.
    pub told_at: DateTime<Utc>,
}
