//! What the audit checked at the time: the entries of the club's book that verified the match while the versions ran that
//! had made its rulings.

use super::Check;
use crate::audit::verdict::{Place, Underived};
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

    /// Counts a ruling that is as another version of this program made it. `seq` is the number of its first entry.
    pub(super) fn note_ruling_of_another_version(&mut self, seq: u64) {
        self.verdict.rulings_of_other_versions += 1;
        let program = self.current.as_ref().and_then(|before| before.desk.program);
        self.note_underived(Underived::OfProgram { seq, program });
    }

    /// Counts what this version cannot derive: as checked at the time if the book says so, else as not checked. Each
    /// verification covers what followed the one before it, so the first one at or after the entry counts.
    pub(in crate::audit) fn note_underived(&mut self, what: Underived) {
        let (Underived::OfProgram { seq, .. } | Underived::OfHouse { seq, .. }) = what;
        if seq <= self.checked_until {
            return;
        }
        let first = self.verified.iter().find(|entry| entry.verified.head.seq >= seq);
        let then = first.filter(|entry| match what {
            Underived::OfProgram { program, .. } => program.is_some() && entry.verified.program == program,
            Underived::OfHouse { version, .. } => entry.verified.house == Some(version),
        });
        match then {
            Some(entry) => {
                self.verdict.checked_then += 1;
                self.verdict.checked_by.insert(entry.book_seq);
            }
            None => self.verdict.unchecked += 1,
        }
    }
}
