//! [`ClubAudit`] for both databases: what the club's book says of matches and letters.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::Result;
use super::database::Database;
use super::packing::{PackedColumns, unpack_dispatch};
use super::rows::{PACKED, WITH_BYTES, count, digest, integer, maybe_time, text, time};
use crate::club::LateDelivery;
use crate::ledger::{Delivery, DeliveryKind};
use crate::letter::Digest;

/// An entry of the club's book that verified a match, and where its ledger ended then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedRow {
    pub match_id: String,
    pub seq: u64,
    pub book_seq: u64,
}

/// A dispatch whose delivery an entry of the club's book lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateRow {
    pub match_id: Option<String>,
    pub message_id: String,
    pub pin: Option<Digest>,
    pub sent_at: Option<DateTime<Utc>>,
    /// When its player was forgotten.
    pub forgotten_at: Option<DateTime<Utc>>,
}

/// Reads what the club's book says. [`BookChange`](super::BookChange) writes it.
#[async_trait]
pub trait ClubAudit {
    /// Returns the IDs of the matches whose ledgers have grown since the book verified them, sorted.
    async fn unverified(&self) -> Result<Vec<String>>;

    /// Returns the entries of the book that verified a match, oldest first, with their JSON.
    async fn verified(&self, match_id: &str) -> Result<Vec<(VerifiedRow, String)>>;

    /// Returns up to `limit` deliveries that nothing lists and no ledger of a match will: in matches that are over, and of
    /// letters about no match. Each with the ID of its dispatch.
    async fn unlisted_late(&self, limit: u32) -> Result<Vec<(i64, LateDelivery)>>;

    /// Returns the dispatches that this entry of the book lists.
    async fn late_deliveries(&self, book_seq: u64) -> Result<Vec<LateRow>>;

    /// Returns the letters about no match that this entry of the book lists, as far as their bytes are kept, by
    /// Message-ID.
    async fn late_plain_letters(&self, book_seq: u64) -> Result<Vec<(String, Vec<u8>)>>;

    /// Returns the Message-IDs of up to `limit` letters about no match that were written since then, sent by `until`, and
    /// are not listed.
    async fn unlisted_plain(
        &self,
        since: DateTime<Utc>,
        until: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<String>>;

    /// Returns the JSON of the entries of the book that list deliveries in a match.
    async fn late_in(&self, match_id: &str) -> Result<Vec<String>>;
}

#[async_trait]
impl ClubAudit for Database {
    async fn unverified(&self) -> Result<Vec<String>> {
        let sql = "SELECT m.id FROM match m WHERE m.head_seq > \
                   COALESCE((SELECT MAX(v.seq) FROM verified v WHERE v.match_id = m.id), 0) ORDER BY m.id";
        let mut ids = Vec::new();
        let mut take = |id| ids.push(id);
        self.stream(self.statement(sql), |(id,): (String,)| Ok(id), &mut take).await?;
        Ok(ids)
    }

    async fn verified(&self, match_id: &str) -> Result<Vec<(VerifiedRow, String)>> {
        let sql = "SELECT v.match_id, v.seq, v.book_seq, b.json FROM verified v \
                   JOIN book_entry b ON b.book_id = 'CLUB' AND b.seq = v.book_seq \
                   WHERE v.match_id = $1 ORDER BY v.seq";
        let rows: Vec<(String, i64, i64, String)> =
            self.read_recent(self.statement(sql).bind(text(match_id))).await?;
        let rows = rows.into_iter().map(|(match_id, seq, book_seq, json)| {
            Ok((VerifiedRow { match_id, seq: count(seq)?, book_seq: count(book_seq)? }, json))
        });
        rows.collect()
    }

    async fn unlisted_late(&self, limit: u32) -> Result<Vec<(i64, LateDelivery)>> {
        // With the plus SQLite uses the index `dispatch_unlisted`; without it, it reads all dispatches in order.
        let sql = "SELECT d.id, d.match_id, d.pin, d.sent_at FROM dispatch d \
                   LEFT JOIN match m ON m.id = d.match_id \
                   WHERE d.listed = 0 AND d.pin IS NOT NULL AND d.sent_at IS NOT NULL \
                   AND (d.match_id IS NULL OR m.stage = 'over') ORDER BY +d.id LIMIT $1";
        let mut unlisted = Vec::new();
        let mut take = |row| unlisted.push(row);
        self.stream(self.statement(sql).bind(i64::from(limit)), UnlistedLate::read, &mut take).await?;
        Ok(unlisted)
    }

