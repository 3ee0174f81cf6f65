//! Checks one match: its chain, its letters, and every ruling, which is repeated from them.

mod anchors;
pub mod columns;
mod difference;
mod holders;
mod house;
pub(super) mod reader;
mod reading;
mod ruling;
mod stored;
mod verified;
mod wording;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use self::holders::Holders;
pub use self::holders::StoredSeat;
pub use self::reader::{LedgerBatch, LedgerReader, LedgerRow, ParsedLetter, StoredLetter};
use self::reader::{PendingEntry, ReadLetter};
use self::ruling::Repeated;
pub use self::verified::VerifiedEntry;
use super::expected::{ExpectedDispatch, StoredDispatch};
use super::verdict::{AuditVerdict, Finding, Place};
use crate::game::{BySeat, Seat};
use crate::ledger::{
    self, Anchor, Delivery, Entry, Fact, Head, KeptPin, LedgerForm, Link, MailIdentity, SealKey, Source,
};
use crate::letter::{Digest, Letter};
use crate::referee::{DispatchKind, EarlierOrders, HousePlayer, Match, MatchOverview, Ruling, Stage};
use crate::report::envelope::{self, AnsweredLetter, PlaceInMatch};

/// The match as it is stored beside its ledger.
#[derive(Clone, Debug)]
pub struct StoredMatch {
    pub id: String,
    /// The match as lists show it.
    pub overview: MatchOverview,
    pub wake_at: Option<DateTime<Utc>>,
    /// When it ended, as lists show it. `None` while it is not over.
    pub ended_at: Option<DateTime<Utc>>,
    /// The match as JSON.
    pub snapshot: String,
}

/// When one of our letters is stored as sent.
struct SentLetter {
    message_id: String,
    sent_at: Option<DateTime<Utc>>,
}

impl SentLetter {
    fn of(stored: &StoredDispatch) -> SentLetter {
        SentLetter { message_id: stored.message_id.clone(), sent_at: stored.sent_at }
    }
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
    /// For each reply token, its seat and the addresses that may use it.
    tokens: BTreeMap<String, (Seat, BTreeSet<String>)>,
    /// Our letters that no ruling has accounted for yet, by the part of the Message-ID that names the ruling.
    dispatches: BTreeMap<String, StoredDispatch>,
    /// The Message-IDs of the reports so far, by seat.
    report_ids: BySeat<Vec<String>>,
    head: Head,
    pending: VecDeque<PendingEntry>,
    letters: BTreeMap<Digest, ReadLetter>,
    /// The letters that were ruled on, by the first bytes of their digests.
    ruled_letters: BTreeSet<u64>,
    /// When the match ended: more than once if it was corrected.
    ends: Vec<DateTime<Utc>>,
    /// The orders that each seat sent so far.
    earlier: BySeat<Vec<EarlierOrders>>,
    /// The entries that the game record depends on.
    record_entries: Vec<Entry>,
    current: Option<Match>,
    /// By pin, our letters whose delivery no entry has listed. `None` for a missing letter, which has been reported.
    undelivered: BTreeMap<Digest, Option<SentLetter>>,
    /// The letters of the last ruling, in order. The next entry confirms their digests.
    unconfirmed: Vec<Option<ExpectedDispatch>>,
    verdict: AuditVerdict,
    /// Finds the house's turns again, which takes as long as it took the first time. `None`: they are accepted as played.
    house: Option<Arc<HousePlayer>>,
    /// What words letters today.
    current_identity: MailIdentity,
    /// The anchors of the club's book. `None` for a match that another club refereed.
    club_anchors: Option<Vec<Anchor>>,
    /// What the club's book says was verified, by the numbers of the entries.
    verified: Vec<VerifiedEntry>,
    /// The deliveries after the end that the club's book lists.
    late: Vec<Delivery>,
    /// What other versions made up to this entry is not counted, and turns of the house are not found again: it was checked
    /// before.
    checked_until: u64,
}

