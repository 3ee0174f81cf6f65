//! Plays for the house. Finding a turn takes long, so it runs on a background thread, where no letter waits
//! for it, and is then committed. The matches themselves store that the house has to move, so nothing is lost
//! if the program ends in between.
//!
//! Matches in which the house cannot play its turn. They are remembered in the store, so that the GM is told
//! once in each phase, the status shows them, and every daemon waits before it tries again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Context as _;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::{Deserialize, Serialize};

use super::commit::{self, is_transient};
use super::load::{self, log_unusable};
use super::waiting::{
    RetryPause, ThreadPriority, background_threads, run_in_background, until_shutdown, wait_for_work,
};
use super::{Office, clock, rulings};
use crate::desk::frame::stored::snapshot;
use crate::desk::gm::alarm::house_stuck;
use crate::desk::matches::acts::CauseOf;
use crate::ledger::{self, Entry};
use crate::post::ShutdownSignal;
use crate::referee::{HousePlay, HousePlayer, Match, Matter};
use crate::store::{Changes, Database, EntryRow, MatchRow};

/// Matches loaded at a time.
const BATCH_SIZE: u32 = 100;

/// Matches claimed at a time for each thread, to keep the threads busy while one turn takes long.
const CLAIMED_PER_THREAD: usize = 4;

/// Maximum attempts to commit a turn while others change the match.
const MAX_TRIES: usize = 20;

/// Plays for the house until shutdown.
pub async fn play_house_until(office: Arc<Office>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
    let mut backoff = RetryPause::new();
    while !shutdown.is_set() {
        match until_shutdown(&shutdown, play_unless_restoring(&office)).await {
            Ok(()) => {
                backoff = RetryPause::new();
                wait_for_work(&office.house_to_move, &shutdown).await;
            }
            Err(error) => backoff.wait("failed to play for the house", &error, &shutdown).await,
        }
    }
    Ok(())
}

/// Plays for the house, unless letters are decided again after a restore: whoever decides them lets it play between two
/// letters.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn play_unless_restoring(office: &Office) -> anyhow::Result<()> {
    match office.store.restoring().await? {
        Some(_) => Ok(()),
        None => house_all(office).await,
    }
}

/// Plays for the house wherever it has to move, beginning with the match that has waited longest, unless the
/// clock is in doubt.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn house_all(office: &Office) -> anyhow::Result<()> {
    if !clock::is_trusted(office).await? {
        return Ok(());
    }
    // If the house plays both sides of a match, it may have to move again.
    while play_once_everywhere(office).await? {}
    Ok(())
}

/// Whether the house has to move in one of these matches and does not wait after a failure: then something else is
/// finding its turn.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn is_playing(office: &Office, ids: &[String]) -> anyhow::Result<bool> {
    let stuck = stuck_houses(&office.store).await?;
    let rows = office.store.matches(ids).await?;
    Ok(rows.iter().any(|row| row.overview.awaits_house() && !stuck.contains_key(&row.id)))
}

/// Plays a turn wherever the house has to move. Returns whether it has to move again in one of these matches.
async fn play_once_everywhere(office: &Office) -> anyhow::Result<bool> {
    let mut last = None;
    let mut again = false;
    let stuck = stuck_houses(&office.store).await?;
    let mut resolved: BTreeSet<&String> = stuck.keys().collect();
    loop {
        let due = office.store.matches_due(office.now(), last.as_ref(), BATCH_SIZE).await?;
        let ids: Vec<String> =
            due.iter().filter(|row| row.overview.awaits_house()).map(|row| row.id.clone()).collect();
        resolved.retain(|id| !ids.contains(id));
        for ids in ids.chunks(CLAIMED_PER_THREAD * background_threads()) {
            again |= play_in_several(office, ids, &stuck).await?;
        }
        let Some(behind) = due.into_iter().last() else { break };
        last = Some(behind);
    }
    for match_id in resolved {
        office.store.forget(&key(match_id)).await?;
    }
    Ok(again)
}

