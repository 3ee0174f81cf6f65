//! The dispatches to send next, their outcomes, and the numbers sent in each minute, because providers limit
//! these. Pictures are deleted some time after their letter was sent; they can be drawn again.
//!
//! Values about sending: the dispatches to claim, their order, and the outcomes of attempts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use strum::FromRepr;

use super::budgets::{self, BudgetKey, BudgetKind, Restraints};
use super::dispatches::{PACKED, WITH_BYTES};
use super::rows::{CHUNK, is_common, text};
use super::statement::Session;
use super::{Claim, Claimed, Database, Result};
use crate::game::Seat;
use crate::letter::Digest;
use crate::referee::{DispatchKind, MatchOverview};

/// The urgency of a dispatch, which counts if not all can be sent. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, FromRepr)]
#[repr(i64)]
pub enum Urgency {
    /// A letter to the GM that something is wrong.
    Alarm = 0,
    /// An answer to a seat or a GM.
    Receipt = 1,
    /// A seat's turn result, or an invitation.
    Report = 2,
    /// News about a match that is over.
    Result = 3,
    Notice = 4,
    /// An answer to a letter without a token.
    Stranger = 5,
    Reminder = 6,
    Digest = 7,
    Announcement = 8,
}

impl Urgency {
    /// Returns how urgent a dispatch of this kind is, about a match or not.
    pub fn of(kind: DispatchKind, is_about_match: bool) -> Urgency {
        match kind {
            DispatchKind::Alarm => Urgency::Alarm,
            DispatchKind::Answer if is_about_match => Urgency::Receipt,
            DispatchKind::Answer => Urgency::Stranger,
            DispatchKind::Report | DispatchKind::Invitation => Urgency::Report,
            DispatchKind::Reminder => Urgency::Reminder,
            DispatchKind::Missed | DispatchKind::Notice | DispatchKind::Challenge | DispatchKind::Offer => {
                Urgency::Notice
            }
        }
    }
}

/// The selection of due dispatches to claim.
#[derive(Clone, Copy, Debug)]
pub struct DispatchScope {
    pub limit: u32,
    pub order: ClaimOrder,
    pub reach: Reach,
}

/// The dispatches that a quota lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    All,
    AllButStrangers,
    Alarms,
}

/// The order in which due dispatches are claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimOrder {
    /// The most urgent first; of these, the oldest.
    MostUrgent,
    /// The fewest attempts first; of these, the most urgent.
    FewestTries,
}

/// The outcome of one attempt to send a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    Taken,
    /// Failed; to be retried at this time.
    Later {
        at: DateTime<Utc>,
        error: String,
    },
    /// Failed permanently; the GM is told.
    GivenUp {
        error: String,
    },
    /// Not tried, because the subject of this reminder has changed.
    Lapsed,
}

impl ClaimOrder {
    /// Returns the columns by which dispatches are ordered; `d` is `dispatch`.
    pub fn columns(self) -> &'static str {
        match self {
            ClaimOrder::MostUrgent => "d.urgency, d.due_at, d.created_at, d.id",
            ClaimOrder::FewestTries => "d.tries, d.urgency, d.due_at, d.created_at, d.id",
        }
    }
}

impl Reach {
    /// Returns the condition on dispatches; `d` is `dispatch`.
    pub fn condition(self) -> String {
        match self {
            Reach::All => "TRUE".to_owned(),
            Reach::AllButStrangers => format!("d.urgency <> {}", Urgency::Stranger as i64),
            Reach::Alarms => format!("d.urgency = {}", Urgency::Alarm as i64),
        }
    }
}

/// The dispatches to find; an empty filter finds all of them.
#[derive(Clone, Debug, Default)]
pub struct DispatchFilter {
    pub match_id: Option<String>,
    pub recipient: Option<String>,
    /// The number of one dispatch.
    pub id: Option<i64>,
    pub only_given_up: bool,
    /// Only dispatches created at this time or later.
    pub since: Option<DateTime<Utc>>,
}