impl Check {
    /// `pins` are the kept pins of the seats. In ledgers that pin no seats, earlier addresses of the players are taken from
    /// the letters that were sent to them. Rulings that another version of this program made than the one of
    /// `current_identity` may explain refusals in other sentences. `house` finds the turns of the house again; without it
    /// they are accepted as they were played.
    pub fn new(
        stored: StoredMatch,
        seats: BySeat<StoredSeat>,
        pins: Vec<KeptPin>,
        current_identity: MailIdentity,
        house: Option<Arc<HousePlayer>>,
    ) -> Check {
        let snapshot = serde_json::from_str(&stored.snapshot).ok();
        let verdict = AuditVerdict { match_id: stored.id.clone(), ..AuditVerdict::default() };
        let mut check = Check {
            stored,
            snapshot,
            seats,
            holders: Holders::new(pins),
            tokens: BTreeMap::new(),
            dispatches: BTreeMap::new(),
            report_ids: BySeat::default(),
            head: Head::default(),
            pending: VecDeque::new(),
            letters: BTreeMap::new(),
            ruled_letters: BTreeSet::new(),
            ends: Vec::new(),
            earlier: BySeat::default(),
            record_entries: Vec::new(),
            current: None,
            undelivered: BTreeMap::new(),
            unconfirmed: Vec::new(),
            verdict,
            house,
            current_identity,
            club_anchors: None,
            verified: Vec::new(),
            late: Vec::new(),
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
        for entry in &entries {
            self.compare_verified(entry.link.seq, entry.hash);
        }
        if let Some(last) = entries.last() {
            self.head = Head { seq: last.link.seq, hash: last.hash };
        }
        self.pending.extend(entries);
        self.letters.extend(letters);
        self.verdict.findings.extend(broken);
    }

    /// The secret that the match began with, unless its snapshot cannot be read.
    pub fn first_key(&self) -> Option<SealKey> {
        self.snapshot.as_ref().map(|game_match| game_match.first_key().clone())
    }

    fn push_dispatch(&mut self, dispatch: StoredDispatch) {
        let Some(key) = self.first_key() else { return };
        let Some(PlaceInMatch { token, unveiled: ruling, .. }) = dispatch.place(&self.stored.id, &key) else {
            return self
                .report(Place::Sent(dispatch.message_id), "its Message-ID names no ruling of this match");
        };
        if let Some(seat) = dispatch.seat {
            let (_, addresses) = self
                .tokens
                .entry(token.to_owned())
                .or_insert_with(|| (seat, self.seats[seat].addresses.iter().cloned().collect()));
            addresses.insert(dispatch.recipient.to_ascii_lowercase());
        }
        if let Some(twin) = self.dispatches.insert(ruling, dispatch) {
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
            if !self.confirm(&told, true, &mut expected) {
                let what = "its field told does not list the letters of the last ruling";
                self.report(Place::Kept("the snapshot"), what);
            }
        }
        let pending = &self.pending;
        self.letters.retain(|digest, _| {
            pending.iter().any(|entry| matches!(entry.link.cause, Source::Letter(cause) if cause == *digest))
        });
        expected
    }

    /// Whether an entry with another cause follows those of the first ruling.
    fn first_is_complete(&self) -> bool {
        self.first_group().count() < self.pending.len()
    }

    /// The pending entries with the same cause as the first.
    fn first_group(&self) -> impl Iterator<Item = &Link> {
        let first = self.pending.front().map(|first| &first.link);
        let links = self.pending.iter().map(|entry| &entry.link);
        links.take_while(move |next| {
            first.is_some_and(|first| next.cause == first.cause && next.at == first.at)
        })
    }

    /// Moves the letters of the last ruling to `expected`, with these digests. Returns whether their number is right.
    fn confirm(&mut self, told: &[Digest], last: bool, expected: &mut Vec<ExpectedDispatch>) -> bool {
        if told.len() != self.unconfirmed.len() {
            return false;
        }
        for (dispatch, told) in std::mem::take(&mut self.unconfirmed).into_iter().zip(told) {
            let stored = dispatch.as_ref().map(|dispatch| SentLetter::of(&dispatch.stored));
            self.undelivered.insert(*told, stored);
            // A missing letter has already been reported.
            let Some(dispatch) = dispatch else { continue };
            expected.push(ExpectedDispatch { told: *told, last, ..dispatch });
        }
        if let Some(game_match) = &mut self.current {
            game_match.told = told.to_vec();
        }
        true
    }

    /// Repeats the ruling on the first pending entry, and compares all its entries.
    fn repeat_ruling(&mut self, expected: &mut Vec<ExpectedDispatch>) {
        let Some(first) = self.pending.front() else { return };
        let (seq, at, told) = (first.link.seq, first.link.at, first.link.told.clone());
        if !self.confirm(&told, false, expected) {
            let what = "its field told does not list the letters of the previous ruling";
            return self.report(Place::Entry(seq), what);
        }
        self.note_deliveries(seq);
        self.note_anchor(seq);
        if self.is_stopped() {
            return;
        }
        let Repeated { mut ruling, letter, is_as_recorded } = match self.ruling() {
            Ok(repeated) => repeated,
            Err(finding) => return self.verdict.findings.push(finding),
        };
        let Some(last) = ruling.entries.len().checked_sub(1) else {
            return self.report(Place::Entry(seq), "nothing in the match causes it: it was inserted");
        };
        // If the last hash matches, so does every byte of the entries before it.
        let recorded = self.pending.get(last).map(|last| last.hash);
        let is_derived = !is_as_recorded && recorded == Some(ruling.after.head.hash);
        if recorded != Some(ruling.after.head.hash) {
            self.adopt_recorded_words(&mut ruling);
        }
        self.drop_unsent_words(&mut ruling);
        if recorded != Some(ruling.after.head.hash) {
            return self.report_difference(&ruling);
        }
        if !is_derived {
            self.note_ruling_of_another_version(seq);
        }
        self.note_hint(&ruling);
        self.pending.drain(..=last);
        for chained in &ruling.entries {
            if let Some((seat, orders)) = EarlierOrders::of(&chained.entry.fact) {
                self.earlier[seat].push(orders);
            }
            if matches!(chained.entry.fact, Fact::MatchEnded { .. }) {
                self.ends.push(chained.entry.at);
            }
        }
        self.note_holders(&ruling);
        if self.is_stopped() {
            return;
        }
        let entries = ruling.entries.iter().map(|chained| &chained.entry);
        self.record_entries.extend(entries.filter(|entry| is_of_record(&entry.fact)).cloned());
        self.unconfirmed = self.dispatches_of(&ruling, letter.as_deref(), at);
        self.current = Some(ruling.after);
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
    fn dispatches_of(
        &mut self,
        ruling: &Ruling,
        letter: Option<&Letter>,
        at: DateTime<Utc>,
    ) -> Vec<Option<ExpectedDispatch>> {
        if ruling.dispatches.is_empty() {
            return Vec::new();
        }
        let game_match = Arc::new(ruling.after.clone());
        let has_ended =
            ruling.entries.iter().any(|chained| matches!(chained.entry.fact, Fact::MatchEnded { .. }));
        let record = if has_ended { ledger::record(&self.record_entries) } else { None };
        let record = record.map(|record| record.to_string());
        let is_part =
            ruling.entries.iter().any(|chained| matches!(chained.entry.fact, Fact::LetterPartRead { .. }));
        let was_over = self.current.as_ref().is_some_and(|before| before.stage == Stage::Over);
        let mut expected = Vec::new();
        for (index, dispatch) in ruling.dispatches.iter().enumerate() {
            let unique = envelope::unveiled_part(&game_match, index);
            let Some(stored) = self.dispatches.remove(&unique) else {
                let kind = envelope::kind(&dispatch.content);
                let what = format!("it is missing: entry #{} caused this {kind}", game_match.head.seq);
                self.report(Place::Sent(unique), what);
                expected.push(None);
                continue;
            };
            let mut dispatch = ExpectedDispatch {
                stored,
                // A placeholder, until the next entry confirms the digest.
                told: game_match.head.hash,
                last: false,
                game_match: Arc::clone(&game_match),
                dispatch: dispatch.clone(),
                at,
                answered: letter.map(AnsweredLetter::new),
                record: record.clone(),
                answers_part: is_part && dispatch.content.answer().is_some(),
                earlier_reports: Vec::new(),
            };
            if let Some(seat) = dispatch.stored.seat {
                let report_ids = &mut self.report_ids[seat];
                if dispatch.repeats_reports() {
                    dispatch.earlier_reports.clone_from(report_ids);
                }
                if dispatch.stored.kind == DispatchKind::Report {
                    report_ids.push(dispatch.stored.message_id.clone());
                }
            }
            self.check_recipient(&dispatch, was_over);
            expected.push(Some(dispatch));
        }
        expected
    }

    /// Notes which letters the club's own templates may have shaped.
    pub fn note_own_templates(&mut self, letters: &[ExpectedDispatch]) {
        for name in letters.iter().flat_map(ExpectedDispatch::own_templates) {
            *self.verdict.own_templates.entry(name).or_default() += 1;
        }
    }

    /// Notes that letters cannot be worded again, because what worded them is not kept. Ledgers of the first form come from
    /// versions that kept no wordings.
    pub fn note_missing_wordings(&mut self, letters: &[ExpectedDispatch], is_kept: impl Fn(Digest) -> bool) {
        let mut letters = letters.iter().filter(|letter| letter.game_match.form >= LedgerForm::Contents);
        if letters.any(|letter| !is_kept(letter.wording())) {
            let what = "the templates that some letters were worded with are not kept, so these were not worded again";
            self.verdict.unable = Some(what.to_owned());
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
        self.check_late();
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
