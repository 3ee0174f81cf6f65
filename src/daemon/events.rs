//! Advances events: enters results, and takes the steps that are due, each in a transaction of its own.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::Office;
use super::commit::{self, is_transient};
use crate::desk::events::{clock, results};

/// Maximum matches looked at in one round.
const LOOKED_AT: u32 = 100;

/// Maximum rounds in a row, before the clock goes on.
const MAX_LOOKS: usize = 1000;

/// Enters results, and takes all steps that are due.
///
/// # Errors
/// Returns an error if the database does not answer. An event whose processing fails is logged and skipped.
pub async fn run_when_due(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    let mut failed: BTreeSet<String> = BTreeSet::new();
    for _ in 0..MAX_LOOKS {
        let entered = enter_results(office, &mut failed).await?;
        let advanced = advance(office, now, &mut failed).await?;
        if !entered && !advanced {
            return Ok(());
        }
    }
    Ok(())
}

/// After an older backup was restored: draws and opens the matches that were due at `then`, before a letter is decided
/// that came then and may be about one of them.
///
/// # Errors
/// Returns an error if the database does not answer. An event whose processing fails is logged and skipped.
pub async fn open_again(office: &Office, then: DateTime<Utc>) -> anyhow::Result<()> {
    let mut failed: BTreeSet<String> = BTreeSet::new();
    for event in office.store.events_due(then).await? {
        for _ in 0..MAX_LOOKS {
            let id = event.clone();
            let done =
                commit::decide_and_commit(office, move |desk| clock::open_again(desk, &id, then)).await;
            if !note(event.clone(), done, &mut failed)? {
                break;
            }
        }
    }
    Ok(())
}

async fn enter_results(office: &Office, failed: &mut BTreeSet<String>) -> anyhow::Result<bool> {
    let mut by_event: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (event, game_match) in office.store.event_matches_to_look_at(LOOKED_AT).await? {
        by_event.entry(event).or_default().push(game_match);
    }
    by_event.retain(|event, _| !failed.contains(event));
    let mut entered = false;
    for (event, matches) in by_event {
        let id = event.clone();
        let done = commit::decide_and_commit(office, move |desk| results::look_at(desk, &id, &matches)).await;
        entered |= note(event, done.map(|()| true), failed)?;
    }
    Ok(entered)
}

async fn advance(office: &Office, now: DateTime<Utc>, failed: &mut BTreeSet<String>) -> anyhow::Result<bool> {
    let mut advanced = false;
    for event in office.store.events_due(now).await? {
        if failed.contains(&event) {
            continue;
        }
        let id = event.clone();
        let done = commit::decide_and_commit(office, move |desk| clock::advance(desk, &id)).await;
        advanced |= note(event, done, failed)?;
    }
    Ok(advanced)
}

/// Logs a failure to process one event, so that the others continue. Passes on temporary failures.
fn note(event: String, done: anyhow::Result<bool>, failed: &mut BTreeSet<String>) -> anyhow::Result<bool> {
    match done {
        Ok(done) => Ok(done),
        Err(error) if is_transient(&error) => Err(error),
        Err(error) => {
            tracing::error!(event, error = format!("{error:#}"), "failed to process an event");
            failed.insert(event);
            Ok(false)
        }
    }
}

/// Keeps the ends of seasons at their local times, which newer zone data move.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn keep_local_ends(office: &Office) -> anyhow::Result<()> {
    for event in office.store.event_ids().await? {
        let id = event.clone();
        let done = commit::decide_and_commit(office, move |desk| clock::keep_local_end(desk, &id)).await;
        note(event, done, &mut BTreeSet::new())?;
    }
    Ok(())
}

/// Moves the ends of seasons that fell into an outage.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn slide_after_outage(
    office: &Office,
    since: DateTime<Utc>,
    now: DateTime<Utc>,
) -> anyhow::Result<()> {
    for event in office.store.events_due(now).await? {
        let id = event.clone();
        let done = commit::decide_and_commit(office, move |desk| clock::slide(desk, &id, since)).await;
        note(event, done, &mut BTreeSet::new())?;
    }
    Ok(())
}
