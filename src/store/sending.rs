//! Which dispatches are sent next, what became of them, and how many were sent in each minute, because
//! providers limit that. Pictures are deleted some time after their letter was sent; they can be drawn again.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use super::columns::MaybeMillis;
use super::rows::{CHUNK, is_common, text};
use super::statement::Session;
use super::{
    Claim, ClaimOrder, Claimed, Database, DispatchScope, REMEMBER, Reach, Result, SendOutcome, SentCounts,
    Urgency,
};
use crate::letter::{Digest, ReturnId};

/// Time for which the counts are kept.
const KEPT: TimeDelta = TimeDelta::days(2);

const MINUTE: i64 = 60_000;

/// Time that pictures are kept. The triggers allow no less.
const PICTURES_KEPT: TimeDelta = TimeDelta::days(7);

/// Selects the dispatches that are due at `$2`.
pub const OUTGOING: &str = "SELECT d.id, d.message_id, d.recipient, d.kind, d.match_id, d.tries, d.urgency, d.seat, d.created_at, \
    d.return_id, r.bytes, p.picture, d.dropped \
    FROM dispatch d JOIN dispatch_raw r ON r.dispatch_id = d.id \
    LEFT JOIN dispatch_picture p ON p.dispatch_id = d.id WHERE d.due_at <= $2";

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

    /// Records send attempts and ends the claim. Of several outcomes of a dispatch the last counts. Sent
    /// dispatches stay sent; `Later` revives one that was given up.
    pub async fn record_outcomes(
        &self,
        claim: Claim,
        now: DateTime<Utc>,
        outcomes: &[(i64, SendOutcome)],
    ) -> Result<()> {
        self.record_sending(claim, now, outcomes, None).await
    }

    /// Records send attempts as [`Database::record_outcomes`] does, and remembers a value under its key.
    pub async fn record_sending(
        &self,
        mut claim: Claim,
        now: DateTime<Utc>,
        outcomes: &[(i64, SendOutcome)],
        memo: Option<(&str, &str)>,
    ) -> Result<()> {
        let mut tx = self.backend.begin_under(&mut claim).await?;
        // A letter can be given up and, a moment later, queued again: a statement that changed its row twice
        // would keep either of the two.
        let last: BTreeMap<i64, &SendOutcome> = outcomes.iter().map(|(id, outcome)| (*id, outcome)).collect();
        let last: Vec<(i64, &SendOutcome)> = last.into_iter().collect();
        for chunk in last.chunks(CHUNK) {
            record_outcomes(&mut tx.session(), now, chunk).await?;
        }
        let taken = last.iter().filter(|(_, outcome)| matches!(outcome, SendOutcome::Taken));
        count(&mut tx.session(), now, &taken.map(|(id, _)| *id).collect::<Vec<_>>()).await?;
        if let Some((key, value)) = memo {
            let statement = self.statement(REMEMBER).bind(key).bind(value);
            tx.session().execute(statement).await?;
        }
        tx.commit().await
    }

    /// Marks all dispatches that were given up as seen, and returns how many were not before.
    pub async fn mark_given_up_seen(&self) -> Result<u64> {
        let sql = "UPDATE dispatch SET seen = 1 WHERE sent_at IS NULL AND due_at IS NULL AND seen = 0";
        self.write(self.statement(sql)).await
    }

    /// Keeps the IDs in the return paths of dispatches that have none yet.
    pub async fn set_return_ids(&self, ids: &[(i64, ReturnId)]) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        for chunk in ids.chunks(CHUNK) {
            let mut update = self.statement("WITH given (g_id, g_return_id) AS (");
            update.push_rows(chunk, |values, (id, return_id)| {
                values.bind(*id).bind(return_id);
            });
            update.push(
                ") UPDATE dispatch SET return_id = g_return_id FROM given WHERE id = g_id AND return_id IS NULL",
            );
            tx.session().execute(update.persistent(false)).await?;
        }
        tx.commit().await
    }

    /// Returns how many letters were sent.
    pub async fn sent_counts(&self, now: DateTime<Utc>) -> Result<SentCounts> {
        let sql = "SELECT CAST(COALESCE(SUM(CASE WHEN minute = $1 THEN sent END), 0) AS BIGINT) AS minute, \
                   CAST(COALESCE(SUM(sent), 0) AS BIGINT) AS day, \
                   CAST(COALESCE(SUM(CASE WHEN urgency = $3 THEN sent END), 0) AS BIGINT) AS strangers \
                   FROM sending WHERE minute > $2 AND minute <= $1";
        let minute = begin(now);
        let day_before = minute - TimeDelta::days(1).num_milliseconds();
        let select = self.statement(sql).bind(minute).bind(day_before).bind(Urgency::Stranger as i64);
        Ok(self.read_recent(select).await?.pop().unwrap_or_default())
    }

    /// Returns the minute in which a letter was sent last, of the last days.
    pub async fn last_sent(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        let sql = "SELECT MAX(minute) FROM sending WHERE sent > 0 AND minute <= $1";
        let (MaybeMillis(minute),) = self.read_one(self.statement(sql).bind(begin(now))).await?;
        Ok(minute)
    }

    /// Makes letters and dispatches due now that are deferred past then, and lets the digests of players that
    /// are due after then be scheduled anew: the clock was wrong when it deferred them.
    pub async fn retry_deferred(&self, now: DateTime<Utc>, past: DateTime<Utc>) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        for sql in [
            "UPDATE letter SET wait_until = $1 WHERE status = 'waiting' AND wait_until > $2",
            "UPDATE dispatch SET due_at = $1 WHERE due_at > $2",
        ] {
            let update = self.statement(sql).bind(now.timestamp_millis()).bind(past.timestamp_millis());
            tx.session().execute(update).await?;
        }
        // 0 lets the next look at the clock schedule it again.
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
        let dropped = tx.session().execute(self.statement(delete).bind_numbers(&ids)).await?;
        tx.commit().await?;
        Ok(dropped)
    }
}

