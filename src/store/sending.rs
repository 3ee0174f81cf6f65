//! [`DispatchQueue`] for both databases: which dispatches are sent next, what became of them, and how many were sent in
//! each minute, because providers limit that.

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use super::database::Database;
use super::rows::{self, CHUNK, maybe_time, text};
use super::statement::{Engine, Session, Statement};
use super::{
    Claim, ClaimOrder, Claimed, DispatchFilter, DispatchRow, DispatchScope, REMEMBER, Result, SendOutcome,
    SendRecord, SentCount, Urgency, dispatches, settle,
};
use crate::letter::ReturnId;

/// How long the counts are kept.
const KEPT: TimeDelta = TimeDelta::days(2);

const MINUTE: i64 = 60_000;

/// The dispatches that wait to be sent, and those that were given up.
#[async_trait]
pub trait DispatchQueue {
    /// Claims up to `limit` due dispatches, the most urgent first.
    async fn claim_dispatches(&self, now: DateTime<Utc>, limit: u32) -> Result<(Vec<Claimed>, Claim)> {
        self.claim_dispatches_of(now, &DispatchScope::all(limit, ClaimOrder::MostUrgent)).await
    }

    /// Claims due dispatches.
    async fn claim_dispatches_of(
        &self,
        now: DateTime<Utc>,
        scope: &DispatchScope,
    ) -> Result<(Vec<Claimed>, Claim)>;

    /// Records send attempts and ends the claim. Of several outcomes of a dispatch the last counts. Sent dispatches stay
    /// sent; `Later` revives one that was given up.
    async fn record_outcomes(
        &self,
        claim: Claim,
        now: DateTime<Utc>,
        results: &[(i64, SendOutcome)],
    ) -> Result<()> {
        self.record_sending(claim, now, &SendRecord { outcomes: results, memo: None, taken: &[] }).await
    }

    /// Records send attempts as [`Store::record_outcomes`] does, and what else they change.
    async fn record_sending(&self, claim: Claim, now: DateTime<Utc>, record: &SendRecord<'_>) -> Result<()>;

    /// Marks all dispatches that were given up as seen, and returns how many were not before.
    async fn mark_given_up_seen(&self) -> Result<u64>;

    /// Returns up to `limit` dispatches with their bytes, newest first, that match the filter.
    async fn find_dispatches(
        &self,
        filter: &DispatchFilter,
        limit: u32,
    ) -> Result<Vec<(DispatchRow, Vec<u8>)>>;

    /// Keeps the IDs in the return paths of dispatches that have none yet.
    async fn set_return_ids(&self, ids: &[(i64, ReturnId)]) -> Result<()>;

    /// Returns the Message-IDs of the dispatches with these IDs in their return paths, each behind its ID.
    async fn message_ids_by_return_id(&self, ids: &[String]) -> Result<Vec<(String, String)>>;

    /// Returns when the next queued dispatch is due.
    async fn next_dispatch_at(&self) -> Result<Option<DateTime<Utc>>>;

    /// Returns how many letters were sent, by urgency.
    async fn sent_counts(&self, now: DateTime<Utc>) -> Result<Vec<SentCount>>;
}

#[async_trait]
impl DispatchQueue for Database {
    async fn claim_dispatches_of(
        &self,
        now: DateTime<Utc>,
        scope: &DispatchScope,
    ) -> Result<(Vec<Claimed>, Claim)> {
        let (rows, claim) = self.backend.claim_dispatches(now.timestamp_millis(), scope).await?;
        let due: Result<_> = rows.into_iter().map(rows::Outgoing::read).collect();
        Ok((due?, claim))
    }

    async fn record_sending(
        &self,
        mut claim: Claim,
        now: DateTime<Utc>,
        record: &SendRecord<'_>,
    ) -> Result<()> {
        let mut tx = self.backend.begin_under(&mut claim).await?;
        // A letter can be given up and, a moment later, queued again: a statement that changed its row twice would keep
        // either of the two.
        let last: BTreeMap<i64, &SendOutcome> =
            record.outcomes.iter().map(|(id, outcome)| (*id, outcome)).collect();
        let last: Vec<(i64, &SendOutcome)> = last.into_iter().collect();
        for chunk in last.chunks(CHUNK) {
            settle::record_outcomes(&mut tx.session(), now, chunk).await?;
        }
        if let Some((key, value)) = record.memo {
            let statement = self.statement(REMEMBER).bind(key).bind(value);
            tx.session().execute(statement).await?;
        }
        count(&mut tx.session(), now, record.taken).await?;
        tx.commit().await
    }

