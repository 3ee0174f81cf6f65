//! Passes on the wakeups of other daemons and of commands.

use std::sync::Arc;

use crate::daemon::Office;
use crate::daemon::waiting::RetryPause;
use crate::post::ShutdownSignal;
use crate::store::Wakeup;

/// Wakes this daemon's loops when another process queues work.
pub async fn pass_on_wakeups_until(office: Arc<Office>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
    let mut backoff = RetryPause::new();
    while !shutdown.is_set() {
        let wakeup = tokio::select! {
            wakeup = office.store.next_wakeup() => wakeup,
            () = shutdown.wait() => break,
        };
        match wakeup {
            Ok(Wakeup::Letters) => office.letters_arrived.notify_one(),
            Ok(Wakeup::Dispatches) => office.dispatches_queued.notify_one(),
            Err(error) => {
                backoff.wait("failed to listen for work from other daemons", &error.into(), &shutdown).await;
                continue;
            }
        }
        backoff = RetryPause::new();
    }
    Ok(())
}
