//! The check of one match: the chain, the letters, and every ruling made once more from what they say.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{Expected, Finding, Place, Verdict};
use crate::game::Seat;
use crate::ledger::{self, Desk, Entry, Fact, Head, Source};
use crate::letter::{Digest, Letter, Limits};
use crate::referee::{self, Act, Cause, Match, Opening, Ruling, SeatLetter};
use crate::report::envelope::{self, Answered};

/// An entry as it is kept: what it is found by, its canonical JSON and its hash.
#[derive(Clone, Debug)]
pub struct Row {
    pub seq: u64,
    pub at: DateTime<Utc>,
    pub kind: String,
    pub json: String,
    pub hash: Digest,
}

/// A letter of ours as it is kept, without its bytes.
#[derive(Clone, Debug)]
pub struct Sent {
    pub message_id: String,
    pub recipient: String,
    pub kind: String,
    pub seat: Option<Seat>,
}

/// The match as it is kept beside its ledger.
#[derive(Clone, Debug)]
pub struct Kept {
    pub id: String,
    pub game: String,
    pub stage: String,
    pub wake_at: Option<DateTime<Utc>>,
    /// As JSON.
    pub snapshot: String,
}

/// A letter as it is kept, and as it reads.
enum AtHand {
    Letter(Box<Letter>),
    /// A sentence.
    Unfit(&'static str),
}

/// The check of one match, fed with its entries in order and with the letters that they name.
///
/// What waits to be ruled on again is held, and nothing else: memory grows with the longest ruling, and with what
/// the match itself remembers.
pub struct Check {
    kept: Kept,
    snapshot: Option<Match>,
    /// Whose letters bear a token, and from which addresses, by what was sent to each seat.
    tokens: BTreeMap<String, (Seat, BTreeSet<String>)>,
    /// What was sent, by the part of the Message-ID that names the ruling; taken out once it is expected.
    sent: BTreeMap<String, Sent>,
    /// The Message-IDs of reports until now, by seat.
    reports: [Vec<String>; 2],
    head: Head,
    waiting: VecDeque<(String, Entry)>,
    letters: BTreeMap<Digest, AtHand>,
    ruled: BTreeSet<Digest>,
    /// Entries that the record follows from.
    record: Vec<Entry>,
    now: Option<Match>,
    verdict: Verdict,
    /// Whether the house is asked for each of its turns again.
    pub asks_the_house: bool,
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
    pub fn new(kept: Kept, sent: Vec<Sent>, addresses: &crate::game::BySeat<Vec<String>>) -> Check {
        let snapshot = serde_json::from_str(&kept.snapshot).ok();
        let mut tokens: BTreeMap<String, (Seat, BTreeSet<String>)> = BTreeMap::new();
        let mut by_ruling = BTreeMap::new();
        let marker = format!("{}.", kept.id.to_lowercase());
        let mut verdict = Verdict { match_id: kept.id.clone(), ..Verdict::default() };
        for letter in sent {
            let local = letter.message_id.split('@').next().unwrap_or_default();
            let Some(at) = local.find(&marker) else {
                let what = "it is on no ruling's account".to_owned();
                verdict.findings.push(Finding { place: Place::Sent(letter.message_id), what });
                continue;
            };
            let token = local[..at].trim_end_matches('.');
            if let Some(seat) = letter.seat {
                let known = tokens
                    .entry(token.to_owned())
                    .or_insert_with(|| (seat, addresses[seat].iter().cloned().collect()));
                known.1.insert(letter.recipient.to_lowercase());
            }
            by_ruling.insert(local[at..].to_owned(), letter);
        }
        let mut check = Check {
            kept,
            snapshot,
            tokens,
            sent: by_ruling,
            reports: [Vec::new(), Vec::new()],
            head: Head::default(),
            waiting: VecDeque::new(),
            letters: BTreeMap::new(),
            ruled: BTreeSet::new(),
            record: Vec::new(),
            now: None,
            verdict,
            asks_the_house: true,
        };
        if check.snapshot.is_none() {
            check.wrong(Place::Kept("the snapshot"), "it cannot be read; nothing can be ruled on again");
        }
        check
    }

