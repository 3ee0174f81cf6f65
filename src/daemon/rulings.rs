//! Rules on matches without a letter, and commits.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use chrono::{DateTime, Utc};

use super::commit::{self, is_transient};
use super::{Office, load};
use crate::desk::items::Item;
use crate::desk::matches::acts::{self, CauseOf};
use crate::referee::Match;
use crate::store::{MatchRow, StoreError};

/// Maximum time that a ruling without a letter waits for letters that are being stored, settled or sent.
const LETTERS_FIRST: Duration = Duration::from_millis(250);

/// Returns the row of a match.
///
/// # Errors
/// Returns an error if there is no such match, or if the database does not answer.
pub async fn match_row(office: &Office, match_id: &str) -> anyhow::Result<MatchRow> {
    let found = office.store.matches(&[match_id.to_owned()]).await?.pop();
    found.with_context(|| format!("there is no match {match_id}"))
}

/// Rules on matches and commits them together, or one by one if that fails.
pub async fn decide_on_matches(
    office: &Office,
    rows: Vec<MatchRow>,
    cause_of: &CauseOf,
    now: DateTime<Utc>,
) -> anyhow::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let mut loaded = load::new_rows(office).await?;
    loaded.at = now;
    load::load_match_rows(office, rows, &mut loaded).await?;
    let items = ids.into_iter().map(|id| Item::Match { id, cause_of: Arc::clone(cause_of) });
    let (changes, _) = commit::decide_items(office, items.collect(), loaded).await?;
    if changes.matches.is_empty() {
        return Ok(());
    }
    match office.store.commit(&changes).await {
        Ok(()) => {
            commit::wake_loops(office, &changes);
            return Ok(());
        }
        Err(error) if error.is_transient() && !matches!(error, StoreError::Stale(_)) => {
            return Err(error.into());
        }
        // The commit was stale or rejected, perhaps because of a single match. The others can still be
        // committed.
        Err(_) => {}
    }
    let one_by_one: Vec<String> = changes.matches.into_iter().map(|row| row.id).collect();
    for row in office.store.matches(&one_by_one).await? {
        let match_id = row.id.clone();
        match decide_on_match(office, row, cause_of, now).await {
            Ok(_) => {}
            Err(error) if is_transient(&error) => return Err(error),
            // One broken match must not block the rest.
            Err(error) => {
                tracing::error!(match_id, error = format!("{error:#}"), "failed to rule on a match");
            }
        }
    }
    Ok(())
}

/// Rules on one match, and commits after the letters that are under way. Returns the match after that, or
/// `None` if nothing was decided or somebody else has changed the match in the meantime.
pub async fn decide_on_match(
    office: &Office,
    row: MatchRow,
    cause_of: &CauseOf,
    now: DateTime<Utc>,
) -> anyhow::Result<Option<Match>> {
    let mut loaded = load::new_rows(office).await?;
    loaded.at = now;
    let match_id = row.id.clone();
    load::load_match_rows(office, vec![row], &mut loaded).await?;
    let cause_of = Arc::clone(cause_of);
    let deciding = commit::decide(office, loaded, move |desk| {
        let is_changed = acts::decide_on(desk, &match_id, &cause_of)?;
        Ok(desk.game_match(&match_id)?.filter(|_| is_changed).map(|loaded| loaded.game_match.clone()))
    });
    let (Some(after), changes) = deciding.await? else { return Ok(None) };
    // Let letters commit first: their authors wait for an answer, while nobody waits for this ruling.
    office.traffic.let_pass(LETTERS_FIRST).await;
    match office.store.commit(&changes).await {
        Ok(()) => {
            commit::wake_loops(office, &changes);
            Ok(Some(after))
        }
        Err(StoreError::Stale(match_id)) => {
            tracing::debug!(match_id, "somebody else has changed the match");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
