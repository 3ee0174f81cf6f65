//! Waiting letters, and the claims on them.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::columns::parse_digest;
use super::rows::{record, text};
use super::statement::Session;
use super::{Claim, Database, FROM_SPAM, REMEMBER, RESTORED, Result, WaitingLetter};
use crate::letter::Digest;

/// Maximum letters of players in a claim: as many as one transaction writes efficiently. A multiple of the
/// store's `CHUNK`, whose statements stay prepared.
pub const MAX_CLAIMED: usize = 256;

const OF_PLAYERS: ClaimBounds = ClaimBounds { letters: MAX_CLAIMED, bytes: 8_000_000 };

/// Bounds for strangers' letters. Players' letters that arrive in the meantime wait until these are ruled on,
/// which takes up to 250 ms of CPU time for each megabyte.
const OF_STRANGERS: ClaimBounds = ClaimBounds { letters: 32, bytes: 250_000 };

/// Maximum letters of one lane in a claim: a sender of hundreds delays everybody else by no more than these.
const MAX_IN_LANE: usize = 16;

/// Maximum pages to read for one claim.
const MAX_PAGES: usize = 64;

/// Prefix of the keys under which daemons note the letters that they are working on.
const IN_WORK: &str = "letters in work: ";

/// Bounds of the letters in one claim.
struct ClaimBounds {
    letters: usize,
    /// Maximum bytes, because the letters are held in memory, some of them decoded.
    bytes: i64,
}

impl Database {
    /// Claims waiting letters, oldest first, and those of the matches that are `due`. Skips letters deferred
    /// past `now`, and lanes that another claim holds: a lane has one claimant at a time, and its letters
    /// stay in order.
    ///
    /// Returns few letters of each lane and few of strangers, so that nobody waits long for others.
    pub async fn claim(&self, now: DateTime<Utc>, due: &[String]) -> Result<Claimable> {
        let mut claim = self.backend.begin_claim();
        let mut writer = self.backend.writer().await?;
        let mut session = writer.session();
        let now = now.timestamp_millis();
        let matches = take_lanes(&mut claim, due).await?;
        let mut taken = ClaimedLetters::default();
        for (known, bounds) in [(1_i64, OF_PLAYERS), (0, OF_STRANGERS)] {
            taken.take(&mut session, &mut claim, known, &bounds, now).await?;
        }
        let letters = waiting_letters(&mut session, &taken.letters).await?;
        Ok(Claimable { letters, matches, claim })
    }

    /// Claims the oldest letter that waits since `until` or before, whoever wrote it; it is not deferred past `now`.
    /// After a restore, letters build on those of other lanes. So there is one such claim at a time, which may be
    /// empty: `None` if another one is held.
    pub async fn claim_oldest(&self, now: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Claimable>> {
        let mut claim = self.backend.begin_claim();
        // No letter has this lane.
        if take_lanes(&mut claim, &[RESTORED.to_owned()]).await?.is_empty() {
            return Ok(None);
        }
        let mut writer = self.backend.writer().await?;
        let mut session = writer.session();
        let sql = "SELECT id FROM letter \
                   WHERE status = 'waiting' AND received_at <= $1 AND (wait_until IS NULL OR wait_until <= $2) \
                   ORDER BY received_at, id LIMIT 1";
        let select = session.statement(sql).bind(until.timestamp_millis()).bind(now.timestamp_millis());
        let ids: Vec<i64> = session.fetch_column(select).await?;
        let letters = waiting_letters(&mut session, &ids).await?;
        Ok(Some(Claimable { letters, matches: Vec::new(), claim }))
    }

    /// Returns the lane and the sender of the waiting letters of players and GMs that are not deferred past
    /// `now`, with the time at which the oldest of each arrived. No letter of a stranger acts in a match, and
    /// there may be any number of them.
    pub async fn waiting_since(&self, now: DateTime<Utc>) -> Result<Vec<(String, String, DateTime<Utc>)>> {
        let sql = "SELECT lane, sender, MIN(received_at) FROM letter \
                   WHERE status = 'waiting' AND known = 1 AND (wait_until IS NULL OR wait_until <= $1) \
                   GROUP BY lane, sender";
        self.read(self.statement(sql).bind(now.timestamp_millis())).await
    }

    /// Notes the letters that the daemon `owner` is working on, in place of its previous note; an empty list
    /// ends the work. After a crash the note names the suspects. It does not wait for the disk: the note
    /// survives the process, but perhaps not a power failure.
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

    /// Returns each daemon that has noted letters in work, with these letters.
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
        Ok(self.read_column(self.statement(sql).bind(now.timestamp_millis())).await?.pop())
    }

    /// Returns the matches with letters that are deferred past `now`.
    pub async fn matches_with_deferred_letters(&self, now: DateTime<Utc>) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT match_id FROM letter \
                   WHERE status = 'waiting' AND wait_until > $1 AND match_id IS NOT NULL ORDER BY match_id";
        self.read_column(self.statement(sql).bind(now.timestamp_millis())).await
    }

    /// Returns up to `limit` letters that acted in a match, after the row `id`, with the row ID of the last.
    /// Returns `None` if there are no more.
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

