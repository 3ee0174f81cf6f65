//! Waiting letters, and the claims on them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::columns::{Millis, parse_digest};
use super::rows::text;
use super::statement::Session;
use super::{Claim, Database, FROM_SPAM, LetterQueue, REMEMBER, Result, WaitingLetter};
use crate::letter::Digest;

/// Maximum bytes of letters in one claim: they are held in memory, some of them decoded.
const MAX_CLAIMED_BYTES: u32 = 8_000_000;

/// Maximum bytes of strangers' letters in one claim. Players' letters that arrive in the meantime wait until these are
/// ruled on, which takes up to 250 ms of CPU time for each megabyte.
const MAX_STRANGERS_BYTES: u32 = 250_000;

/// Maximum letters in such a claim.
const MAX_STRANGERS: u32 = 32;

/// Maximum letters of one player or GM in a claim while others wait: somebody who sends hundreds, or forges that
/// address, delays everybody else by no more than these.
const MAX_OF_ONE_SENDER: usize = 32;

/// Prefix of the keys under which daemons note the letters that they are working on.
const IN_WORK: &str = "letters in work: ";

impl Database {
    /// Claims up to `limit` waiting letters, oldest first, skipping those deferred past `now`. All are from the queue
    /// `first`, or from the other one if there is nothing to claim in that. It claims few letters of strangers, so that
    /// players do not wait long. A match's letters have one claimant at a time and stay in order. The caller keeps that
    /// order across an uncommitted claim `before`.
    pub async fn claim_letters(
        &self,
        now: DateTime<Utc>,
        limit: u32,
        first: LetterQueue,
        before: Option<&mut Claim>,
    ) -> Result<(Vec<WaitingLetter>, Claim)> {
        self.backend.claim_letters(now.timestamp_millis(), limit, first, before).await
    }

    /// Notes the letters that the daemon `owner` is working on, in place of its previous note; an empty list ends the
    /// work. After a crash the note names the suspects. It does not wait for the disk: the note survives the process,
    /// but perhaps not a power failure.
    pub async fn note_in_work(&self, owner: &str, letters: &[Digest]) -> Result<()> {
        let key = format!("{IN_WORK}{owner}");
        let statement = if letters.is_empty() {
            self.statement("DELETE FROM memo WHERE key = $1").bind(key)
        } else {
            let digests: Vec<String> = letters.iter().map(Digest::to_string).collect();
            self.statement(REMEMBER).bind(key).bind(digests.join(" "))
        };
        self.backend.write_unsynced(statement).await
    }

    /// Returns each daemon that has such a note, with its letters.
    pub async fn letters_in_work(&self) -> Result<Vec<(String, Vec<Digest>)>> {
        let noted = self.remembered_under(IN_WORK).await?;
        let read = |(key, digests): (String, String)| {
            let owner = key.strip_prefix(IN_WORK).unwrap_or_default().to_owned();
            Ok((owner, parse_digests(&digests)?))
        };
        noted.into_iter().map(read).collect()
    }

    /// Returns when the oldest waiting letter arrived, claimed or not, ignoring letters deferred past `now`.
    pub async fn oldest_waiting(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        let sql = "SELECT received_at FROM letter \
                   WHERE status = 'waiting' AND (wait_until IS NULL OR wait_until <= $1) \
                   ORDER BY received_at, id LIMIT 1";
        let oldest = self.read_first(self.statement(sql).bind(now.timestamp_millis())).await?;
        Ok(oldest.map(|(Millis(received_at),)| received_at))
    }