    /// Whether a fault was found after which nothing that follows can be judged.
    pub fn is_stopped(&self) -> bool {
        self.verdict.unable.is_some()
            || self.verdict.findings.iter().any(|finding| !matches!(finding.place, Place::Sent(_)))
    }

    fn wrong(&mut self, place: Place, what: impl Into<String>) {
        self.verdict.findings.push(Finding { place, what: what.into() });
    }

    /// Takes the next entry.
    pub fn take(&mut self, row: Row) {
        if self.is_stopped() {
            return;
        }
        let seq = self.head.seq + 1;
        let entry = match self.head.follow(&row.json, row.hash) {
            Ok(entry) => entry,
            Err(broken) => return self.wrong(Place::Entry(seq), broken.to_string()),
        };
        self.verdict.entries += 1;
        if entry.match_id != self.kept.id {
            return self.wrong(Place::Entry(seq), format!("it is an entry of match {}", entry.match_id));
        }
        if (row.seq, row.at, row.kind.as_str()) != (entry.seq, entry.at, entry.fact.kind().as_str()) {
            return self
                .wrong(Place::Entry(seq), "it is kept under another number, time or kind than it bears");
        }
        self.waiting.push_back((row.json, entry));
    }

    /// The letters that waiting entries name and that are not at hand.
    pub fn letters_wanted(&self) -> Vec<Digest> {
        let named = self.waiting.iter().filter_map(|(_, entry)| match entry.cause {
            Source::Letter(digest) => Some(digest),
            Source::Clock | Source::Gm { .. } | Source::House { .. } => None,
        });
        let named: BTreeSet<Digest> = named.filter(|digest| !self.letters.contains_key(digest)).collect();
        named.into_iter().collect()
    }

    /// Takes a letter that is kept under `digest`.
    pub fn hand(&mut self, digest: Digest, raw: &[u8]) {
        self.verdict.letters += 1;
        let at_hand = if Digest::of(raw) == digest { self.read(raw) } else { AtHand::Unfit(CHANGED) };
        self.letters.insert(digest, at_hand);
    }

    fn read(&self, raw: &[u8]) -> AtHand {
        let desk = self.now.as_ref().or(self.snapshot.as_ref()).map(|m| &m.desk);
        let Some(own) = desk.and_then(Desk::own) else {
            return AtHand::Unfit("the referee's own address is missing");
        };
        match Letter::read(raw, &own, &NO_LIMITS) {
            Ok(letter) => AtHand::Letter(Box::new(letter)),
            Err(_) => AtHand::Unfit("it cannot be read as a letter of one sender"),
        }
    }

    /// The Message-IDs of our letters that those at hand may quote.
    pub fn answered_wanted(&self) -> Vec<String> {
        let read = self.letters.values().filter_map(|at_hand| match at_hand {
            AtHand::Letter(letter) => Some(letter),
            AtHand::Unfit(_) => None,
        });
        let ids: BTreeSet<String> = read.flat_map(|letter| letter.thread().cloned()).collect();
        ids.into_iter().collect()
    }

    /// Rules again on what waits, and gives the letters that come of it; at the end, on all of it. `answered` are
    /// the texts of our letters, by Message-ID.
    pub fn rule(&mut self, answered: &BTreeMap<String, String>, at_end: bool) -> Vec<Expected> {
        let mut expected = Vec::new();
        while !self.is_stopped() && (at_end && !self.waiting.is_empty() || self.first_is_whole()) {
            if let Some(more) = self.rule_once(answered) {
                expected.extend(more);
            }
        }
        self.letters.retain(|digest, _| {
            self.waiting
                .iter()
                .any(|(_, entry)| matches!(entry.cause, Source::Letter(cause) if cause == *digest))
        });
        expected
    }

