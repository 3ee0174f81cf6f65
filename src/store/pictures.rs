//! Pictures of our letters, which are deleted some time after the letter was sent. They can be drawn again.

use chrono::{DateTime, TimeDelta, Utc};

use super::Result;
use super::statement::Session;
use crate::letter::Digest;

/// How long pictures are kept. The triggers allow no less.
const KEPT: TimeDelta = TimeDelta::days(7);

/// Deletes pictures within a transaction, and returns how many. See [`super::Store::drop_pictures`].
pub async fn drop_pictures(session: &mut Session<'_>, now: DateTime<Utc>, limit: u32) -> Result<u64> {
    // SQLite takes the tables of a cross join in this order: few of all dispatches have a picture.
    let sql = "SELECT p.dispatch_id, p.picture FROM dispatch_picture p CROSS JOIN dispatch d \
               WHERE d.id = p.dispatch_id AND d.sent_at <= $1 ORDER BY p.dispatch_id LIMIT $2";
    let before = (now - KEPT).timestamp_millis();
    let select = session.statement(sql).bind(before).bind(i64::from(limit));
    let old: Vec<(i64, Vec<u8>)> = session.fetch_all(select).await?;
    if old.is_empty() {
        return Ok(0);
    }
    let mut update = session.statement("WITH old (o_id, o_digest) AS (");
    update.push_rows(&old, |values, (id, picture)| {
        values.bind(*id).bind(Digest::of(picture).to_string());
    });
    update.push(") UPDATE dispatch SET dropped = o_digest, dropped_at = ");
    update.push_bind(now.timestamp_millis());
    update.push(" FROM old WHERE id = o_id");
    session.execute(update).await?;
    let ids: Vec<i64> = old.into_iter().map(|(id, _)| id).collect();
    let sql = format!("DELETE FROM dispatch_picture WHERE dispatch_id {}", session.engine().one_of());
    session.execute(session.statement(sql).bind_numbers(&ids)).await
}
