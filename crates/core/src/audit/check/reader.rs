//! Reads a match for the check: walks the chain and parses the letters that it names.
//!
//! Reading does not depend on repeated rulings, so the next entries are read while the last are checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Deserialize as _;

use super::holders::StoredDispatch;
use crate::audit::{Finding, Place};
use crate::ledger::{Cause, Entry, Fact, Head, Link, SealKey};
use crate::letter::{Digest, Letter, Limits, NewText, OwnIdentity};

/// No limits: accepted letters stay readable if the limits are lowered.
const NO_LIMITS: Limits = Limits {
    max_bytes: usize::MAX,
    max_header_bytes: usize::MAX,
    // `Letter::read` multiplies this by 4, which must not overflow.
    max_parts: usize::MAX / 4,
    max_nesting: 1000,
    max_lines: usize::MAX,
};

/// A stored entry of a ledger or a book: the columns that index it, its canonical JSON and its hash.
#[derive(Clone, Debug)]
pub struct LedgerRow {
    pub seq: u64,
    pub at: DateTime<Utc>,
    pub kind: String,
    pub json: String,
    pub hash: Digest,
}

/// An entry whose ruling has not been repeated yet.
pub(super) struct PendingEntry {
    pub link: Link,
    /// The cause of its ruling, if it is the ruling's first entry and this program knows the cause.
    pub cause: Option<Cause>,
    pub json: String,
    pub hash: Digest,
    /// The letters that it names.
    pub letters: Vec<Digest>,
}

/// A letter as it is stored.
#[derive(Clone, Debug)]
pub struct StoredLetter {
    pub digest: Digest,
    pub received_at: DateTime<Utc>,
    /// Whether it is stored as ruled on.
    pub is_ruled: bool,
    pub raw: Vec<u8>,
}

/// A parsed letter, or the reason why it cannot be read, not yet compared with our letters that it quotes.
pub struct ParsedLetter {
    digest: Digest,
    pub(super) received_at: DateTime<Utc>,
    pub(super) is_ruled: bool,
    pub(super) letter: Result<Arc<Letter>, &'static str>,
}

impl ParsedLetter {
    /// Returns the letter, if it can be read.
    pub fn letter(&self) -> Option<&Letter> {
        self.letter.as_ref().ok().map(|letter| &**letter)
    }

    /// Returns the Message-IDs of our letters that it may quote.
    pub fn thread(&self) -> impl Iterator<Item = &String> {
        self.letter.iter().flat_map(|letter| letter.thread())
    }
}

/// Consecutive entries of a match, the letters that they name, and our letters, at least up to these entries.
#[derive(Default)]
pub struct LedgerBatch {
    pub(super) entries: Vec<PendingEntry>,
    pub(super) letters: Vec<(Digest, (ParsedLetter, NewText))>,
    pub(super) sent: Vec<StoredDispatch>,
    /// The break in the chain after these entries.
    pub(super) broken: Option<Finding>,
}

impl LedgerBatch {
    /// Whether there are no more entries.
    pub fn is_end(&self) -> bool {
        self.entries.is_empty() && self.broken.is_none()
    }
}

/// Moves on to the next row of a ledger or a book, whose match or event is `id`, and compares the row with its
/// entry.
pub(in crate::audit) fn follow_row(head: &mut Head, row: &LedgerRow, id: &str) -> Result<Link, Finding> {
    let seq = head.seq + 1;
    if row.seq == 0 {
        return Err(Finding::at(Place::Entry(0), "the entries of a chain start with number 1"));
    }
    let link =
        head.follow(&row.json, row.hash).map_err(|broken| Finding::at_entry(seq, broken.to_string()))?;
    if link.match_id != id {
        return Err(Finding::at_entry(seq, format!("it belongs to {}", link.match_id)));
    }
    if (row.seq, row.at, &row.kind) != (link.seq, link.at, &link.kind) {
        return Err(Finding::at_entry(seq, "it is stored under a number, time or kind other than its own"));
    }
    Ok(link)
}

/// Reads a match from its first entry on. The caller pushes rows in order, and takes batches.
pub struct LedgerReader {
    match_id: String,
    /// The secret that veils the numbers of entries in Message-IDs; `None` if it cannot be read.
    key: Option<SealKey>,
    head: Head,
    /// The referee's identity, as the last entry that set it records.
    own: Option<Arc<OwnIdentity>>,
    /// The letters that the last entry names.
    named: Vec<Digest>,
    /// The letters that the caller has yet to push, each with the identity to parse it with.
    missing: BTreeMap<Digest, Option<Arc<OwnIdentity>>>,
    /// The entry up to which our letters have been pushed. `None` if there are no more.
    sent_until: Option<u64>,
    batch: LedgerBatch,
}