/// The numbers of letters sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentCounts {
    /// In the present minute.
    pub minute: u32,
    /// In the last 24 hours.
    pub day: u32,
    /// In the last 24 hours, in answer to letters without a token.
    pub strangers: u32,
}

impl SentCounts {
    /// Adds letters that are sent now.
    pub fn and(self, letters: impl Iterator<Item = Urgency>) -> SentCounts {
        letters.fold(self, |sent, urgency| SentCounts {
            minute: sent.minute + 1,
            day: sent.day + 1,
            strangers: sent.strangers + u32::from(urgency == Urgency::Stranger),
        })
    }
}

/// The subject of the counts of letters sent.
const OUTBOX: &str = "outbox";

/// Time that pictures are kept. The triggers allow no less.
const PICTURES_KEPT: TimeDelta = TimeDelta::days(7);

/// Selects the subject that a reminder `d` would have if it were written now: see [`reminds`].
const REMINDS: &str = "SELECT m.turn || ' ' || m.phase || ' ' || m.deadline || ' ' || \
    CASE WHEN m.awaited LIKE '%' || d.seat || '%' THEN 'awaited' ELSE 'filed' END || ' ' || \
    CASE d.seat WHEN 'first' THEN m.first_name ELSE m.second_name END \
    FROM match m WHERE m.id = d.match_id AND m.stage = 'running'";

/// Returns the subject of a reminder to this seat: a phase, its deadline, whether the seat has filed, and its
/// player. The reminder lapses once any of these has changed.
pub fn reminds(overview: &MatchOverview, seat: Seat) -> Option<String> {
    let (due, deadline) = overview.due.as_ref().zip(overview.deadline)?;
    let filed = if overview.awaited.contains(&seat) { "awaited" } else { "filed" };
    let turn = due.turn;
    let phase = due.phase.as_str();
    let at = deadline.timestamp_millis();
    Some(format!("{turn} {phase} {at} {filed} {}", overview.players[seat]))
}

/// Selects the dispatches that are due at `$2`.
pub fn outgoing() -> String {
    format!(
        "SELECT d.id, d.message_id, d.recipient, d.kind, d.match_id, d.tries, d.urgency, d.seat, d.created_at, \
         d.return_id, d.reminds IS NOT NULL AND d.reminds IS DISTINCT FROM ({REMINDS}) AS has_lapsed, \
         {PACKED} FROM {WITH_BYTES} WHERE d.due_at <= $2"
    )
}

impl Database {
    /// Claims up to `limit` due dispatches, the most urgent first.
    pub async fn claim_dispatches(&self, now: DateTime<Utc>, limit: u32) -> Result<(Vec<Claimed>, Claim)> {
        let scope = DispatchScope { limit, order: ClaimOrder::MostUrgent, reach: Reach::All };
        self.claim_dispatches_of(now, &scope).await
    }

    /// Claims due dispatches.
    pub async fn claim_dispatches_of(
        &self,
        now: DateTime<Utc>,
        scope: &DispatchScope,
    ) -> Result<(Vec<Claimed>, Claim)> {
        self.backend.claim_dispatches(now.timestamp_millis(), scope).await
    }

    /// Marks all dispatches that were given up as seen, and returns how many were not before.
    pub async fn mark_given_up_seen(&self) -> Result<u64> {
        let sql = "UPDATE dispatch SET seen = 1 WHERE given_up_at IS NOT NULL AND seen = 0";
        self.backend.writer().await?.session().execute_counted(self.statement(sql)).await
    }

    /// Returns how many letters were sent in the present minute and in the last 24 hours.
    pub async fn sent_counts(&self, now: DateTime<Utc>) -> Result<SentCounts> {
        let minute = minute_of(now);
        let since = minute - TimeDelta::days(1) + TimeDelta::minutes(1);
        let mut sent = SentCounts::default();
        for (BudgetKey { kind, period, .. }, used) in self.budgets(&[OUTBOX.to_owned()], since).await? {
            if period > minute {
                // This count is from a time when the clock was ahead; ignore it.
                continue;
            }
            if kind == BudgetKind::SentToStrangers {
                sent.strangers += used;
                continue;
            }
            sent.day += used;
            sent.minute += if period == minute { used } else { 0 };
        }
        Ok(sent)
    }

