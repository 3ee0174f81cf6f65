//! The waiting, the backoff and the shutdown of the loops.

use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};

use crate::post::ShutdownSignal;

/// Interval at which a loop looks for work even if nothing has woken it.
const POLL_INTERVAL: Duration = Duration::from_secs(3);

/// Time for loops to finish their work on shutdown. The whole shutdown must take less than 5 seconds.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// The longest pause between two attempts.
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// A pause that doubles with each failure, and the error that was logged last.
pub struct RetryPause {
    next: Duration,
    logged: String,
}

impl RetryPause {
    pub fn new() -> Self {
        RetryPause { next: Duration::from_secs(1), logged: String::new() }
    }

    /// Logs a failure and waits. A failure that persists is logged as an error only once.
    pub async fn wait(&mut self, what: &str, error: &anyhow::Error, shutdown: &ShutdownSignal) {
        let error = format!("{error:#}");
        if error == self.logged {
            tracing::debug!(error, pause_seconds = self.next.as_secs(), "{what}; retrying");
        } else {
            tracing::error!(error, "{what}; retrying until it succeeds");
            self.logged = error;
        }
        pause(self.next, shutdown).await;
        self.next = (self.next * 2).min(MAX_BACKOFF);
    }
}

/// Waits for this long, or until shutdown.
pub async fn pause(duration: Duration, shutdown: &ShutdownSignal) {
    tokio::select! {
        () = tokio::time::sleep(duration) => {}
        () = shutdown.wait() => {}
    }
}

/// Waits for work, at most [`POLL_INTERVAL`].
pub async fn wait_for_work(wake: &Notify, shutdown: &ShutdownSignal) {
    tokio::select! {
        () = wake.notified() => {}
        () = pause(POLL_INTERVAL, shutdown) => {}
    }
}

/// Runs the work to its end, or drops it on shutdown.
pub async fn until_shutdown(
    shutdown: &ShutdownSignal,
    work: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    tokio::select! {
        ended = work => ended,
        () = shutdown.wait() => Ok(()),
    }
}

/// Returns the outcome of the loop that ended first, if any did.
pub fn flatten(ended: Option<Result<anyhow::Result<()>, JoinError>>) -> anyhow::Result<()> {
    ended.map_or(Ok(()), |ended| ended.context("a loop panicked")?)
}

/// Waits for loops that were told to end. Those that take longer than [`SHUTDOWN_TIMEOUT`] are dropped.
pub async fn wind_down(mut loops: JoinSet<anyhow::Result<()>>) {
    let all_ended = async { while loops.join_next().await.is_some() {} };
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, all_ended).await.is_err() {
        tracing::warn!(
            seconds = SHUTDOWN_TIMEOUT.as_secs(),
            "shutdown timed out; unfinished work rolled back"
        );
        loops.shutdown().await;
    }
}