    /// Whether an entry of another cause waits behind those of the first.
    fn first_is_whole(&self) -> bool {
        self.group() < self.waiting.len()
    }

    /// How many entries at the front have one cause.
    fn group(&self) -> usize {
        let Some((_, first)) = self.waiting.front() else { return 0 };
        self.waiting.iter().take_while(|(_, next)| next.cause == first.cause && next.at == first.at).count()
    }

    fn rule_once(&mut self, answered: &BTreeMap<String, String>) -> Option<Vec<Expected>> {
        let first = self.waiting.front()?.1.clone();
        let (seq, at) = (first.seq, first.at);
        let (ruling, letter) = match self.ruling(&first, answered) {
            Ok(ruled) => ruled,
            Err(Some(finding)) => {
                self.verdict.findings.push(finding);
                return None;
            }
            Err(None) => return None,
        };
        if ruling.entries.is_empty() {
            self.wrong(Place::Entry(seq), "nothing in the match leads to it: it was added");
            return None;
        }
        for entry in &ruling.entries {
            let Some((json, found)) = self.waiting.pop_front() else {
                let what = format!("it is missing: {} follows from {}", entry.fact.kind(), because(entry));
                self.wrong(Place::Entry(entry.seq), what);
                return None;
            };
            if entry.canonical() != json {
                let what =
                    format!("{} is not what follows from {}", differing(entry, &found), because(&found));
                self.wrong(Place::Entry(found.seq), what);
                return None;
            }
            if matches!(
                found.fact,
                Fact::MatchOpened { .. }
                    | Fact::TurnAdjudicated { .. }
                    | Fact::MatchClosed { .. }
                    | Fact::CorrectionMade { .. }
                    | Fact::PlayerRenamed { .. }
                    | Fact::PlayerReplaced { .. }
            ) {
                self.record.push(found);
            }
        }
        let expected = self.letters_of(&ruling, letter.as_deref(), at);
        self.now = Some(ruling.after);
        Some(expected)
    }

    /// The ruling on the cause of `first`, made again; with the letter that caused it.
    fn ruling(
        &mut self,
        first: &Entry,
        answered: &BTreeMap<String, String>,
    ) -> Result<(Ruling, Option<Box<Letter>>), Option<Finding>> {
        let wrong = |what: &str| Some(Finding { place: Place::Entry(first.seq), what: what.to_owned() });
        let Some(m) = &self.now else {
            return self.opening(first).map(|ruling| (ruling, None));
        };
        if first.rules != m.game.rules() {
            let what = format!(
                "entry #{} was made under version {} of the rules; this program knows version {}",
                first.seq,
                first.rules,
                m.game.rules()
            );
            self.verdict.unable = Some(what);
            return Err(None);
        }
        let act = |act: &Value| {
            serde_json::from_value::<Act>(act.clone()).map_err(|_| wrong("its act is none that is known"))
        };
        let phase_no = m.phase_no;
        match &first.cause {
            Source::Clock => Ok((referee::rule(m, &Cause::Clock { phase_no }, first.at), None)),
            Source::Gm { name, act: Some(done) } => {
                let act = act(done)?;
                Ok((referee::rule(m, &Cause::Gm { name, phase_no, act: &act }, first.at), None))
            }
            Source::Gm { act: None, .. } => Err(wrong("it does not say what the GM did")),
            Source::House { act: done } => {
                let act = act(done)?;
                if let Act::Play { version, .. } = &act
                    && self.asks_the_house
                {
                    let known = m.game.house_version();
                    if *version != known {
                        let what = format!(
                            "entry #{} was played by version {version} of the house; this program knows version {known}",
                            first.seq
                        );
                        self.verdict.unable = Some(what);
                        return Err(None);
                    }
                    if m.house_turn().as_ref() != Some(&act) {
                        return Err(wrong("the house, asked again, plays otherwise there"));
                    }
                }
                Ok((referee::rule(m, &Cause::House { phase_no, act: &act }, first.at), None))
            }
            Source::Letter(digest) => {
                let held_back = |(_, entry): &(String, Entry)| {
                    matches!(entry.fact, Fact::AnswerHeldBack { .. }) && entry.cause == first.cause
                };
                let silent = self.waiting.iter().take(self.group()).any(held_back);
                let in_letter =
                    |what: &str| Some(Finding { place: Place::Letter(*digest), what: what.to_owned() });
                let letter = match self.letters.remove(digest) {
                    Some(AtHand::Letter(letter)) => letter,
                    Some(AtHand::Unfit(why)) => {
                        return Err(in_letter(&format!("{why}; entry #{} names it", first.seq)));
                    }
                    None => return Err(in_letter(&format!("it is missing; entry #{} names it", first.seq))),
                };
                let Some(seat) = self.seat_of(&letter) else {
                    let why = "it bears no reply token of a seat whose player sent it";
                    return Err(in_letter(&format!("{why}; entry #{} names it", first.seq)));
                };
                if !self.ruled.insert(*digest) {
                    return Err(wrong("its letter was ruled on before"));
                }
                let text = letter.answered(answered);
                let mut asked = SeatLetter::of(&letter, seat, text.as_deref(), m);
                asked.silent = silent;
                Ok((referee::rule(m, &Cause::Letter(&asked), first.at), Some(letter)))
            }
        }
    }

