//! Letters that stay in their folder because the server does not send them, or sends something else.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::backoff::pause_after_refusals;

/// Maximum letters that a report names.
const MAX_NAMED: usize = 3;

/// The letters of one folder, by UID, that are left alone for a while.
#[derive(Default)]
pub(super) struct Aside(BTreeMap<u32, Attempts>);

struct Attempts {
    reason: String,
    /// The times that the letter was asked for in vain.
    tries: u32,
    /// The time of the last one.
    tried: Instant,
}

impl Attempts {
    /// Returns the time until the letter is asked for again.
    fn wait(&self) -> Duration {
        pause_after_refusals(self.tries).saturating_sub(self.tried.elapsed())
    }
}

impl Aside {
    /// Sets a letter aside, for longer each time.
    pub(super) fn put(&mut self, folder: &str, uid: u32, reason: &str) {
        let tries = self.0.get(&uid).map_or(0, |entry| entry.tries) + 1;
        if tries == 1 {
            tracing::error!(folder, uid, reason, "failed to fetch a letter; it stays in the folder");
        }
        self.0.insert(uid, Attempts { reason: reason.to_owned(), tries, tried: Instant::now() });
    }

    pub(super) fn remove(&mut self, uid: u32) {
        self.0.remove(&uid);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets the letters that have left the folder. `listed` is sorted.
    pub(super) fn forget_all_but(&mut self, listed: &[u32]) {
        self.0.retain(|uid, _| listed.binary_search(uid).is_ok());
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the letter may be asked for now.
    pub(super) fn is_due(&self, uid: u32) -> bool {
        self.0.get(&uid).is_none_or(|entry| entry.wait().is_zero())
    }

    /// Returns the time until the first of the letters is asked for again.
    pub(super) fn next_wait(&self) -> Option<Duration> {
        self.0.values().map(Attempts::wait).min()
    }

    /// Describes the letters to a person.
    pub(super) fn report(&self, folder: &str) -> Option<String> {
        let named: Vec<String> = self
            .0
            .iter()
            .take(MAX_NAMED)
            .map(|(uid, entry)| format!("UID {uid} ({})", entry.reason))
            .collect();
        if named.is_empty() {
            return None;
        }
        let more = match self.0.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "letters in {folder} cannot be read and stay there: {}{more}; the server is asked for them again",
            named.join(", ")
        ))
    }
}
