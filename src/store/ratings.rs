//! Ratings: each player's after each rated result. They follow from the ledgers, and are stored so that the
//! ledgers need not be read for them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::columns::unsound;
use super::rows::{CHUNK, is_common, record, text};
use super::statement::Session;
use super::{Database, REMEMBER, RatingRow, RatingsAnew, Result, StoreError};
use crate::club::rating::{Rating, RatingChange};
use crate::game::any::GameKind;

/// The key under which the store remembers that ratings of a game must be recomputed.
pub const STALE_RATINGS: &str = "ratings to compute anew: ";

const RATINGS: &str =
    "SELECT player_id, game, no, match_id, at, figure, deviation, volatility, before FROM rating ";

record! {
    struct RatingColumns {
        player_id: i64,
        game: GameKind,
        no: u32,
        match_id: String,
        at: DateTime<Utc>,
        figure: i64,
        deviation: i64,
        volatility: i64,
        before: String,
    }
}

impl RatingColumns {
    fn read(self) -> Result<RatingRow> {
        let RatingColumns { player_id, game, no, match_id, at, figure, deviation, volatility, before } = self;
        let before = serde_json::from_str(&before).map_err(|_| unsound("rating", &before))?;
        let after = Rating { figure, deviation, volatility };
        Ok(RatingRow { game, change: RatingChange { player: player_id, no, match_id, at, before, after } })
    }
}

impl Database {
    /// Returns up to `limit` of a player's last rated results in a game, the latest first.
    pub async fn ratings_of(&self, player_id: i64, game: GameKind, limit: u32) -> Result<Vec<RatingRow>> {
        let sql = format!("{RATINGS}WHERE player_id = $1 AND game = $2 ORDER BY no DESC LIMIT $3");
        let select = self.statement(sql).bind(player_id).bind(game).bind(i64::from(limit));
        self.read::<RatingColumns>(select).await?.into_iter().map(RatingColumns::read).collect()
    }

    /// Returns all rated results of a game, by player and number.
    pub async fn ratings_in(&self, game: GameKind) -> Result<Vec<RatingRow>> {
        let sql = format!("{RATINGS}WHERE game = $1 ORDER BY player_id, no");
        let select = self.statement(sql).bind(game);
        self.read::<RatingColumns>(select).await?.into_iter().map(RatingColumns::read).collect()
    }

    /// Returns the times after `since` at which rated matches of these two players were opened. Matches of
    /// events do not count, nor do those that are no longer rated.
    pub async fn rated_openings(
        &self,
        (one, other): (i64, i64),
        since: DateTime<Utc>,
    ) -> Result<Vec<DateTime<Utc>>> {
        let sql = "SELECT e.at FROM match m JOIN seat a ON a.match_id = m.id AND a.player_id = $1 \
                   JOIN seat b ON b.match_id = m.id AND b.player_id = $2 \
                   JOIN entry e ON e.match_id = m.id AND e.seq = 1 \
                   WHERE ' ' || m.marks || ' ' LIKE '% rated %' AND e.at > $3 AND m.event IS NULL ORDER BY e.at";
        let select = self.statement(sql).bind(one).bind(other).bind(since.timestamp_millis());
        self.read_column(select).await
    }

    /// Returns the matches of a game that may have a rated result, by ID.
    pub async fn rated_matches(&self, game: GameKind) -> Result<Vec<String>> {
        // With blanks on both sides, the pattern matches only whole words.
        let sql = "SELECT id FROM match WHERE game = $1 AND ' ' || marks || ' ' LIKE '% rated %' ORDER BY id";
        self.read_column(self.statement(sql).bind(game)).await
    }

    /// Returns the players who were merged, each with the player into whom they were merged.
    pub async fn merged_players(&self) -> Result<BTreeMap<i64, i64>> {
        let rows: Vec<(i64, i64)> =
            self.read(self.statement("SELECT gone, into_id FROM merged_player")).await?;
        Ok(rows.into_iter().collect())
    }
}

/// Replaces all ratings of a game, within a transaction, and forgets that they had to be recomputed.
///
/// # Errors
/// [`StoreError::Stale`] if they are no longer those that were loaded.
pub async fn replace_ratings(session: &mut Session<'_>, anew: &RatingsAnew) -> Result<()> {
    let statement = session.statement("DELETE FROM rating WHERE game = $1").bind(anew.game);
    // A different number of rows shows that a result was rated since they were loaded.
    if session.execute_counted(statement).await? != anew.loaded as u64 {
        return Err(StoreError::Stale(format!("ratings of {}", anew.game)));
    }
    for chunk in anew.rows.chunks(CHUNK) {
        add_ratings(session, chunk).await?;
    }
    let key = format!("{STALE_RATINGS}{}", anew.game.key());
    let statement = session.statement("DELETE FROM memo WHERE key = $1").bind(text(&key));
    session.execute(statement).await
}

/// Adds ratings, within a transaction.
///
/// # Errors
/// [`StoreError::Stale`] if another writer has rated a result of the same player: the number is taken.
pub async fn add_ratings(session: &mut Session<'_>, chunk: &[RatingRow]) -> Result<()> {
    let mut insert = session.statement(
        "INSERT INTO rating (player_id, game, no, match_id, at, figure, deviation, volatility, before) ",
    );
    insert.push_rows(chunk, |values, RatingRow { game, change }| {
        values
            .bind(change.player)
            .bind(*game)
            .bind(i64::from(change.no))
            .bind(&change.match_id)
            .bind(change.at.timestamp_millis())
            .bind(change.after.figure)
            .bind(change.after.deviation)
            .bind(change.after.volatility)
            .bind(serde_json::to_string(&change.before).expect("a rating is plain values"));
    });
    // Skip taken numbers instead of failing: the count then shows that another writer was first.
    insert.push(" ON CONFLICT DO NOTHING");
    let added = session.execute_counted(insert.persistent(is_common(chunk.len()))).await?;
    if added == chunk.len() as u64 { Ok(()) } else { Err(StoreError::Stale("a rating".to_owned())) }
}

/// Notes, within a transaction, that the ratings of a game must be recomputed.
pub async fn note_stale(session: &mut Session<'_>, game: GameKind, at: DateTime<Utc>) -> Result<()> {
    let key = format!("{STALE_RATINGS}{}", game.key());
    let statement = session.statement(REMEMBER).bind(text(&key)).bind(at.to_rfc3339());
    session.execute(statement).await
}
