//! Matches: the columns that lists show, and the queries that find matches for the clock and the house.
//!
//! The turns that players owed to people. They follow from the ledgers.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::columns::{count, integer, parse_digest, time, unsound};
use super::rows::{CHUNK, Record, Row, is_common, record, text};
use super::statement::{RowValues, Session};
use super::{Claim, Database, MatchDates, MatchRow, OwedTurnRow, Result, RowSink, SnapshotRow};
use crate::club::reliability::{OwedTurn, Reliability, TURNS};
use crate::game::any::GameKind;
use crate::game::{BySeat, Due, Outcome, Phase, Reason, Seat};
use crate::ledger::Head;
use crate::referee::{MatchOverview, Stage};

/// The columns of [`MatchOverview`]. [`bind_overview`] binds them from the players' names on, in this order.
pub const COLUMNS: &str = "id, game, stage, first_name, second_name, first_house, second_house, zone, options, turn, \
                           phase, owing, awaited, deadline, winner, reason, event, marks, head_seq, head_hash";

/// A match and its snapshot.
const MATCH: &str = "wake_at, snapshot, version FROM match";

record! {
    #[derive(Clone)]
    pub struct OverviewColumns {
        id: String,
        game: GameKind,
        stage: Stage,
        first_name: String,
        second_name: String,
        first_house: Option<String>,
        second_house: Option<String>,
        zone: String,
        options: String,
        turn: Option<i64>,
        phase: Option<String>,
        owing: String,
        awaited: String,
        deadline: Option<i64>,
        winner: Option<String>,
        reason: Option<String>,
        event: Option<String>,
        marks: String,
        head_seq: i64,
        head_hash: String,
    }
}

impl OverviewColumns {
    fn of(overview: &MatchOverview) -> OverviewColumns {
        let due = overview.due.as_ref();
        let outcome = overview.outcome.as_ref();
        OverviewColumns {
            id: overview.id.clone(),
            game: overview.game,
            stage: overview.stage,
            first_name: overview.players.first.clone(),
            second_name: overview.players.second.clone(),
            first_house: overview.house.first.clone(),
            second_house: overview.house.second.clone(),
            zone: overview.zone.name().to_owned(),
            options: serde_json::to_string(&overview.options).expect("a map of strings is JSON"),
            turn: due.map(|due| i64::from(due.turn)),
            phase: due.map(|due| due.phase.as_str().to_owned()),
            owing: seat_names(due.map_or(&[], |due| &due.seats)),
            awaited: seat_names(&overview.awaited),
            deadline: overview.deadline.map(|deadline| deadline.timestamp_millis()),
            winner: outcome.and_then(|outcome| outcome.winner).map(|winner| winner.as_str().to_owned()),
            reason: outcome.map(|outcome| outcome.reason.as_str().to_owned()),
            event: overview.event.clone(),
            marks: marks(overview),
            head_seq: integer(overview.head.seq),
            head_hash: overview.head.hash.to_string(),
        }
    }

    /// Returns the columns that differ, among those whose stored text can hold more than the overview keeps.
    fn differing(&self, other: &OverviewColumns) -> Vec<&'static str> {
        let columns = [
            ("zone", self.zone == other.zone),
            ("options", self.options == other.options),
            ("turn", self.turn == other.turn),
            ("phase", self.phase == other.phase),
            ("owing", self.owing == other.owing),
            ("awaited", self.awaited == other.awaited),
            ("winner", self.winner == other.winner),
            ("reason", self.reason == other.reason),
            ("event", self.event == other.event),
            ("marks", self.marks == other.marks),
            ("head_seq", self.head_seq == other.head_seq),
            ("head_hash", self.head_hash == other.head_hash),
        ];
        columns.into_iter().filter(|(_, is_equal)| !is_equal).map(|(name, _)| name).collect()
    }

    fn read(self) -> Result<MatchOverview> {
        let protests: BySeat<bool> = marked_seats(&self.marks, "protest");
        Ok(MatchOverview {
            game: self.game,
            stage: self.stage,
            players: BySeat::new(self.first_name, self.second_name),
            house: BySeat::new(self.first_house, self.second_house),
            zone: self.zone.parse().map_err(|_| unsound("time zone", &self.zone))?,
            options: read_options(&self.options)?,
            due: read_due(self.turn, self.phase.as_deref(), &self.owing)?,
            awaited: read_seats(&self.awaited)?,
            deadline: self.deadline.map(time).transpose()?,
            outcome: read_outcome(self.winner.as_deref(), self.reason.as_deref())?,
            asked_gm: has_mark(&self.marks, "asked_gm"),
            bouncing: marked_seats(&self.marks, "bouncing"),
            away: marked_seats(&self.marks, "away"),
            protest: Seat::BOTH.into_iter().find(|seat| protests[*seat]),
            advance: has_mark(&self.marks, "advance"),
            rated: has_mark(&self.marks, "rated"),
            has_bank: has_mark(&self.marks, "bank"),
            event: self.event,
            head: Head { seq: count(self.head_seq)?, hash: parse_digest(&self.head_hash)? },
            id: self.id,
        })
    }
}

