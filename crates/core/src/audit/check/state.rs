//! The check of one match in progress: the data read, the results of the entries so far, and the findings.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::columns::LedgerFacts;
use super::holders::{ExpectedDispatch, Holders, StoredDispatch, StoredSeat};
use super::play::Play;
use super::reader::{LedgerBatch, ParsedLetter, PendingEntry};
use crate::audit::{AuditVerdict, CheckSubject, Finding, Place};
use crate::game::{BySeat, Seat};
use crate::ledger::{Entry, Head, KeptPin, MailIdentity, PlaceInMatch, SealKey};
use crate::letter::{Digest, NewText};
use crate::referee::{HousePlayer, Match, MatchOverview};

/// The letters of a match that are permanently withheld, because a player was forgotten.
#[derive(Clone, Debug, Default)]
pub struct Withheld {
    /// The seats whose players were forgotten.
    pub seats: BTreeSet<Seat>,
    /// The Message-IDs of our letters whose bytes were deleted, each with the seat that it went to.
    pub sent: Vec<(String, Option<Seat>)>,
}

/// The match as it is stored beside its ledger.
#[derive(Clone, Debug)]
pub struct StoredMatch {
    pub id: String,
    /// The match as lists show it.
    pub overview: MatchOverview,
    pub wake_at: Option<DateTime<Utc>>,
    /// Time of its end, as lists show it. `None` until it is over.
    pub ended_at: Option<DateTime<Utc>>,
    /// The match as JSON.
    pub snapshot: String,
}

/// One of our letters, with the time at which it is stored as sent.
pub(super) struct SentLetter {
    pub(super) message_id: String,
    pub(super) sent_at: Option<DateTime<Utc>>,
}

impl SentLetter {
    pub(super) fn of(stored: &StoredDispatch) -> SentLetter {
        SentLetter { message_id: stored.message_id.clone(), sent_at: stored.sent_at }
    }
}

/// The letters of the last ruling. The next entry confirms their pins.
pub(super) enum Unconfirmed {
    /// The letters of the repeated ruling, in order. `None` for a missing letter, which has been reported.
    Repeated(Vec<Option<ExpectedDispatch>>),
    /// The letters of the ruling at `at` that ends with this entry, as far as the pins show.
    Unrepeated { head: Head, at: DateTime<Utc> },
}

/// The check of one match. The caller pushes what [`LedgerReader`] has read, in order.
///
/// Only entries and letters of pending rulings are held: memory grows with the longest ruling, the match
/// itself, and a few bytes for each turn and letter.
pub struct Check {
    pub(super) stored: StoredMatch,
    pub(super) snapshot: Option<Match>,
    /// The seats as they are stored now.
    pub(super) seats: BySeat<StoredSeat>,
    pub(super) holders: Holders,
    /// Our letters that no ruling has accounted for yet, by the part of the Message-ID that names the ruling.
    pub(super) dispatches: BTreeMap<String, StoredDispatch>,
    pub(super) head: Head,
    pub(super) pending: VecDeque<PendingEntry>,
    /// The letters that the pending entries name, each with its new text.
    pub(super) letters: BTreeMap<Digest, (ParsedLetter, NewText)>,
    /// The values of the entries so far that columns repeat.
    pub(super) facts: LedgerFacts,
    /// The letters that were ruled on, by the first bytes of their digests.
    pub(super) ruled_letters: BTreeSet<u64>,
    /// Times at which the match ended: more than one if it was corrected.
    pub(super) ends: Vec<DateTime<Utc>>,
    /// The entries that the game record depends on.
    pub(super) record_entries: Vec<Entry>,
    /// The match after the last ruling, if that was repeated.
    pub(super) current: Option<Match>,
    /// The play so far, if the last ruling was not repeated.
    pub(super) play: Option<Play>,
    /// Whether an entry records zone data of another edition than those in force.
    pub(super) has_other_zones: bool,
    /// The identity that the last entry that set it records.
    pub(super) identity: Option<MailIdentity>,
    /// Our letters whose delivery no entry has listed, by pin. `None` for a missing letter, which has been
    /// reported.
    pub(super) undelivered: BTreeMap<Digest, Option<SentLetter>>,
    pub(super) unconfirmed: Unconfirmed,
    pub(super) verdict: AuditVerdict,
    /// Derives the house's turns again, which takes as long as the first time. `None` accepts them as played.
    pub(super) house: Option<Arc<HousePlayer>>,
    /// The letters that are permanently withheld.
    pub(super) withheld: Withheld,
    /// The match as it was before each change of the procedure.
    pub(super) kept: Vec<String>,
    /// Turns of the house up to this entry are not derived again, because they were checked before.
    pub(super) checked_until: u64,
}

