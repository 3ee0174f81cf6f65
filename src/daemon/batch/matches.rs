//! Rules on matches without a letter, and commits.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use chrono::{DateTime, Utc};

use super::commit::is_transient;
use crate::daemon::Office;
use crate::desk::items::Item;
use crate::desk::matches::acts::{CauseOf, rule_on};
use crate::referee::Match;
use crate::store::{MatchRow, StoreError};

/// Maximum time that a ruling without a letter waits for letters that are being stored, settled or sent.
const LETTERS_FIRST: Duration = Duration::from_millis(250);

impl Office {
    /// Returns the row of a match.
    ///
    /// # Errors
    /// Returns an error if there is no such match, or if the database does not answer.
    pub async fn match_row(&self, match_id: &str) -> anyhow::Result<MatchRow> {
        let found = self.store.matches(&[match_id.to_owned()]).await?.pop();
        found.with_context(|| format!("there is no match {match_id}"))
    }

    /// Rules on matches and commits them together, or one by one if that fails. Returns whether any changed.
    pub async fn rule_on_many(
        &self,
        rows: Vec<MatchRow>,
        cause_of: &CauseOf,
        now: DateTime<Utc>,
    ) -> anyhow::Result<bool> {
        let count = rows.len();
        if count == 0 {
            return Ok(false);
        }
        let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
        let mut loaded = self.new_rows().await?;
        loaded.at = now;
        self.load_match_rows(rows, &mut loaded).await?;
        let items = ids.into_iter().map(|id| Item::Match { id, cause_of: Arc::clone(cause_of) });
        let (settlement, _) = self.decide_items(items.collect(), loaded).await?;
        if settlement.matches.is_empty() {
            return Ok(false);
        }
        let mut one_by_one = Vec::new();
        match self.store.commit(&settlement).await {
            Ok(()) => self.wake_loops(&settlement),
            Err(error) if error.is_transient() && !matches!(error, StoreError::Stale(_)) => {
                return Err(error.into());
            }
            // Stale or rejected, perhaps because of a single match: the others can still be committed.
            Err(_) => one_by_one.extend(settlement.matches.into_iter().map(|row| row.id)),
        }
        let mut changed = one_by_one.len() < count;
        for row in self.store.matches(&one_by_one).await? {
            let match_id = row.id.clone();
            match self.rule_on(row, cause_of, now).await {
                Ok(after) => changed |= after.is_some(),
                Err(error) if is_transient(&error) => return Err(error),
                // One broken match must not block the rest.
                Err(error) => {
                    tracing::error!(match_id, error = format!("{error:#}"), "failed to rule on a match");
                }
            }
        }
        Ok(changed)
    }

    /// Rules on one match, and commits after the letters that are under way. Returns the match after that, or `None` if
    /// nothing was decided or somebody else has changed the match in the meantime.
    pub async fn rule_on(
        &self,
        row: MatchRow,
        cause_of: &CauseOf,
        now: DateTime<Utc>,
    ) -> anyhow::Result<Option<Match>> {
        let mut loaded = self.new_rows().await?;
        loaded.at = now;
        let match_id = row.id.clone();
        self.load_match_rows(vec![row], &mut loaded).await?;
        let cause_of = Arc::clone(cause_of);
        let deciding = self.decide(loaded, move |desk| {
            let is_changed = rule_on(desk, &match_id, &cause_of)?;
            Ok(desk.game_match(&match_id)?.filter(|_| is_changed).map(|loaded| loaded.game_match.clone()))
        });
        let (Some(after), settlement) = deciding.await? else { return Ok(None) };
        // Otherwise a player's letter might wait for a commit that nobody waits for.
        self.traffic.let_pass(LETTERS_FIRST).await;
        match self.store.commit(&settlement).await {
            Ok(()) => {
                self.wake_loops(&settlement);
                Ok(Some(after))
            }
            Err(StoreError::Stale(match_id)) => {
                tracing::debug!(match_id, "somebody else has changed the match");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}