    /// Returns the minute in which the last letter was sent, if that was in the last 24 hours.
    pub async fn last_sent(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        let counts = self.budgets(&[OUTBOX.to_owned()], now - TimeDelta::days(1)).await?;
        let sent = counts.into_iter().filter(|(_, used)| *used > 0).map(|(key, _)| key.period);
        Ok(sent.filter(|minute| *minute <= now).max())
    }

    /// Makes letters and dispatches that are deferred beyond `past` due now, and reschedules the players'
    /// digests that are due after `past`: the clock was wrong when they were deferred.
    pub async fn retry_deferred(&self, now: DateTime<Utc>, past: DateTime<Utc>) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        for sql in [
            "UPDATE letter SET wait_until = $1 WHERE status = 'waiting' AND wait_until > $2",
            "UPDATE dispatch SET due_at = $1 WHERE due_at > $2",
        ] {
            let update = self.statement(sql).bind(now.timestamp_millis()).bind(past.timestamp_millis());
            tx.session().execute(update).await?;
        }
        // 0 lets the next check of the clock schedule it again.
        let digests = self.statement("UPDATE player SET digest_at = 0 WHERE digest_at > $1");
        tx.session().execute(digests.bind(past.timestamp_millis())).await?;
        tx.commit().await
    }

    /// Deletes the pictures of up to `limit` of our letters that were sent seven days before `now` or
    /// earlier, keeps their digests, and returns how many. The database allows this no earlier.
    pub async fn drop_pictures(&self, now: DateTime<Utc>, limit: u32) -> Result<u64> {
        // SQLite takes the tables of a cross join in this order: few of all dispatches have a picture.
        let sql = "SELECT p.dispatch_id, p.picture FROM dispatch_picture p CROSS JOIN dispatch d \
                   WHERE d.id = p.dispatch_id AND d.sent_at <= $1 ORDER BY p.dispatch_id LIMIT $2";
        let before = (now - PICTURES_KEPT).timestamp_millis();
        let select = self.statement(sql).bind(before).bind(i64::from(limit));
        let mut tx = self.backend.begin().await?;
        let old: Vec<(i64, Vec<u8>)> = tx.session().fetch_all(select).await?;
        if old.is_empty() {
            return Ok(0);
        }
        let mut update = self.statement("WITH old (o_id, o_digest) AS (");
        update.push_rows(&old, |values, (id, picture)| {
            values.bind(*id).bind(Digest::of(picture));
        });
        update.push(") UPDATE dispatch SET dropped = o_digest, dropped_at = ");
        update.push_bind(now.timestamp_millis());
        update.push(" FROM old WHERE id = o_id");
        tx.session().execute(update).await?;
        let ids: Vec<i64> = old.into_iter().map(|(id, _)| id).collect();
        let delete = format!("DELETE FROM dispatch_picture WHERE dispatch_id {}", self.one_of());
        let dropped = tx.session().execute_counted(self.statement(delete).bind_numbers(&ids)).await?;
        tx.commit().await?;
        Ok(dropped)
    }
}

/// Records the outcomes of dispatches. If one has several outcomes, the last counts. Sent dispatches stay
/// sent; `Later` revives one that was given up.
pub async fn record(
    session: &mut Session<'_>,
    now: DateTime<Utc>,
    outcomes: &[(i64, SendOutcome)],
) -> Result<()> {
    // Keep only the last outcome of each dispatch: a statement that changed a row twice would keep either
    // one.
    let mut last: BTreeMap<i64, (i64, &SendOutcome)> = BTreeMap::new();
    for (id, outcome) in outcomes {
        let (attempts, latest) = last.entry(*id).or_insert((0, outcome));
        *attempts += i64::from(matches!(outcome, SendOutcome::Taken | SendOutcome::Later { .. }));
        *latest = outcome;
    }
    let last: Vec<(i64, (i64, &SendOutcome))> = last.into_iter().collect();
    for chunk in last.chunks(CHUNK) {
        record_chunk(session, now, chunk).await?;
    }
    let taken = last.iter().filter(|(_, (_, outcome))| **outcome == SendOutcome::Taken);
    count(session, now, &taken.map(|(id, _)| *id).collect::<Vec<_>>()).await
}

