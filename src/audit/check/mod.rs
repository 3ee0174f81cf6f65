//! The check of one match: the chain, the letters, and every ruling made once more from what they say.

mod difference;
mod reader;
mod ruling;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use self::difference::differing_json;
use self::reader::ReadLetter;
pub use self::reader::{LedgerBatch, LedgerReader, LedgerRow, ParsedLetter, StoredDispatch};
use super::{AuditVerdict, ExpectedDispatch, Finding, Place};
use crate::game::any::GameKind;
use crate::game::{BySeat, Seat};
use crate::ledger::{self, Entry, Fact, Head, Link, Source};
use crate::letter::{Digest, Letter, Limits};
use crate::referee::{DispatchKind, Match, Ruling, Stage};
use crate::report::envelope::{self, AnsweredLetter};

/// The match as it is kept beside its ledger.
#[derive(Clone, Debug)]
pub struct StoredMatch {
    pub id: String,
    pub game: GameKind,
    pub stage: Stage,
    pub wake_at: Option<DateTime<Utc>>,
    /// As JSON.
    pub snapshot: String,
}

/// An entry that waits to be made again.
struct PendingEntry {
    link: Link,
    json: String,
    hash: Digest,
}

/// The check of one match, fed with what [`LedgerReader`] has read of it, in order.
///
/// What waits to be ruled on again is held, and nothing else: memory grows with the longest ruling, with what the
/// match itself remembers, and by some bytes for each turn and each letter.
pub struct Check {
    kept: StoredMatch,
    snapshot: Option<Match>,
    /// The addresses of the players today.
    addresses: BySeat<Vec<String>>,
    /// Whose letters bear a token, and from which addresses, by what was sent to each seat.
    tokens: BTreeMap<String, (Seat, BTreeSet<String>)>,
    /// What was sent, by the part of the Message-ID that names the ruling; taken out once it is expected.
    sent: BTreeMap<String, StoredDispatch>,
    /// The Message-IDs of reports until now, by seat.
    reports: [Vec<String>; 2],
    head: Head,
    waiting: VecDeque<PendingEntry>,
    letters: BTreeMap<Digest, ReadLetter>,
    /// The letters that were ruled on, by the beginning of their digests.
    ruled: BTreeSet<u64>,
    /// Entries that the record follows from.
    record: Vec<Entry>,
    now: Option<Match>,
    /// What the last ruling brought, each letter by its place; the next entry tells their digests.
    brought: Vec<Option<ExpectedDispatch>>,
    verdict: AuditVerdict,
    /// Whether the house is asked for each of its turns again.
    pub replays_house_turns: bool,
}

/// Nothing is too big to be read a second time.
const NO_LIMITS: Limits = Limits {
    max_bytes: usize::MAX,
    max_header_bytes: usize::MAX,
    max_parts: usize::MAX / 4,
    max_nesting: 1000,
    max_lines: usize::MAX,
};

impl Check {
    /// `addresses` are those of the players today, beside the ones that were written to.
    pub fn new(kept: StoredMatch, addresses: BySeat<Vec<String>>) -> Check {
        let snapshot = serde_json::from_str(&kept.snapshot).ok();
        let verdict = AuditVerdict { match_id: kept.id.clone(), ..AuditVerdict::default() };
        let mut check = Check {
            kept,
            snapshot,
            addresses,
            tokens: BTreeMap::new(),
            sent: BTreeMap::new(),
            reports: [Vec::new(), Vec::new()],
            head: Head::default(),
            waiting: VecDeque::new(),
            letters: BTreeMap::new(),
            ruled: BTreeSet::new(),
            record: Vec::new(),
            now: None,
            brought: Vec::new(),
            verdict,
            replays_house_turns: true,
        };
        if check.snapshot.is_none() {
            check.wrong(Place::Kept("the snapshot"), "it cannot be read; nothing can be ruled on again");
        }
        check
    }

    /// Takes what was read of the match next.
    pub fn push_batch(&mut self, read: LedgerBatch) {
        let LedgerBatch { entries, letters, sent, broken } = read;
        if self.is_stopped() {
            return;
        }
        self.take_sent(sent);
        self.verdict.entries += entries.len() as u64;
        self.verdict.letters += letters.len() as u64;
        if let Some(last) = entries.last() {
            self.head = Head { seq: last.link.seq, hash: last.hash };
        }
        self.waiting.extend(entries);
        self.letters.extend(letters);
        self.verdict.findings.extend(broken);
    }

