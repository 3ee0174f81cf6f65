//! Checks one match: its chain, its letters, and every ruling, which is repeated from them.

use std::collections::BTreeSet;

use self::state::{Unconfirmed, short};
use super::{AuditVerdict, Finding, Place};
use crate::club::reliability::owed_turns;
use crate::letter::Digest;

pub mod columns;
mod dispatches;
mod entries;
mod holders;
mod play;
pub(super) mod reader;
mod ruling;
mod state;
mod stored;
mod unrepeated;

pub use self::holders::{ExpectedDispatch, StoredDispatch, StoredPlayer, StoredSeat};
pub use self::reader::{LedgerBatch, LedgerReader, LedgerRow, ParsedLetter, StoredLetter};
pub use self::state::{Check, StoredMatch, Withheld};

impl Check {
    /// Repeats the pending rulings whose entries are complete, or all of them `at_end`. Returns the letters
    /// that rulings must have sent and whose digests are known, from the next entry or, if `at_end`, from the
    /// snapshot.
    pub fn repeat_pending(&mut self, at_end: bool) -> Vec<ExpectedDispatch> {
        let mut expected = Vec::new();
        while !self.is_stopped() && (at_end && !self.pending.is_empty() || self.first_is_complete()) {
            self.repeat_ruling(&mut expected);
        }
        if at_end && !self.is_stopped() {
            // No entry confirms the letters of the last ruling yet; the snapshot does.
            let told = self.snapshot.as_ref().map(|game_match| game_match.pins.clone()).unwrap_or_default();
            if !dispatches::confirm(self, &told, &mut expected) {
                let what = "its field pins does not list the letters of the last ruling";
                self.report(Place::Kept("the snapshot"), what);
            }
        }
        let named: BTreeSet<Digest> = self.pending.iter().flat_map(|entry| entry.letters.clone()).collect();
        self.letters.retain(|digest, _| named.contains(digest));
        expected
    }

    /// Whether an entry of another ruling follows the entries of the first.
    fn first_is_complete(&self) -> bool {
        self.count_first() < self.pending.len()
    }

    /// Repeats the ruling on the first pending entry, and compares all its entries. A ruling that cannot be
    /// repeated is checked as far as its entries and letters allow.
    fn repeat_ruling(&mut self, expected: &mut Vec<ExpectedDispatch>) {
        let Some(first) = self.pending.front() else { return };
        let seq = first.link.seq;
        let at = first.link.at;
        let told = first.link.pins.clone();
        if !dispatches::confirm(self, &told, expected) {
            let what = "its field pins does not list the letters of the previous ruling";
            return self.report(Place::Entry(seq), what);
        }
        dispatches::note_deliveries(self, seq);
        if self.is_stopped() {
            return;
        }
        if let Some(why) = unrepeated::reason(self) {
            return unrepeated::check(self, why, at);
        }
        let mut ruling = match ruling::repeat(self) {
            Ok(ruling) => ruling,
            Err(finding) => return self.verdict.findings.push(finding),
        };
        let Some(last) = ruling.entries.len().checked_sub(1) else {
            return self.report(Place::Entry(seq), "nothing in the match causes it: it was inserted");
        };
        // If the last hash matches, so does every byte of the entries before it.
        let recorded = self.pending.get(last).map(|last| last.hash);
        if recorded != Some(ruling.after.head.hash) {
            stored::adopt_recorded(self, &mut ruling);
        }
        if recorded != Some(ruling.after.head.hash) {
            let finding = stored::first_difference(&mut self.pending, &ruling);
            return self.verdict.findings.extend(finding);
        }
        self.pending.drain(..=last);
        entries::note(self, ruling.entries.iter().map(|chained| &chained.entry));
        if self.is_stopped() {
            return;
        }
        if let Some(before) = &self.current {
            self.facts.turns.note_owed(owed_turns(before, &ruling.entries));
        }
        self.unconfirmed = Unconfirmed::Repeated(dispatches::of_ruling(self, &ruling, at));
        self.current = Some(ruling.after);
    }

    /// Checks that entries name these letters, which are stored as ruled on in this match. Call after the
    /// last entry.
    pub fn check_acted_letters(&mut self, acted: &[Digest]) {
        if self.is_stopped() {
            return;
        }
        for digest in acted.iter().filter(|digest| !self.ruled_letters.contains(&short(digest))) {
            let what = "it is stored as ruled on in this match, but no entry names it";
            self.verdict.findings.push(Finding::at(Place::Letter(*digest), what));
        }
    }

    /// Ends the check: compares the stored match with the repeated one.
    pub fn finish(mut self) -> AuditVerdict {
        self.verdict.head = self.head;
        if self.is_stopped() {
            return self.verdict;
        }
        if self.head.seq == 0 {
            self.report(Place::Entry(1), "it is missing: the ledger is empty");
            return self.verdict;
        }
        for dispatch in std::mem::take(&mut self.dispatches).into_values() {
            self.report(Place::Sent(dispatch.message_id), "no entry causes it: it was added");
        }
        stored::check_seats(&mut self);
        stored::check_match(&mut self);
        self.verdict
    }
}
