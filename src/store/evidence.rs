//! [`Evidence`] for both databases: what the audit compares with a ledger.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::database::Database;
use super::packing::{PackedColumns, unpack, unpack_dispatch};
use super::rows::{PACKED, WITH_BYTES, digest, dispatch_kind, maybe_time, seat, text, time, unsound};
use super::{LetterStatus, Result, RowSink, SentRow, pinned};
use crate::ledger::{Delivery, DeliveryKind, KeptPin, OpenedPin, PinnedKind};
use crate::letter::Digest;

/// A letter that entries name.
#[derive(Clone, Debug)]
pub struct NamedLetter {
    pub digest: Digest,
    pub received_at: DateTime<Utc>,
    pub status: LetterStatus,
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

    /// Returns the deliveries in these matches that no entry lists yet, each with its match, in the order in which the
    /// letters were written.
    async fn unlisted_deliveries(&self, match_ids: &[String]) -> Result<Vec<(String, Delivery)>>;

    /// Keeps a wording under its digest, unless it is kept.
    async fn keep_wording(&self, digest: Digest, contents: &str) -> Result<()>;

    /// Returns the wordings that are kept under these digests.
    async fn wordings(&self, digests: &[Digest]) -> Result<Vec<(Digest, String)>>;

    /// Returns what the ledger of a match pins of who holds its seats.
    async fn seat_pins(&self, match_id: &str) -> Result<Vec<KeptPin>>;
}

#[async_trait]
impl Evidence for Database {
    async fn letters_named(&self, digests: &[Digest], take: RowSink<'_, NamedLetter>) -> Result<()> {
        let digests: Vec<String> = digests.iter().map(Digest::to_string).collect();
        let sql = format!(
            "SELECT l.digest, l.received_at, l.status, r.bytes FROM letter l \
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

    async fn keep_wording(&self, digest: Digest, contents: &str) -> Result<()> {
        pinned::keep_wording(&mut self.backend.writer().await?.session(), digest, contents).await
    }

    async fn wordings(&self, digests: &[Digest]) -> Result<Vec<(Digest, String)>> {
        let digests: Vec<String> = digests.iter().map(Digest::to_string).collect();
        let sql = format!("SELECT digest, contents FROM wording WHERE digest {}", self.one_of());
        let mut kept = Vec::new();
        let mut take = |wording| kept.push(wording);
        self.stream(self.statement(sql).bind_texts(&digests), read_wording, &mut take).await?;
        Ok(kept)
    }

    async fn seat_pins(&self, match_id: &str) -> Result<Vec<KeptPin>> {
        let sql = "SELECT seat, kind, pin, key, value FROM seat_pin WHERE match_id = $1 ORDER BY pin";
        let mut pins = Vec::new();
        let mut take = |pin| pins.push(pin);
        self.stream(self.statement(sql).bind(text(match_id)), SeatPinRow::read, &mut take).await?;
        Ok(pins)
    }
}

fn read_wording((hex, contents): (String, String)) -> Result<(Digest, String)> {
    Ok((digest(&hex)?, contents))
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
    bytes: Vec<u8>,
}

impl NamedLetterRow {
    fn read(self) -> Result<NamedLetter> {
        Ok(NamedLetter {
            digest: digest(&self.digest)?,
            received_at: time(self.received_at)?,
            status: LetterStatus::parse(&self.status)
                .ok_or_else(|| unsound("letter status", &self.status))?,
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
