//! The columns of a match that lists show.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::rows::{count, digest, game, integer, maybe_time, seat, stage, unsound};
use super::statement::{RowValues, Session};
use super::{MatchDates, MatchRow, Result};
use crate::game::{BySeat, Due, Outcome, Phase, Reason, Seat};
use crate::ledger::Head;
use crate::referee::MatchOverview;

/// The columns of [`MatchOverview`]. Those from the players' names on are bound by [`bind`], in this order.
pub const COLUMNS: &str = "id, game, stage, first_name, second_name, first_house, second_house, zone, options, turn, \
                           phase, owing, awaited, deadline, winner, reason, marks, head_seq, head_hash";

#[derive(Clone, FromRow)]
pub struct OverviewColumns {
    id: String,
    game: String,
    stage: String,
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
    marks: String,
    head_seq: i64,
    head_hash: String,
}

impl OverviewColumns {
    fn of(overview: &MatchOverview) -> OverviewColumns {
        let (due, outcome) = (overview.due.as_ref(), overview.outcome.as_ref());
        OverviewColumns {
            id: overview.id.clone(),
            game: overview.game.key().to_owned(),
            stage: overview.stage.as_str().to_owned(),
            first_name: overview.players.first.clone(),
            second_name: overview.players.second.clone(),
            first_house: overview.house.first.clone(),
            second_house: overview.house.second.clone(),
            zone: overview.zone.name().to_owned(),
            options: options_json(&overview.options),
            turn: due.map(|due| i64::from(due.turn)),
            phase: due.map(|due| due.phase.as_str().to_owned()),
            owing: seat_names(due.map_or(&[], |due| &due.seats)),
            awaited: seat_names(&overview.awaited),
            deadline: overview.deadline.map(|deadline| deadline.timestamp_millis()),
            winner: outcome.and_then(|outcome| outcome.winner).map(|winner| winner.as_str().to_owned()),
            reason: outcome.map(|outcome| outcome.reason.as_str().to_owned()),
            marks: marks(overview),
            head_seq: integer(overview.head.seq),
            head_hash: overview.head.hash.to_string(),
        }
    }

    /// Returns the columns that differ of those that may hold more than what is read of them.
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
            ("marks", self.marks == other.marks),
            ("head_seq", self.head_seq == other.head_seq),
            ("head_hash", self.head_hash == other.head_hash),
        ];
        columns.into_iter().filter(|(_, is_equal)| !is_equal).map(|(name, _)| name).collect()
    }

    pub fn read(self) -> Result<MatchOverview> {
        let has_mark = |mark: &str| self.marks.split(' ').any(|found| found == mark);
        let by_seat = |mark: &str| BySeat::from_fn(|seat| has_mark(&format!("{seat}_{mark}")));
        let protests: BySeat<bool> = by_seat("protest");
        Ok(MatchOverview {
            game: game(&self.game)?,
            stage: stage(&self.stage)?,
            players: BySeat::new(self.first_name, self.second_name),
            house: BySeat::new(self.first_house, self.second_house),
            zone: self.zone.parse().map_err(|_| unsound("time zone", &self.zone))?,
            options: serde_json::from_str(&self.options)
                .map_err(|_| unsound("set of options", &self.options))?,
            due: read_due(self.turn, self.phase.as_deref(), &self.owing)?,
            awaited: read_seats(&self.awaited)?,
            deadline: maybe_time(self.deadline)?,
            outcome: read_outcome(self.winner.as_deref(), self.reason.as_deref())?,
            asked_gm: has_mark("asked_gm"),
            bouncing: by_seat("bouncing"),
            away: by_seat("away"),
            protest: Seat::BOTH.into_iter().find(|seat| protests[*seat]),
            advance: has_mark("advance"),
            head: Head { seq: count(self.head_seq)?, hash: digest(&self.head_hash)? },
            id: self.id,
        })
    }
}

fn read_due(turn: Option<i64>, phase: Option<&str>, owing: &str) -> Result<Option<Due>> {
    let (Some(turn), Some(phase)) = (turn, phase) else { return Ok(None) };
    Ok(Some(Due {
        phase: Phase::parse(phase).ok_or_else(|| unsound("phase", phase))?,
        turn: u32::try_from(turn).map_err(|_| unsound("turn", turn))?,
        seats: read_seats(owing)?,
    }))
}

fn read_outcome(winner: Option<&str>, reason: Option<&str>) -> Result<Option<Outcome>> {
    let Some(reason) = reason else { return Ok(None) };
    Ok(Some(Outcome {
        winner: winner.map(seat).transpose()?,
        reason: Reason::parse(reason).ok_or_else(|| unsound("reason", reason))?,
    }))
}

fn read_seats(names: &str) -> Result<Vec<Seat>> {
    names.split_whitespace().map(seat).collect()
}

/// Binds the columns of an overview, except ID, game and stage.
pub fn bind(values: &mut RowValues<'_>, overview: &MatchOverview) {
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
        .bind(columns.marks)
        .bind(columns.head_seq)
        .bind(columns.head_hash);
}

fn options_json(options: &BTreeMap<String, String>) -> String {
    serde_json::to_string(options).expect("a map of strings is JSON")
}

fn seat_names(seats: &[Seat]) -> String {
    seats.iter().map(|seat| seat.as_str()).collect::<Vec<_>>().join(" ")
}

