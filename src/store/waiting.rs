//! Which letters wait, and which of them are claimed together.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::rows::{self, maybe_time};
use super::statement::Session;
use super::{FROM_SPAM, LetterQueue, Result};

/// Maximum bytes of the letters that are claimed together: they are held in memory, some of them decoded.
const MAX_CLAIMED_BYTES: u32 = 8_000_000;

/// The same for strangers' letters, and their maximum number. Players' letters that arrive meanwhile wait until these are
/// ruled on, which takes up to 250 ms of a processor for each megabyte.
const MAX_STRANGERS_BYTES: u32 = 250_000;
const MAX_STRANGERS: u32 = 32;

/// Maximum letters of one player or GM that are claimed together while others wait: whoever sends hundreds, or forges the
/// address on them, delays everybody else by no more than these.
const MAX_OF_ONE_SENDER: usize = 32;

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

/// Whether these senders of a page of the oldest letters include one who has more than a fair share of it.
pub fn is_crowded<'s>(queue: LetterQueue, senders: impl IntoIterator<Item = &'s str>) -> bool {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for sender in senders {
        *counts.entry(sender).or_default() += 1;
    }
    queue == LetterQueue::Known && counts.into_values().any(|count| count > MAX_OF_ONE_SENDER)
}

/// Returns the source of a page: the letters that wait in a queue and meet a `condition`, and are not deferred past the
/// parameter `now`. Of a crowded queue it holds only each sender's oldest, which keeps the order of one sender's letters;
/// numbering them reads all that wait, so it is left out where nobody crowds.
pub fn source(queue: LetterQueue, condition: &str, now: &str, is_crowded: bool) -> String {
    let is_in_queue = is_in(queue);
    let is_waiting = format!(
        "l.status = 'waiting' AND l.{is_in_queue} AND (l.wait_until IS NULL OR l.wait_until <= {now}) AND {condition}"
    );
    if !is_crowded {
        return format!("letter l WHERE {is_waiting}");
    }
    format!(
        "(SELECT l.id, l.received_at, l.size, l.lane, l.sender, \
         ROW_NUMBER() OVER (PARTITION BY l.sender ORDER BY l.received_at, l.id) AS place \
         FROM letter l WHERE {is_waiting}) AS l WHERE l.place <= {MAX_OF_ONE_SENDER}"
    )
}

/// Returns up to `limit` letters that wait in a queue and meet a `condition` on the texts `$1`, oldest first, and of those
/// as many as fit into the queue's maximum of bytes, but at least one.
pub async fn claimable(
    session: &mut Session<'_>,
    queue: LetterQueue,
    condition: &str,
    texts: &[String],
    now: i64,
    limit: i64,
) -> Result<Vec<rows::Waiting>> {
    let page = source(queue, condition, "$2", false);
    let sql = format!("SELECT l.sender FROM {page} ORDER BY l.received_at, l.id LIMIT $3");
    let senders = session.statement(sql).bind_texts(texts).bind(now).bind(limit);
    let senders: Vec<(String,)> = session.fetch_all(senders).await?;
    let is_crowded = is_crowded(queue, senders.iter().map(|(sender,)| sender.as_str()));
    let sql = select(queue, &source(queue, condition, "$2", is_crowded));
    let select = session.statement(sql).bind_texts(texts).bind(now).bind(limit);
    session.fetch_all(select).await
}

/// Selects up to `$3` letters of a page's source. The running total of bytes is computed over that page only, not over
/// everything that waits.
fn select(queue: LetterQueue, source: &str) -> String {
    let max_bytes = match queue {
        LetterQueue::Known => MAX_CLAIMED_BYTES,
        LetterQueue::Strangers => MAX_STRANGERS_BYTES,
    };
    format!(
        "WITH page AS (\
             SELECT l.id, l.received_at, l.size FROM {source} ORDER BY l.received_at, l.id LIMIT $3\
         ), sized AS (SELECT id, size, SUM(size) OVER (ORDER BY received_at, id) AS total FROM page) \
         SELECT l.digest, r.bytes, l.received_at, l.tries, l.known, l.accepted_by, \
         l.origin LIKE '{FROM_SPAM}%' AS is_spam FROM sized s \
         JOIN letter l ON l.id = s.id JOIN letter_raw r ON r.letter_id = l.id \
         WHERE s.total <= {max_bytes} OR s.total = s.size ORDER BY l.received_at, l.id"
    )
}

/// See [`super::Store::oldest_waiting`].
pub async fn oldest(session: &mut Session<'_>, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
    let sql = "SELECT received_at FROM letter \
               WHERE status = 'waiting' AND (wait_until IS NULL OR wait_until <= $1) \
               ORDER BY received_at, id LIMIT 1";
    let select = session.statement(sql).bind(now.timestamp_millis());
    let oldest: Option<(i64,)> = session.fetch_first(select).await?;
    maybe_time(oldest.map(|(received_at,)| received_at))
}

/// See [`super::Store::matches_with_deferred_letters`].
pub async fn matches_with_deferred(session: &mut Session<'_>, now: DateTime<Utc>) -> Result<Vec<String>> {
    let sql = "SELECT DISTINCT match_id FROM letter \
               WHERE status = 'waiting' AND wait_until > $1 AND match_id IS NOT NULL ORDER BY match_id";
    let select = session.statement(sql).bind(now.timestamp_millis());
    let found: Vec<(String,)> = session.fetch_all(select).await?;
    Ok(found.into_iter().map(|(match_id,)| match_id).collect())
}
