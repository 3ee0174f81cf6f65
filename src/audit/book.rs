//! Checks a book: its chain, and what is stored beside it.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::check::LedgerRow;
use super::verdict::{AuditVerdict, Finding, Place};
use crate::club::{AnchorSecret, Anchored, Book, BookEntry, BookFact, Chains, LateDelivery};
use crate::ledger::{Delivery, Head};
use crate::letter::Digest;
use crate::report::pin::pin;

/// How far the clocks of several daemons may differ.
const CLOCKS_DIFFER_BY: TimeDelta = TimeDelta::minutes(15);

/// The check of one book. The caller pushes its entries in order.
pub struct BookCheck {
    /// The book as the entries so far left it.
    book: Book,
    /// Where the ledgers ended at the last anchor.
    chains: Chains,
    /// When the program had last checked the clock, and began its last audit, as entries say.
    heartbeat: Option<DateTime<Utc>>,
    audited: Option<DateTime<Utc>>,
    /// When players were forgotten, as entries say.
    forgotten: BTreeSet<DateTime<Utc>>,
    /// The letters whose bytes are gone, each with when its player is said to have been forgotten.
    gone: Vec<(String, DateTime<Utc>)>,
    /// When the first entry and the last anchor were made.
    pub began: Option<DateTime<Utc>>,
    pub anchored: Option<DateTime<Utc>>,
    verdict: AuditVerdict,
}

/// A letter that an entry of the book lists as delivered, as it is stored.
#[derive(Clone, Debug)]
pub struct StoredLate {
    pub match_id: Option<String>,
    pub message_id: String,
    pub pin: Option<Digest>,
    pub sent_at: Option<DateTime<Utc>>,
    /// When its player was forgotten.
    pub forgotten_at: Option<DateTime<Utc>>,
    /// `None` if the bytes are gone. Those of letters about a match are checked with the match.
    pub bytes: Option<Vec<u8>>,
}

