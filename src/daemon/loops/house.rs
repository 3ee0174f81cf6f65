//! Plays for the house. Finding a turn takes long, so no letter waits for it: it is found on a thread of its own and
//! then committed. What the house owes is stored in the matches themselves, so that nothing is lost if the program ends
//! in between.

use std::sync::Arc;

use super::waiting::{Backoff, until_shutdown, wait_for_work};
use crate::daemon::Office;
use crate::daemon::batch::load::log_unusable;
use crate::daemon::decide::clock::Trigger;
use crate::daemon::decide::stored::snapshot;
use crate::daemon::parallel::run_blocking;
use crate::ledger::{self, Entry};
use crate::post::ShutdownSignal;
use crate::referee::{Act, Match};
use crate::store::EntryRow;

/// Matches loaded at a time.
const BATCH_SIZE: u32 = 100;

/// Maximum attempts to commit a turn while others change the match.
const MAX_TRIES: usize = 20;

impl Office {
    /// Plays for the house until shutdown.
    pub async fn play_house_until(self: Arc<Self>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
        let mut backoff = Backoff::new();
        while !shutdown.is_set() {
            match until_shutdown(&shutdown, self.house_all()).await {
                Ok(()) => {
                    backoff = Backoff::new();
                    wait_for_work(&self.house, &shutdown).await;
                }
                Err(error) => backoff.wait("the house cannot play", &error, &shutdown).await,
            }
        }
        Ok(())
    }

    /// Plays for the house wherever it has to move.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn house_all(&self) -> anyhow::Result<()> {
        let mut last = None;
        loop {
            let due = self.store.matches_due(self.now(), last.as_ref(), BATCH_SIZE).await?;
            for row in &due {
                // One unreadable match must not block the rest.
                let Ok(game_match) =
                    snapshot(&row.id, &row.snapshot).inspect_err(|error| log_unusable(&row.id, error))
                else {
                    continue;
                };
                if game_match.house_due().is_some() {
                    self.play_house_turn(game_match).await?;
                }
            }
            let Some(behind) = due.into_iter().last() else { return Ok(()) };
            last = Some(behind);
        }
    }

    async fn play_house_turn(&self, game_match: Match) -> anyhow::Result<()> {
        let match_id = game_match.id.clone();
        let phase_no = game_match.phase_no;
        let entries = self.store.entries(&match_id).await?;
        let found = run_blocking(move || house_turn(&game_match, &entries)).await;
        let Ok(Some(act)) = found else {
            // One broken match must not block the rest.
            tracing::error!(match_id, "house failed to produce a turn");
            return Ok(());
        };
        // The turn stays valid as long as the phase is open, whatever else changes in the match.
        let trigger = Trigger::Referee { act, phase_no: Some(phase_no) };
        for _ in 0..MAX_TRIES {
            let row = self.match_row(&match_id).await?;
            if self.rule_on(row, &trigger, self.now()).await?.is_some() {
                return Ok(());
            }
            if snapshot(&match_id, &self.match_row(&match_id).await?.snapshot)?.phase_no != phase_no {
                return Ok(());
            }
        }
        tracing::warn!(match_id, "gave up on the house's turn after repeated conflicts");
        Ok(())
    }
}

/// Computes what the house plays, from the entries of its match.
fn house_turn(game_match: &Match, entries: &[EntryRow]) -> Option<Act> {
    let entries: Vec<Entry> =
        entries.iter().map(|row| serde_json::from_str(&row.json)).collect::<Result<_, _>>().ok()?;
    let seen = ledger::seen(&entries, game_match.house_due()?)?;
    game_match.house_turn(&seen)
}