    /// The opening of the match, made again.
    fn opening(&self, first: &Entry) -> Result<Ruling, Option<Finding>> {
        let wrong = |place: Place, what: &str| Some(Finding { place, what: what.to_owned() });
        let Fact::MatchOpened { game, options, players, house, terms, desk, key: pin } = &first.fact else {
            return Err(wrong(Place::Entry(first.seq), "the ledger does not begin with the match's opening"));
        };
        let key = self.snapshot.as_ref().map(|m| m.key.clone());
        let Some(key) = key.filter(|key| key.pin() == *pin) else {
            return Err(wrong(Place::Kept("the snapshot"), "its secret is not the one that entry #1 pins"));
        };
        let Ok(terms) = serde_json::from_value(terms.clone()) else {
            return Err(wrong(Place::Entry(first.seq), "its terms are none that are known"));
        };
        let opening = Opening {
            id: first.match_id.clone(),
            game: *game,
            choices: options.clone(),
            players: players.clone(),
            house: house.clone(),
            terms,
            desk: desk.clone(),
            key,
        };
        Ok(referee::open(opening, first.cause.clone(), first.at))
    }

    /// The seat that a letter may act for: it bears a token that was sent to it, and comes from where it was sent.
    fn seat_of(&self, letter: &Letter) -> Option<Seat> {
        let known = letter.tokens.iter().filter_map(|token| self.tokens.get(&token.to_string()));
        let mut own = known.filter(|(_, addresses)| addresses.contains(letter.from.as_str()));
        own.next().map(|(seat, _)| *seat)
    }

    /// The letters that a ruling brought, each with the one that is kept.
    fn letters_of(&mut self, ruling: &Ruling, letter: Option<&Letter>, at: DateTime<Utc>) -> Vec<Expected> {
        let m = &ruling.after;
        let ended = ruling.entries.iter().any(|entry| matches!(entry.fact, Fact::MatchEnded { .. }));
        let record = ended.then(|| ledger::record(&self.record).map(|record| record.to_string())).flatten();
        let mut expected = Vec::new();
        for (index, dispatch) in ruling.dispatches.iter().enumerate() {
            let unique = envelope::unique(m, index);
            let Some(sent) = self.sent.remove(&unique) else {
                let what = format!(
                    "it is missing: entry #{} brought this {}",
                    m.head.seq,
                    envelope::kind(&dispatch.content)
                );
                self.verdict.findings.push(Finding { place: Place::Sent(unique), what });
                continue;
            };
            let before = sent.seat.map(|seat| self.reports[seat as usize].clone()).unwrap_or_default();
            if sent.kind == "report"
                && let Some(seat) = sent.seat
            {
                self.reports[seat as usize].push(sent.message_id.clone());
            }
            expected.push(Expected {
                sent,
                m: m.clone(),
                dispatch: dispatch.clone(),
                at,
                answered: letter.map(Answered::new),
                record: record.clone(),
                reports_before: before,
            });
        }
        expected
    }

