//! Sent and queued letters in lists, by Message-ID, and as answers.

use chrono::{DateTime, Utc};

use super::packing::unpack;
use super::rows::{self, text};
use super::statement::Session;
use super::{AnswerRow, DispatchFilter, DispatchRow, Result};

/// The columns of a dispatch, except its bytes.
const DISPATCH: &str = "d.id, d.message_id, d.recipient, d.kind, d.match_id, d.seat, d.created_at, d.due_at, \
                            d.sent_at, d.tries, d.error, d.returned_at";

/// See [`super::Store::dispatches_of`].
pub async fn of_match(session: &mut Session<'_>, match_id: &str) -> Result<Vec<(DispatchRow, Vec<u8>)>> {
    let sql = format!(
        "SELECT {DISPATCH}, {} FROM {} WHERE d.match_id = $1 ORDER BY d.id",
        rows::PACKED,
        rows::WITH_BYTES
    );
    let statement = session.statement(sql).bind(text(match_id));
    let rows: Vec<rows::DispatchBytes> = session.fetch_all(statement).await?;
    rows.into_iter().map(rows::DispatchBytes::read).collect()
}

/// See [`super::Store::dispatches_since`]. From the newest row back, and bounded: no index holds the time of dispatches
/// that answer nothing.
pub async fn count_since(session: &mut Session<'_>, since: DateTime<Utc>) -> Result<u64> {
    let sql = "SELECT COUNT(*) FROM (SELECT created_at FROM dispatch ORDER BY id DESC LIMIT 100000) AS latest \
               WHERE created_at >= $1";
    let statement = session.statement(sql).bind(since.timestamp_millis());
    let (written,): (i64,) = session.fetch_one(statement).await?;
    rows::count(written)
}

/// See [`super::Store::list_dispatches`].
pub async fn list(session: &mut Session<'_>, only_unsent: bool, limit: u32) -> Result<Vec<DispatchRow>> {
    // Each branch of the union uses its own partial index.
    let unsent = "WHERE d.id IN (SELECT id FROM dispatch WHERE due_at IS NOT NULL \
                  UNION ALL SELECT id FROM dispatch WHERE sent_at IS NULL AND due_at IS NULL) ";
    let which = if only_unsent { unsent } else { "" };
    let sql = format!("SELECT {DISPATCH} FROM dispatch d {which}ORDER BY d.id DESC LIMIT $1");
    let statement = session.statement(sql).bind(i64::from(limit));
    let rows: Vec<rows::Dispatch> = session.fetch_all(statement).await?;
    rows.into_iter().map(rows::Dispatch::read).collect()
}

/// See [`super::Store::find_dispatches`].
pub async fn find(
    session: &mut Session<'_>,
    filter: &DispatchFilter,
    limit: u32,
) -> Result<Vec<(DispatchRow, Vec<u8>)>> {
    let only_given_up = if filter.only_given_up { "AND d.sent_at IS NULL AND d.due_at IS NULL " } else { "" };
    let sql = format!(
        "SELECT {DISPATCH}, {} FROM {} WHERE ($1 = '' OR d.match_id = $1) AND ($2 = '' OR d.recipient = $2) \
         AND d.created_at >= $3 {only_given_up}ORDER BY d.id DESC LIMIT $4",
        rows::PACKED,
        rows::WITH_BYTES
    );
    let statement = session
        .statement(sql)
        .bind(text(filter.match_id.as_deref().unwrap_or_default()))
        .bind(text(filter.recipient.as_deref().unwrap_or_default()))
        .bind(filter.since.map_or(0, |since| since.timestamp_millis()))
        .bind(i64::from(limit));
    let rows: Vec<rows::DispatchBytes> = session.fetch_all(statement).await?;
    rows.into_iter().map(rows::DispatchBytes::read).collect()
}

/// Queues again what was given up of letters to these addresses.
pub async fn requeue(session: &mut Session<'_>, at: DateTime<Utc>, recipients: &[String]) -> Result<()> {
    let sql = format!(
        "UPDATE dispatch SET due_at = $2, seen = 0, returned_at = NULL \
         WHERE sent_at IS NULL AND due_at IS NULL AND recipient {}",
        session.engine().one_of()
    );
    let statement = session.statement(sql).bind_texts(recipients).bind(at.timestamp_millis());
    session.execute(statement).await?;
    Ok(())
}

/// See [`super::Store::dispatches_named`].
pub async fn named(session: &mut Session<'_>, ids: &[String]) -> Result<Vec<DispatchRow>> {
    let one_of = session.engine().one_of();
    let sql = format!("SELECT {DISPATCH} FROM dispatch d WHERE d.message_id {one_of} ORDER BY d.id");
    let statement = session.statement(sql).bind_texts(ids);
    let rows: Vec<rows::Dispatch> = session.fetch_all(statement).await?;
    rows.into_iter().map(rows::Dispatch::read).collect()
}

/// See [`super::Store::texts_by_message_id`].
pub async fn texts(session: &mut Session<'_>, ids: &[String]) -> Result<Vec<(String, Vec<u8>)>> {
    let sql = format!(
        "SELECT d.message_id, r.bytes FROM dispatch d JOIN dispatch_raw r ON r.dispatch_id = d.id \
         WHERE d.message_id {} ORDER BY d.id",
        session.engine().one_of()
    );
    let statement = session.statement(sql).bind_texts(ids);
    let rows: Vec<(String, Vec<u8>)> = session.fetch_all(statement).await?;
    rows.into_iter().map(|(id, bytes)| Ok((id, unpack(&bytes)?))).collect()
}

/// See [`super::Store::answers_to`].
pub async fn answers_to(
    session: &mut Session<'_>,
    recipients: &[String],
    since: DateTime<Utc>,
) -> Result<Vec<AnswerRow>> {
    // The index is by hour, so the condition names each hour.
    let sql = format!(
        "SELECT recipient, message_id, match_id, seat, asked FROM dispatch WHERE recipient {} \
         AND created_at / 3600000 IN ($2 / 3600000, $2 / 3600000 + 1, $2 / 3600000 + 2) \
         AND created_at >= $2 AND answers IS NOT NULL ORDER BY created_at, id",
        session.engine().one_of()
    );
    let statement = session.statement(sql).bind_texts(recipients).bind(since.timestamp_millis());
    let rows: Vec<rows::Answer> = session.fetch_all(statement).await?;
    rows.into_iter().map(rows::Answer::read).collect()
}

/// Returns when the next dispatch is due.
pub async fn next_at(session: &mut Session<'_>) -> Result<Option<i64>> {
    let statement = session.statement("SELECT MIN(due_at) FROM dispatch WHERE due_at IS NOT NULL");
    let (due_at,): (Option<i64>,) = session.fetch_one(statement).await?;
    Ok(due_at)
}

/// See [`super::Store::retry_deferred`].
pub async fn retry_deferred(
    session: &mut Session<'_>,
    now: DateTime<Utc>,
    past: DateTime<Utc>,
) -> Result<()> {
    for sql in [
        "UPDATE letter SET wait_until = $1 WHERE status = 'waiting' AND wait_until > $2",
        "UPDATE dispatch SET due_at = $1 WHERE due_at > $2",
    ] {
        let statement = session.statement(sql).bind(now.timestamp_millis()).bind(past.timestamp_millis());
        session.execute(statement).await?;
    }
    let digests = session.statement("UPDATE player SET digest_at = 0 WHERE digest_at > $1");
    session.execute(digests.bind(past.timestamp_millis())).await?;
    Ok(())
}
