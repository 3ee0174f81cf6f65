//! Plays for the house. Finding a turn takes long, so no letter waits for it: it is found on a thread in the background
//! and then committed. What the house owes is stored in the matches themselves, so that nothing is lost if the program
//! ends in between.

use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::waiting::{Backoff, until_shutdown, wait_for_work};
use crate::daemon::Office;
use crate::daemon::batch::load::log_unusable;
use crate::daemon::decide::clock::Trigger;
use crate::daemon::decide::stored::snapshot;
use crate::daemon::parallel::{background_threads, run_in_background};
use crate::game::Seat;
use crate::ledger::{self, Entry};
use crate::post::ShutdownSignal;
use crate::referee::{Act, HousePlayer, Match, Stage};
use crate::store::{EntryRow, MatchRow};

/// Matches loaded at a time.
const BATCH_SIZE: u32 = 100;

/// Matches claimed at a time for each thread: as many as keep the threads busy while one turn takes long.
const CLAIMED_PER_THREAD: usize = 4;

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

    /// Plays for the house wherever it has to move, where it has waited longest first.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn house_all(&self) -> anyhow::Result<()> {
        // Where the house plays both sides, it has to move again.
        while self.play_once_everywhere().await? {}
        Ok(())
    }

    /// Plays a turn wherever the house has to move. Returns whether it has to move again in one of these matches.
    async fn play_once_everywhere(&self) -> anyhow::Result<bool> {
        let (mut last, mut again) = (None, false);
        loop {
            let due = self.store.matches_due(self.now(), last.as_ref(), BATCH_SIZE).await?;
            let ids: Vec<String> =
                due.iter().filter(|row| awaits_house(row)).map(|row| row.id.clone()).collect();
            for ids in ids.chunks(CLAIMED_PER_THREAD * background_threads()) {
                again |= self.play_in_several(ids).await?;
            }
            let Some(behind) = due.into_iter().last() else { return Ok(again) };
            last = Some(behind);
        }
    }

    /// Plays in those of the matches in which no other daemon plays for the house. Returns whether the house has to move
    /// again in one of them.
    async fn play_in_several(&self, ids: &[String]) -> anyhow::Result<bool> {
        let (ids, claim) = self.store.claim_house_turns(ids).await?;
        // Loaded after they were claimed: another daemon may just have played in some.
        let rows = self.store.matches(&ids).await?;
        let playing = stream::iter(rows).map(|row| self.play_house_turn(row));
        let again: Vec<bool> = playing.buffer_unordered(background_threads()).try_collect().await?;
        drop(claim);
        Ok(again.contains(&true))
    }

    /// Plays a turn. Returns whether the house has to move again.
    async fn play_house_turn(&self, row: MatchRow) -> anyhow::Result<bool> {
        let match_id = row.id;
        // One broken match must not block the rest.
        let Ok(game_match) =
            snapshot(&match_id, &row.snapshot).inspect_err(|error| log_unusable(&match_id, error))
        else {
            return Ok(false);
        };
        if game_match.house_due().is_none() {
            return Ok(false);
        }
        let phase_no = game_match.phase_no;
        let entries = self.store.entries(&match_id).await?;
        let player = Arc::clone(&self.settings.house);
        let found = run_in_background(move || house_turn(&game_match, &entries, player.as_ref())).await;
        let Ok(Some(act)) = found else {
            tracing::error!(match_id, "house failed to produce a turn");
            return Ok(false);
        };
        if let Act::Play { seat, failed: Some(failure), .. } = &act {
            tracing::error!(match_id, %seat, ?failure, "the house failed; an easier level plays");
        }
        // The turn stays valid as long as the phase is open, whatever else changes in the match.
        let trigger = Trigger::Referee { act, phase_no: Some(phase_no) };
        for _ in 0..MAX_TRIES {
            let row = self.match_row(&match_id).await?;
            if let Some(after) = self.rule_on(row, &trigger, self.now()).await? {
                return Ok(after.house_due().is_some());
            }
            if snapshot(&match_id, &self.match_row(&match_id).await?.snapshot)?.phase_no != phase_no {
                return Ok(false);
            }
        }
        tracing::warn!(match_id, "gave up on the house's turn after repeated conflicts");
        Ok(false)
    }
}

/// Whether the house is to move, as lists show the match.
fn awaits_house(row: &MatchRow) -> bool {
    let of_house = |seat: &Seat| row.overview.house[*seat].is_some();
    row.overview.stage == Stage::Running && row.overview.awaited.iter().any(of_house)
}

/// Computes what the house plays, from the entries of its match.
fn house_turn(game_match: &Match, entries: &[EntryRow], player: &HousePlayer) -> Option<Act> {
    let entries: Vec<Entry> =
        entries.iter().map(|row| serde_json::from_str(&row.json)).collect::<Result<_, _>>().ok()?;
    let seen = ledger::seen(&entries, game_match.house_due()?)?;
    game_match.house_turn(&seen, player)
}
