//! A daemon's knowledge of its attempts to rule on letters. `batch::attempts` explains their purpose.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::trial::Trial;
use crate::desk::frame::in_work::InWork;
use crate::letter::Digest;

/// Time limit for reading one letter, and for ruling on it. The slowest takes less than a second.
const DEADLINE: Duration = Duration::from_secs(20);

/// This daemon's knowledge of attempts.
pub struct Attempts {
    /// Identifies this run of the program. A process ID would not do: in a container it is the same after each crash.
    pub(super) run: String,
    pub(super) deadline: Duration,
    /// Number of threads that never came back.
    pub(super) hung: AtomicUsize,
    /// Letters under suspicion after a crash. They are settled one by one.
    suspects: Mutex<BTreeSet<Digest>>,
    pub(super) trial: Option<Trial>,
    /// Whether the rows of the last batch had changed when it was to be committed.
    is_stale: AtomicBool,
}

/// Letters that took longer than the deadline.
pub struct Overdue(BTreeSet<Digest>);

impl Overdue {
    pub fn letters(self) -> BTreeSet<Digest> {
        self.0
    }
}

impl Attempts {
    /// Identifies this run by a random number.
    pub fn new(run: u64) -> Attempts {
        let (hung, suspects, trial, is_stale) = Default::default();
        Attempts { run: format!("{run:016x}"), deadline: DEADLINE, hung, suspects, trial, is_stale }
    }

    /// Sets the deadline of one letter.
    pub fn set_deadline(&mut self, deadline: Duration) {
        self.deadline = deadline;
    }

    /// Whether a note with this owner is from this run of the program.
    pub fn is_of_this_run(&self, owner: &str) -> bool {
        owner.split(' ').next() == Some(&self.run)
    }

    /// Returns the owner of notes about letters that are read before they are stored.
    pub fn intake(&self) -> String {
        format!("{} intake", self.run)
    }

    pub fn suspects(&self) -> MutexGuard<'_, BTreeSet<Digest>> {
        self.suspects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether a batch could be committed, or its rows had changed. Returns whether one of this batch and the last
    /// could.
    pub fn note_commit(&self, is_committed: bool) -> bool {
        !self.is_stale.swap(!is_committed, Ordering::Relaxed) || is_committed
    }

    /// Waits for work on letters, but not for a letter that takes longer than the deadline. That letter's thread is
    /// left behind.
    ///
    /// # Errors
    /// [`Overdue`] with the letters that took too long.
    pub async fn watch<T>(&self, in_work: &InWork, work: impl Future<Output = T>) -> Result<T, Overdue> {
        let mut work = pin!(work);
        let mut since: BTreeMap<Digest, Instant> = BTreeMap::new();
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                // Often enough that a letter exceeds its deadline by a twentieth at most.
                () = tokio::time::sleep(self.deadline / 20) => {}
            }
            let (letters, now) = (in_work.letters(), Instant::now());
            since.retain(|letter, _| letters.contains(letter));
            for letter in letters {
                since.entry(letter).or_insert(now);
            }
            let is_overdue = |entered: &Instant| now - *entered >= self.deadline;
            let overdue = since.iter().filter(|(_, entered)| is_overdue(entered));
            let overdue: BTreeSet<Digest> = overdue.map(|(letter, _)| *letter).collect();
            if !overdue.is_empty() {
                self.hung.fetch_add(overdue.len(), Ordering::Relaxed);
                return Err(Overdue(overdue));
            }
        }
    }
}