/// Lapses digests of this kind that still wait to be sent to this reader, because a later one takes their
/// place.
pub async fn replace_digests(session: &mut Session<'_>, reader: &str, kind: DispatchKind) -> Result<()> {
    let sql = "UPDATE dispatch SET due_at = NULL \
               WHERE urgency = $1 AND due_at IS NOT NULL AND recipient = $2 AND kind = $3";
    let update = session.statement(sql).bind(Urgency::Digest as i64).bind(text(reader)).bind(kind);
    session.execute(update).await
}

/// Returns the columns `sent_at`, `due_at`, `given_up_at` and `error` after an attempt.
fn outcome_columns(
    outcome: &SendOutcome,
    now: DateTime<Utc>,
) -> (Option<i64>, Option<i64>, Option<i64>, Cow<'_, str>) {
    let now = Some(now.timestamp_millis());
    match outcome {
        SendOutcome::Taken => (now, None, None, Cow::Borrowed("")),
        SendOutcome::Later { at, error } => (None, Some(at.timestamp_millis()), None, text(error)),
        SendOutcome::GivenUp { error } => (None, None, now, text(error)),
        SendOutcome::Lapsed => (None, None, None, Cow::Borrowed("")),
    }
}

/// Records the outcomes of dispatches, one for each, with the number of attempts. One that was sent stays
/// sent.
async fn record_chunk(
    session: &mut Session<'_>,
    now: DateTime<Utc>,
    chunk: &[(i64, (i64, &SendOutcome))],
) -> Result<()> {
    let mut update =
        session.statement("WITH result (r_id, r_tries, r_sent_at, r_due_at, r_given_up_at, r_error) AS (");
    update.push_rows(chunk, |values, (id, (attempts, outcome))| {
        let (sent_at, due_at, given_up_at, error) = outcome_columns(outcome, now);
        values.bind(*id).bind(*attempts).bind(sent_at).bind(due_at).bind(given_up_at).bind(error);
    });
    update.push(
        ") UPDATE dispatch SET tries = tries + r_tries, sent_at = r_sent_at, due_at = r_due_at, \
         given_up_at = r_given_up_at, error = r_error, \
         returned_at = CASE WHEN r_due_at IS NULL THEN returned_at END, \
         seen = CASE WHEN r_due_at IS NULL THEN seen ELSE 0 END FROM result WHERE id = r_id AND sent_at IS NULL",
    );
    session.execute(update.persistent(is_common(chunk.len()))).await
}

/// Counts letters that a server has just taken.
async fn count(session: &mut Session<'_>, now: DateTime<Utc>, taken: &[i64]) -> Result<()> {
    if taken.is_empty() {
        return Ok(());
    }
    let sql = format!("SELECT urgency FROM dispatch WHERE id {}", session.engine().one_of());
    let select = session.statement(sql).bind_numbers(taken);
    let mut sent = Restraints::default();
    for urgency in session.fetch_column::<Urgency>(select).await? {
        let to_stranger = (urgency == Urgency::Stranger).then_some(BudgetKind::SentToStrangers);
        for kind in [BudgetKind::Sent].into_iter().chain(to_stranger) {
            let key = BudgetKey { subject: OUTBOX.to_owned(), kind, period: minute_of(now) };
            sent.count(key, 1, u32::MAX);
        }
    }
    budgets::write(session, &sent).await
}

fn minute_of(at: DateTime<Utc>) -> DateTime<Utc> {
    at.duration_trunc(TimeDelta::minutes(1)).expect("a minute divides the time since 1970")
}
