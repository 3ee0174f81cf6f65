//! Entries as they are stored: those of ledgers and those of books, in tables that differ in two names only.

use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::Result;
use super::rows::{CHUNK, count, digest, integer, is_common, time};
use super::statement::Session;
use crate::club::ChainedBookEntry;
use crate::ledger::ChainedEntry;
use crate::letter::Digest;

/// A stored entry: its canonical JSON, and the columns that find it. The kind stays text, so that the audit can read and
/// report one that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRow {
    /// The match or the book.
    pub chain: String,
    /// From 1, without gaps.
    pub seq: u64,
    pub at: DateTime<Utc>,
    pub kind: String,
    /// The entry without its own hash, as canonical JSON (RFC 8785).
    pub json: String,
    pub hash: Digest,
}

impl From<&ChainedEntry> for EntryRow {
    fn from(ChainedEntry { entry, json, hash }: &ChainedEntry) -> EntryRow {
        let (chain, kind) = (entry.match_id.clone(), entry.fact.kind().to_owned());
        EntryRow { chain, seq: entry.seq, at: entry.at, kind, json: json.clone(), hash: *hash }
    }
}

impl From<ChainedBookEntry> for EntryRow {
    fn from(ChainedBookEntry { entry, json, hash }: ChainedBookEntry) -> EntryRow {
        let kind = entry.fact.kind().to_owned();
        EntryRow { chain: entry.book, seq: entry.seq, at: entry.at, kind, json, hash }
    }
}

/// Selects entries of ledgers.
pub const OF_LEDGERS: &str = "SELECT match_id AS chain, seq, at, kind, json, hash FROM entry ";

/// Selects entries of books.
pub const OF_BOOKS: &str = "SELECT book_id AS chain, seq, at, kind, json, hash FROM book_entry ";

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
        Ok(EntryRow { chain, seq: count(seq)?, at: time(at)?, kind, json, hash: digest(&hash)? })
    }
}

/// Adds entries of ledgers, within a transaction.
pub async fn add_to_ledgers(session: &mut Session<'_>, entries: &[EntryRow]) -> Result<()> {
    add(session, "INSERT INTO entry (match_id, seq, at, kind, json, hash) ", entries).await
}

/// Adds entries of books, within a transaction.
pub async fn add_to_books(session: &mut Session<'_>, entries: &[EntryRow]) -> Result<()> {
    add(session, "INSERT INTO book_entry (book_id, seq, at, kind, json, hash) ", entries).await
}

async fn add(session: &mut Session<'_>, into: &str, entries: &[EntryRow]) -> Result<()> {
    for chunk in entries.chunks(CHUNK) {
        let mut insert = session.statement(into);
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
    Ok(())
}
