//! The letters that threads are reading or ruling on at this moment.
//!
//! A decision cannot tell that it takes too long, because it has no clock, and a thread cannot be stopped
//! from outside. So each thread enters its letter here, and the shell watches how long a letter stays.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::letter::Digest;

/// The letters in work; clones share them.
#[derive(Clone, Debug, Default)]
pub struct InWork(Arc<Mutex<BTreeSet<Digest>>>);

/// Keeps a letter in the set until dropped.
#[must_use = "the letter is in work only as long as this lives"]
pub struct WorkGuard<'a>(&'a InWork, Digest);

impl InWork {
    pub fn enter(&self, letter: Digest) -> WorkGuard<'_> {
        self.change(|letters| letters.insert(letter));
        WorkGuard(self, letter)
    }

    pub fn letters(&self) -> BTreeSet<Digest> {
        self.change(|letters| letters.clone())
    }

    fn change<T>(&self, change: impl FnOnce(&mut BTreeSet<Digest>) -> T) -> T {
        // A panic cannot leave a set half changed, so a poisoned lock is still usable.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for WorkGuard<'_> {
    fn drop(&mut self) {
        self.0.change(|letters| letters.remove(&self.1));
    }
}
