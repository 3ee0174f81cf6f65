//! Entries of ledgers as they are stored.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::Result;
use super::rows::{CHUNK, count, digest, integer, is_common, time};
use super::statement::Session;
use crate::ledger::ChainedEntry;
use crate::letter::Digest;

/// A stored entry: its canonical JSON, and the columns that find it. The kind stays text, so that the audit can read and
/// report one that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRow {
    /// The match.
    pub chain: String,
    /// From 1, without gaps.
    pub seq: u64,
    pub at: DateTime<Utc>,
    pub kind: String,
    /// The entry without its own hash, as canonical JSON (RFC 8785).
    pub json: String,
    pub hash: Digest,
    /// The letters that it names, whose bytes are kept. Empty in an entry that was read.
    pub letters: Vec<Digest>,
}

impl From<&ChainedEntry> for EntryRow {
    fn from(ChainedEntry { entry, json, hash }: &ChainedEntry) -> EntryRow {
        let (chain, kind) = (entry.match_id.clone(), entry.fact.kind().to_owned());
        let letters = entry.letters();
        EntryRow { chain, seq: entry.seq, at: entry.at, kind, json: json.clone(), hash: *hash, letters }
    }
}

/// Selects entries of ledgers.
pub const OF_LEDGERS: &str = "SELECT match_id AS chain, seq, at, kind, json, hash FROM entry ";

#[derive(FromRow)]
pub struct EntryColumns {
    chain: String,
    seq: i64,
    at: i64,
    kind: String,
    json: String,
    hash: String,
}

impl EntryColumns {
    pub fn read(self) -> Result<EntryRow> {
        let EntryColumns { chain, seq, at, kind, json, hash } = self;
        let (seq, at, hash) = (count(seq)?, time(at)?, digest(&hash)?);
        Ok(EntryRow { chain, seq, at, kind, json, hash, letters: Vec::new() })
    }
}

/// Adds entries of ledgers, within a transaction, and marks the letters that they name.
pub async fn add_to_ledgers(session: &mut Session<'_>, entries: &[EntryRow]) -> Result<()> {
    for chunk in entries.chunks(CHUNK) {
        let mut insert = session.statement("INSERT INTO entry (match_id, seq, at, kind, json, hash) ");
        insert.push_rows(chunk, |values, entry| {
            values
                .bind(&entry.chain)
                .bind(integer(entry.seq))
                .bind(entry.at.timestamp_millis())
                .bind(&entry.kind)
                .bind(&entry.json)
                .bind(entry.hash.to_string());
        });
        session.execute(insert.persistent(is_common(chunk.len()))).await?;
    }
    let named: BTreeSet<String> =
        entries.iter().flat_map(|entry| &entry.letters).map(ToString::to_string).collect();
    let named: Vec<String> = named.into_iter().collect();
    for chunk in named.chunks(CHUNK) {
        mark_named(session, chunk).await?;
    }
    Ok(())
}

/// Marks letters that an entry names, so that their bytes are kept. Those of letters that were ruled on always are, and
/// SQLite rewrites an index for a letter that is marked, so those are left alone.
async fn mark_named(session: &mut Session<'_>, digests: &[String]) -> Result<()> {
    let one_of = session.engine().one_of();
    let sql = format!(
        "UPDATE letter SET in_ledger = 1 WHERE digest {one_of} AND status <> 'ruled' AND in_ledger = 0"
    );
    let statement = session.statement(sql).bind_texts(digests);
    session.execute(statement).await?;
    Ok(())
}