/// Plays in the matches in which no other daemon plays for the house. Returns whether the house has to move
/// again in one of them.
async fn play_in_several(
    office: &Office,
    ids: &[String],
    stuck: &BTreeMap<String, StuckHouse>,
) -> anyhow::Result<bool> {
    let (ids, claim) = office.store.claim_house_turns(ids).await?;
    // Load the matches after claiming them: another daemon may just have played in some.
    let rows = office.store.matches(&ids).await?;
    let playing = stream::iter(rows).map(|row| play_unless_stuck(office, row, stuck));
    let again: Vec<bool> = playing.buffer_unordered(background_threads()).try_collect().await?;
    // Keep the claim until here, so that no other daemon computes the same turns.
    drop(claim);
    Ok(again.contains(&true))
}

/// Plays a turn, unless it is too early after a failed attempt. Returns whether the house has to move again.
async fn play_unless_stuck(
    office: &Office,
    row: MatchRow,
    stuck: &BTreeMap<String, StuckHouse>,
) -> anyhow::Result<bool> {
    let match_id = row.id;
    // One broken match must not block the rest.
    let Ok(game_match) =
        snapshot(&match_id, &row.snapshot).inspect_err(|error| log_unusable(&match_id, error))
    else {
        return Ok(false);
    };
    let phase_no = game_match.phase_no;
    let before = stuck.get(&match_id);
    if game_match.house_due().is_none() || before.is_some_and(|stuck| stuck.waits(phase_no, office.now())) {
        return Ok(false);
    }
    match play_house_turn(office, &match_id, game_match).await {
        Ok(again) => {
            if before.is_some() {
                office.store.forget(&key(&match_id)).await?;
            }
            Ok(again)
        }
        // It waits alone for what another session of the database has locked.
        Err(error) if commit::is_locked(&error) => {
            tracing::warn!(match_id, "another session of the database holds a lock");
            Ok(false)
        }
        Err(error) if is_transient(&error) => Err(error),
        Err(error) => {
            tracing::error!(match_id, error = format!("{error:#}"), "the house failed to play its turn");
            note_stuck(office, &match_id, before, phase_no).await?;
            Ok(false)
        }
    }
}

/// Plays a turn. Returns whether the house has to move again.
async fn play_house_turn(office: &Office, match_id: &str, game_match: Match) -> anyhow::Result<bool> {
    let phase_no = game_match.phase_no;
    let entries = office.store.entries(match_id).await?;
    let player = Arc::clone(&office.club.house);
    // Only one turn at a time gets ordinary priority, so that the others leave the processors to letters.
    let prompt = game_match.waits_for_house_alone().then(|| office.prompt_turn.try_acquire().ok()).flatten();
    let priority = if prompt.is_some() { ThreadPriority::Ordinary } else { ThreadPriority::Lowest };
    let find = move || house_turn(&game_match, &entries, player.as_ref());
    let play = run_in_background(priority, find).await??;
    drop(prompt);
    if let HousePlay { seat, failed: Some(failure), .. } = &play {
        tracing::error!(match_id, %seat, ?failure, "the house failed; an easier level plays");
    }
    // The turn stays valid as long as the phase is open, whatever else changes in the match.
    let cause_of: CauseOf = Arc::new(move |_| Matter::House { phase: phase_no, play: play.clone() });
    for _ in 0..MAX_TRIES {
        let row = rulings::match_row(office, match_id).await?;
        if let Some(after) = rulings::decide_on_match(office, row, &cause_of, office.now()).await? {
            return Ok(after.house_due().is_some());
        }
        let now = snapshot(match_id, &rulings::match_row(office, match_id).await?.snapshot)?;
        if now.phase_no != phase_no || now.house_due().is_none() {
            return Ok(false);
        }
    }
    anyhow::bail!("gave up after {MAX_TRIES} rejections or conflicts")
}

