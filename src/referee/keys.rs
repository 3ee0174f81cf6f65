//! The secrets of a match: reopening a match whose end was told gives it a new one.

use super::Match;
use crate::ledger::SealKey;
use crate::letter::Digest;

impl Match {
    /// Returns the secret that the match began with.
    pub fn first_key(&self) -> &SealKey {
        self.earlier_keys.first().unwrap_or(&self.key)
    }

    /// Returns the secret, present or earlier, that an entry pins.
    pub fn key_pinned_by(&self, pin: Digest) -> Option<SealKey> {
        self.keys().find(|key| key.pin() == pin).cloned()
    }

    /// Returns the secrets of the match, oldest first.
    pub fn keys(&self) -> impl Iterator<Item = &SealKey> {
        self.earlier_keys.iter().chain([&self.key])
    }
}
