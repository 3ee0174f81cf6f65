//! Events, their books, and their matches.

use chrono::{DateTime, Utc};

use super::entries::{EntryRow, add_to_books};
use super::rows::{CHUNK, Row, ensure_all_found, record, text};
use super::statement::Session;
use super::{Changes, Database, Result};
use crate::club::events::event::EventStage;
use crate::club::events::steps::Mailed;
use crate::game::Reason;
use crate::game::any::GameKind;
use crate::letter::Digest;

record! {
    /// An event in a list; the rest of it is in its book.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct EventRow {
        /// `EV-SPRING`.
        pub id: String,
        pub name: String,
        pub game: GameKind,
        pub stage: EventStage,
        /// The next time at which something is due, apart from results.
        pub wake_at: Option<DateTime<Utc>>,
        pub told: Mailed,
        /// Number of commits that changed the event; 0 if it is not stored yet.
        pub version: i64,
    }
}

/// A match that an event opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventMatchRow {
    pub match_id: String,
    pub event_id: String,
    pub season: u32,
    pub first: i64,
    pub second: i64,
}

/// The end of a match, as an event last saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventEnd {
    pub match_id: String,
    /// The hash of its entry; `None` once the match is open again.
    pub end: Option<Digest>,
    /// Whether it is entered as a result.
    pub counts: bool,
}

const EVENTS: &str = "SELECT id, name, game, stage, wake_at, told, version FROM event ";

/// The entry that ended a match, as events count it.
const END: &str = "(SELECT e.hash FROM entry e WHERE e.match_id = m.id \
                   AND e.kind IN ('MatchEnded', 'MatchAnnulled') ORDER BY e.seq DESC LIMIT 1)";

impl Database {
    /// Returns all events, by ID.
    pub async fn events(&self) -> Result<Vec<EventRow>> {
        self.read(self.statement(format!("{EVENTS}ORDER BY id"))).await
    }

    pub async fn event(&self, id: &str) -> Result<Option<EventRow>> {
        let select = self.statement(format!("{EVENTS}WHERE id = $1")).bind(text(id));
        Ok(self.read_recent(select).await?.pop())
    }

    /// Returns the IDs of all events, also of those of which only some rows are left. Sorted.
    pub async fn event_ids(&self) -> Result<Vec<String>> {
        let sql = "SELECT id FROM event UNION SELECT event_id FROM book_entry UNION SELECT event_id FROM event_match \
                   ORDER BY 1";
        self.read_column(self.statement(sql)).await
    }

    /// Returns the matches of an event, each with whether its season is open, and with the end that the event has
    /// looked at.
    pub async fn event_matches(&self, event_id: &str) -> Result<Vec<(EventMatchRow, bool, Option<Digest>)>> {
        let sql = "SELECT match_id, event_id, season, first_player, second_player, is_open, seen FROM event_match \
                   WHERE event_id = $1 ORDER BY match_id";
        let read = |row: Row<'_>| {
            let of_event = EventMatchRow {
                match_id: row.get("match_id")?,
                event_id: row.get("event_id")?,
                season: row.get("season")?,
                first: row.get("first_player")?,
                second: row.get("second_player")?,
            };
            Ok((of_event, row.get::<i64>("is_open")? != 0, row.get("seen")?))
        };
        self.read_with(self.statement(sql).bind(text(event_id)), read).await
    }

    /// Returns the results that are stored as entered for these matches: the match, and the hash of its end.
    pub async fn event_results(&self, match_ids: &[String]) -> Result<Vec<(String, Digest)>> {
        let one_of = self.one_of();
        let sql = format!("SELECT match_id, end_hash FROM event_result WHERE match_id {one_of}");
        self.read(self.statement(sql).bind_texts(match_ids)).await
    }

    /// Returns the events in which something is due by `now`, the longest overdue first.
    pub async fn events_due(&self, now: DateTime<Utc>) -> Result<Vec<String>> {
        let sql = "SELECT id FROM event WHERE wake_at <= $1 ORDER BY wake_at, id";
        self.read_column(self.statement(sql).bind(now.timestamp_millis())).await
    }

    /// Returns the entries of a book in order.
    pub async fn book(&self, event_id: &str) -> Result<Vec<EntryRow>> {
        let sql = "SELECT event_id AS chain, seq, at, kind, json, hash FROM book_entry WHERE event_id = $1 ORDER BY seq";
        self.read_recent(self.statement(sql).bind(text(event_id))).await
    }

    /// Returns up to `limit` matches, each with its event, whose end an event with an open season has not
    /// processed yet, or that were reopened after it did.
    pub async fn event_matches_to_look_at(&self, limit: u32) -> Result<Vec<(String, String)>> {
        let sql = format!(
            "SELECT em.event_id, em.match_id FROM event_match em JOIN match m ON m.id = em.match_id \
             WHERE em.is_open = 1 AND (m.stage = 'over' AND COALESCE(em.seen, '') <> COALESCE({END}, '') \
             OR m.stage <> 'over' AND em.seen IS NOT NULL) ORDER BY em.event_id, em.match_id LIMIT $1"
        );
        self.read(self.statement(sql).bind(i64::from(limit))).await
    }

    /// Returns when, since `since`, a player lost matches against people by missed turns. Forfeits that a GM
    /// declared do not count.
    pub async fn losses_by_missed_turns(
        &self,
        player_id: i64,
        since: DateTime<Utc>,
    ) -> Result<Vec<DateTime<Utc>>> {
        // SQLite reads the tables of a cross join in this order: few seats are the player's, and many matches are over.
        let sql = "SELECT m.ended_at FROM seat s CROSS JOIN match m WHERE m.id = s.match_id AND s.player_id = $1 \
                   AND m.stage = 'over' AND m.ended_at >= $2 AND m.first_house IS NULL AND m.second_house IS NULL \
                   AND (m.reason = $3 AND m.winner <> s.seat OR m.reason = $4) \
                   AND COALESCE((SELECT e.json FROM entry e WHERE e.match_id = m.id AND e.kind = 'MatchClosed' \
                   ORDER BY e.seq DESC LIMIT 1), '') NOT LIKE '%\"cause\":{\"gm\":%' ORDER BY m.ended_at";
        let select = self
            .statement(sql)
            .bind(player_id)
            .bind(since.timestamp_millis())
            .bind(Reason::Forfeited.as_str())
            .bind(Reason::BothForfeited.as_str());
        self.read_column(select).await
    }

    /// Returns the event, the player and the match of each seat of an open season that was drawn between
    /// these times, if its player has filed nothing in that event.
    pub async fn silent_entrants(
        &self,
        (from, to): (DateTime<Utc>, DateTime<Utc>),
    ) -> Result<Vec<(String, i64, String)>> {
        let sql = "SELECT em.event_id, s.player_id, em.match_id FROM event_match em \
                   JOIN seat s ON s.match_id = em.match_id \
                   JOIN entry o ON o.match_id = em.match_id AND o.seq = 1 AND o.at > $1 AND o.at <= $2 \
                   WHERE em.is_open = 1 AND NOT EXISTS (SELECT 1 FROM entry e JOIN seat t ON t.match_id = e.match_id \
                   AND t.player_id = s.player_id JOIN event_match f ON f.match_id = e.match_id AND f.event_id = em.event_id \
                   WHERE e.kind = 'OrdersSealed' AND e.json LIKE '%\"seat\":\"' || t.seat || '\"%') \
                   ORDER BY em.event_id, s.player_id, em.match_id";
        let from = from.timestamp_millis();
        let to = to.timestamp_millis();
        self.read(self.statement(sql).bind(from).bind(to)).await
    }
}

