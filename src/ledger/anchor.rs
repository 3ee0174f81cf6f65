//! The anchor of a day, as letters tell it.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::letter::Digest;

/// One hash over the ledgers of all matches, as they were on a day. Letters tell it, so that players can compare it and
/// prove that a ledger was as long by that day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Anchor {
    /// The day in the club's zone.
    pub day: NaiveDate,
    pub root: Digest,
}