    /// Takes what came of comparing a letter of ours.
    pub fn compared(&mut self, result: Result<bool, Finding>) {
        match result {
            Ok(true) => self.verdict.sent += 1,
            Ok(false) => self.verdict.sent_in_other_words += 1,
            Err(finding) => self.verdict.findings.push(finding),
        }
    }

    /// Ends the check. `acted` are the letters that are kept as having acted in the match.
    pub fn finish(mut self, acted: &[Digest]) -> Verdict {
        self.verdict.head = self.head;
        if self.is_stopped() {
            return self.verdict;
        }
        if self.head.seq == 0 {
            self.wrong(Place::Entry(1), "it is missing: the ledger is empty");
            return self.verdict;
        }
        for digest in acted.iter().filter(|digest| !self.ruled.contains(digest)) {
            let what = "it acted in the match, but no entry names it".to_owned();
            self.verdict.findings.push(Finding { place: Place::Letter(*digest), what });
        }
        for sent in std::mem::take(&mut self.sent).into_values() {
            let what = "no entry leads to it: it was added".to_owned();
            self.verdict.findings.push(Finding { place: Place::Sent(sent.message_id), what });
        }
        let Some(now) = self.now.take() else { return self.verdict };
        let kept = &self.kept;
        let again = serde_json::to_string(&now).expect("a match is plain values");
        if again != kept.snapshot {
            let what = match self.snapshot.as_ref().map(|m| m.head.seq) {
                Some(seq) if seq > now.head.seq => {
                    format!("it stands at entry #{seq}, but the ledger ends with #{}", now.head.seq)
                }
                _ => {
                    format!("{} is not what follows from the ledger", differing_json(&again, &kept.snapshot))
                }
            };
            self.wrong(Place::Kept("the snapshot"), what);
        } else if (kept.game.as_str(), kept.stage.as_str(), kept.wake_at)
            != (now.game.key(), now.stage.as_str(), now.wake_at())
        {
            self.wrong(
                Place::Kept("the match"),
                "its game, stage or next moment is not that of its snapshot",
            );
        }
        self.verdict
    }
}

const CHANGED: &str = "its bytes were changed";

/// What an entry's cause is, for people.
fn because(entry: &Entry) -> String {
    match &entry.cause {
        Source::Letter(digest) => format!("letter {digest}"),
        Source::Clock => "the clock".to_owned(),
        Source::Gm { name, .. } => format!("what the GM {name} did"),
        Source::House { .. } => "what the referee did".to_owned(),
    }
}

/// The names of the fields in which two entries differ.
fn differing(one: &Entry, other: &Entry) -> String {
    differing_json(&one.canonical(), &other.canonical())
}

fn differing_json(one: &str, other: &str) -> String {
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let mut names = Vec::new();
    differing_fields("", &parse(one), &parse(other), &mut names);
    if names.is_empty() { "its form".to_owned() } else { names.join(", ") }
}

/// Fields are told two levels deep: `body.orders`.
fn differing_fields(prefix: &str, one: &Value, other: &Value, names: &mut Vec<String>) {
    let (Value::Object(one), Value::Object(other)) = (one, other) else { return };
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    for key in keys {
        let (ours, theirs) = (one.get(key), other.get(key));
        if ours == theirs {
            continue;
        }
        let before = names.len();
        if let (Some(ours), Some(theirs), true) = (ours, theirs, prefix.is_empty()) {
            differing_fields(&format!("{key}."), ours, theirs, names);
        }
        if names.len() == before {
            names.push(format!("{prefix}{key}"));
        }
    }
}