fn has_mark(marks: &str, mark: &str) -> bool {
    marks.split(' ').any(|found| found == mark)
}

fn marked_seats(marks: &str, mark: &str) -> BySeat<bool> {
    BySeat::from_fn(|seat| has_mark(marks, &format!("{seat}_{mark}")))
}

impl Record for MatchOverview {
    fn from_row(row: Row<'_>) -> Result<MatchOverview> {
        OverviewColumns::from_row(row)?.read()
    }
}

impl Database {
    /// Returns the times at which each match was opened and ended.
    pub async fn match_dates(&self, match_ids: &[String]) -> Result<Vec<MatchDates>> {
        // The first entry opens a match.
        let sql = format!(
            "SELECT id, (SELECT at FROM entry WHERE match_id = match.id AND seq = 1) AS opened_at, ended_at \
             FROM match WHERE id {}",
            self.one_of()
        );
        self.read_recent(self.statement(sql).bind_texts(match_ids)).await
    }

    pub async fn matches(&self, ids: &[String]) -> Result<Vec<MatchRow>> {
        // Read on the connection that writes, because these rows are about to be changed.
        let sql = format!("SELECT {COLUMNS}, {MATCH} WHERE id {} ORDER BY id", self.one_of());
        self.read_recent(self.statement(sql).bind_texts(ids)).await
    }

    /// Returns the columns of matches that a ruling needs. The other columns are for lists, and follow from
    /// the snapshot.
    pub async fn snapshots(&self, ids: &[String]) -> Result<Vec<SnapshotRow>> {
        let sql = format!("SELECT id, snapshot, version FROM match WHERE id {} ORDER BY id", self.one_of());
        self.read_recent(self.statement(sql).bind_texts(ids)).await
    }

    /// Returns all match IDs, sorted.
    pub async fn match_ids(&self) -> Result<Vec<String>> {
        self.read_column(self.statement("SELECT id FROM match ORDER BY id")).await
    }

    /// Streams all matches, or those in this stage, by ID.
    pub async fn list_matches(&self, stage: Option<Stage>, take: RowSink<'_, MatchOverview>) -> Result<()> {
        let mut select = self.statement(format!("SELECT {COLUMNS} FROM match"));
        if let Some(stage) = stage {
            select.push(" WHERE stage = ").push_bind(stage);
        }
        select.push(" ORDER BY id");
        self.stream(select, take).await
    }

    /// Returns the matches in which this player holds a seat, each with that seat, by ID.
    pub async fn matches_of(&self, player_id: i64) -> Result<Vec<(Seat, MatchOverview)>> {
        let sql = format!(
            "SELECT {COLUMNS}, s.seat AS own_seat FROM match JOIN seat s ON s.match_id = match.id \
             WHERE s.player_id = $1 ORDER BY id"
        );
        let select = self.statement(sql).bind(player_id);
        self.read_with(select, |row| Ok((row.get("own_seat")?, MatchOverview::from_row(row)?))).await
    }

    /// Returns up to `limit` matches whose `wake_at` has come, longest overdue first, starting after the
    /// match `after`.
    pub async fn matches_due(
        &self,
        now: DateTime<Utc>,
        after: Option<&MatchRow>,
        limit: u32,
    ) -> Result<Vec<MatchRow>> {
        let sql = format!(
            // `wake_at >= $2` follows from the rest, but lets the search of the index begin there.
            "SELECT {COLUMNS}, {MATCH} WHERE wake_at <= $1 AND wake_at >= $2 AND (wake_at > $2 OR id > $3) \
             ORDER BY wake_at, id LIMIT $4"
        );
        let (wake_at, id) = after.map_or((None, ""), |row| (row.wake_at, row.id.as_str()));
        let select = self
            .statement(sql)
            .bind(now.timestamp_millis())
            .bind(wake_at.map_or(i64::MIN, |at| at.timestamp_millis()))
            .bind(id)
            .bind(i64::from(limit));
        self.read(select).await
    }