impl Check {
    /// Begins a check. `pins` are the kept pins of the seats. `house` derives the turns of the house again;
    /// without it they are accepted as played.
    pub fn new(
        stored: StoredMatch,
        seats: BySeat<StoredSeat>,
        pins: Vec<KeptPin>,
        house: Option<Arc<HousePlayer>>,
    ) -> Check {
        let snapshot = serde_json::from_str(&stored.snapshot).ok();
        let verdict = AuditVerdict::new(CheckSubject::Match(stored.id.clone()));
        let mut check = Check {
            stored,
            snapshot,
            seats,
            holders: Holders::new(pins),
            dispatches: BTreeMap::new(),
            head: Head::default(),
            pending: VecDeque::new(),
            letters: BTreeMap::new(),
            facts: LedgerFacts::default(),
            ruled_letters: BTreeSet::new(),
            ends: Vec::new(),
            record_entries: Vec::new(),
            current: None,
            play: None,
            has_other_zones: false,
            identity: None,
            undelivered: BTreeMap::new(),
            unconfirmed: Unconfirmed::Repeated(Vec::new()),
            verdict,
            house,
            withheld: Withheld::default(),
            kept: Vec::new(),
            checked_until: 0,
        };
        if check.snapshot.is_none() {
            check.report(Place::Kept("the snapshot"), "it cannot be read, so no ruling can be repeated");
        }
        check
    }

    /// Adds the next batch of the match.
    pub fn push_batch(&mut self, batch: LedgerBatch) {
        if self.is_stopped() {
            return;
        }
        let LedgerBatch { entries, letters, sent, broken } = batch;
        for dispatch in sent {
            self.push_dispatch(dispatch);
        }
        self.verdict.entries += entries.len() as u64;
        self.verdict.letters += letters.len() as u64;
        if let Some(last) = entries.last() {
            self.head = Head { seq: last.link.seq, hash: last.hash };
        }
        self.pending.extend(entries);
        self.letters.extend(letters);
        self.verdict.findings.extend(broken);
    }

    /// Sets the match as it was stored before each change of the procedure, from which rulings can be
    /// repeated.
    pub fn set_kept_snapshots(&mut self, kept: Vec<String>) {
        self.kept = kept;
    }

    /// Takes what the entries say that columns repeat.
    pub fn take_facts(&mut self) -> LedgerFacts {
        std::mem::take(&mut self.facts)
    }

    /// Returns the secret that the match began with, unless its snapshot cannot be read.
    pub fn first_key(&self) -> Option<SealKey> {
        self.snapshot.as_ref().map(|game_match| game_match.first_key().clone())
    }

    fn push_dispatch(&mut self, dispatch: StoredDispatch) {
        let Some(key) = self.first_key() else { return };
        let Some(PlaceInMatch { unique, .. }) = dispatch.place(&self.stored.id, &key) else {
            return self
                .report(Place::Sent(dispatch.message_id), "its Message-ID names no ruling of this match");
        };
        if let Some(twin) = self.dispatches.insert(unique.to_owned(), dispatch) {
            self.report(Place::Sent(twin.message_id), "another letter has the same place in its ruling");
        }
    }

    /// Whether a finding makes it impossible to judge later entries.
    pub fn is_stopped(&self) -> bool {
        self.verdict.findings.iter().any(|finding| !matches!(finding.place, Place::Sent(_)))
    }

    pub(super) fn report(&mut self, place: Place, what: impl Into<String>) {
        self.verdict.findings.push(Finding::at(place, what));
    }

    /// Returns the number of pending entries of the first ruling.
    pub(super) fn count_first(&self) -> usize {
        let Some(first) = self.pending.front().map(|first| first.link.seq) else { return 0 };
        1 + self.pending.iter().skip(1).take_while(|next| next.link.of == Some(first)).count()
    }

    /// Returns one of our letters as sent by the ruling that ends with this entry.
    pub(super) fn expect(&self, stored: StoredDispatch, head: Head, at: DateTime<Utc>) -> ExpectedDispatch {
        let key = self.first_key();
        let place = key.as_ref().and_then(|key| stored.place(&self.stored.id, key));
        ExpectedDispatch {
            token: place.map(|place| place.token.to_owned()).unwrap_or_default(),
            stored,
            // A placeholder, until the next entry confirms the digest.
            pin: head.hash,
            match_id: Arc::from(self.stored.id.as_str()),
            head,
            at,
            repeated: None,
            own_templates: Vec::new(),
        }
    }

    /// Notes which letters the club's own templates may have shaped.
    pub fn note_own_templates(&mut self, letters: &[ExpectedDispatch]) {
        for name in letters.iter().flat_map(|letter| &letter.own_templates) {
            *self.verdict.own_templates.entry(name.clone()).or_default() += 1;
        }
    }

    /// Returns the number of findings so far.
    pub fn finding_count(&self) -> usize {
        self.verdict.findings.len()
    }

    /// Sets the letters of the match that are permanently withheld. Its rulings are not repeated then.
    pub fn set_withheld(&mut self, withheld: Withheld) {
        self.withheld = withheld;
    }

    /// Accepts turns of the house up to this entry as played, because they were checked before.
    pub fn set_checked_until(&mut self, seq: u64) {
        self.checked_until = seq;
    }

    /// Records the results of comparing our letters. Inserts their findings at index `before`, so that all
    /// findings are in the order of the ledger.
    pub fn record_comparisons(&mut self, results: Vec<Result<(), Finding>>, before: usize) {
        self.verdict.sent += results.iter().filter(|result| result.is_ok()).count() as u64;
        let findings: Vec<Finding> = results.into_iter().filter_map(Result::err).collect();
        self.verdict.findings.splice(before..before, findings);
    }
}

/// Returns the first bytes of a digest, which are enough to distinguish the letters of one match.
pub(super) fn short(digest: &Digest) -> u64 {
    digest.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}
