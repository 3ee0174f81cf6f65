//! [`Evidence`] for both databases: what the audit compares with a ledger.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::database::{Database, INVITATIONS};
use super::packing::{PackedColumns, unpack, unpack_dispatch};
use super::rows::{PACKED, WITH_BYTES, digest, dispatch_kind, maybe_time, seat, text, time, unsound};
use super::{Invitation, LetterStatus, Result, RowSink, SentRow, UnprovenLetter, overview, rows, unproven};
use crate::game::Seat;
use crate::ledger::{Delivery, DeliveryKind, KeptPin, OpenedPin, PinnedKind};
use crate::letter::Digest;

/// A letter that entries name.
#[derive(Clone, Debug)]
pub struct NamedLetter {
    pub digest: Digest,
    pub received_at: DateTime<Utc>,
    pub status: LetterStatus,
    pub sender: String,
    pub subject: String,
    /// The match and the seat for which it is listed.
    pub place: Option<(String, Seat)>,
    pub raw: Vec<u8>,
}

/// Reads what is stored beside a ledger.
#[async_trait]
pub trait Evidence {
    /// Streams the letters with these digests and their bytes.
    async fn letters_named(&self, digests: &[Digest], take: RowSink<'_, NamedLetter>) -> Result<()>;

    /// Streams up to `limit` of a match's dispatches after the row `id`, oldest first, with their bytes.
    async fn sent_after(&self, match_id: &str, id: i64, limit: u32, take: RowSink<'_, SentRow>)
    -> Result<()>;

    /// Returns the Message-IDs of a match's dispatches whose bytes were deleted because a player was forgotten, with their
    /// seats.
    async fn withheld_dispatches(&self, match_id: &str) -> Result<Vec<(String, Option<Seat>)>>;

    /// Returns the deliveries in these matches that no entry lists yet, each with its match, in the order in which the
    /// letters were written.
    async fn unlisted_deliveries(&self, match_ids: &[String]) -> Result<Vec<(String, Delivery)>>;

    /// Returns the matches that are over and in which there are pins or deliveries that no entry lists yet, because their
    /// last letters were sent or given up since the last entry, or wait since `before`.
    async fn matches_to_list(&self, before: DateTime<Utc>) -> Result<Vec<String>>;

    /// Returns a match as it was stored each time before the procedure changed.
    async fn kept_snapshots(&self, match_id: &str) -> Result<Vec<String>>;

    /// Returns the columns of a match that hold something other than what they are read as.
    async fn unread_columns(&self, match_id: &str) -> Result<Vec<&'static str>>;

    /// Returns the offers that are stored as those that the match came of.
    async fn invitations_to(&self, match_id: &str) -> Result<Vec<Invitation>>;

    /// Returns those of these letters that were not proven at first.
    async fn unproven_named(&self, letters: &[Digest]) -> Result<Vec<UnprovenLetter>>;

    /// Returns what the ledger of a match pins of who holds its seats.
    async fn seat_pins(&self, match_id: &str) -> Result<Vec<KeptPin>>;
}

#[async_trait]
impl Evidence for Database {
    async fn letters_named(&self, digests: &[Digest], take: RowSink<'_, NamedLetter>) -> Result<()> {
        let digests: Vec<String> = digests.iter().map(Digest::to_string).collect();
        let sql = format!(
            "SELECT l.digest, l.received_at, l.status, l.sender, l.subject, l.match_id, l.seat, r.bytes FROM letter l \
             JOIN letter_raw r ON r.letter_id = l.id WHERE l.digest {}",
            self.one_of()
        );
        self.stream(self.statement(sql).bind_texts(&digests), NamedLetterRow::read, take).await
    }

    async fn sent_after(
        &self,
        match_id: &str,
        id: i64,
        limit: u32,
        take: RowSink<'_, SentRow>,
    ) -> Result<()> {
        let sql = format!(
            "SELECT d.id, d.message_id, d.recipient, d.kind, d.seat, d.sent_at, {} FROM {} \
             WHERE d.match_id = $1 AND d.id > $2 ORDER BY d.id LIMIT $3",
            PACKED, WITH_BYTES
        );
        let statement = self.statement(sql).bind(text(match_id)).bind(id).bind(i64::from(limit));
        self.stream(statement, SentBytes::read, take).await
    }

    async fn withheld_dispatches(&self, match_id: &str) -> Result<Vec<(String, Option<Seat>)>> {
        let sql = "SELECT message_id, seat FROM dispatch WHERE match_id = $1 AND forgotten_at IS NOT NULL";
        let mut withheld = Vec::new();
        let mut take = |row| withheld.push(row);
        let read = |(message_id, of): (String, Option<String>)| {
            Ok((message_id, of.as_deref().map(seat).transpose()?))
        };
        self.stream(self.statement(sql).bind(text(match_id)), read, &mut take).await?;
        Ok(withheld)
    }

    async fn unlisted_deliveries(&self, match_ids: &[String]) -> Result<Vec<(String, Delivery)>> {
        let sql = format!(
            "SELECT match_id, pin, sent_at FROM dispatch WHERE match_id {} AND listed = 0 AND pin IS NOT NULL \
             AND sent_at IS NOT NULL ORDER BY id",
            self.one_of()
        );
        let mut unlisted = Vec::new();
        let mut take = |delivery| unlisted.push(delivery);
        self.stream(self.statement(sql).bind_texts(match_ids), read_delivery, &mut take).await?;
        Ok(unlisted)
    }

    async fn matches_to_list(&self, before: DateTime<Utc>) -> Result<Vec<String>> {
        // Three queries, each of which has an index.
        let sql = "SELECT d.match_id FROM dispatch d JOIN match m ON m.id = d.match_id \
                   WHERE d.listed = 0 AND d.pin IS NOT NULL AND d.sent_at IS NOT NULL AND m.stage = 'over' \
                   AND (d.created_at < $1 OR NOT EXISTS (SELECT 1 FROM dispatch w WHERE w.match_id = m.id \
                        AND w.pin IS NOT NULL AND w.due_at IS NOT NULL)) \
                   UNION SELECT d.match_id FROM dispatch d JOIN match m ON m.id = d.match_id \
                   JOIN entry e ON e.match_id = m.id AND e.seq = m.head_seq \
                   WHERE d.sent_at IS NULL AND d.due_at IS NULL AND d.pin IS NOT NULL AND m.stage = 'over' \
                   AND d.created_at >= e.at AND NOT EXISTS (SELECT 1 FROM dispatch w WHERE w.match_id = m.id \
                        AND w.pin IS NOT NULL AND w.due_at IS NOT NULL) \
                   UNION SELECT d.match_id FROM dispatch d JOIN match m ON m.id = d.match_id \
                   JOIN entry e ON e.match_id = m.id AND e.seq = m.head_seq \
                   WHERE d.due_at IS NOT NULL AND d.pin IS NOT NULL AND m.stage = 'over' \
                   AND d.created_at >= e.at AND d.created_at < $1 ORDER BY 1";
        let mut ids = Vec::new();
        let mut take = |id| ids.push(id);
        let statement = self.statement(sql).bind(before.timestamp_millis());
        self.stream(statement, |(id,): (String,)| Ok(id), &mut take).await?;
        Ok(ids)
    }

    async fn kept_snapshots(&self, match_id: &str) -> Result<Vec<String>> {
        let sql = "SELECT json FROM kept_snapshot WHERE match_id = $1 ORDER BY digest";
        let mut kept = Vec::new();
        let mut take = |json| kept.push(json);
        self.stream(self.statement(sql).bind(text(match_id)), |(json,): (String,)| Ok(json), &mut take)
            .await?;
        Ok(kept)
    }

    async fn unread_columns(&self, match_id: &str) -> Result<Vec<&'static str>> {
        overview::unread(&mut self.backend.reader().await?.session(), match_id).await
    }

    async fn invitations_to(&self, match_id: &str) -> Result<Vec<Invitation>> {
        let sql = format!("{INVITATIONS}WHERE match_id = $1 ORDER BY code");
        let found: Vec<rows::Invitation> = self.read(self.statement(sql).bind(text(match_id))).await?;
        found.into_iter().map(rows::Invitation::read).collect()
    }

    async fn unproven_named(&self, letters: &[Digest]) -> Result<Vec<UnprovenLetter>> {
        unproven::named(&mut self.backend.reader().await?.session(), letters).await
    }

    async fn seat_pins(&self, match_id: &str) -> Result<Vec<KeptPin>> {
        let sql = "SELECT seat, kind, pin, key, value FROM seat_pin WHERE match_id = $1 ORDER BY pin";
        let mut pins = Vec::new();
        let mut take = |pin| pins.push(pin);
        self.stream(self.statement(sql).bind(text(match_id)), SeatPinRow::read, &mut take).await?;
        Ok(pins)
    }
}

fn read_delivery((match_id, pin, sent_at): (String, String, i64)) -> Result<(String, Delivery)> {
    let how = DeliveryKind::Accepted;
    Ok((match_id, Delivery { letter: digest(&pin)?, at: time(sent_at)?, how }))
}

#[derive(FromRow)]
struct NamedLetterRow {
    digest: String,
    received_at: i64,
    status: String,
    sender: String,
    subject: String,
    match_id: Option<String>,
    seat: Option<String>,
    bytes: Vec<u8>,
}

impl NamedLetterRow {
    fn read(self) -> Result<NamedLetter> {
        Ok(NamedLetter {
            digest: digest(&self.digest)?,
            received_at: time(self.received_at)?,
            status: LetterStatus::parse(&self.status)
                .ok_or_else(|| unsound("letter status", &self.status))?,
            sender: self.sender,
            subject: self.subject,
            place: self.match_id.zip(self.seat.as_deref().map(seat).transpose()?),
            raw: unpack(&self.bytes)?,
        })
    }
}

#[derive(FromRow)]
struct SeatPinRow {
    seat: String,
    kind: String,
    pin: String,
    key: Option<String>,
    value: Option<String>,
}

impl SeatPinRow {
    fn read(self) -> Result<KeptPin> {
        let opened = match self.key.zip(self.value) {
            Some((key, value)) => {
                let key = key.parse().map_err(|error| unsound("key of a pin", error))?;
                Some(OpenedPin { key, value })
            }
            None => None,
        };
        Ok(KeptPin {
            seat: seat(&self.seat)?,
            kind: PinnedKind::parse(&self.kind).ok_or_else(|| unsound("kind of a pin", &self.kind))?,
            pin: digest(&self.pin)?,
            opened,
        })
    }
}

#[derive(FromRow)]
struct SentBytes {
    id: i64,
    message_id: String,
    recipient: String,
    kind: String,
    seat: Option<String>,
    sent_at: Option<i64>,
    #[sqlx(flatten)]
    packed: PackedColumns,
}

impl SentBytes {
    fn read(self) -> Result<SentRow> {
        let SentBytes { id, message_id, recipient, kind, seat, sent_at, packed } = self;
        let seat = seat.as_deref().map(super::rows::seat).transpose()?;
        let (sent_at, bytes) = (maybe_time(sent_at)?, unpack_dispatch(packed)?);
        Ok(SentRow { id, message_id, recipient, kind: dispatch_kind(&kind)?, seat, sent_at, bytes })
    }
}
