//! A player who has missed too many turns.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::game::Seat;

/// A player who has missed too many turns, while the opponent may choose what becomes of the seat. No deadline runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vanished {
    pub seat: Seat,
    pub until: DateTime<Utc>,
    /// The opponent goes on against the house, which the program is about to seat.
    pub agreed: bool,
}
