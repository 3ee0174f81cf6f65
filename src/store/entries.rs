//! Ledger entries as they are stored.
//!
//! Rows stored beside the ledgers and compared with them: letters that entries name, deliveries, pins, and
//! the part of each ledger that was verified.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::columns::{integer, unsound};
use super::dispatches::{PACKED, WITH_BYTES};
use super::packing::read_packed;
use super::rows::{CHUNK, Row, is_common, read_place, record, text};
use super::statement::Session;
use super::{Database, KeptSnapshot, LetterStatus, Result, RowSink, SentRow};
use crate::game::Seat;
use crate::ledger::{ChainedEntry, Delivery, DeliveryKind, Head, KeptPin, OpenedPin};
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
        let chain = entry.match_id.clone();
        let kind = entry.fact.kind().to_owned();
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

record! {
    /// A letter that entries name.
    #[derive(Clone, Debug)]
    pub struct NamedLetter {
        pub digest: Digest,
        pub received_at: DateTime<Utc>,
        pub status: LetterStatus,
        pub sender: String,
        pub subject: String,
        /// The match and the seat for which it is listed.
        #[read_with(read_place)]
        pub place: Option<(String, Seat)>,
        #[read_with(read_packed)]
        pub raw: Vec<u8>,
    }
}

impl Database {
    /// Streams the letters with these digests and their bytes.
    pub async fn letters_named(&self, digests: &[Digest], take: RowSink<'_, NamedLetter>) -> Result<()> {
        let sql = format!(
            "SELECT l.digest, l.received_at, l.status, l.sender, l.subject, l.match_id, l.seat, r.bytes FROM letter l \
             JOIN letter_raw r ON r.letter_id = l.id WHERE l.digest {}",
            self.one_of()
        );
        self.stream(self.statement(sql).bind_digests(digests), take).await
    }

    /// Streams up to `limit` of a match's dispatches after the row `id`, oldest first, with their bytes.
    pub async fn sent_after(
        &self,
        match_id: &str,
        id: i64,
        limit: u32,
        take: RowSink<'_, SentRow>,
    ) -> Result<()> {
        let sql = format!(
            "SELECT d.id, d.message_id, d.recipient, d.kind, d.seat, d.sent_at, {PACKED} FROM {WITH_BYTES} \
             WHERE d.match_id = $1 AND d.id > $2 ORDER BY d.id LIMIT $3"
        );
        self.stream(self.statement(sql).bind(text(match_id)).bind(id).bind(i64::from(limit)), take).await
    }

    /// Returns the Message-IDs of a match's dispatches whose bytes were deleted because a player was
    /// forgotten, with their seats.
    pub async fn withheld_dispatches(&self, match_id: &str) -> Result<Vec<(String, Option<Seat>)>> {
        let sql = "SELECT message_id, seat FROM dispatch WHERE match_id = $1 AND forgotten_at IS NOT NULL";
        self.read(self.statement(sql).bind(text(match_id))).await
    }

    /// Returns the deliveries in these matches that no entry lists yet, each with its match, in the order in
    /// which the letters were written.
    pub async fn unlisted_deliveries(&self, match_ids: &[String]) -> Result<Vec<(String, Delivery)>> {
        let sql = format!(
            "SELECT match_id, pin, sent_at FROM dispatch WHERE match_id {} AND listed = 0 AND pin IS NOT NULL \
             AND sent_at IS NOT NULL ORDER BY id",
            self.one_of()
        );
        let rows = self.read(self.statement(sql).bind_texts(match_ids)).await?;
        let read = |(match_id, letter, at)| (match_id, Delivery { letter, at, how: DeliveryKind::Accepted });
        Ok(rows.into_iter().map(read).collect())
    }

    /// Returns the matches that are over and have pins or deliveries that no entry lists yet: their last
    /// letters were sent or given up since the last entry, or have waited since `before`.
    pub async fn matches_to_list(&self, before: DateTime<Utc>) -> Result<Vec<String>> {
        // Each of the three queries starts from an index that holds few letters.
        let sql = "SELECT d.match_id FROM dispatch d CROSS JOIN match m \
                   WHERE m.id = d.match_id AND d.match_id IS NOT NULL AND d.listed = 0 AND d.pin IS NOT NULL \
                   AND d.sent_at IS NOT NULL AND m.stage = 'over' \
                   AND (d.created_at < $1 OR NOT EXISTS (SELECT 1 FROM dispatch w WHERE w.match_id = m.id \
                        AND w.pin IS NOT NULL AND w.due_at IS NOT NULL)) \
                   UNION SELECT d.match_id FROM dispatch d CROSS JOIN match m \
                   JOIN entry e ON e.match_id = m.id AND e.seq = m.head_seq \
                   WHERE m.id = d.match_id AND d.match_id IS NOT NULL AND d.sent_at IS NULL AND d.due_at IS NULL \
                   AND d.pin IS NOT NULL AND m.stage = 'over' AND d.created_at >= e.at \
                   AND NOT EXISTS (SELECT 1 FROM dispatch w WHERE w.match_id = m.id AND w.pin IS NOT NULL \
                        AND w.due_at IS NOT NULL) \
                   UNION SELECT d.match_id FROM dispatch d CROSS JOIN match m \
                   JOIN entry e ON e.match_id = m.id AND e.seq = m.head_seq \
                   WHERE m.id = d.match_id AND d.id IN (SELECT q.id FROM dispatch q WHERE q.due_at IS NOT NULL) \
                   AND d.pin IS NOT NULL AND m.stage = 'over' AND d.created_at >= e.at AND d.created_at < $1 \
                   ORDER BY 1";
        self.read_column(self.statement(sql).bind(before.timestamp_millis())).await
    }