    async fn mark_given_up_seen(&self) -> Result<u64> {
        let sql = "UPDATE dispatch SET seen = 1 WHERE sent_at IS NULL AND due_at IS NULL AND seen = 0";
        self.write(self.statement(sql)).await
    }

    async fn find_dispatches(
        &self,
        filter: &DispatchFilter,
        limit: u32,
    ) -> Result<Vec<(DispatchRow, Vec<u8>)>> {
        dispatches::find(&mut self.backend.reader().await?.session(), filter, limit).await
    }

    async fn set_return_ids(&self, ids: &[(i64, ReturnId)]) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        for chunk in ids.chunks(CHUNK) {
            let mut update = tx.session().statement("WITH given (g_id, g_return_id) AS (");
            update.push_rows(chunk, |values, (id, return_id)| {
                values.bind(*id).bind(text(return_id.as_str()));
            });
            update.push(
                ") UPDATE dispatch SET return_id = g_return_id FROM given WHERE id = g_id AND return_id IS NULL",
            );
            tx.session().execute(update.persistent(false)).await?;
        }
        tx.commit().await
    }

    async fn message_ids_by_return_id(&self, ids: &[String]) -> Result<Vec<(String, String)>> {
        let one_of = self.backend.engine().one_of();
        let sql = format!("SELECT return_id, message_id FROM dispatch WHERE return_id {one_of} ORDER BY id");
        self.read_recent(self.statement(sql).bind_texts(ids)).await
    }

    async fn next_dispatch_at(&self) -> Result<Option<DateTime<Utc>>> {
        maybe_time(dispatches::next_at(&mut self.backend.reader().await?.session()).await?)
    }

    async fn sent_counts(&self, now: DateTime<Utc>) -> Result<Vec<SentCount>> {
        let rows: Vec<(i64, i64, i64)> = self.read_recent(select(self.backend.engine(), now)).await?;
        rows.into_iter().map(read).collect()
    }
}

/// Counts letters that were taken now.
async fn count(session: &mut Session<'_>, now: DateTime<Utc>, taken: &[(Urgency, u32)]) -> Result<()> {
    if taken.is_empty() {
        return Ok(());
    }
    let minute = begin(now);
    let mut upsert = session.statement("INSERT INTO sending (minute, urgency, sent) ");
    upsert.push_rows(taken, |values, (urgency, sent)| {
        values.bind(minute).bind(*urgency as i64).bind(i64::from(*sent));
    });
    upsert.push(" ON CONFLICT (minute, urgency) DO UPDATE SET sent = sending.sent + excluded.sent");
    session.execute(upsert).await?;
    Ok(())
}

/// Selects the counts of a day, by urgency.
fn select(engine: Engine, now: DateTime<Utc>) -> Statement {
    let sql = "SELECT urgency, CAST(SUM(CASE WHEN minute = $1 THEN sent ELSE 0 END) AS BIGINT), \
               CAST(SUM(sent) AS BIGINT) FROM sending WHERE minute > $2 AND minute <= $1 GROUP BY urgency ORDER BY urgency";
    let minute = begin(now);
    Statement::new(engine, sql).bind(minute).bind(minute - TimeDelta::days(1).num_milliseconds())
}

fn read((urgency, minute, day): (i64, i64, i64)) -> Result<SentCount> {
    Ok(SentCount {
        urgency: Urgency::of_number(urgency)?,
        minute: u32::try_from(minute).unwrap_or(u32::MAX),
        day: u32::try_from(day).unwrap_or(u32::MAX),
    })
}

/// Deletes counts that no limit needs any more.
pub async fn delete_past(session: &mut Session<'_>, now: DateTime<Utc>) -> Result<()> {
    let statement = session.statement("DELETE FROM sending WHERE minute < $1");
    session.execute(statement.bind(begin(now - KEPT))).await?;
    Ok(())
}

/// Returns when a minute begins.
fn begin(at: DateTime<Utc>) -> i64 {
    at.timestamp_millis().div_euclid(MINUTE) * MINUTE
}
