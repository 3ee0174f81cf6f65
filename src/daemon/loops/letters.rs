//! Settles letters as they arrive.

use std::sync::Arc;

use crate::daemon::heartbeat::Loop;
use crate::daemon::waiting::{RetryPause, wait_for_work};
use crate::daemon::{Office, Settled, doubt, items, suspects};
use crate::post::ShutdownSignal;

/// The number of these loops: one decides on the next batch while the other commits.
pub const SETTLERS: usize = 2;

/// Decides on waiting letters until shutdown.
pub async fn settle_letters_until(office: Arc<Office>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
    let mut backoff = RetryPause::new();
    while !shutdown.is_set() {
        office.heartbeat.beat(Loop::Settle);
        suspects::ensure_few_threads_hang(&office)?;
        match settle_if_trusted(&office).await {
            Ok(settled) if settled.is_nothing() => {
                backoff = RetryPause::new();
                wait_for_work(&office.letters_arrived, &shutdown).await;
            }
            Ok(_) => backoff = RetryPause::new(),
            Err(error) => backoff.wait("failed to settle letters", &error, &shutdown).await,
        }
    }
    Ok(())
}

/// Decides on some letters, unless the clock is in doubt.
async fn settle_if_trusted(office: &Office) -> anyhow::Result<Settled> {
    if !doubt::is_trusted(office).await? {
        return Ok(Settled::default());
    }
    items::settle_some(office, None).await
}
