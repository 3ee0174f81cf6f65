//! Checks a book: its chain, and what is stored beside it.

use chrono::{DateTime, Utc};

use super::verdict::{AuditVerdict, Finding, Place};
use crate::club::{AnchorSecret, Anchored, Book, BookEntry, Chains};
use crate::ledger::Head;
use crate::letter::Digest;

/// A stored entry of a book: the columns that index it, its canonical JSON and its hash.
#[derive(Clone, Debug)]
pub struct BookLine {
    pub seq: u64,
    pub at: DateTime<Utc>,
    pub kind: String,
    pub json: String,
    pub hash: Digest,
}

/// The check of one book. The caller pushes its entries in order.
pub struct BookCheck {
    /// The book as the entries so far left it.
    book: Book,
    /// Where the ledgers ended at the last anchor.
    chains: Chains,
    verdict: AuditVerdict,
}

impl BookCheck {
    /// `blank` is the book before its first entry.
    pub fn new(blank: Book) -> BookCheck {
        let verdict = AuditVerdict { match_id: blank.id.clone(), ..AuditVerdict::default() };
        BookCheck { book: blank, chains: Chains::default(), verdict }
    }

    /// The number of the last entry.
    pub fn seq(&self) -> u64 {
        self.book.head.seq
    }

    /// Whether the chain is broken, so that nothing that follows can be judged.
    pub fn is_broken(&self) -> bool {
        !self.verdict.findings.is_empty()
    }

    /// Adds the next entry, and returns it. Entries after a break are ignored.
    pub fn push(&mut self, line: &BookLine) -> Option<BookEntry> {
        if self.is_broken() {
            return None;
        }
        match self.follow(line) {
            Ok(entry) => {
                self.verdict.entries += 1;
                self.book.follow(&entry, line.hash);
                Some(entry)
            }
            Err(what) => {
                self.report(Place::Entry(self.book.head.seq + 1), what);
                None
            }
        }
    }

    fn follow(&self, line: &BookLine) -> Result<BookEntry, String> {
        let mut head = self.book.head;
        let entry: BookEntry = head.follow(&line.json, line.hash).map_err(|broken| broken.to_string())?;
        if entry.book != self.book.id {
            return Err(format!("it belongs to book {}", entry.book));
        }
        if (line.seq, line.at, line.kind.as_str()) != (entry.seq, entry.at, entry.fact.kind()) {
            return Err("it is stored under a number, time or kind other than its own".to_owned());
        }
        Ok(entry)
    }

    /// Checks that an anchor follows from the ledgers. `before` is the head of the book before it, and `grown` the matches
    /// whose ledgers had grown since the anchor before it, each with where it ended.
    pub fn check_anchor(
        &mut self,
        seq: u64,
        anchored: &Anchored,
        before: Head,
        secret: Option<AnchorSecret>,
        grown: Vec<(String, Head)>,
    ) {
        self.chains.extend(grown);
        self.chains.extend([(self.book.id.clone(), before)]);
        let Some(secret) = secret.filter(|secret| secret.pin() == anchored.secret) else {
            return self.report(Place::Entry(seq), "the secret of its anchor is not the one that it pins");
        };
        if (self.chains.count(), self.chains.root(&secret)) != (anchored.chains, anchored.root) {
            let what = "its root does not follow from the ledgers: one of them was rewritten since, or the anchor was";
            self.report(Place::Entry(seq), what);
        }
    }

    pub fn report(&mut self, place: Place, what: impl Into<String>) {
        self.verdict.findings.push(Finding { place, what: what.into() });
    }

    /// Ends the check: compares the book's snapshot with what its entries left.
    pub fn finish(mut self, snapshot: &str) -> AuditVerdict {
        self.verdict.head = self.book.head;
        if !self.is_broken() && serde_json::from_str::<Book>(snapshot).ok().as_ref() != Some(&self.book) {
            self.report(Place::Kept("the snapshot"), "it is not what the entries of the book left");
        }
        self.verdict
    }
}
