//! [`Archive`] for both databases: the letters of matches that ended long ago take little room.
//!
//! A report of 10 kB differs little from the one before, so the letters of a match are packed with a text that they have in
//! common: those of 20 turns of Quadrant Z, 750 kB, then take 75 kB. While a match is played that does not pay, because
//! packing a letter would cost more than ruling on it.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::Result;
use super::database::Database;
use super::packing::{Dictionary, PackedColumns, SHARED, unpack, unpack_letter};
use super::rows::{PACKED, WITH_BYTES};
use super::statement::Session;
use crate::letter::Digest;
use crate::letter::stand_in::stand_in;

/// Packs the letters of matches that ended long ago.
#[async_trait]
pub trait Archive {
    /// Returns up to `limit` matches that ended before then and are not archived, those first that ended first.
    async fn matches_to_archive(&self, ended_before: DateTime<Utc>, limit: u32) -> Result<Vec<String>>;

    /// Packs the letters of a match that is over anew. Does nothing if it is not over, or is archived already.
    /// With `drops_pictures`, the pictures of our letters are replaced by their digests.
    async fn archive_match(&self, match_id: &str, now: DateTime<Utc>, drops_pictures: bool) -> Result<()>;
}

#[async_trait]
impl Archive for Database {
    async fn matches_to_archive(&self, ended_before: DateTime<Utc>, limit: u32) -> Result<Vec<String>> {
        // Only a match that is over has an end.
        let sql = "SELECT id FROM match WHERE ended_at < $1 AND archived_at IS NULL AND ended_at IS NOT NULL \
                   ORDER BY ended_at LIMIT $2";
        let statement = self.statement(sql).bind(ended_before.timestamp_millis()).bind(i64::from(limit));
        let ids: Vec<(String,)> = self.read(statement).await?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    async fn archive_match(&self, match_id: &str, now: DateTime<Utc>, drops_pictures: bool) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        archive(&mut tx.session(), match_id, now, drops_pictures).await?;
        tx.commit().await
    }
}

/// One of our letters, as it is stored.
#[derive(FromRow)]
struct SentColumns {
    id: i64,
    seat: Option<String>,
    kind: String,
    #[sqlx(flatten)]
    packed: PackedColumns,
}

/// One of our letters.
struct Sent {
    id: i64,
    seat: Option<String>,
    kind: String,
    text: Vec<u8>,
    picture: Option<Vec<u8>>,
}

/// A received letter, as it is stored.
#[derive(FromRow)]
struct ReceivedColumns {
    letter_id: i64,
    form: i64,
    bytes: Vec<u8>,
    dictionary: Option<Vec<u8>>,
}

/// The letters of a match: ours, and those that acted in it, each with the number of its row.
struct Letters {
    sent: Vec<Sent>,
    received: Vec<(i64, Vec<u8>)>,
}

impl Letters {
    async fn of(session: &mut Session<'_>, match_id: &str) -> Result<Letters> {
        let sent = sent_letters(session, match_id).await?;
        Ok(Letters { sent, received: received_letters(session, match_id).await? })
    }

    fn dictionary(&self) -> Dictionary {
        let reports = |seat: &str| {
            let of_seat = |sent: &&Sent| sent.seat.as_deref() == Some(seat) && sent.kind == REPORT;
            middle(self.sent.iter().filter(of_seat).map(|sent| sent.text.as_slice()).collect())
        };
        let letter = middle(self.received.iter().map(|(_, raw)| raw.as_slice()).collect());
        Dictionary::of(&[letter, reports("first"), reports("second")])
    }

    /// Packs the letters with a dictionary.
    async fn pack(&self, session: &mut Session<'_>, dictionary: &Dictionary) -> Result<()> {
        for Sent { id, text, .. } in &self.sent {
            let sql = "UPDATE dispatch_raw SET form = $2, bytes = $3 WHERE dispatch_id = $1";
            let statement = session.statement(sql).bind(*id).bind(SHARED).bind(dictionary.pack(text)?);
            session.execute(statement).await?;
        }
        for (id, raw) in &self.received {
            let sql = "UPDATE letter_raw SET form = $2, bytes = $3 WHERE letter_id = $1";
            let statement = session.statement(sql).bind(*id).bind(SHARED).bind(dictionary.pack(raw)?);
            session.execute(statement).await?;
        }
        Ok(())
    }

