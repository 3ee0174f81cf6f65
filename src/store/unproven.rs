//! Letters in a player's name that were not proven to be theirs, and what became of them.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::FromRow;

use super::rows::{digest, seat, text, time, unsound};
use super::statement::Session;
use super::{Result, StoreError, UnprovenLetter, UnprovenStage};
use crate::letter::Digest;

const COLUMNS: &str = "letter, code, player_id, address, match_id, seat, noted_at, told, stage, confirmed_by";

#[derive(FromRow)]
struct Row {
    letter: String,
    code: String,
    player_id: i64,
    address: String,
    match_id: String,
    seat: String,
    noted_at: i64,
    told: bool,
    stage: String,
    confirmed_by: Option<String>,
}

impl Row {
    fn read(self) -> Result<UnprovenLetter> {
        Ok(UnprovenLetter {
            letter: digest(&self.letter)?,
            code: self.code,
            player_id: self.player_id,
            address: self.address,
            match_id: self.match_id,
            seat: seat(&self.seat)?,
            noted_at: time(self.noted_at)?,
            told: self.told,
            stage: UnprovenStage::parse(&self.stage).ok_or_else(|| unsound("stage", &self.stage))?,
            confirmed_by: self.confirmed_by.as_deref().map(digest).transpose()?,
        })
    }
}

/// Returns the letters in a player's name that were noted since then, oldest first.
pub async fn unproven_letters(
    session: &mut Session<'_>,
    player_id: i64,
    since: DateTime<Utc>,
) -> Result<Vec<UnprovenLetter>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM unproven_letter WHERE player_id = $1 AND noted_at >= $2 \
         ORDER BY noted_at, letter"
    );
    let statement = session.statement(sql).bind(player_id).bind(since.timestamp_millis());
    session.fetch_all::<Row>(statement).await?.into_iter().map(Row::read).collect()
}

/// See [`super::Evidence::unproven_named`].
pub async fn named(session: &mut Session<'_>, letters: &[Digest]) -> Result<Vec<UnprovenLetter>> {
    let letters: Vec<String> = letters.iter().map(Digest::to_string).collect();
    let one_of = session.engine().one_of();
    let sql = format!("SELECT {COLUMNS} FROM unproven_letter WHERE letter {one_of} ORDER BY letter");
    let statement = session.statement(sql).bind_texts(&letters);
    session.fetch_all::<Row>(statement).await?.into_iter().map(Row::read).collect()
}

/// How long before it was noted a letter may have come: it waits for the DNS, or for a program that is down.
const RECEIVED_BEFORE: TimeDelta = TimeDelta::days(14);

/// See [`super::LetterLookups::unanswered_letters`]. The index of ignored letters leads to them, because theirs has players
/// first.
pub async fn unanswered(
    session: &mut Session<'_>,
    from: DateTime<Utc>,
    until: DateTime<Utc>,
    limit: u32,
) -> Result<Vec<UnprovenLetter>> {
    let columns = COLUMNS.split(", ").map(|column| format!("u.{column}")).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "SELECT {columns} FROM letter l JOIN unproven_letter u ON u.letter = l.digest \
         WHERE l.status = 'ignored' AND l.received_at >= $1 AND l.received_at < $3 \
         AND u.stage = 'open' AND u.noted_at >= $2 AND u.noted_at < $3 ORDER BY u.noted_at, u.letter LIMIT $4"
    );
    let statement = session
        .statement(sql)
        .bind((from - RECEIVED_BEFORE).timestamp_millis())
        .bind(from.timestamp_millis())
        .bind(until.timestamp_millis())
        .bind(i64::from(limit));
    session.fetch_all::<Row>(statement).await?.into_iter().map(Row::read).collect()
}

/// Adds a letter, or notes the player's word on one that waits for it.
///
/// # Errors
/// [`StoreError::Stale`] if the player's word is known already.
pub async fn set_unproven(session: &mut Session<'_>, row: &UnprovenLetter) -> Result<()> {
    let sql = format!(
        "INSERT INTO unproven_letter ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
         ON CONFLICT (letter) DO UPDATE SET stage = excluded.stage, confirmed_by = excluded.confirmed_by \
         WHERE unproven_letter.stage = 'open'"
    );
    let statement = session
        .statement(sql)
        .bind(row.letter.to_string())
        .bind(&row.code)
        .bind(row.player_id)
        .bind(text(&row.address))
        .bind(&row.match_id)
        .bind(row.seat.as_str())
        .bind(row.noted_at.timestamp_millis())
        .bind(row.told)
        .bind(row.stage.as_str())
        .bind(row.confirmed_by.map(|digest| digest.to_string()));
    if session.execute(statement).await? == 0 {
        return Err(StoreError::Stale(format!("unproven letter {}", row.letter)));
    }
    Ok(())
}
