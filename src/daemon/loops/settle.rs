//! Settles letters as they arrive.

use std::sync::Arc;

use crate::daemon::Office;
use crate::daemon::heartbeat::Loop;
use crate::daemon::waiting::{Backoff, wait_for_work};
use crate::post::ShutdownSignal;

impl Office {
    /// Decides on waiting letters until shutdown.
    pub async fn settle_letters_until(self: Arc<Self>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
        let mut backoff = Backoff::new();
        while !shutdown.is_set() {
            self.heartbeat.beat(Loop::Settle);
            self.ensure_few_threads_hang()?;
            match self.settle_some(None).await {
                Ok(settled) if settled.is_nothing() => {
                    backoff = Backoff::new();
                    wait_for_work(&self.letters, &shutdown).await;
                }
                Ok(_) => backoff = Backoff::new(),
                Err(error) => backoff.wait("failed to settle letters", &error, &shutdown).await,
            }
        }
        Ok(())
    }
}
