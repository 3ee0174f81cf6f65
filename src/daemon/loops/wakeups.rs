//! Passes on the wakeups of other daemons and of commands.

use std::sync::Arc;

use crate::daemon::Office;
use crate::daemon::waiting::Backoff;
use crate::post::ShutdownSignal;
use crate::store::Wakeup;

impl Office {
    /// Wakes this daemon's loops when another process queues work.
    pub async fn pass_on_wakeups_until(self: Arc<Self>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
        let mut backoff = Backoff::new();
        while !shutdown.is_set() {
            let wakeup = tokio::select! {
                wakeup = self.store.next_wakeup() => wakeup,
                () = shutdown.wait() => break,
            };
            match wakeup {
                Ok(Wakeup::Letters) => self.letters.notify_one(),
                Ok(Wakeup::Dispatches) => self.dispatches.notify_one(),
                Err(error) => {
                    backoff
                        .wait("failed to listen for work from other daemons", &error.into(), &shutdown)
                        .await;
                    continue;
                }
            }
            backoff = Backoff::new();
        }
        Ok(())
    }
}
