//! The ledger of a match: what was decided, when and why, in one chain of hashes.
//!
//! An entry is a fact in the past tense. Its hash is SHA-256 over its canonical JSON (RFC 8785), which holds the
//! hash of the entry before it; so nothing can be changed, left out or put in between without a trace. Each
//! entry also bears a salt, so that no_house can guess at a secret order from the hash that both players are told.
//! The letters that a ruling brought are worded after it, so the first entry of the next one holds their digests.

mod chain;
mod fact;
mod replay;
mod seal;

use chrono::{DateTime, SecondsFormat, SubsecRound, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use chain::{ChainError, Head, walk};
pub use fact::{Fact, MailIdentity, no_house};
pub use replay::{adjudications, record, replay, standing};
pub use seal::{SealKey, seal_digest};

use crate::letter::Digest;

/// On whose account it was decided; with an act, all that the act said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The SHA-256 of the letter's raw bytes.
    Letter(Digest),
    Clock,
    /// The GM of this name; no act opens a match.
    Gm {
        name: String,
        act: Option<Value>,
    },
    House {
        act: Value,
    },
}

/// One link of the chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    #[serde(rename = "match")]
    pub match_id: String,
    /// From 1, without gaps.
    pub seq: u64,
    /// UTC, to the millisecond.
    #[serde(with = "millis")]
    pub at: DateTime<Utc>,
    pub cause: Source,
    /// The version of the game's rules that the match is played by.
    pub rules: u32,
    #[serde(flatten)]
    pub fact: Fact,
    /// 32 hexadecimal digits.
    pub salt: String,
    /// The hash of the entry before; 64 zeros in the first.
    pub prev: Digest,
    /// What was told since the entry before: the SHA-256 of each letter of ours, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Digest>,
}

/// An entry without what was decided: its place in the chain, its cause, and what was told before it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Link {
    #[serde(rename = "match")]
    pub match_id: String,
    pub seq: u64,
    #[serde(with = "millis")]
    pub at: DateTime<Utc>,
    pub cause: Source,
    pub rules: u32,
    /// The name of the fact.
    pub kind: String,
    pub prev: Digest,
    #[serde(default)]
    pub told: Vec<Digest>,
}

impl Entry {
    /// RFC 8785 canonical JSON: what is hashed.
    pub fn canonical(&self) -> String {
        canonical(self)
    }

    pub fn hash(&self) -> Digest {
        Digest::of(self.canonical().as_bytes())
    }
}

/// An entry at its place in a chain: with its canonical JSON, and the hash of that.
#[derive(Clone, Debug)]
pub struct ChainedEntry {
    pub entry: Entry,
    pub json: String,
    pub hash: Digest,
}

impl From<Entry> for ChainedEntry {
    fn from(entry: Entry) -> ChainedEntry {
        let json = entry.canonical();
        ChainedEntry { hash: Digest::of(json.as_bytes()), entry, json }
    }
}

/// The canonical JSON (RFC 8785) of a value.
pub fn canonical(value: &impl Serialize) -> String {
    serde_json_canonicalizer::to_string(value).expect("our values have string keys and no unusual numbers")
}

/// `2026-05-14T09:12:00.000Z`: every instant of an entry is written with exactly three decimals.
pub fn truncate_to_millis(at: DateTime<Utc>) -> DateTime<Utc> {
    at.trunc_subsecs(3)
}

mod millis {
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
