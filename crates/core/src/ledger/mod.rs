//! The ledger of a match: a hash chain of its decisions, with their times and causes. The book of an event has
//! the same form (`book`).
//!
//! An entry records a fact. Its hash is the SHA-256 of its canonical JSON (RFC 8785), which contains the hash
//! of the entry before it, so that no entry can be changed, removed or inserted without a trace. Each entry
//! also has a salt: both players are told the hash, and must not be able to guess a secret order from it. The
//! first entry of a ruling also holds its cause, which the others name by number.
//!
//! The letters that report a ruling are worded after its entries are chained, so the first entry of the next
//! ruling contains their digests.
//!
//! Verifies the chain: each entry must follow the one before it.

use chrono::{DateTime, SecondsFormat, SubsecRound, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::letter::Digest;

mod act;
pub mod book;
mod cause;
mod fact;
mod holder;
mod replay;
mod seal;
mod settings;

pub use act::{Act, Correction, HouseFailure, HousePlay, NewKey};
pub use cause::{Allowance, Cause, Hint, LetterCause, Permission, Question, Signature, TokenOf};
pub use fact::{Fact, FaultKind, FaultyLine, HouseFigure, MailIdentity, PauseReason, RatingBasis};
pub use holder::{KeptPin, OpenedPin, ParseKeyError, PinKey, PinnedKind, SeatPins};
pub use replay::{adjudications, letter_of_protest, record, replay, standing, what_seat_saw};
pub use seal::{Lot, PinnedLot, PlaceInMatch, SealKey, seal_digest, unique_start, with_mark, without_mark};
pub(crate) use settings::is_default;
pub use settings::{LetterFormat, PlayerSettings, Receipts, TermsChange, instant_in};

/// The format of new ledgers, and the only one that this program reads. The first entry names it.
pub const FORMAT: u32 = 1;

/// Checks that this program reads ledgers of this format.
///
/// # Errors
/// Returns a sentence that names this format and the known one.
pub fn knows_format(format: u32) -> Result<(), String> {
    match format {
        FORMAT => Ok(()),
        other => Err(format!("format {other} of a ledger is not known; this program knows {FORMAT}")),
    }
}

/// The delivery of one of our letters, as far as we know of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The letter's digest in the ledger.
    pub letter: Digest,
    #[serde(with = "millis")]
    pub at: DateTime<Utc>,
    pub how: DeliveryKind,
}

/// The last known place of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryKind {
    /// A mail server, or a mailbox, accepted it.
    Accepted,
}

/// An entry of the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    #[serde(rename = "match")]
    pub match_id: String,
    /// The entry's number in its match, from 1, without gaps.
    pub seq: u64,
    /// UTC, to the millisecond.
    #[serde(with = "millis")]
    pub at: DateTime<Utc>,
    #[serde(flatten)]
    pub cause: EntryCause,
    #[serde(flatten)]
    pub fact: Fact,
    /// 32 hexadecimal digits.
    pub salt: String,
    /// The hash of the previous entry; all zeros in the first.
    pub prev: Digest,
    /// The pin of each letter of the previous ruling, in order. Empty except in a ruling's first entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<Digest>,
    /// The letters of the match delivered since the previous ruling. Empty except in a ruling's first entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delivered: Vec<Delivery>,
}

/// The place of an entry in its ruling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryCause {
    /// It is the first entry, which holds the cause of the ruling.
    Cause(Cause),
    /// The number of the ruling's first entry.
    Of(u64),
}

/// An entry without its fact and its cause, which may be of a kind that this version does not know.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Link {
    /// The match, or the event whose book it is.
    #[serde(rename = "match", alias = "event")]
    pub match_id: String,
    pub seq: u64,
    #[serde(with = "millis")]
    pub at: DateTime<Utc>,
    /// The cause, as JSON.
    #[serde(default)]
    pub cause: Option<Value>,
    /// The number of the ruling's first entry, if it is not this one.
    #[serde(default)]
    pub of: Option<u64>,
    /// The name of the fact.
    pub kind: String,
    pub prev: Digest,
    #[serde(default)]
    pub pins: Vec<Digest>,
    #[serde(default)]
    pub delivered: Vec<Delivery>,
}