    fn take_sent(&mut self, sent: Vec<StoredDispatch>) {
        for letter in sent {
            let Some((token, ruling, _)) = letter.ruling(&self.kept.id) else {
                self.wrong(Place::Sent(letter.message_id), "it is on no ruling's account");
                continue;
            };
            if let Some(seat) = letter.seat {
                let addresses = &self.addresses[seat];
                let known = self.tokens.entry(token.to_owned());
                let known = known.or_insert_with(|| (seat, addresses.iter().cloned().collect()));
                known.1.insert(letter.recipient.to_lowercase());
            }
            if let Some(twice) = self.sent.insert(ruling.to_owned(), letter) {
                self.wrong(Place::Sent(twice.message_id), "another letter of ours stands in the same place");
            }
        }
    }

    /// Whether a fault was found after which nothing that follows can be judged.
    pub fn is_stopped(&self) -> bool {
        self.verdict.findings.iter().any(|finding| !matches!(finding.place, Place::Sent(_)))
    }

    fn wrong(&mut self, place: Place, what: impl Into<String>) {
        self.verdict.findings.push(Finding { place, what: what.into() });
    }

    /// Rules again on what waits, and gives the letters that come of it; at the end, on all of it.
    pub fn rule_pending(&mut self, at_end: bool) -> Vec<ExpectedDispatch> {
        let mut expected = Vec::new();
        while !self.is_stopped() && (at_end && !self.waiting.is_empty() || self.first_is_whole()) {
            self.rule_once(&mut expected);
        }
        if at_end && !self.is_stopped() {
            // Of what the last ruling brought no entry tells yet.
            let told = self.snapshot.as_ref().map(|game_match| game_match.told.clone()).unwrap_or_default();
            if !self.is_told(&told, true, &mut expected) {
                self.wrong(Place::Kept("the snapshot"), "told is not what the last ruling brought");
            }
        }
        let waiting = &self.waiting;
        self.letters.retain(|digest, _| {
            waiting.iter().any(|one| matches!(one.link.cause, Source::Letter(cause) if cause == *digest))
        });
        expected
    }

    /// Whether an entry of another cause waits behind those of the first.
    fn first_is_whole(&self) -> bool {
        self.group().count() < self.waiting.len()
    }

    /// The entries at the front that have one cause.
    fn group(&self) -> impl Iterator<Item = &Link> {
        let first = self.waiting.front().map(|first| &first.link);
        let links = self.waiting.iter().map(|waiting| &waiting.link);
        links.take_while(move |next| {
            first.is_some_and(|first| next.cause == first.cause && next.at == first.at)
        })
    }

    /// What the last ruling brought is now expected by these digests; false if there are more or fewer.
    fn is_told(&mut self, told: &[Digest], last: bool, expected: &mut Vec<ExpectedDispatch>) -> bool {
        if told.len() != self.brought.len() {
            return false;
        }
        let brought = std::mem::take(&mut self.brought).into_iter().zip(told);
        let letters =
            brought.filter_map(|(letter, told)| Some(ExpectedDispatch { told: *told, last, ..letter? }));
        expected.extend(letters);
        self.now.iter_mut().for_each(|game_match| game_match.told = told.to_vec());
        true
    }

    fn rule_once(&mut self, expected: &mut Vec<ExpectedDispatch>) {
        let Some(first) = self.waiting.front() else { return };
        let (seq, at, told) = (first.link.seq, first.link.at, first.link.told.clone());
        if !self.is_told(&told, false, expected) {
            return self.wrong(Place::Entry(seq), "told is not what was sent before it");
        }
        let (ruling, letter) = match self.ruling() {
            Ok(ruled) => ruled,
            Err(finding) => return self.verdict.findings.push(finding),
        };
        let Some(last) = ruling.entries.len().checked_sub(1) else {
            return self.wrong(Place::Entry(seq), "nothing in the match leads to it: it was added");
        };
        // Where the last hash is right, so is every byte of all entries before it.
        if self.waiting.get(last).map(|last| last.hash) != Some(ruling.after.head.hash) {
            return self.name_difference(&ruling);
        }
        self.waiting.drain(..=last);
        let of_record = ruling.entries.iter().map(|chained| &chained.entry).filter(|entry| {
            matches!(
                entry.fact,
                Fact::MatchOpened { .. }
                    | Fact::TurnAdjudicated { .. }
                    | Fact::MatchClosed { .. }
                    | Fact::CorrectionMade { .. }
                    | Fact::PlayerRenamed { .. }
                    | Fact::PlayerReplaced { .. }
            )
        });
        self.record.extend(of_record.cloned());
        self.brought = self.letters_of(&ruling, letter.as_deref(), at);
        self.now = Some(ruling.after);
    }