    async fn late_deliveries(&self, book_seq: u64) -> Result<Vec<LateRow>> {
        let sql = "SELECT d.match_id, d.message_id, d.pin, d.sent_at, d.forgotten_at FROM late_delivery l \
                   JOIN dispatch d ON d.id = l.dispatch_id WHERE l.book_seq = $1 ORDER BY d.id";
        let mut rows = Vec::new();
        let mut take = |row| rows.push(row);
        self.stream(self.statement(sql).bind(integer(book_seq)), LateColumns::read, &mut take).await?;
        Ok(rows)
    }

    async fn late_plain_letters(&self, book_seq: u64) -> Result<Vec<(String, Vec<u8>)>> {
        let sql = format!(
            "SELECT d.message_id, {PACKED} FROM {WITH_BYTES} JOIN late_delivery l ON l.dispatch_id = d.id \
             WHERE l.book_seq = $1 AND d.match_id IS NULL"
        );
        let mut letters = Vec::new();
        let mut take = |letter| letters.push(letter);
        self.stream(self.statement(sql).bind(integer(book_seq)), PlainColumns::read, &mut take).await?;
        Ok(letters)
    }

    async fn unlisted_plain(
        &self,
        since: DateTime<Utc>,
        until: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<String>> {
        let sql = "SELECT d.message_id FROM dispatch d WHERE d.match_id IS NULL AND d.created_at >= $1 \
                   AND d.sent_at < $2 AND NOT EXISTS \
                   (SELECT 1 FROM late_delivery l WHERE l.dispatch_id = d.id) ORDER BY d.id LIMIT $3";
        let statement = self.statement(sql).bind(since.timestamp_millis()).bind(until.timestamp_millis());
        let rows: Vec<(String,)> = self.read_recent(statement.bind(i64::from(limit))).await?;
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    async fn late_in(&self, match_id: &str) -> Result<Vec<String>> {
        let sql = "SELECT b.json FROM book_entry b WHERE b.book_id = 'CLUB' AND b.seq IN \
                   (SELECT l.book_seq FROM dispatch d JOIN late_delivery l ON l.dispatch_id = d.id \
                   WHERE d.match_id = $1) ORDER BY b.seq";
        let rows: Vec<(String,)> = self.read_recent(self.statement(sql).bind(text(match_id))).await?;
        Ok(rows.into_iter().map(|(json,)| json).collect())
    }
}

#[derive(FromRow)]
struct UnlistedLate {
    id: i64,
    match_id: Option<String>,
    pin: String,
    sent_at: i64,
}

impl UnlistedLate {
    fn read(self) -> Result<(i64, LateDelivery)> {
        let how = DeliveryKind::Accepted;
        let delivery = Delivery { letter: digest(&self.pin)?, at: time(self.sent_at)?, how };
        Ok((self.id, LateDelivery { match_id: self.match_id, delivery }))
    }
}

#[derive(FromRow)]
struct LateColumns {
    match_id: Option<String>,
    message_id: String,
    pin: Option<String>,
    sent_at: Option<i64>,
    forgotten_at: Option<i64>,
}

impl LateColumns {
    fn read(self) -> Result<LateRow> {
        let LateColumns { match_id, message_id, pin, sent_at, forgotten_at } = self;
        let pin = pin.as_deref().map(digest).transpose()?;
        let (sent_at, forgotten_at) = (maybe_time(sent_at)?, maybe_time(forgotten_at)?);
        Ok(LateRow { match_id, message_id, pin, sent_at, forgotten_at })
    }
}

#[derive(FromRow)]
struct PlainColumns {
    message_id: String,
    #[sqlx(flatten)]
    packed: PackedColumns,
}

impl PlainColumns {
    fn read(self) -> Result<(String, Vec<u8>)> {
        Ok((self.message_id, unpack_dispatch(self.packed)?))
    }
}
