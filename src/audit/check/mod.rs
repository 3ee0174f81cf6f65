//! Checks one match: its chain, its letters, and every ruling, which is repeated from them.

pub mod columns;
mod deadlines;
mod difference;
mod holders;
mod house;
mod named;
mod play;
pub(super) mod reader;
mod ruling;
mod stored;
mod unrepeated;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use self::columns::RuledLetters;
use self::holders::Holders;
pub use self::holders::StoredSeat;
use self::play::Play;
pub use self::reader::{LedgerBatch, LedgerReader, LedgerRow, ParsedLetter, StoredLetter};
use self::reader::{PendingEntry, ReadLetter};
pub use self::unrepeated::Withheld;
use super::expected::{ExpectedDispatch, StoredDispatch};
use super::verdict::{AuditVerdict, Finding, Place};
use crate::game::BySeat;
use crate::ledger::{Delivery, Entry, Fact, Head, KeptPin, MailIdentity, SealKey};
use crate::letter::Digest;
use crate::referee::{HousePlayer, Match, MatchOverview, Ruling};
use crate::report::envelope::{self, PlaceInMatch};

/// The match as it is stored beside its ledger.
#[derive(Clone, Debug)]
pub struct StoredMatch {
    pub id: String,
    /// The match as lists show it.
    pub overview: MatchOverview,
    pub wake_at: Option<DateTime<Utc>>,
    /// Time of its end, as lists show it. `None` while it is not over.
    pub ended_at: Option<DateTime<Utc>>,
    /// The match as JSON.
    pub snapshot: String,
}

/// One of our letters, with the time at which it is stored as sent.
struct SentLetter {
    message_id: String,
    sent_at: Option<DateTime<Utc>>,
}

impl SentLetter {
    fn of(stored: &StoredDispatch) -> SentLetter {
        SentLetter { message_id: stored.message_id.clone(), sent_at: stored.sent_at }
    }
}

/// The letters of the last ruling. The next entry confirms their pins.
enum Unconfirmed {
    /// The letters of the repeated ruling, in order. `None` for a missing letter, which has been reported.
    Repeated(Vec<Option<ExpectedDispatch>>),
    /// The letters of the ruling at `at` that ends with this entry, as far as the pins tell.
    Unrepeated { head: Head, at: DateTime<Utc> },
}

/// The check of one match. The caller pushes what [`LedgerReader`] has read, in order.
///
/// Only entries and letters of pending rulings are held: memory grows with the longest ruling, the match itself, and a
/// few bytes for each turn and letter.
pub struct Check {
    stored: StoredMatch,
    snapshot: Option<Match>,
    /// The seats as they are stored now.
    seats: BySeat<StoredSeat>,
    holders: Holders,
    /// Our letters that no ruling has accounted for yet, by the part of the Message-ID that names the ruling.
    dispatches: BTreeMap<String, StoredDispatch>,
    head: Head,
    pending: VecDeque<PendingEntry>,
    letters: BTreeMap<Digest, ReadLetter>,
    /// The letters that the entries so far rule on, to be compared with lists.
    listed: RuledLetters,
    /// The letters that were ruled on, by the first bytes of their digests.
    ruled_letters: BTreeSet<u64>,
    /// Times at which the match ended: more than one if it was corrected.
    ends: Vec<DateTime<Utc>>,
    /// The entries that the game record depends on.
    record_entries: Vec<Entry>,
    /// The match after the last ruling, if that was repeated.
    current: Option<Match>,
    /// The play so far, if the last ruling was not repeated.
    play: Option<Play>,
    /// The identity that the last entry that set it records.
    identity: Option<MailIdentity>,
    /// Our letters whose delivery no entry has listed, by pin. `None` for a missing letter, which has been reported.
    undelivered: BTreeMap<Digest, Option<SentLetter>>,
    unconfirmed: Unconfirmed,
    verdict: AuditVerdict,
    /// Finds the house's turns again, which takes as long as it took the first time. `None`: they are accepted as played.
    house: Option<Arc<HousePlayer>>,
    /// The letters that are withheld for good.
    withheld: Withheld,
    /// The match as it was before each change of the procedure.
    kept: Vec<String>,
    /// Turns of the house up to this entry are not found again: they were checked before.
    checked_until: u64,
}

