//! Settles letters as they arrive.

use std::sync::Arc;

use crate::daemon::Office;
use crate::daemon::batch::pipeline::Pipeline;
use crate::daemon::heartbeat::Loop;
use crate::daemon::waiting::{Backoff, wait_for_work};
use crate::post::ShutdownSignal;

impl Office {
    /// Settles waiting letters until shutdown, then commits the pending batch.
    pub async fn settle_until(self: Arc<Self>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
        let mut backoff = Backoff::new();
        let mut pipeline = Pipeline::default();
        while !shutdown.is_set() {
            self.heartbeat.beat(Loop::Settle);
            self.ensure_few_threads_hang()?;
            match self.settle_some(&mut pipeline).await {
                Ok(0) => {
                    backoff = Backoff::new();
                    wait_for_work(&self.letters, &shutdown).await;
                }
                Ok(_) => backoff = Backoff::new(),
                Err(error) => backoff.wait("failed to settle letters", &error, &shutdown).await,
            }
        }
        self.commit_pending(&mut pipeline).await.map(drop)
    }
}
