//! What a match notes of letters to its seats that bounced.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// What the bounces of letters to a seat have led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounces {
    /// Time of the first one since mail last arrived.
    pub since: Option<DateTime<Utc>>,
    /// A letter made since then bounced, too.
    pub again: bool,
    /// A deadline was moved because of them, which happens once in a match.
    pub had_grace: bool,
}

impl Bounces {
    /// Notes that mail arrives again.
    pub(super) fn restore(&mut self) {
        *self = Bounces { had_grace: self.had_grace, ..Bounces::default() };
    }
}