    /// Returns a match as it was stored each time before the procedure changed.
    pub async fn kept_snapshots(&self, match_id: &str) -> Result<Vec<String>> {
        let sql = "SELECT json FROM kept_snapshot WHERE match_id = $1 ORDER BY digest";
        self.read_column(self.statement(sql).bind(text(match_id))).await
    }

    /// Returns the pinned holders of a match's seats.
    pub async fn seat_pins(&self, match_id: &str) -> Result<Vec<KeptPin>> {
        let sql = "SELECT seat, kind, pin, key, value FROM seat_pin WHERE match_id = $1 ORDER BY pin";
        let rows = self.read(self.statement(sql).bind(text(match_id))).await?;
        let read = |(seat, kind, pin, key, value): (_, _, _, Option<String>, _)| {
            let key = key.map(|key| key.parse()).transpose();
            let key = key.map_err(|error| unsound("key of a pin", error))?;
            let opened = key.zip(value).map(|(key, value)| OpenedPin { key, value });
            Ok(KeptPin { seat, kind, pin, opened })
        };
        rows.into_iter().map(read).collect()
    }

    /// Returns the IDs of the matches whose ledgers have grown since the scheduled audit verified them,
    /// sorted.
    pub async fn unverified(&self) -> Result<Vec<String>> {
        let sql = "SELECT m.id FROM match m LEFT JOIN verified v ON v.match_id = m.id \
                   WHERE m.head_seq > COALESCE(v.seq, 0) ORDER BY m.id";
        self.read_column(self.statement(sql)).await
    }

    /// Returns the end of a match's ledger as the scheduled audit last verified it. Nothing proves these
    /// rows, so a check at the terminal does not use them.
    pub async fn verified(&self, match_id: &str) -> Result<Option<Head>> {
        let sql = "SELECT seq, hash FROM verified WHERE match_id = $1";
        // On the connection that writes, because the audit is about to write this row.
        let rows: Vec<(u64, Digest)> = self.read_recent(self.statement(sql).bind(text(match_id))).await?;
        Ok(rows.into_iter().next().map(|(seq, hash)| Head { seq, hash }))
    }

    /// Notes the ends of ledgers that have just been verified.
    pub async fn note_verified(&self, heads: &[(String, Head)]) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        for chunk in heads.chunks(CHUNK) {
            let mut insert = self.statement("INSERT INTO verified (match_id, seq, hash) ");
            insert.push_rows(chunk, |values, (match_id, head)| {
                values.bind(match_id).bind(integer(head.seq)).bind(head.hash);
            });
            insert.push(" ON CONFLICT (match_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash");
            tx.session().execute(insert.persistent(is_common(chunk.len()))).await?;
        }
        tx.commit().await
    }
}

/// Notes, within a transaction, that entries list these dispatches of these matches.
pub async fn mark_listed(session: &mut Session<'_>, chunk: &[(String, Digest)]) -> Result<()> {
    let mut update = session.statement("WITH new (n_match_id, n_pin) AS (");
    update.push_rows(chunk, |values, (match_id, pin)| {
        values.bind(match_id).bind(pin);
    });
    update.push(
        ") UPDATE dispatch SET listed = 1 FROM new \
         WHERE match_id = n_match_id AND pin = n_pin AND listed = 0 AND sent_at IS NOT NULL",
    );
    session.execute(update.persistent(is_common(chunk.len()))).await
}

/// Keeps a match's snapshot, within a transaction.
pub async fn keep_snapshot(session: &mut Session<'_>, kept: &KeptSnapshot) -> Result<()> {
    let sql = "INSERT INTO kept_snapshot (digest, match_id, json) VALUES ($1, $2, $3)";
    let digest = Digest::of(kept.json.as_bytes());
    let statement = session.statement(sql).bind(digest).bind(text(&kept.match_id)).bind(text(&kept.json));
    session.execute(statement).await
}

/// Adds pins of seats, within a transaction.
pub async fn add_seat_pins(session: &mut Session<'_>, chunk: &[(String, KeptPin)]) -> Result<()> {
    let mut insert = session.statement("INSERT INTO seat_pin (match_id, seat, kind, pin, key, value) ");
    insert.push_rows(chunk, |values, (match_id, kept)| {
        values
            .bind(match_id)
            .bind(kept.seat)
            .bind(kept.kind)
            .bind(kept.pin)
            .bind(kept.opened.as_ref().map(|opened| opened.key.to_string()))
            .bind(kept.opened.as_ref().map(|opened| opened.value.clone()));
    });
    session.execute(insert.persistent(is_common(chunk.len()))).await
}
