//! The consequences of a commit or its failure.

use crate::daemon::Office;
use crate::store::{LetterStatus, Settlement, StoreError};

impl Office {
    /// Wakes the loops that have something to do after this commit.
    pub fn wake_loops(&self, settlement: &Settlement) {
        if settlement.decided.iter().any(|decision| decision.status == LetterStatus::Waiting) {
            self.letters.notify_one();
        }
        if !settlement.dispatches.is_empty() || !settlement.requeued.is_empty() {
            self.dispatches.notify_one();
        }
        // A match in which the house has to move is due at once.
        if settlement.matches.iter().any(|row| row.wake_at.is_some_and(|moment| moment <= settlement.at)) {
            self.house.notify_one();
        }
    }
}

/// Whether the database fails temporarily, so that everything else would fail as well.
pub fn is_transient(error: &anyhow::Error) -> bool {
    error.downcast_ref::<StoreError>().is_some_and(StoreError::is_transient)
}
