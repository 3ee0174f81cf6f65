//! Ledger entries as they are stored.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::columns::integer;
use super::record::{Row, record};
use super::rows::{CHUNK, is_common, text};
use super::statement::Session;
use super::{Database, Result, RowSink};
use crate::ledger::ChainedEntry;
use crate::letter::Digest;

/// Selects entries of ledgers.
const ENTRIES: &str = "SELECT match_id AS chain, seq, at, kind, json, hash FROM entry ";

record! {
    /// A stored entry of a ledger or a book: its canonical JSON, and the columns by which it is found. The
    /// kind stays text, so that the audit can read and report an entry that was changed.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct EntryRow {
        /// The match or the event.
        pub chain: String,
        /// The number in the chain, from 1 without gaps.
        pub seq: u64,
        pub at: DateTime<Utc>,
        pub kind: String,
        /// The entry without its own hash, as canonical JSON (RFC 8785).
        pub json: String,
        pub hash: Digest,
        /// The letters that it names, whose bytes are kept. Empty in an entry read from the database.
        #[read_with(read_no_letters)]
        pub letters: Vec<Digest>,
    }
}

/// The table of entries does not list letters.
fn read_no_letters(_: Row<'_>) -> Result<Vec<Digest>> {
    Ok(Vec::new())
}

impl From<&ChainedEntry> for EntryRow {
    fn from(ChainedEntry { entry, json, hash }: &ChainedEntry) -> EntryRow {
        let (chain, kind) = (entry.match_id.clone(), entry.fact.kind().to_owned());
        let letters = entry.letters();
        EntryRow { chain, seq: entry.seq, at: entry.at, kind, json: json.clone(), hash: *hash, letters }
    }
}

impl Database {
    /// Returns a match's entries in order.
    pub async fn entries(&self, match_id: &str) -> Result<Vec<EntryRow>> {
        let sql = format!("{ENTRIES}WHERE match_id = $1 ORDER BY seq");
        self.read(self.statement(sql).bind(text(match_id))).await
    }

    /// Returns the entries of this kind since `since`, in all matches, oldest first.
    pub async fn entries_since(&self, kind: &str, since: DateTime<Utc>) -> Result<Vec<EntryRow>> {
        let sql = format!("{ENTRIES}WHERE kind = $1 AND at >= $2 ORDER BY at, match_id, seq");
        self.read(self.statement(sql).bind(text(kind)).bind(since.timestamp_millis())).await
    }

    /// Streams up to `limit` of a match's entries after the entry `seq`, in order. `None` starts with the
    /// first row, whatever its number.
    pub async fn entries_after(
        &self,
        match_id: &str,
        seq: Option<u64>,
        limit: u32,
        take: RowSink<'_, EntryRow>,
    ) -> Result<()> {
        let sql = format!("{ENTRIES}WHERE match_id = $1 AND seq > $2 ORDER BY seq LIMIT $3");
        let after = seq.map_or(i64::MIN, integer);
        let select = self.statement(sql).bind(text(match_id)).bind(after).bind(i64::from(limit));
        self.stream(select, take).await
    }
}

/// Adds entries of ledgers, within a transaction, and marks the letters that they name.
pub async fn add_to_ledgers(session: &mut Session<'_>, entries: &[EntryRow]) -> Result<()> {
    add_entries(session, "INSERT INTO entry (match_id, seq, at, kind, json, hash) ", entries).await
}

/// Adds entries of books, within a transaction, and marks the letters that they name.
pub async fn add_to_books(session: &mut Session<'_>, entries: &[EntryRow]) -> Result<()> {
    add_entries(session, "INSERT INTO book_entry (event_id, seq, at, kind, json, hash) ", entries).await
}

async fn add_entries(session: &mut Session<'_>, insert: &str, entries: &[EntryRow]) -> Result<()> {
    for chunk in entries.chunks(CHUNK) {
        let mut insert = session.statement(insert);
        insert.push_rows(chunk, |values, entry| {
            values
                .bind(&entry.chain)
                .bind(integer(entry.seq))
                .bind(entry.at.timestamp_millis())
                .bind(&entry.kind)
                .bind(&entry.json)
                .bind(entry.hash);
        });
        session.execute(insert.persistent(is_common(chunk.len()))).await?;
    }
    let named: BTreeSet<Digest> = entries.iter().flat_map(|entry| &entry.letters).copied().collect();
    for chunk in Vec::from_iter(named).chunks(CHUNK) {
        mark_named(session, chunk).await?;
    }
    Ok(())
}

/// Marks letters that an entry names, so that their bytes are kept. Letters that were ruled on are skipped:
/// their bytes are kept anyway, and marking one would make SQLite rewrite an index.
async fn mark_named(session: &mut Session<'_>, digests: &[Digest]) -> Result<()> {
    let one_of = session.engine().one_of();
    let sql = format!(
        "UPDATE letter SET in_ledger = 1 WHERE digest {one_of} AND status <> 'ruled' AND in_ledger = 0"
    );
    let statement = session.statement(sql).bind_digests(digests);
    session.execute(statement).await
}
