//! The rounds of a decision: decide, load what is missing, decide again.

use std::sync::Arc;

use anyhow::bail;

use crate::daemon::Office;
use crate::daemon::decide::context::RulingContext;
use crate::daemon::decide::letters::Rounds;
use crate::daemon::decide::settings::Settings;
use crate::daemon::decide::undecided::{Decided, Undecided};
use crate::daemon::parallel::run_blocking;
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
        decide: impl Fn(&Settings, &RulingContext) -> Decided<(T, Settlement)> + Send + Sync + 'static,
    ) -> anyhow::Result<T> {
        let decide = Arc::new(decide);
        for _ in 0..MAX_TRIES {
            let (context, decide) = (self.new_context().await?, Arc::clone(&decide));
            let deciding = self.decide(context, move |settings, context, _| decide(settings, context));
            let (done, settlement) = deciding.await?.0;
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

    /// Decides, and loads missing rows until no more are missing. Returns the decision and its context.
    ///
    /// Decisions run on a thread of their own, so that no loop waits for them. They must therefore own what they read.
    pub async fn decide<T: Send + 'static>(
        &self,
        context: RulingContext,
        decide: impl FnMut(&Settings, &RulingContext, Rounds) -> Decided<T> + Send + 'static,
    ) -> anyhow::Result<(T, RulingContext)> {
        let mut step = (decide, context);
        for round in 1..=MAX_ROUNDS {
            let settings = Arc::clone(&self.settings);
            let rounds = if round < MAX_ROUNDS { Rounds::More } else { Rounds::Last };
            let (returned, decided) = run_blocking(move || {
                let (mut decide, context) = step;
                let decided = decide(&settings, &context, rounds);
                ((decide, context), decided)
            })
            .await?;
            step = returned;
            match decided {
                Ok(decided) => return Ok((decided, step.1)),
                Err(Undecided::Needs(wanted)) => self.load(*wanted, &mut step.1).await?,
                Err(Undecided::Failed(error)) => return Err(error),
            }
        }
        bail!("a decision took more than {MAX_ROUNDS} rounds")
    }
}
