//! The turns that players owed to people. They follow from the ledgers.

use chrono::{DateTime, Utc};

use super::columns::integer;
use super::record::Row;
use super::rows::{CHUNK, is_common, text};
use super::statement::Session;
use super::{Database, OwedTurnRow, Result};
use crate::club::owed::OwedTurn;
use crate::club::reliability::{Reliability, TURNS};

impl Database {
    /// Returns the turns of a match that its players owed.
    pub async fn owed_turns_of(&self, match_id: &str) -> Result<Vec<OwedTurnRow>> {
        let sql = "SELECT match_id, seq, seat, player_id, at, in_time FROM owed_turn WHERE match_id = $1 \
                   ORDER BY seq, seat";
        let read = |row: Row<'_>| {
            let in_time = row.get::<i64>("in_time")? != 0;
            let turn = OwedTurn { seq: row.get("seq")?, seat: row.get("seat")?, at: row.get("at")?, in_time };
            Ok(OwedTurnRow { match_id: row.get("match_id")?, player_id: row.get("player_id")?, turn })
        };
        self.read_with(self.statement(sql).bind(text(match_id)), read).await
    }

    /// Returns how reliably a player files. Matches lost since `lost_since` count.
    pub async fn reliability(&self, player_id: i64, lost_since: DateTime<Utc>) -> Result<Reliability> {
        self.reliability_in("", player_id, lost_since).await
    }

    /// Returns how reliably a player files, counting only matches that are over: the number of turns that
    /// were owed in a running match may reveal what happened in it.
    pub async fn public_reliability(&self, player_id: i64, lost_since: DateTime<Utc>) -> Result<Reliability> {
        let over = " AND EXISTS (SELECT 1 FROM match m WHERE m.id = owed_turn.match_id AND m.stage = 'over')";
        self.reliability_in(over, player_id, lost_since).await
    }

    async fn reliability_in(
        &self,
        matches: &str,
        player_id: i64,
        lost_since: DateTime<Utc>,
    ) -> Result<Reliability> {
        let sql = format!(
            "SELECT in_time FROM owed_turn WHERE player_id = $1{matches} ORDER BY at DESC, match_id, seq DESC LIMIT $2"
        );
        let turns = i64::try_from(TURNS).unwrap_or(i64::MAX);
        let turns: Vec<i64> = self.read_column(self.statement(sql).bind(player_id).bind(turns)).await?;
        let turns: Vec<bool> = turns.into_iter().map(|in_time| in_time != 0).collect();
        let lost = self.losses_by_missed_turns(player_id, lost_since).await?.len();
        Ok(Reliability::of(&turns, u32::try_from(lost).unwrap_or(u32::MAX)))
    }
}

/// Adds owed turns, within a transaction.
pub async fn add_owed_turns(session: &mut Session<'_>, chunk: &[OwedTurnRow]) -> Result<()> {
    debug_assert!(chunk.len() <= CHUNK);
    let mut insert =
        session.statement("INSERT INTO owed_turn (match_id, seq, seat, player_id, at, in_time) ");
    insert.push_rows(chunk, |values, row| {
        values
            .bind(&row.match_id)
            .bind(integer(row.turn.seq))
            .bind(row.turn.seat)
            .bind(row.player_id)
            .bind(row.turn.at.timestamp_millis())
            .bind(i64::from(row.turn.in_time));
    });
    session.execute(insert.persistent(is_common(chunk.len()))).await
}