    /// The letters that a ruling brought, each with the one that is kept.
    fn letters_of(
        &mut self,
        ruling: &Ruling,
        letter: Option<&Letter>,
        at: DateTime<Utc>,
    ) -> Vec<Option<ExpectedDispatch>> {
        if ruling.dispatches.is_empty() {
            return Vec::new();
        }
        let game_match = Arc::new(ruling.after.clone());
        let ended =
            ruling.entries.iter().any(|chained| matches!(chained.entry.fact, Fact::MatchEnded { .. }));
        let record = ended.then(|| ledger::record(&self.record).map(|record| record.to_string())).flatten();
        let mut expected = Vec::new();
        for (index, dispatch) in ruling.dispatches.iter().enumerate() {
            let unique = envelope::unique_part(&game_match, index);
            let Some(sent) = self.sent.remove(&unique) else {
                let kind = envelope::kind(&dispatch.content);
                let what = format!("it is missing: entry #{} brought this {kind}", game_match.head.seq);
                self.verdict.findings.push(Finding { place: Place::Sent(unique), what });
                expected.push(None);
                continue;
            };
            let mut letter = ExpectedDispatch {
                sent,
                told: game_match.head.hash,
                last: false,
                game_match: Arc::clone(&game_match),
                dispatch: dispatch.clone(),
                at,
                answered: letter.map(AnsweredLetter::new),
                record: record.clone(),
                reports_before: Vec::new(),
            };
            if let Some(seat) = letter.sent.seat {
                let reports = &mut self.reports[seat as usize];
                if letter.wanted().is_some() {
                    letter.reports_before.clone_from(reports);
                }
                if letter.sent.kind == DispatchKind::Report {
                    reports.push(letter.sent.message_id.clone());
                }
            }
            expected.push(Some(letter));
        }
        expected
    }

    /// How many faults were found until now.
    pub fn finding_count(&self) -> usize {
        self.verdict.findings.len()
    }

    /// Takes what came of comparing letters of ours; the faults among them belong behind the first `before`.
    pub fn record_comparisons(&mut self, results: Vec<Result<bool, Finding>>, before: usize) {
        let mut faults = Vec::new();
        for result in results {
            match result {
                Ok(true) => self.verdict.sent += 1,
                Ok(false) => self.verdict.sent_in_other_words += 1,
                Err(finding) => faults.push(finding),
            }
        }
        self.verdict.findings.splice(before..before, faults);
    }

    /// Takes letters that are kept as having acted in the match, after all entries.
    pub fn check_acted_letters(&mut self, acted: &[Digest]) {
        if self.is_stopped() {
            return;
        }
        for digest in acted.iter().filter(|digest| !self.ruled.contains(&short(digest))) {
            let what = "it acted in the match, but no entry names it".to_owned();
            self.verdict.findings.push(Finding { place: Place::Letter(*digest), what });
        }
    }

    /// Ends the check.
    pub fn finish(mut self) -> AuditVerdict {
        self.verdict.head = self.head;
        if self.is_stopped() {
            return self.verdict;
        }
        if self.head.seq == 0 {
            self.wrong(Place::Entry(1), "it is missing: the ledger is empty");
            return self.verdict;
        }
        for sent in std::mem::take(&mut self.sent).into_values() {
            let what = "no entry leads to it: it was added".to_owned();
            self.verdict.findings.push(Finding { place: Place::Sent(sent.message_id), what });
        }
        let Some(now) = self.now.take() else { return self.verdict };
        let kept = &self.kept;
        let again = serde_json::to_string(&now).expect("a match is plain values");
        if again != kept.snapshot {
            let what = match self.snapshot.as_ref().map(|game_match| game_match.head.seq) {
                Some(seq) if seq > now.head.seq => {
                    format!("it stands at entry #{seq}, but the ledger ends with #{}", now.head.seq)
                }
                _ => {
                    format!("{} is not what follows from the ledger", differing_json(&again, &kept.snapshot))
                }
            };
            self.wrong(Place::Kept("the snapshot"), what);
        } else if (kept.game, kept.stage, kept.wake_at) != (now.game, now.stage, now.wake_at()) {
            self.wrong(
                Place::Kept("the match"),
                "its game, stage or next moment is not that of its snapshot",
            );
        }
        self.verdict
    }
}

/// The beginning of a digest, which is enough to tell the letters of one match apart.
fn short(digest: &Digest) -> u64 {
    digest.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}
