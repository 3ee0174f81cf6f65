//! Letters that caused no ledger entry: their bytes are deleted after some time.

use chrono::{DateTime, Utc};

use super::Result;
use super::statement::Session;

/// The letters of the index `letter_unruled`: decided, named by no entry, and still with their bytes. The list of fates
/// is not written as a column alone, or SQLite would prefer the index by status and sort everything in it.
const UNRULED: &str = "bytes_deleted_at IS NULL AND in_ledger = 0 AND status NOT IN ('waiting', 'ruled') \
                       AND status || '' IN ('answered', 'automatic', 'repeated', 'ignored', 'set_aside')";

/// Deletes the bytes of letters within a transaction, and returns how many. See [`super::Store::delete_unruled`].
pub async fn delete_unruled(
    session: &mut Session<'_>,
    now: DateTime<Utc>,
    received_before: DateTime<Utc>,
    kept_senders: &[String],
    limit: u32,
) -> Result<u64> {
    let one_of = session.engine().one_of();
    let sql = format!(
        "UPDATE letter SET bytes_deleted_at = $2 WHERE id IN \
         (SELECT id FROM letter WHERE received_at < $3 AND {UNRULED} AND NOT (sender {one_of}) \
          ORDER BY received_at LIMIT $4) RETURNING id"
    );
    let statement = session
        .statement(sql)
        .bind_texts(kept_senders)
        .bind(now.timestamp_millis())
        .bind(received_before.timestamp_millis())
        .bind(i64::from(limit));
    let ids: Vec<(i64,)> = session.fetch_all(statement).await?;
    let ids: Vec<i64> = ids.into_iter().map(|(id,)| id).collect();
    let statement =
        session.statement(format!("DELETE FROM letter_raw WHERE letter_id {one_of}")).bind_numbers(&ids);
    session.execute(statement).await
}