/// Returns what the GM should look at, and whether the match advances its player, as words.
fn marks(overview: &MatchOverview) -> String {
    let mut marks = Vec::new();
    if overview.asked_gm {
        marks.push("asked_gm".to_owned());
    }
    if overview.advance {
        marks.push("advance".to_owned());
    }
    for seat in Seat::BOTH {
        let of_seat = [
            ("bouncing", overview.bouncing[seat]),
            ("away", overview.away[seat]),
            ("protest", overview.protest == Some(seat)),
        ];
        marks.extend(
            of_seat.into_iter().filter(|(_, is_set)| *is_set).map(|(mark, _)| format!("{seat}_{mark}")),
        );
    }
    marks.join(" ")
}

/// The columns that [`bind`] binds, as columns of a table `new`.
pub const NEW_COLUMNS: &str = "n_first_name, n_second_name, n_first_house, n_second_house, n_zone, n_options, n_turn, \
                               n_phase, n_owing, n_awaited, n_deadline, n_winner, n_reason, n_marks, n_head_seq, \
                               n_head_hash";

/// Sets these columns from the table `new`. No index holds any of them.
pub const SET_COLUMNS: &str = "first_name = n_first_name, second_name = n_second_name, \
    first_house = n_first_house, second_house = n_second_house, zone = n_zone, options = n_options, turn = n_turn, \
    phase = n_phase, owing = n_owing, awaited = n_awaited, deadline = n_deadline, winner = n_winner, \
    reason = n_reason, marks = n_marks, head_seq = n_head_seq, head_hash = n_head_hash";

/// A match, and the seat of one of its players.
#[derive(FromRow)]
pub struct SeatOverview {
    #[sqlx(flatten)]
    overview: OverviewColumns,
    own_seat: String,
}

impl SeatOverview {
    pub fn read(self) -> Result<(Seat, MatchOverview)> {
        Ok((seat(&self.own_seat)?, self.overview.read()?))
    }
}

/// Selects the dates of the matches whose IDs follow. The first entry opens a match.
pub const DATES: &str = "SELECT id, (SELECT at FROM entry WHERE match_id = match.id AND seq = 1), ended_at \
                         FROM match WHERE id";

pub fn read_dates((id, opened_at, ended_at): (String, Option<i64>, Option<i64>)) -> Result<MatchDates> {
    Ok(MatchDates { id, opened_at: maybe_time(opened_at)?, ended_at: maybe_time(ended_at)? })
}

/// A match with its snapshot.
#[derive(FromRow)]
pub struct MatchColumns {
    #[sqlx(flatten)]
    overview: OverviewColumns,
    wake_at: Option<i64>,
    snapshot: String,
    version: i64,
}

impl MatchColumns {
    pub fn read(self) -> Result<MatchRow> {
        let MatchColumns { overview, wake_at, snapshot, version } = self;
        let overview = overview.read()?;
        let id = overview.id.clone();
        Ok(MatchRow { id, overview, wake_at: maybe_time(wake_at)?, snapshot, version })
    }
}

/// Returns matches whose time has come by `now`, the one that has waited longest first, beginning after `after`.
pub async fn due(
    session: &mut Session<'_>,
    now: DateTime<Utc>,
    after: Option<&MatchRow>,
    limit: u32,
) -> Result<Vec<MatchRow>> {
    let sql = format!(
        "SELECT {COLUMNS}, wake_at, snapshot, version FROM match \
         WHERE wake_at <= $1 AND wake_at >= $2 AND (wake_at > $2 OR id > $3) ORDER BY wake_at, id LIMIT $4"
    );
    let (wake_at, id) = after.map_or((None, ""), |row| (row.wake_at, row.id.as_str()));
    let statement = session
        .statement(sql)
        .bind(now.timestamp_millis())
        .bind(wake_at.map_or(i64::MIN, |at| at.timestamp_millis()))
        .bind(id)
        .bind(i64::from(limit));
    let rows: Vec<MatchColumns> = session.fetch_all(statement).await?;
    rows.into_iter().map(MatchColumns::read).collect()
}

/// Returns matches in which the clock has nothing to decide until then, by ID.
pub async fn asleep(session: &mut Session<'_>, past: DateTime<Utc>, limit: u32) -> Result<Vec<MatchRow>> {
    let sql = format!(
        "SELECT {COLUMNS}, wake_at, snapshot, version FROM match WHERE wake_at > $1 ORDER BY id LIMIT $2"
    );
    let statement = session.statement(sql).bind(past.timestamp_millis()).bind(i64::from(limit));
    let rows: Vec<MatchColumns> = session.fetch_all(statement).await?;
    rows.into_iter().map(MatchColumns::read).collect()
}

/// See [`super::Evidence::unread_columns`].
pub async fn unread(session: &mut Session<'_>, match_id: &str) -> Result<Vec<&'static str>> {
    let statement =
        session.statement(format!("SELECT {COLUMNS} FROM match WHERE id = $1")).bind(match_id.to_owned());
    let found: Option<OverviewColumns> = session.fetch_first(statement).await?;
    let Some(stored) = found else { return Ok(Vec::new()) };
    Ok(stored.differing(&OverviewColumns::of(&stored.clone().read()?)))
}