impl BookCheck {
    /// `blank` is the book before its first entry.
    pub fn new(blank: Book) -> BookCheck {
        let verdict = AuditVerdict { match_id: blank.id.clone(), ..AuditVerdict::default() };
        BookCheck {
            book: blank,
            chains: Chains::default(),
            heartbeat: None,
            audited: None,
            forgotten: BTreeSet::new(),
            gone: Vec::new(),
            began: None,
            anchored: None,
            verdict,
        }
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
    pub fn push(&mut self, row: &LedgerRow) -> Option<BookEntry> {
        if self.is_broken() {
            return None;
        }
        match self.follow(row) {
            Ok(entry) => {
                self.verdict.entries += 1;
                self.book.follow(&entry, row.hash);
                self.note(&entry);
                Some(entry)
            }
            Err(what) => {
                self.report(Place::Entry(self.book.head.seq + 1), what);
                None
            }
        }
    }

    fn note(&mut self, entry: &BookEntry) {
        self.began.get_or_insert(entry.at);
        match &entry.fact {
            BookFact::Anchored(anchored) => {
                self.heartbeat = anchored.heartbeat;
                self.anchored = Some(entry.at);
            }
            BookFact::Audited { began, .. } => self.audited = Some(*began),
            BookFact::Forgotten { .. } => {
                self.forgotten.insert(entry.at);
            }
            BookFact::Delivered { .. } | BookFact::Verified(_) => {}
        }
    }

    fn follow(&self, row: &LedgerRow) -> Result<BookEntry, String> {
        let mut head = self.book.head;
        let entry: BookEntry = head.follow(&row.json, row.hash).map_err(|broken| broken.to_string())?;
        if entry.book != self.book.id {
            return Err(format!("it belongs to book {}", entry.book));
        }
        if (row.seq, row.at, row.kind.as_str()) != (entry.seq, entry.at, entry.fact.kind()) {
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

    /// Compares the letters that an entry lists as delivered with those that are stored for it.
    pub fn check_deliveries(&mut self, seq: u64, listed: &[LateDelivery], stored: Vec<StoredLate>) {
        let mut by_pin: BTreeMap<(Option<String>, Option<Digest>), StoredLate> = BTreeMap::new();
        for late in stored {
            by_pin.insert((late.match_id.clone(), late.pin), late);
        }
        for LateDelivery { match_id, delivery } in listed {
            match by_pin.remove(&(match_id.clone(), Some(delivery.letter))) {
                Some(late) => self.check_delivery(seq, delivery, late),
                None => self.report(Place::Entry(seq), "it lists a delivery of a letter that is not stored"),
            }
        }
        for late in by_pin.into_values() {
            let what = format!("it is stored as listed by CLUB #{seq}, which does not list it");
            self.report(Place::Sent(late.message_id), what);
        }
    }

    fn check_delivery(&mut self, seq: u64, delivery: &Delivery, late: StoredLate) {
        let is_plain = late.match_id.is_none();
        let what = match (late.bytes, late.forgotten_at) {
            _ if late.sent_at != Some(delivery.at) => {
                format!("it is not stored as sent when CLUB #{seq} says that it was")
            }
            (Some(bytes), _) if is_plain && pin(&bytes) != delivery.letter => "it was changed".to_owned(),
            (None, None) if is_plain => "its bytes are missing".to_owned(),
            // The entry about its player follows, if there is one.
            (None, Some(at)) if is_plain => return self.gone.push((late.message_id, at)),
            (Some(_) | None, _) => return,
        };
        self.report(Place::Sent(late.message_id), what);
    }

    /// Reports letters about no match that were sent, and whose delivery no entry lists.
    pub fn report_unlisted(&mut self, message_ids: Vec<String>) {
        for message_id in message_ids {
            self.report(
                Place::Sent(message_id),
                "no entry of the club's book lists its delivery: it was added",
            );
        }
    }

    /// Compares what the program remembers with the entries: when it last checked the clock, and began an audit.
    pub fn check_memory(
        &mut self,
        heartbeat: Option<DateTime<Utc>>,
        audited: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) {
        // If the clock was set back since, nothing can be said until that time comes again.
        let anchored = self.heartbeat.filter(|anchored| *anchored <= now);
        if anchored.is_some_and(|anchored| heartbeat.is_none_or(|heartbeat| heartbeat < anchored)) {
            self.report(
                Place::Kept("the heartbeat"),
                "it is older than the club's book says, so that an outage was made up",
            );
        } else if heartbeat.is_some_and(|heartbeat| heartbeat > now + CLOCKS_DIFFER_BY) {
            self.report(
                Place::Kept("the heartbeat"),
                "it is in the future, so that an outage would not show",
            );
        }
        if self.audited.is_some() && self.audited != audited {
            self.report(
                Place::Kept("the time of the last audit"),
                "it is not the one that the club's book holds",
            );
        }
    }

    /// Reports letters whose bytes are gone although nobody was forgotten at the time that is stored with them.
    fn report_gone(&mut self) {
        for (message_id, at) in std::mem::take(&mut self.gone) {
            if !self.forgotten.contains(&at) {
                let what =
                    "its bytes are missing, and no entry of the book says that a player was forgotten then";
                self.report(Place::Sent(message_id), what);
            }
        }
    }

    pub fn report(&mut self, place: Place, what: impl Into<String>) {
        self.verdict.findings.push(Finding { place, what: what.into() });
    }

    /// Ends the check: compares the book's snapshot with what its entries left.
    pub fn finish(mut self, snapshot: &str) -> AuditVerdict {
        self.verdict.head = self.book.head;
        if !self.is_broken() {
            if serde_json::from_str::<Book>(snapshot).ok().as_ref() != Some(&self.book) {
                self.report(Place::Kept("the snapshot"), "it is not what the entries of the book left");
            }
            self.report_gone();
        }
        self.verdict
    }
}
