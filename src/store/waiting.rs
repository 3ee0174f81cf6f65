//! Which letters wait, and which of them are claimed together.

use chrono::{DateTime, Utc};

use super::rows::maybe_time;
use super::statement::Session;
use super::{LetterQueue, Result};

/// Maximum bytes of the letters that are claimed together: they are held in memory, some of them decoded.
const MAX_CLAIMED_BYTES: u32 = 8_000_000;

/// The same for strangers' letters, and their maximum number. Players' letters that arrive meanwhile wait until these are
/// ruled on, which takes up to 250 ms of a processor for each megabyte.
const MAX_STRANGERS_BYTES: u32 = 250_000;
const MAX_STRANGERS: u32 = 32;

/// Returns the most letters that a claim on this queue may hold, if it may hold `limit` of players.
pub fn limit(queue: LetterQueue, limit: u32) -> i64 {
    i64::from(match queue {
        LetterQueue::Known => limit,
        LetterQueue::Strangers => limit.min(MAX_STRANGERS),
    })
}

/// Returns the condition that a waiting letter is in this queue. A partial index has both.
pub fn is_in(queue: LetterQueue) -> &'static str {
    match queue {
        LetterQueue::Known => "known = 1",
        LetterQueue::Strangers => "known = 0",
    }
}

/// Selects up to `$3` letters that wait in this queue, meet a `condition` and are not deferred past `$2`, oldest first,
/// and of those as many as fit into the queue's maximum of bytes, but at least one. The running total is computed over
/// that page only, not over everything that waits.
pub fn select(queue: LetterQueue, condition: &str) -> String {
    let is_in_queue = is_in(queue);
    let max_bytes = match queue {
        LetterQueue::Known => MAX_CLAIMED_BYTES,
        LetterQueue::Strangers => MAX_STRANGERS_BYTES,
    };
    format!(
        "WITH page AS (\
             SELECT l.id, l.received_at, l.size FROM letter l \
             WHERE l.fate = 'waiting' AND l.{is_in_queue} AND (l.wait_until IS NULL OR l.wait_until <= $2) \
             AND {condition} \
             ORDER BY l.received_at, l.id LIMIT $3\
         ), sized AS (SELECT id, size, SUM(size) OVER (ORDER BY received_at, id) AS total FROM page) \
         SELECT l.digest, r.bytes, l.received_at, l.tries, l.known, l.accepted_by FROM sized s \
         JOIN letter l ON l.id = s.id JOIN letter_raw r ON r.letter_id = l.id \
         WHERE s.total <= {max_bytes} OR s.total = s.size ORDER BY l.received_at, l.id"
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