    /// Returns up to `limit` matches in which the clock has nothing to decide until after `past`, soonest
    /// first.
    pub async fn matches_asleep(&self, past: DateTime<Utc>, limit: u32) -> Result<Vec<MatchRow>> {
        let sql = format!("SELECT {COLUMNS}, {MATCH} WHERE wake_at > $1 ORDER BY wake_at, id LIMIT $2");
        self.read(self.statement(sql).bind(past.timestamp_millis()).bind(i64::from(limit))).await
    }

    /// Claims the house's turns in these matches, except those that another daemon has claimed, and returns
    /// the IDs of the claimed ones. Anybody may still write to such a match.
    pub async fn claim_house_turns(&self, matches: &[String]) -> Result<(Vec<String>, Claim)> {
        self.backend.claim_house_turns(matches).await
    }

    /// Returns the columns of a match that would be stored differently if they were written again.
    pub async fn unread_columns(&self, match_id: &str) -> Result<Vec<&'static str>> {
        let select =
            self.statement(format!("SELECT {COLUMNS} FROM match WHERE id = $1")).bind(text(match_id));
        let found: Option<OverviewColumns> = self.read_first(select).await?;
        let Some(stored) = found else { return Ok(Vec::new()) };
        Ok(stored.differing(&OverviewColumns::of(&stored.clone().read()?)))
    }
}

/// Binds the columns of an overview, except ID, game and stage.
pub fn bind_overview(values: &mut RowValues<'_>, overview: &MatchOverview) {
    let columns = OverviewColumns::of(overview);
    values
        .bind(columns.first_name)
        .bind(columns.second_name)
        .bind(columns.first_house)
        .bind(columns.second_house)
        .bind(columns.zone)
        .bind(columns.options)
        .bind(columns.turn)
        .bind(columns.phase)
        .bind(columns.owing)
        .bind(columns.awaited)
        .bind(columns.deadline)
        .bind(columns.winner)
        .bind(columns.reason)
        .bind(columns.event)
        .bind(columns.marks)
        .bind(columns.head_seq)
        .bind(columns.head_hash);
}

/// Returns the columns that [`bind_overview`] binds, each formatted by `write`. None of them is indexed.
pub fn bound_columns(write: fn(&str) -> String) -> String {
    COLUMNS.split(", ").skip(3).map(write).collect::<Vec<_>>().join(", ")
}

fn read_due(turn: Option<i64>, phase: Option<&str>, owing: &str) -> Result<Option<Due>> {
    let (Some(turn), Some(phase)) = (turn, phase) else { return Ok(None) };
    Ok(Some(Due {
        phase: Phase::parse(phase).ok_or_else(|| unsound("phase", phase))?,
        turn: u32::try_from(turn).map_err(|_| unsound("turn", turn))?,
        seats: read_seats(owing)?,
    }))
}

pub fn read_outcome(winner: Option<&str>, reason: Option<&str>) -> Result<Option<Outcome>> {
    let Some(reason) = reason else { return Ok(None) };
    Ok(Some(Outcome {
        winner: winner.map(parse_seat).transpose()?,
        reason: Reason::parse(reason).ok_or_else(|| unsound("reason", reason))?,
    }))
}

fn read_seats(names: &str) -> Result<Vec<Seat>> {
    names.split_whitespace().map(parse_seat).collect()
}

fn parse_seat(name: &str) -> Result<Seat> {
    Seat::parse(name).ok_or_else(|| unsound("seat", name))
}

pub fn read_options(json: &str) -> Result<BTreeMap<String, String>> {
    serde_json::from_str(json).map_err(|_| unsound("set of options", json))
}

fn seat_names(seats: &[Seat]) -> String {
    seats.iter().map(|seat| seat.as_str()).collect::<Vec<_>>().join(" ")
}

/// Returns the words in a list that point out what the GM should look at, and whether the match advances its
/// player or is rated.
fn marks(overview: &MatchOverview) -> String {
    let mut marks = vec![
        ("asked_gm".to_owned(), overview.asked_gm),
        ("advance".to_owned(), overview.advance),
        ("rated".to_owned(), overview.rated),
        ("bank".to_owned(), overview.has_bank),
    ];
    for seat in Seat::BOTH {
        marks.extend([
            (format!("{seat}_bouncing"), overview.bouncing[seat]),
            (format!("{seat}_away"), overview.away[seat]),
            (format!("{seat}_protest"), overview.protest == Some(seat)),
        ]);
    }
    marks.retain(|(_, is_set)| *is_set);
    marks.into_iter().map(|(mark, _)| mark).collect::<Vec<_>>().join(" ")
}

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