impl LedgerReader {
    pub fn new(match_id: &str, key: Option<SealKey>) -> LedgerReader {
        LedgerReader {
            match_id: match_id.to_owned(),
            key,
            head: Head::default(),
            own: None,
            named: Vec::new(),
            missing: BTreeMap::new(),
            sent_until: Some(0),
            batch: LedgerBatch::default(),
        }
    }

    pub fn match_id(&self) -> &str {
        &self.match_id
    }

    /// Returns the number of the last entry.
    pub fn seq(&self) -> u64 {
        self.head.seq
    }

    /// Adds the next entry. After a break in the chain, entries are ignored.
    pub fn push_entry(&mut self, row: LedgerRow) {
        if self.batch.broken.is_none()
            && let Err(finding) = self.follow(row)
        {
            self.batch.broken = Some(finding);
        }
    }

    fn follow(&mut self, row: LedgerRow) -> Result<(), Finding> {
        let link = follow_row(&mut self.head, &row, &self.match_id)?;
        let cause = link.cause.as_ref().and_then(|cause| Cause::deserialize(cause).ok());
        let mut letters: Vec<Digest> = cause.iter().flat_map(Cause::letters).collect();
        // Apart from their cause, only these kinds hold anything that concerns the reader, and decoding takes
        // time.
        if ["MatchOpened", "MailIdentitySet"].contains(&link.kind.as_str())
            && let Ok(entry) = serde_json::from_str::<Entry>(&row.json)
        {
            letters = entry.letters();
            if let Fact::MatchOpened { mail_identity, .. } | Fact::MailIdentitySet { mail_identity, .. } =
                &entry.fact
            {
                self.own = mail_identity.own_identity().map(Arc::new);
            }
        }
        for digest in letters.iter().filter(|digest| !self.named.contains(digest)) {
            self.missing.insert(*digest, self.own.clone());
        }
        self.named.clone_from(&letters);
        self.batch.entries.push(PendingEntry { link, cause, json: row.json, hash: row.hash, letters });
        Ok(())
    }

    /// Whether more of our letters are needed before the rulings on the pushed entries can be repeated.
    pub fn needs_dispatches(&self) -> bool {
        self.sent_until.is_some_and(|seq| seq <= self.head.seq)
    }

    /// Adds the next of our letters, in the order of creation. An empty vector means that there are no more.
    pub fn push_dispatches(&mut self, sent: Vec<StoredDispatch>) {
        if sent.is_empty() {
            self.sent_until = None;
        }
        if let Some(key) = &self.key {
            let places = sent.iter().filter_map(|sent| sent.place(&self.match_id, key));
            let seqs = places.map(|place| place.seq);
            self.sent_until = self.sent_until.max(seqs.max());
        }
        self.batch.sent.extend(sent);
    }

    /// Returns the letters that the pushed entries name and that have not been pushed.
    pub fn missing_letters(&self) -> Vec<Digest> {
        self.missing.keys().copied().collect()
    }

    /// Parses a stored letter.
    pub fn parse_letter(&self, stored: &StoredLetter) -> ParsedLetter {
        let StoredLetter { digest, received_at, is_ruled, ref raw } = *stored;
        let letter = match self.missing.get(&digest) {
            _ if Digest::of(raw) != digest => Err("its bytes were changed"),
            Some(Some(own)) => Letter::read(raw, own, &NO_LIMITS)
                .map(Arc::new)
                .map_err(|_| "it cannot be read as a letter from one sender"),
            Some(None) | None => Err("the referee's own address is missing"),
        };
        ParsedLetter { digest, received_at, is_ruled, letter }
    }

    /// Adds the letters that were missing. `sent` holds the texts of our letters that they may quote, by
    /// Message-ID.
    pub fn push_letters(&mut self, letters: Vec<ParsedLetter>, sent: &BTreeMap<String, String>) {
        for parsed in letters {
            let new_text = match &parsed.letter {
                Ok(letter) => letter.new_text(letter.quotable_text(sent).as_deref()),
                Err(_) => NewText::default(),
            };
            self.batch.letters.push((parsed.digest, (parsed, new_text)));
        }
        self.missing.clear();
    }

    /// Returns what was pushed since the last call.
    pub fn take_batch(&mut self) -> LedgerBatch {
        std::mem::take(&mut self.batch)
    }
}
