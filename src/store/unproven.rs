//! Unproven letters: they claim to be from a player or a GM, who is asked and confirms or denies them.

use chrono::{DateTime, TimeDelta, Utc};

use super::rows::text;
use super::statement::Session;
use super::{Database, Result, UnprovenLetter};
use crate::letter::Digest;

const COLUMNS: &str =
    "letter, code, player_id, match_id, seat, gm, address, noted_at, told, stage, confirmed_by";

/// Maximum time between a letter's arrival and its note: the letter may wait for the DNS, or for a daemon
/// that is down.
const RECEIVED_BEFORE: TimeDelta = TimeDelta::days(14);

impl Database {
    /// Returns the unproven letters in a player's name that were noted since `since`, oldest first.
    pub async fn unproven_letters(
        &self,
        player_id: i64,
        since: DateTime<Utc>,
    ) -> Result<Vec<UnprovenLetter>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM unproven_letter WHERE player_id = $1 AND noted_at >= $2 \
             ORDER BY noted_at, letter"
        );
        self.read(self.statement(sql).bind(player_id).bind(since.timestamp_millis())).await
    }

    /// Returns the unproven letters in a GM's name that were noted since `since`, oldest first.
    pub async fn unproven_letters_of_gm(
        &self,
        gm: &str,
        since: DateTime<Utc>,
    ) -> Result<Vec<UnprovenLetter>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM unproven_letter WHERE gm = $1 AND noted_at >= $2 ORDER BY noted_at, letter"
        );
        self.read(self.statement(sql).bind(text(gm)).bind(since.timestamp_millis())).await
    }

    /// Returns the unproven letters under the code of a notice that were noted since `since`, oldest first.
    pub async fn unproven_under(&self, code: &str, since: DateTime<Utc>) -> Result<Vec<UnprovenLetter>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM unproven_letter WHERE code = $1 AND noted_at >= $2 ORDER BY noted_at, letter"
        );
        self.read(self.statement(sql).bind(text(code)).bind(since.timestamp_millis())).await
    }

    /// Returns the rows of the letters among these that were unproven at first.
    pub async fn unproven_named(&self, letters: &[Digest]) -> Result<Vec<UnprovenLetter>> {
        let one_of = self.one_of();
        let sql = format!("SELECT {COLUMNS} FROM unproven_letter WHERE letter {one_of} ORDER BY letter");
        self.read(self.statement(sql).bind_digests(letters)).await
    }

    /// Returns up to `limit` unproven letters in players' names that were noted from `from` to `until` and
    /// that nobody has confirmed or denied, oldest first. Finds them through the index of letters by status,
    /// because their own index begins with the player.
    pub async fn unanswered_letters(
        &self,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<UnprovenLetter>> {
        let columns = COLUMNS.split(", ").map(|column| format!("u.{column}")).collect::<Vec<_>>().join(", ");
        let sql = format!(
            "SELECT {columns} FROM letter l JOIN unproven_letter u ON u.letter = l.digest \
             WHERE l.status = 'ignored' AND l.received_at >= $1 AND l.received_at < $3 \
             AND u.player_id IS NOT NULL AND u.stage = 'open' AND u.noted_at >= $2 AND u.noted_at < $3 ORDER BY u.noted_at, u.letter LIMIT $4"
        );
        let statement = self
            .statement(sql)
            .bind((from - RECEIVED_BEFORE).timestamp_millis())
            .bind(from.timestamp_millis())
            .bind(until.timestamp_millis())
            .bind(i64::from(limit));
        self.read(statement).await
    }
}

/// Adds a letter, or notes the player's answer about one that is open.
///
/// # Errors
/// [`StoreError::Stale`](super::StoreError::Stale) if the player has answered already.
pub async fn set_unproven(session: &mut Session<'_>, row: &UnprovenLetter) -> Result<()> {
    let sql = format!(
        // Only an open letter changes, so that the first answer about it counts.
        "INSERT INTO unproven_letter ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
         ON CONFLICT (letter) DO UPDATE SET stage = excluded.stage, confirmed_by = excluded.confirmed_by \
         WHERE unproven_letter.stage = 'open'"
    );
    let statement = session
        .statement(sql)
        .bind(row.letter)
        .bind(&row.code)
        .bind(row.player_id)
        .bind(row.match_id.as_deref())
        .bind(row.seat)
        .bind(row.gm.as_deref().map(text))
        .bind(text(&row.address))
        .bind(row.noted_at.timestamp_millis())
        .bind(row.told)
        .bind(row.stage)
        .bind(row.confirmed_by);
    session.change(statement, format!("unproven letter {}", row.letter)).await
}