impl Check {
    /// `pins` are the kept pins of the seats. `house` finds the turns of the house again; without it they are accepted as
    /// they were played.
    pub fn new(
        stored: StoredMatch,
        seats: BySeat<StoredSeat>,
        pins: Vec<KeptPin>,
        house: Option<Arc<HousePlayer>>,
    ) -> Check {
        let snapshot = serde_json::from_str(&stored.snapshot).ok();
        let verdict = AuditVerdict { match_id: stored.id.clone(), ..AuditVerdict::default() };
        let mut check = Check {
            stored,
            snapshot,
            seats,
            holders: Holders::new(pins),
            dispatches: BTreeMap::new(),
            head: Head::default(),
            pending: VecDeque::new(),
            letters: BTreeMap::new(),
            listed: RuledLetters::default(),
            ruled_letters: BTreeSet::new(),
            ends: Vec::new(),
            record_entries: Vec::new(),
            current: None,
            play: None,
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

    /// The match as it was stored before each change of the procedure: rulings can be repeated from there.
    pub fn set_kept_snapshots(&mut self, kept: Vec<String>) {
        self.kept = kept;
    }

    /// Takes the letters that the entries rule on, to be compared with lists.
    pub fn take_listed(&mut self) -> RuledLetters {
        std::mem::take(&mut self.listed)
    }

    /// The secret that the match began with, unless its snapshot cannot be read.
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

    /// Whether a finding makes it impossible to judge what follows.
    pub fn is_stopped(&self) -> bool {
        self.verdict.findings.iter().any(|finding| !matches!(finding.place, Place::Sent(_)))
    }

    fn report(&mut self, place: Place, what: impl Into<String>) {
        self.verdict.findings.push(Finding { place, what: what.into() });
    }

    /// Repeats the pending rulings whose entries are complete, or all of them `at_end`. Returns the letters that
    /// rulings must have sent and whose digests are known: from the next entry or, `at_end`, from the snapshot.
    pub fn rule_pending(&mut self, at_end: bool) -> Vec<ExpectedDispatch> {
        let mut expected = Vec::new();
        while !self.is_stopped() && (at_end && !self.pending.is_empty() || self.first_is_complete()) {
            self.repeat_ruling(&mut expected);
        }
        if at_end && !self.is_stopped() {
            // No entry confirms the letters of the last ruling yet; the snapshot does.
            let told = self.snapshot.as_ref().map(|game_match| game_match.told.clone()).unwrap_or_default();
            if !self.confirm(&told, &mut expected) {
                let what = "its field told does not list the letters of the last ruling";
                self.report(Place::Kept("the snapshot"), what);
            }
        }
        let named: BTreeSet<Digest> = self.pending.iter().flat_map(|entry| entry.letters.clone()).collect();
        self.letters.retain(|digest, _| named.contains(digest));
        expected
    }

    /// Whether an entry of another ruling follows those of the first.
    fn first_is_complete(&self) -> bool {
        self.count_first() < self.pending.len()
    }

    /// The number of pending entries of the first ruling.
    fn count_first(&self) -> usize {
        let Some(first) = self.pending.front().map(|first| first.link.seq) else { return 0 };
        1 + self.pending.iter().skip(1).take_while(|next| next.link.of == Some(first)).count()
    }

    /// Moves the letters of the last ruling to `expected`, with these digests. Returns whether their number is right.
    fn confirm(&mut self, told: &[Digest], expected: &mut Vec<ExpectedDispatch>) -> bool {
        let unconfirmed = std::mem::replace(&mut self.unconfirmed, Unconfirmed::Repeated(Vec::new()));
        let sent = match unconfirmed {
            Unconfirmed::Repeated(sent) if sent.len() == told.len() => sent,
            Unconfirmed::Repeated(_) => return false,
            Unconfirmed::Unrepeated { head, at } => self.sent_by(head, at, told.len()),
        };
        for (dispatch, told) in sent.into_iter().zip(told) {
            let stored = dispatch.as_ref().map(|dispatch| SentLetter::of(&dispatch.stored));
            self.undelivered.insert(*told, stored);
            // A missing letter has already been reported.
            let Some(dispatch) = dispatch else { continue };
            expected.push(ExpectedDispatch { told: *told, ..dispatch });
        }
        if let Some(game_match) = &mut self.current {
            game_match.told = told.to_vec();
        }
        true
    }

    /// Repeats the ruling on the first pending entry, and compares all its entries. A ruling that cannot be repeated is
    /// checked as far as its entries and letters tell.
    fn repeat_ruling(&mut self, expected: &mut Vec<ExpectedDispatch>) {
        let Some(first) = self.pending.front() else { return };
        let (seq, at, told) = (first.link.seq, first.link.at, first.link.told.clone());
        if !self.confirm(&told, expected) {
            let what = "its field told does not list the letters of the previous ruling";
            return self.report(Place::Entry(seq), what);
        }
        self.note_deliveries(seq);
        if self.is_stopped() {
            return;
        }
        if let Some(why) = self.unrepeated() {
            return self.check_unrepeated(why, at);
        }
        let mut ruling = match self.ruling() {
            Ok(ruling) => ruling,
            Err(finding) => return self.verdict.findings.push(finding),
        };
        let Some(last) = ruling.entries.len().checked_sub(1) else {
            return self.report(Place::Entry(seq), "nothing in the match causes it: it was inserted");
        };
        // If the last hash matches, so does every byte of the entries before it.
        let recorded = self.pending.get(last).map(|last| last.hash);
        if recorded != Some(ruling.after.head.hash) {
            self.adopt_recorded_deadlines(&mut ruling);
        }
        if recorded != Some(ruling.after.head.hash) {
            return self.report_difference(&ruling);
        }
        self.pending.drain(..=last);
        self.note_entries(ruling.entries.iter().map(|chained| &chained.entry));
        if self.is_stopped() {
            return;
        }
        self.unconfirmed = Unconfirmed::Repeated(self.dispatches_of(&ruling, at));
        self.current = Some(ruling.after);
    }

    /// Notes what later rulings depend on, and compares the letters and pins that the entries of a ruling name.
    fn note_entries<'a>(&mut self, entries: impl Iterator<Item = &'a Entry> + Clone) {
        for entry in entries.clone() {
            if matches!(entry.fact, Fact::MatchEnded { .. }) {
                self.ends.push(entry.at);
            }
            if let Fact::MatchOpened { desk, .. } | Fact::DeskSet { desk, .. } = &entry.fact {
                self.identity = Some((**desk).clone());
            }
            self.note_holders(entry);
            self.listed.note(entry);
        }
        for entry in entries.clone() {
            self.check_named_letters(entry);
        }
        self.record_entries.extend(entries.filter(|entry| is_of_record(&entry.fact)).cloned());
    }

    /// Compares the deliveries that the first pending entry lists with the stored ones, and gives them to the match.
    fn note_deliveries(&mut self, seq: u64) {
        let Some(first) = self.pending.front() else { return };
        let delivered = first.link.delivered.clone();
        for Delivery { letter, at, how: _ } in &delivered {
            match self.undelivered.remove(letter) {
                None => self
                    .report(Place::Entry(seq), "it lists the delivery of a letter that was not sent before"),
                Some(Some(SentLetter { message_id, sent_at })) if sent_at != Some(*at) => {
                    let what = format!("it is not stored as sent when entry #{seq} says that it was");
                    self.report(Place::Sent(message_id), what);
                }
                Some(_) => {}
            }
        }
        if let Some(game_match) = &mut self.current {
            game_match.delivered = delivered;
        }
    }

    /// The letters that a ruling must have sent, each with the stored one, or `None` if that is missing.
    fn dispatches_of(&mut self, ruling: &Ruling, at: DateTime<Utc>) -> Vec<Option<ExpectedDispatch>> {
        let game_match = Arc::new(ruling.after.clone());
        let own_templates: Vec<String> = game_match.own_templates().into_keys().collect();
        let mut expected = Vec::new();
        for (index, dispatch) in ruling.dispatches.iter().enumerate() {
            let unique = envelope::unique_part(&game_match, index);
            let Some(stored) = self.dispatches.remove(&unique) else {
                let kind = envelope::kind(&dispatch.content);
                let what = format!("it is missing: entry #{} caused this {kind}", game_match.head.seq);
                self.report(Place::Sent(unique), what);
                expected.push(None);
                continue;
            };
            let mut dispatch = ExpectedDispatch {
                repeated: Some((Arc::clone(&game_match), dispatch.clone())),
                ..self.expect(stored, game_match.head, at)
            };
            if dispatch.stored.seat.is_some() {
                dispatch.own_templates.clone_from(&own_templates);
            }
            self.check_recipient(&dispatch);
            expected.push(Some(dispatch));
        }
        expected
    }

    /// One of our letters, sent by the ruling that ends with this entry.
    fn expect(&self, stored: StoredDispatch, head: Head, at: DateTime<Utc>) -> ExpectedDispatch {
        let key = self.first_key();
        let place = key.as_ref().and_then(|key| stored.place(&self.stored.id, key));
        ExpectedDispatch {
            token: place.map(|place| place.token.to_owned()).unwrap_or_default(),
            stored,
            // A placeholder, until the next entry confirms the digest.
            told: head.hash,
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

    /// The number of findings so far.
    pub fn finding_count(&self) -> usize {
        self.verdict.findings.len()
    }

    /// Checks that entries name these letters, which are stored as ruled on in this match. Call it after the last
    /// entry.
    pub fn check_acted_letters(&mut self, acted: &[Digest]) {
        if self.is_stopped() {
            return;
        }
        for digest in acted.iter().filter(|digest| !self.ruled_letters.contains(&short(digest))) {
            let what = "it is stored as ruled on in this match, but no entry names it".to_owned();
            self.verdict.findings.push(Finding { place: Place::Letter(*digest), what });
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
        self.check_seats();
        self.check_stored_match();
        self.verdict
    }
}

/// Whether the game record depends on the fact.
fn is_of_record(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::MatchOpened { .. }
            | Fact::TurnAdjudicated { .. }
            | Fact::MatchClosed { .. }
            | Fact::CorrectionMade { .. }
            | Fact::ConditionsSealed { .. }
            | Fact::ConditionsWithdrawn { .. }
            | Fact::ConditionsFollowed { .. }
            | Fact::PlayerRenamed { .. }
            | Fact::PlayerReplaced { .. }
    )
}

/// The first bytes of a digest, which are enough to distinguish the letters of one match.
fn short(digest: &Digest) -> u64 {
    digest.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}
