//! What is read of a match before it is ruled on again: the chain is followed, and the letters are understood that it
//! names. It needs nothing of the rulings, so the one goes ahead of the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{NO_LIMITS, PendingEntry};
use crate::audit::{Finding, Place};
use crate::game::Seat;
use crate::ledger::{Entry, Fact, Head, Source};
use crate::letter::{Digest, Letter, NewText, OwnIdentity};
use crate::referee::DispatchKind;

/// An entry as it is kept: what it is found by, its canonical JSON and its hash.
#[derive(Clone, Debug)]
pub struct LedgerRow {
    pub seq: u64,
    pub at: DateTime<Utc>,
    pub kind: String,
    pub json: String,
    pub hash: Digest,
}

/// A letter of ours as it is kept.
#[derive(Clone, Debug)]
pub struct StoredDispatch {
    pub message_id: String,
    pub recipient: String,
    pub kind: DispatchKind,
    pub seat: Option<Seat>,
    pub bytes: Vec<u8>,
    /// Of the bytes.
    pub digest: Digest,
}

impl StoredDispatch {
    /// The reply token that its Message-ID begins with, the part that names the ruling, and that ruling's last entry.
    pub(super) fn ruling(&self, match_id: &str) -> Option<(&str, &str, u64)> {
        let local = self.message_id.split('@').next()?;
        let marker = format!("{}.", match_id.to_lowercase());
        let at = local.find(&marker)?;
        let seq = local[at + marker.len()..].split('.').next()?.parse().unwrap_or_default();
        Some((local[..at].trim_end_matches('.'), &local[at..], seq))
    }
}