impl Entry {
    /// Returns the canonical JSON (RFC 8785), which is hashed.
    pub fn canonical(&self) -> String {
        canonical(self)
    }

    pub fn hash(&self) -> Digest {
        Digest::of(self.canonical().as_bytes())
    }

    /// Returns the cause of the ruling, if this is its first entry.
    pub fn own_cause(&self) -> Option<&Cause> {
        match &self.cause {
            EntryCause::Cause(cause) => Some(cause),
            EntryCause::Of(_) => None,
        }
    }

    /// Returns the letters that the entry names, in its cause or its fact: each is evidence that a dispute
    /// may turn on.
    pub fn letters(&self) -> Vec<Digest> {
        let offer = match &self.fact {
            Fact::MatchOpened { lot: Some(lot), .. } => Some(lot.offer),
            _ => None,
        };
        self.own_cause().into_iter().flat_map(Cause::letters).chain(offer).collect()
    }
}

/// An entry of a ledger or a book, with its canonical JSON and the hash of that JSON.
#[derive(Clone, Debug)]
pub struct Chained<E> {
    pub entry: E,
    pub json: String,
    pub hash: Digest,
}

pub type ChainedEntry = Chained<Entry>;

impl<E: Serialize> From<E> for Chained<E> {
    fn from(entry: E) -> Chained<E> {
        let json = canonical(&entry);
        Chained { hash: Digest::of(json.as_bytes()), entry, json }
    }
}

/// Returns the canonical JSON (RFC 8785) of a value.
pub fn canonical(value: &impl Serialize) -> String {
    serde_json_canonicalizer::to_string(value).expect("our values have string keys and finite numbers")
}

/// Truncates a time to the precision of entries.
pub fn truncate_to_millis(at: DateTime<Utc>) -> DateTime<Utc> {
    at.trunc_subsecs(3)
}

/// Serializes times with three decimals (`2026-05-14T09:12:00.000Z`): equal times must hash equally.
pub(crate) mod millis {
    use super::{DateTime, SecondsFormat, Utc};
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(at: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&at.to_rfc3339_opts(SecondsFormat::Millis, true))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DateTime<Utc>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let at = DateTime::parse_from_rfc3339(&text).map_err(serde::de::Error::custom)?;
        Ok(at.with_timezone(&Utc))
    }
}

/// The end of a chain: the number of entries and the hash of the last. The default is an empty chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub seq: u64,
    pub hash: Digest,
}

impl Default for Head {
    fn default() -> Self {
        Head { seq: 0, hash: Digest::from([0; 32]) }
    }
}

/// The first break in a chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    #[error("entry #{seq} is missing: #{found} is in its place")]
    Missing { seq: u64, found: u64 },
    #[error("entry #{seq} does not follow the entry before it")]
    Unchained { seq: u64 },
    #[error("entry #{seq} was changed: its hash does not match")]
    Changed { seq: u64 },
    #[error("entry #{seq} cannot be read: {reason}")]
    Unreadable { seq: u64, reason: String },
}

impl Head {
    /// Moves on to the next entry, given as its canonical JSON and its hash. Does not decode its fact.
    ///
    /// # Errors
    /// [`ChainError`] if the entry does not follow this head.
    pub fn follow(&mut self, json: &str, hash: Digest) -> Result<Link, ChainError> {
        let seq = self.seq + 1;
        let link: Link = serde_json::from_str(json)
            .map_err(|error| ChainError::Unreadable { seq, reason: error.to_string() })?;
        if link.seq != seq {
            return Err(ChainError::Missing { seq, found: link.seq });
        }
        if Digest::of(json.as_bytes()) != hash {
            return Err(ChainError::Changed { seq });
        }
        if link.prev != self.hash {
            return Err(ChainError::Unchained { seq });
        }
        *self = Head { seq, hash };
        Ok(link)
    }
}

/// Walks the chain from its first entry and returns its head. `rows` holds the canonical JSON and the hash of
/// each entry.
///
/// # Errors
/// [`ChainError`] if the chain is broken: the first break.
pub fn walk<'a>(rows: impl IntoIterator<Item = (&'a str, Digest)>) -> Result<Head, ChainError> {
    let mut head = Head::default();
    for (json, hash) in rows {
        head.follow(json, hash)?;
    }
    Ok(head)
}
