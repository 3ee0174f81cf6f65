//! Why letters were refused, as a match stores it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::game::{Fault, Line};

/// Why a seat's last letter for the open phase was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedLetter {
    pub faults: Vec<Fault>,
    /// The lines that the faults refer to, as written.
    pub quoted: Vec<Line>,
    /// When the seat was told last.
    pub told_at: DateTime<Utc>,
}
