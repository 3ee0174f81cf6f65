//! Runs pure work outside the loops, off the runtime's threads.

use std::thread;

use anyhow::Context as _;
use tokio::sync::oneshot;

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
