//! The rounds of a decision: decide, load what is lacking, decide again.

use std::sync::Arc;

use anyhow::bail;

use crate::daemon::Office;
use crate::daemon::parallel::run_blocking;
use crate::desk::frame::club::Club;
use crate::desk::frame::desk::{Desk, Draft};
use crate::desk::frame::rows::{Decided, LoadedRows, Undecided};
use crate::desk::items::{Progress, Rounds};
use crate::store::{Settlement, StoreError};

/// Maximum rounds of a decision. A letter takes one, or two if it asks about more than its match. Only commands that
/// build on each other take more.
const MAX_ROUNDS: usize = 64;

/// Maximum attempts at a change while others change the same rows.
const MAX_TRIES: usize = 20;

impl Office {
    /// Decides something and commits it; again if others change the same rows meanwhile.
    ///
    /// # Errors
    /// Returns an error if deciding fails, if the database rejects it or does not answer, or after [`MAX_TRIES`] conflicts.
    pub async fn decide_and_commit<T: Send + 'static>(
        &self,
        decide: impl Fn(&mut Desk<'_>) -> Decided<T> + Send + Sync + 'static,
    ) -> anyhow::Result<T> {
        let decide = Arc::new(decide);
        for _ in 0..MAX_TRIES {
            let decide = Arc::clone(&decide);
            let (done, settlement) = self.decide(self.new_rows().await?, move |desk| decide(desk)).await?;
            match self.store.commit(&settlement).await {
                Ok(()) => {
                    self.wake_loops(&settlement);
                    return Ok(done);
                }
                Err(StoreError::Stale(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bail!("gave up after {MAX_TRIES} conflicting writes; nothing was done")
    }

    /// Decides one thing, and returns the changes.
    pub async fn decide<T: Send + 'static>(
        &self,
        loaded: LoadedRows,
        decide: impl Fn(&mut Desk<'_>) -> Decided<T> + Send + 'static,
    ) -> anyhow::Result<(T, Settlement)> {
        self.in_rounds(loaded, move |club, loaded, _| {
            let nothing = Draft::new(loaded.at);
            let mut desk = Desk::new(club, loaded, &nothing);
            let decided = decide(&mut desk);
            let (draft, _, lacking) = desk.into_parts();
            match decided {
                Ok(done) if lacking.is_empty() => Ok(Progress::Done((done, draft.finish()?))),
                Ok(_) | Err(Undecided::Lacks) => Ok(Progress::Lacks(lacking)),
                Err(Undecided::Failed(error)) => Err(error),
            }
        })
        .await
    }

    /// Repeats a step, and loads what it lacks, until it is done.
    ///
    /// Decisions run on a thread of their own, so that no loop waits for them. They must therefore own what they read.
    pub async fn in_rounds<T: Send + 'static>(
        &self,
        loaded: LoadedRows,
        step: impl FnMut(&Club, &LoadedRows, Rounds) -> anyhow::Result<Progress<T>> + Send + 'static,
    ) -> anyhow::Result<T> {
        let mut state = (step, loaded);
        for round in 1..=MAX_ROUNDS {
            let club = Arc::clone(&self.club);
            let rounds = if round < MAX_ROUNDS { Rounds::More } else { Rounds::Last };
            let (returned, progress) = run_blocking(move || {
                let (mut step, loaded) = state;
                let progress = step(&club, &loaded, rounds);
                ((step, loaded), progress)
            })
            .await?;
            state = returned;
            match progress? {
                Progress::Done(done) => return Ok(done),
                Progress::Lacks(lacking) => self.load(lacking, &mut state.1).await?,
            }
        }
        bail!("a decision took more than {MAX_ROUNDS} rounds")
    }
}