/// Deletes counts that are too old for any limit.
pub async fn delete_past(session: &mut Session<'_>, now: DateTime<Utc>) -> Result<()> {
    let statement = session.statement("DELETE FROM sending WHERE minute < $1");
    session.execute(statement.bind(begin(now - KEPT))).await?;
    Ok(())
}

/// Returns the columns `sent_at`, `due_at` and `error` after an attempt.
fn outcome_columns(sent: &SendOutcome, now: DateTime<Utc>) -> (Option<i64>, Option<i64>, Cow<'_, str>) {
    match sent {
        SendOutcome::Taken => (Some(now.timestamp_millis()), None, Cow::Borrowed("")),
        SendOutcome::Later { at, error } => (None, Some(at.timestamp_millis()), text(error)),
        SendOutcome::GivenUp { error } => (None, None, text(error)),
    }
}

/// Records the outcomes of send attempts, one for each dispatch. One that was sent stays sent.
async fn record_outcomes(
    session: &mut Session<'_>,
    now: DateTime<Utc>,
    chunk: &[(i64, &SendOutcome)],
) -> Result<()> {
    let mut update = session.statement("WITH result (r_id, r_sent_at, r_due_at, r_error) AS (");
    update.push_rows(chunk, |values, (id, outcome)| {
        let (sent_at, due_at, error) = outcome_columns(outcome, now);
        values.bind(*id).bind(sent_at).bind(due_at).bind(error);
    });
    update.push(
        ") UPDATE dispatch SET tries = tries + 1, sent_at = r_sent_at, due_at = r_due_at, error = r_error, \
         returned_at = CASE WHEN r_due_at IS NULL THEN returned_at END, \
         seen = CASE WHEN r_due_at IS NULL THEN seen ELSE 0 END FROM result WHERE id = r_id AND sent_at IS NULL",
    );
    session.execute(update.persistent(is_common(chunk.len()))).await?;
    Ok(())
}

/// Counts letters that were taken now.
async fn count(session: &mut Session<'_>, now: DateTime<Utc>, taken: &[i64]) -> Result<()> {
    if taken.is_empty() {
        return Ok(());
    }
    // In order: two daemons that locked the rows in different orders would wait for each other.
    let sql = format!(
        "INSERT INTO sending (minute, urgency, sent) SELECT $2, urgency, COUNT(*) FROM dispatch \
         WHERE id {} GROUP BY urgency ORDER BY urgency \
         ON CONFLICT (minute, urgency) DO UPDATE SET sent = sending.sent + excluded.sent",
        session.engine().one_of()
    );
    let upsert = session.statement(sql).bind_numbers(taken).bind(begin(now));
    session.execute(upsert).await?;
    Ok(())
}

/// Returns when a minute begins.
fn begin(at: DateTime<Utc>) -> i64 {
    at.timestamp_millis().div_euclid(MINUTE) * MINUTE
}