/// Writes what changed in events, within a transaction.
///
/// # Errors
/// [`StoreError::Stale`](super::StoreError::Stale) if another writer has changed one of them, or has opened
/// or counted one of its matches.
pub async fn write(session: &mut Session<'_>, changes: &Changes) -> Result<()> {
    for row in &changes.events {
        write_event(session, row).await?;
    }
    add_to_books(session, &changes.book_entries).await?;
    for chunk in changes.event_matches.chunks(CHUNK) {
        let mut insert = session.statement(
            "INSERT INTO event_match (match_id, event_id, season, first_player, second_player, is_open) ",
        );
        insert.push_rows(chunk, |values, row| {
            values.bind(&row.match_id).bind(&row.event_id).bind(i64::from(row.season));
            values.bind(row.first).bind(row.second).bind(1_i64);
        });
        // The statement does not return rows that were there before, so these are reported as stale.
        insert.push(" ON CONFLICT DO NOTHING RETURNING match_id");
        let added = session.fetch_column(insert).await?;
        ensure_all_found("event match", chunk.iter().map(|row| row.match_id.clone()), added)?;
    }
    for end in &changes.event_ends {
        write_end(session, end).await?;
    }
    for event in &changes.closed_seasons {
        let statement =
            session.statement("UPDATE event_match SET is_open = 0 WHERE event_id = $1 AND is_open = 1");
        session.execute(statement.bind(event)).await?;
    }
    Ok(())
}

async fn write_event(session: &mut Session<'_>, row: &EventRow) -> Result<()> {
    let sql = match row.version {
        0 => {
            "INSERT INTO event (id, name, game, stage, wake_at, told, version) VALUES ($1, $2, $3, $4, $5, $6, $7 + 1) \
             ON CONFLICT DO NOTHING"
        }
        _ => {
            "UPDATE event SET name = $2, game = $3, stage = $4, wake_at = $5, told = $6, version = version + 1 \
             WHERE id = $1 AND version = $7"
        }
    };
    let statement = session
        .statement(sql)
        .bind(&row.id)
        .bind(text(&row.name))
        .bind(row.game)
        .bind(row.stage)
        .bind(row.wake_at.map(|at| at.timestamp_millis()))
        .bind(&row.told)
        .bind(row.version);
    session.change(statement, format!("event {}", row.id)).await
}

async fn write_end(session: &mut Session<'_>, EventEnd { match_id, end, counts }: &EventEnd) -> Result<()> {
    let statement = session.statement("UPDATE event_match SET seen = $2 WHERE match_id = $1 AND is_open = 1");
    session.change(statement.bind(match_id).bind(*end), format!("event match {match_id}")).await?;
    let Some(end) = end.filter(|_| *counts) else { return Ok(()) };
    // If another daemon has entered this result, no row is added, and the change is stale.
    let sql = "INSERT INTO event_result (match_id, end_hash) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let statement = session.statement(sql).bind(match_id).bind(end);
    session.change(statement, format!("result of {match_id}")).await
}