/// Remembers that the house could not play in this phase. The first time, tells the GM.
async fn note_stuck(
    office: &Office,
    match_id: &str,
    before: Option<&StuckHouse>,
    phase_no: u32,
) -> anyhow::Result<()> {
    let now = office.now();
    let stuck = StuckHouse::after(before, phase_no, now);
    let mut changes = Changes::default();
    if stuck.since == now {
        match tell_of_stuck(office, match_id.to_owned(), phase_no).await {
            Ok(told) => changes = told,
            Err(error) if is_transient(&error) => return Err(error),
            Err(error) => {
                tracing::error!(match_id, error = format!("{error:#}"), "failed to notify the GM");
            }
        }
    }
    changes.at = now;
    changes.remembered.push((key(match_id), serde_json::to_string(&stuck)?));
    office.store.commit(&changes).await?;
    commit::wake_loops(office, &changes);
    Ok(())
}

async fn tell_of_stuck(office: &Office, match_id: String, phase_no: u32) -> anyhow::Result<Changes> {
    let deciding = commit::decide(office, load::new_rows(office).await?, move |desk| {
        house_stuck(desk, &match_id, phase_no)
    });
    Ok(deciding.await?.1)
}

/// Computes the house's turn from the entries of its match.
fn house_turn(game_match: &Match, entries: &[EntryRow], player: &HousePlayer) -> anyhow::Result<HousePlay> {
    let entries: Vec<Entry> = entries
        .iter()
        .map(|row| serde_json::from_str(&row.json))
        .collect::<Result<_, _>>()
        .context("an entry cannot be read")?;
    let seat = game_match.house_due().context("nothing is due from the house")?;
    let seen = ledger::what_seat_saw(&entries, seat).context("its view does not follow from the ledger")?;
    game_match.house_turn(&seen, player).context("no level finds a legal turn")
}

/// Prefix of the keys under which these matches are remembered. The match's name follows.
const STUCK_KEYS: &str = "house stuck: ";

/// The pause between two attempts grows with the time that the match has waited, within these bounds.
const MIN_PAUSE: TimeDelta = TimeDelta::minutes(1);
const MAX_PAUSE: TimeDelta = TimeDelta::hours(1);

/// A phase in which the house cannot play its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckHouse {
    pub phase_no: u32,
    /// Time of the first failed attempt.
    pub since: DateTime<Utc>,
    /// Time of the next attempt.
    pub next: DateTime<Utc>,
}

impl StuckHouse {
    /// Returns the value to remember after an attempt at `now` that failed. `before` is the value so far.
    pub fn after(before: Option<&StuckHouse>, phase_no: u32, now: DateTime<Utc>) -> StuckHouse {
        let since = before.filter(|before| before.phase_no == phase_no).map_or(now, |before| before.since);
        StuckHouse { phase_no, since, next: now + (now - since).clamp(MIN_PAUSE, MAX_PAUSE) }
    }

    /// Whether it is too early for the next attempt in this phase.
    pub fn waits(&self, phase_no: u32, now: DateTime<Utc>) -> bool {
        // A clock that was set back does not keep the match waiting.
        self.phase_no == phase_no && (self.since..self.next).contains(&now)
    }
}

/// Returns the key under which a match is remembered.
pub fn key(match_id: &str) -> String {
    format!("{STUCK_KEYS}{match_id}")
}

/// Returns the matches in which the house cannot play.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn stuck_houses(store: &Database) -> anyhow::Result<BTreeMap<String, StuckHouse>> {
    let remembered = store.remembered_under(STUCK_KEYS).await?;
    let stuck = remembered.into_iter().filter_map(|(key, value)| {
        // Ignore notes in the format of another version. The house then tries again at once.
        Some((key.strip_prefix(STUCK_KEYS)?.to_owned(), serde_json::from_str(&value).ok()?))
    });
    Ok(stuck.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_in_one_phase_come_ever_more_rarely() {
        let start = DateTime::UNIX_EPOCH;
        let mut stuck = StuckHouse::after(None, 7, start);
        assert!(stuck.waits(7, start) && !stuck.waits(8, start) && !stuck.waits(7, stuck.next));
        let mut pauses = Vec::new();
        for _ in 0..9 {
            let now = stuck.next;
            stuck = StuckHouse::after(Some(&stuck), 7, now);
            pauses.push((stuck.next - now).num_minutes());
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(StuckHouse::after(Some(&stuck), 8, stuck.next).since, stuck.next);
    }
}