    /// Returns the matches with letters that are deferred past `now`.
    pub async fn matches_with_deferred_letters(&self, now: DateTime<Utc>) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT match_id FROM letter \
                   WHERE status = 'waiting' AND wait_until > $1 AND match_id IS NOT NULL ORDER BY match_id";
        self.read_column(self.statement(sql).bind(now.timestamp_millis())).await
    }

    /// Returns up to `limit` letters that acted in a match, after the row `id`, with the row ID of the last. Returns
    /// `None` if there are no more.
    pub async fn acted_after(
        &self,
        match_id: &str,
        id: i64,
        limit: u32,
    ) -> Result<Option<(i64, Vec<Digest>)>> {
        // Aggregate into one row: transferring many small rows takes longer than finding them.
        let sql = "SELECT max(id), string_agg(digest, ' ') FROM (SELECT id, digest FROM letter \
                   WHERE match_id = $1 AND status = 'ruled' AND id > $2 ORDER BY id LIMIT $3) AS acted";
        let statement = self.statement(sql).bind(text(match_id)).bind(id).bind(i64::from(limit));
        let (last, acted): (Option<i64>, Option<String>) = self.read_one(statement).await?;
        Ok(last.zip(Some(parse_digests(&acted.unwrap_or_default())?)))
    }
}

/// Parses digests separated by blanks.
fn parse_digests(digests: &str) -> Result<Vec<Digest>> {
    digests.split_whitespace().map(parse_digest).collect()
}

/// Returns the maximum number of letters in a claim on this queue, if `limit` is the maximum for players' letters.
pub fn limit(queue: LetterQueue, limit: u32) -> i64 {
    i64::from(match queue {
        LetterQueue::Known => limit,
        LetterQueue::Strangers => limit.min(MAX_STRANGERS),
    })
}

/// Returns the condition that a waiting letter is in this queue.
pub fn is_in(queue: LetterQueue) -> &'static str {
    match queue {
        LetterQueue::Known => "known = 1",
        LetterQueue::Strangers => "known = 0",
    }
}

/// Whether one of these senders, each of a letter on a page, has more than a fair share of the page.
pub fn is_crowded<'s>(queue: LetterQueue, senders: impl IntoIterator<Item = &'s str>) -> bool {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for sender in senders {
        *counts.entry(sender).or_default() += 1;
    }
    queue == LetterQueue::Known && counts.into_values().any(|count| count > MAX_OF_ONE_SENDER)
}

/// Returns the source of a page: the letters that wait in a queue, meet a `condition`, and are not deferred past the
/// parameter `now`. In a crowded queue it holds only the oldest letters of each sender, in order. That numbers all
/// waiting letters, so it is done only where somebody crowds the queue.
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

/// Returns up to `limit` letters that wait in a queue and meet a `condition` on the texts `$1`, oldest first. Stops at
/// the queue's maximum of bytes, but returns at least one letter.
pub async fn claimable(
    session: &mut Session<'_>,
    queue: LetterQueue,
    condition: &str,
    texts: &[String],
    now: i64,
    limit: i64,
) -> Result<Vec<WaitingLetter>> {
    let page = source(queue, condition, "$2", false);
    let sql = format!("SELECT l.sender FROM {page} ORDER BY l.received_at, l.id LIMIT $3");
    let senders = session.statement(sql).bind_texts(texts).bind(now).bind(limit);
    let senders: Vec<String> = session.fetch_column(senders).await?;
    let is_crowded = is_crowded(queue, senders.iter().map(String::as_str));
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
        // `total = size` holds for the first letter: one that exceeds the maximum alone is claimed alone.
        "WITH page AS (\
             SELECT l.id, l.received_at, l.size FROM {source} ORDER BY l.received_at, l.id LIMIT $3\
         ), sized AS (SELECT id, size, SUM(size) OVER (ORDER BY received_at, id) AS total FROM page) \
         SELECT l.digest, r.bytes, l.received_at, l.tries, l.known, l.accepted_by, \
         l.origin LIKE '{FROM_SPAM}%' AS is_spam FROM sized s \
         JOIN letter l ON l.id = s.id JOIN letter_raw r ON r.letter_id = l.id \
         WHERE s.total <= {max_bytes} OR s.total = s.size ORDER BY l.received_at, l.id"
    )
}
