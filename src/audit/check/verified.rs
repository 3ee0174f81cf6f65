//! The entries of the club's book that verified the match.

use super::Check;
use crate::audit::verdict::Place;
use crate::club::Verified;
use crate::letter::Digest;

/// An entry of the club's book that verified the match, and its number.
#[derive(Clone, Debug)]
pub struct VerifiedEntry {
    pub book_seq: u64,
    pub verified: Verified,
}

impl Check {
    /// What the club's book says was verified.
    pub fn set_verified(&mut self, mut entries: Vec<VerifiedEntry>) {
        entries.retain(|entry| entry.verified.match_id == self.stored.id);
        entries.sort_by_key(|entry| entry.verified.head.seq);
        self.verified = entries;
    }

    /// Checks that an entry is the one that the club's book verified.
    pub(super) fn compare_verified(&mut self, seq: u64, hash: Digest) {
        let changed = self.verified.iter().find(|entry| {
            let head = entry.verified.head;
            head.seq == seq && head.hash != hash
        });
        if let Some(changed) = changed {
            let what = format!(
                "CLUB #{} verified another entry in its place: the ledger was rewritten since",
                changed.book_seq
            );
            self.report(Place::Entry(seq), what);
        }
    }
}