/// Reads those of these letters that still wait. Called after taking their lanes: another daemon may just have settled
/// some.
async fn waiting_letters(session: &mut Session<'_>, ids: &[i64]) -> Result<Vec<WaitingLetter>> {
    let one_of = session.engine().one_of();
    let sql = format!(
        "SELECT l.digest, r.bytes, l.received_at, l.tries, l.lane, l.known, l.accepted_by, \
         l.origin LIKE '{FROM_SPAM}%' AS is_spam \
         FROM letter l JOIN letter_raw r ON r.letter_id = l.id \
         WHERE l.id {one_of} AND l.status = 'waiting' ORDER BY l.known DESC, l.received_at, l.id"
    );
    session.fetch_all(session.statement(sql).bind_numbers(ids)).await
}

/// Claimed letters and matches.
#[derive(Default)]
pub struct Claimable {
    /// Players' letters first, then those of strangers, each oldest first.
    pub letters: Vec<WaitingLetter>,
    /// The claimed ones among the matches that are due.
    pub matches: Vec<String>,
    pub claim: Claim,
}

record! {
    /// A letter that may be claimed.
    struct Candidate {
        id: i64,
        received_at: i64,
        lane: String,
        size: i64,
    }
}

/// The letters of a claim, by row ID.
#[derive(Default)]
struct ClaimedLetters {
    letters: Vec<i64>,
    /// Number of letters of each lane that is taken.
    lanes: BTreeMap<String, usize>,
    /// The lanes from which no more letters are taken: enough are taken, or another claim has them.
    closed: BTreeSet<String>,
}

impl ClaimedLetters {
    /// Takes letters, oldest first, within bounds. A letter that exceeds the bound of bytes by itself is
    /// taken alone.
    async fn take(
        &mut self,
        session: &mut Session<'_>,
        claim: &mut Claim,
        known: i64,
        bounds: &ClaimBounds,
        now: i64,
    ) -> Result<()> {
        let mut after = (i64::MIN, 0);
        let mut letters = 0;
        let mut bytes = 0;
        for _ in 0..MAX_PAGES {
            // Read no more letters than can be taken, so that the lanes of the others stay free for other
            // claims.
            let most = bounds.letters - letters;
            let page = self.page(session, known, now, after, most).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = (last.received_at, last.id);
            let is_last = page.len() < most;
            self.open(claim, &page).await?;
            for letter in page {
                if self.closed.contains(&letter.lane) {
                    continue;
                }
                bytes += letter.size;
                if letters > 0 && bytes > bounds.bytes {
                    return Ok(());
                }
                letters += 1;
                self.letters.push(letter.id);
                let of_lane = self.lanes.entry(letter.lane.clone()).or_default();
                *of_lane += 1;
                if *of_lane == MAX_IN_LANE {
                    self.closed.insert(letter.lane);
                }
                if letters == bounds.letters {
                    return Ok(());
                }
            }
            if is_last {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns the next letters that are not in a closed lane.
    async fn page(
        &self,
        session: &mut Session<'_>,
        known: i64,
        now: i64,
        after: (i64, i64),
        most: usize,
    ) -> Result<Vec<Candidate>> {
        let one_of = session.engine().one_of();
        let sql = format!(
            "SELECT id, received_at, lane, size FROM letter \
             WHERE status = 'waiting' AND known = $2 AND (wait_until IS NULL OR wait_until <= $3) \
             AND (received_at > $4 OR received_at = $4 AND id > $5) AND NOT (lane {one_of}) \
             ORDER BY received_at, id LIMIT $6"
        );
        // Exclude closed lanes in the query: otherwise a sender of thousands of letters would fill every
        // page.
        let closed: Vec<String> = self.closed.iter().cloned().collect();
        let statement = session.statement(sql).bind_texts(&closed).bind(known).bind(now);
        session.fetch_all(statement.bind(after.0).bind(after.1).bind(most as i64)).await
    }

    /// Takes the lanes of a page that are not taken yet, and closes those that another claim has.
    async fn open(&mut self, claim: &mut Claim, page: &[Candidate]) -> Result<()> {
        let of_page: BTreeSet<&String> = page.iter().map(|letter| &letter.lane).collect();
        let new =
            of_page.into_iter().filter(|lane| !self.lanes.contains_key(*lane)).cloned().collect::<Vec<_>>();
        let free: BTreeSet<String> = take_lanes(claim, &new).await?.into_iter().collect();
        for lane in new {
            if !free.contains(&lane) {
                self.closed.insert(lane.clone());
            }
            self.lanes.insert(lane, 0);
        }
        Ok(())
    }
}

/// Takes the lanes that no other claim has, and returns them.
async fn take_lanes(claim: &mut Claim, lanes: &[String]) -> Result<Vec<String>> {
    let names = lanes.iter().map(|lane| lane_name(lane)).collect();
    let free: BTreeSet<String> = claim.take(names).await?.into_iter().collect();
    Ok(lanes.iter().filter(|lane| free.contains(&lane_name(lane))).cloned().collect())
}

/// Returns the name under which a lane is claimed.
pub fn lane_name(lane: &str) -> String {
    format!("lane {lane}")
}

/// Parses digests separated by blanks.
fn parse_digests(digests: &str) -> Result<Vec<Digest>> {
    digests.split_whitespace().map(parse_digest).collect()
}
