//! The waiting, the backoff and the shutdown of the loops, and pure work outside them, off the runtime's threads.

use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::{Notify, oneshot};
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

/// The nice value of background work.
const LOWEST_PRIORITY: i32 = 19;

/// Runs long work on a thread of its own, so that no loop waits for it.
///
/// # Errors
/// Returns an error if the work panicked.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(work).await.context("a worker panicked")
}

/// The priority at which a thread runs from its start: an ordinary user can lower it later, but never raise
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadPriority {
    Ordinary,
    Lowest,
}

/// Runs long work on a thread of its own, at this priority.
///
/// # Errors
/// Returns an error if the work panicked, or no thread can be started.
pub async fn run_in_background<T: Send + 'static>(
    priority: ThreadPriority,
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<T> {
    let (sender, done) = oneshot::channel();
    let run = move || {
        // Linux has a priority for each thread. If this fails, the work merely competes with other threads.
        if priority == ThreadPriority::Lowest
            && let Err(error) = rustix::process::setpriority_process(None, LOWEST_PRIORITY)
        {
            tracing::debug!(%error, "cannot lower the priority of a thread");
        }
        // The receiver is gone if the daemon shuts down.
        sender.send(work()).ok();
    };
    thread::Builder::new().name("background".to_owned()).spawn(run).context("cannot start a thread")?;
    done.await.context("a worker panicked")
}

/// Returns the number of threads for background work. It leaves one processor for letters.
pub fn background_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).saturating_sub(1).max(1)
}
