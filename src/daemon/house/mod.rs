//! Plays for the house. Finding a turn takes long, so it runs on a background thread, where no letter waits
//! for it, and is then committed. The matches themselves store that the house has to move, so nothing is lost
//! if the program ends in between.

pub mod stuck;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Context as _;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use self::stuck::{StuckHouse, stuck_houses};
use super::commit::{self, is_transient};
use super::load::{self, log_unusable};
use super::parallel::{ThreadPriority, background_threads, run_in_background};
use super::waiting::{RetryPause, until_shutdown, wait_for_work};
use super::{Office, doubt, rulings};
use crate::desk::frame::stored::snapshot;
use crate::desk::gm::alarm::house_stuck;
use crate::desk::matches::acts::CauseOf;
use crate::ledger::{self, Entry};
use crate::post::ShutdownSignal;
use crate::referee::{HousePlay, HousePlayer, Match, Matter};
use crate::store::{Changes, EntryRow, MatchRow};

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
    if !doubt::is_trusted(office).await? {
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
    let (mut last, mut again) = (None, false);
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
        office.store.forget(&stuck::key(match_id)).await?;
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
                office.store.forget(&stuck::key(&match_id)).await?;
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
    changes.remembered.push((stuck::key(match_id), serde_json::to_string(&stuck)?));
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