    /// Replaces the pictures of our letters by their digests.
    async fn drop_pictures(&self, session: &mut Session<'_>) -> Result<()> {
        for Sent { id, picture, .. } in &self.sent {
            let Some(picture) = picture else { continue };
            let stands_in = stand_in(Digest::of(picture)).into_bytes();
            let sql = "UPDATE dispatch_picture SET picture = $2 WHERE dispatch_id = $1";
            let statement = session.statement(sql).bind(*id).bind(stands_in);
            session.execute(statement).await?;
        }
        Ok(())
    }
}

async fn archive(
    session: &mut Session<'_>,
    match_id: &str,
    now: DateTime<Utc>,
    drops_pictures: bool,
) -> Result<()> {
    // First, because the triggers allow the rest only in a match that is archived.
    let sql = "UPDATE match SET archived_at = $2 WHERE id = $1 AND stage = 'over' AND archived_at IS NULL";
    let statement = session.statement(sql).bind(match_id).bind(now.timestamp_millis());
    if session.execute(statement).await? == 0 {
        return Ok(());
    }
    let letters = Letters::of(session, match_id).await?;
    let dictionary = letters.dictionary();
    let sql = "INSERT INTO dictionary (match_id, bytes) VALUES ($1, $2)";
    let statement = session.statement(sql).bind(match_id).bind(dictionary.packed()?);
    session.execute(statement).await?;
    letters.pack(session, &dictionary).await?;
    if drops_pictures { letters.drop_pictures(session).await } else { Ok(()) }
}

/// Packs the letters of a match anew, if it is archived: its dictionary must not hold text of letters that are deleted.
pub async fn pack_anew(session: &mut Session<'_>, match_id: &str) -> Result<()> {
    let archived = session.statement("SELECT match_id FROM dictionary WHERE match_id = $1").bind(match_id);
    if session.fetch_first::<(String,)>(archived).await?.is_none() {
        return Ok(());
    }
    let letters = Letters::of(session, match_id).await?;
    let dictionary = letters.dictionary();
    let sql = "UPDATE dictionary SET bytes = $2 WHERE match_id = $1";
    let statement = session.statement(sql).bind(match_id).bind(dictionary.packed()?);
    session.execute(statement).await?;
    letters.pack(session, &dictionary).await
}

/// The kind of the letters that are longest, and most alike.
const REPORT: &str = "report";

/// Returns our letters, each with its picture apart.
async fn sent_letters(session: &mut Session<'_>, match_id: &str) -> Result<Vec<Sent>> {
    let sql = format!(
        "SELECT d.id, d.seat, d.kind, {PACKED} FROM {WITH_BYTES} WHERE d.match_id = $1 ORDER BY d.id"
    );
    let statement = session.statement(sql).bind(match_id);
    let rows: Vec<SentColumns> = session.fetch_all(statement).await?;
    let read = rows.into_iter().map(|SentColumns { id, seat, kind, packed }| {
        let (packed, picture) = packed.without_picture();
        Ok(Sent { id, seat, kind, text: unpack(packed)?, picture })
    });
    read.collect()
}

/// Returns the letters that acted in the match.
async fn received_letters(session: &mut Session<'_>, match_id: &str) -> Result<Vec<(i64, Vec<u8>)>> {
    let sql = "SELECT r.letter_id, r.form, r.bytes, k.bytes AS dictionary FROM letter l \
               JOIN letter_raw r ON r.letter_id = l.id LEFT JOIN dictionary k ON k.match_id = l.match_id \
               WHERE l.match_id = $1 AND l.status = 'ruled' ORDER BY l.id";
    let rows: Vec<ReceivedColumns> = session.fetch_all(session.statement(sql).bind(match_id)).await?;
    let read = rows.into_iter().map(|ReceivedColumns { letter_id, form, bytes, dictionary }| {
        Ok((letter_id, unpack_letter(form, bytes, dictionary)?))
    });
    read.collect()
}

/// The letter in the middle, which is like those before it and those after it.
fn middle(letters: Vec<&[u8]>) -> &[u8] {
    letters.get(letters.len() / 2).copied().unwrap_or_default()
}
