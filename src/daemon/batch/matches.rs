//! Rules on matches without a letter, and commits.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use chrono::{DateTime, Utc};

use super::commit::is_transient;
use crate::daemon::Office;
use crate::daemon::decide::clock::{CauseOf, MatchRuling, rule_on};
use crate::daemon::decide::undecided::{Undecided, Wanted};
use crate::daemon::parallel::par_map;
use crate::referee::Match;
use crate::store::{MatchRow, Settlement, StoreError};

/// Maximum time that a ruling without a letter waits for letters that are being stored, settled or sent.
const LETTERS_FIRST: Duration = Duration::from_millis(250);

/// The outcome for a match that was ruled on together with others.
enum Outcome {
    Unchanged,
    Ruled(Box<MatchRuling>),
    Failed,
}

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
        let (settlement, mut one_by_one) = self.rule_together(&rows, cause_of, now).await?;
        if settlement.matches.is_empty() && one_by_one.is_empty() {
            return Ok(false);
        }
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

    /// Rules on matches in parallel. Returns the changes, and the IDs of the matches that failed.
    async fn rule_together(
        &self,
        rows: &[MatchRow],
        cause_of: &CauseOf,
        now: DateTime<Utc>,
    ) -> anyhow::Result<(Settlement, Vec<String>)> {
        let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
        let mut context = self.new_context().await?;
        context.at = now;
        self.load_match_rows(rows.to_vec(), &mut context).await?;
        let mut outcomes: Vec<Option<Outcome>> = ids.iter().map(|_| None).collect();
        let (matches, cause_of) = (ids.clone(), Arc::clone(cause_of));
        let deciding = self.decide(context, move |settings, context, _| {
            // Matches that were ruled on in an earlier round keep their rulings.
            let open: Vec<usize> = (0..matches.len()).filter(|index| outcomes[*index].is_none()).collect();
            let ruled = par_map(&open, |index| rule_on(settings, context, &matches[*index], &cause_of));
            let mut missing = Wanted::default();
            for (index, ruled) in open.into_iter().zip(ruled) {
                outcomes[index] = match ruled {
                    Ok(None) => Some(Outcome::Unchanged),
                    Ok(Some(ruling)) => Some(Outcome::Ruled(Box::new(ruling))),
                    Err(Undecided::Failed(_)) => Some(Outcome::Failed),
                    Err(Undecided::Needs(wanted)) => {
                        missing.merge(*wanted);
                        None
                    }
                };
            }
            missing.check()?;
            Ok(std::mem::take(&mut outcomes))
        });
        let (outcomes, _) = deciding.await?;
        let mut settlement = Settlement { at: now, ..Settlement::default() };
        let mut failed = Vec::new();
        for (id, outcome) in ids.into_iter().zip(outcomes.into_iter().flatten()) {
            match outcome {
                Outcome::Unchanged => {}
                Outcome::Ruled(ruling) => settlement.absorb(ruling.settlement),
                Outcome::Failed => failed.push(id),
            }
        }
        Ok((settlement, failed))
    }

    /// Rules on one match, and commits after the letters that are under way. Returns the match after that, or `None` if
    /// nothing was decided or somebody else has changed the match in the meantime.
    pub async fn rule_on(
        &self,
        row: MatchRow,
        cause_of: &CauseOf,
        now: DateTime<Utc>,
    ) -> anyhow::Result<Option<Match>> {
        let mut context = self.new_context().await?;
        context.at = now;
        let match_id = row.id.clone();
        self.load_match_rows(vec![row], &mut context).await?;
        let cause_of = Arc::clone(cause_of);
        let deciding = self
            .decide(context, move |settings, context, _| rule_on(settings, context, &match_id, &cause_of));
        let Some(MatchRuling { after, settlement }) = deciding.await?.0 else { return Ok(None) };
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