/// A letter as it is kept, as it reads, and what its sender wrote.
pub(super) type ReadLetter = (Result<Box<Letter>, &'static str>, NewText);

/// A letter that was read, and is to be understood beside what it answers.
pub struct ParsedLetter {
    digest: Digest,
    letter: Result<Box<Letter>, &'static str>,
}

impl ParsedLetter {
    /// The Message-IDs of our letters that it may quote.
    pub fn thread(&self) -> impl Iterator<Item = &String> {
        self.letter.iter().flat_map(|letter| letter.thread())
    }
}

/// Some entries of a match, the letters that they name, and letters of ours up to them at least.
#[derive(Default)]
pub struct LedgerBatch {
    pub(super) entries: Vec<PendingEntry>,
    pub(super) letters: Vec<(Digest, ReadLetter)>,
    pub(super) sent: Vec<StoredDispatch>,
    /// Where the chain is broken behind these entries.
    pub(super) broken: Option<Finding>,
}

impl LedgerBatch {
    /// Whether nothing follows.
    pub fn is_end(&self) -> bool {
        self.entries.is_empty() && self.broken.is_none()
    }
}

/// Goes through a match in the order in which it was made, and hands out what it has read ([`LedgerReader::take_batch`]).
pub struct LedgerReader {
    match_id: String,
    head: Head,
    /// By what letters to the referee were read, as the ledger tells until here.
    own: Option<Arc<OwnIdentity>>,
    /// The letter that the last entry names.
    cause: Option<Digest>,
    /// The letters that are still to be handed in, with what they were read by.
    wanted: BTreeMap<Digest, Option<Arc<OwnIdentity>>>,
    /// Up to which entry we have what was sent; `None`: there is no more.
    sent_until: Option<u64>,
    read: LedgerBatch,
}

impl LedgerReader {
    pub fn new(match_id: &str) -> LedgerReader {
        LedgerReader {
            match_id: match_id.to_owned(),
            head: Head::default(),
            own: None,
            cause: None,
            wanted: BTreeMap::new(),
            sent_until: Some(0),
            read: LedgerBatch::default(),
        }
    }

    pub fn match_id(&self) -> &str {
        &self.match_id
    }

    /// The number of the last entry.
    pub fn seq(&self) -> u64 {
        self.head.seq
    }

    /// Takes the next entry.
    pub fn push_entry(&mut self, row: LedgerRow) {
        if self.read.broken.is_none()
            && let Err(finding) = self.follow(row)
        {
            self.read.broken = Some(finding);
        }
    }

    fn follow(&mut self, row: LedgerRow) -> Result<(), Finding> {
        let seq = self.head.seq + 1;
        let wrong = |what: String| Finding { place: Place::Entry(seq), what };
        if row.seq == 0 {
            let what = "the entries of a match begin with number 1".to_owned();
            return Err(Finding { place: Place::Entry(0), what });
        }
        let link = self.head.follow(&row.json, row.hash).map_err(|broken| wrong(broken.to_string()))?;
        if link.match_id != self.match_id {
            return Err(wrong(format!("it is an entry of match {}", link.match_id)));
        }
        if (row.seq, row.at, &row.kind) != (link.seq, link.at, &link.kind) {
            return Err(wrong("it is kept under another number, time or kind than it bears".to_owned()));
        }
        if matches!(link.kind.as_str(), "MatchOpened" | "DeskSet")
            && let Ok(Fact::MatchOpened { desk, .. } | Fact::DeskSet { desk }) =
                serde_json::from_str(&row.json).map(|entry: Entry| entry.fact)
        {
            self.own = desk.own_identity().map(Arc::new);
        }
        let cause = match link.cause {
            Source::Letter(digest) => Some(digest),
            Source::Clock | Source::Gm { .. } | Source::House { .. } => None,
        };
        if let Some(digest) = cause.filter(|_| cause != self.cause) {
            self.wanted.insert(digest, self.own.clone());
        }
        self.cause = cause;
        self.read.entries.push(PendingEntry { link, json: row.json, hash: row.hash });
        Ok(())
    }

    /// Whether more of what was sent is needed before what was read can be ruled on again.
    pub fn needs_dispatches(&self) -> bool {
        self.sent_until.is_some_and(|seq| seq <= self.head.seq)
    }

    /// Takes letters of ours, in the order in which they were made; none when there are no more.
    pub fn push_dispatches(&mut self, sent: Vec<StoredDispatch>) {
        if sent.is_empty() {
            self.sent_until = None;
        }
        let seqs = sent.iter().filter_map(|sent| sent.ruling(&self.match_id)).map(|(_, _, seq)| seq);
        self.sent_until = self.sent_until.max(seqs.max());
        self.read.sent.extend(sent);
    }

    /// The letters that the entries name.
    pub fn missing_letters(&self) -> Vec<Digest> {
        self.wanted.keys().copied().collect()
    }

    /// Reads a letter that is kept under `digest`.
    pub fn parse_letter(&self, digest: Digest, raw: &[u8]) -> ParsedLetter {
        let letter = match self.wanted.get(&digest) {
            _ if Digest::of(raw) != digest => Err("its bytes were changed"),
            Some(Some(own)) => Letter::read(raw, own, &NO_LIMITS)
                .map(Box::new)
                .map_err(|_| "it cannot be read as a letter of one sender"),
            Some(None) | None => Err("the referee's own address is missing"),
        };
        ParsedLetter { digest, letter }
    }

    /// Understands letters that were read; `answered` are the texts of our letters, by Message-ID.
    pub fn push_letters(&mut self, letters: Vec<ParsedLetter>, answered: &BTreeMap<String, String>) {
        for ParsedLetter { digest, letter } in letters {
            let written = |letter: &Letter| letter.new_text(letter.quotable_text(answered).as_deref());
            let written = letter.as_ref().map_or(NewText::Blank, |letter| written(letter));
            self.read.letters.push((digest, (letter, written)));
        }
        self.wanted.clear();
    }

    /// What was read since this was asked last.
    pub fn take_batch(&mut self) -> LedgerBatch {
        std::mem::take(&mut self.read)
    }
}
