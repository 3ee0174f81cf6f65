//! What a match notes of letters that opened a phase and were sent late.

use serde::{Deserialize, Serialize};

/// By how much the deadline of a phase was moved because letters that opened it were sent late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentLate {
    pub phase_no: u32,
    pub seconds: i64,
}
