//! Which letters wait, and which of them are claimed together.

use chrono::{DateTime, Utc};

use super::Result;
use super::rows::maybe_time;
use super::statement::Session;

/// Maximum bytes of the letters that are claimed together: they are held in memory, some of them decoded.
const MAX_CLAIMED_BYTES: u32 = 32_000_000;

/// Selects up to `$3` waiting letters that meet a `condition` and are not deferred past `$2`, oldest first, and of those
/// as many as fit into [`MAX_CLAIMED_BYTES`], but at least one. The running total is computed over that page only, not
/// over everything that waits.
pub fn select(condition: &str) -> String {
    format!(
        "WITH page AS (\
             SELECT l.id, l.received_at, l.size FROM letter l \
             WHERE l.fate = 'waiting' AND (l.wait_until IS NULL OR l.wait_until <= $2) AND {condition} \
             ORDER BY l.received_at, l.id LIMIT $3\
         ), sized AS (SELECT id, size, SUM(size) OVER (ORDER BY received_at, id) AS total FROM page) \
         SELECT l.digest, r.bytes, l.received_at, l.tries FROM sized s \
         JOIN letter l ON l.id = s.id JOIN letter_raw r ON r.letter_id = l.id \
         WHERE s.total <= {MAX_CLAIMED_BYTES} OR s.total = s.size ORDER BY l.received_at, l.id"
    )
}

/// See [`super::Store::oldest_waiting`].
pub async fn oldest(session: &mut Session<'_>, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
    let sql = "SELECT received_at FROM letter \
               WHERE fate = 'waiting' AND (wait_until IS NULL OR wait_until <= $1) \
               ORDER BY received_at, id LIMIT 1";
    let select = session.statement(sql).bind(now.timestamp_millis());
    let oldest: Option<(i64,)> = session.fetch_first(select).await?;
    maybe_time(oldest.map(|(received_at,)| received_at))
}

/// See [`super::Store::matches_with_deferred_letters`].
pub async fn matches_with_deferred(session: &mut Session<'_>, now: DateTime<Utc>) -> Result<Vec<String>> {
    let sql = "SELECT DISTINCT match_id FROM letter \
               WHERE fate = 'waiting' AND wait_until > $1 AND match_id IS NOT NULL ORDER BY match_id";
    let select = session.statement(sql).bind(now.timestamp_millis());
    let found: Vec<(String,)> = session.fetch_all(select).await?;
    Ok(found.into_iter().map(|(match_id,)| match_id).collect())
}
