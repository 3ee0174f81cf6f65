//! The common parts of all kinds of mailboxes. [`imap`](super::imap) and [`maildir`](super::maildir) build on
//! them, and [`inbox`](super::inbox) runs them.

use std::convert::Infallible;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};

use super::{Batch, Error, FetchedLetter, FoundLetter, Health, ShutdownSignal, Taken, without_addresses};

/// Maximum letters in a batch, which the receiver stores in one transaction.
pub(super) const MAX_BATCH_LETTERS: usize = 500;
/// Bytes at which a batch is full: the whole batch is in memory.
pub(super) const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Time until an unreadable letter is retried, because the fault may have been the server's.
pub(super) const UNREADABLE_RETRY: Duration = Duration::from_secs(300);

/// A kind of mailbox. Its methods run on the inbox's thread.
pub(super) trait Source {
    /// Reads present and new letters until something fails or `sender` is closed.
    fn watch(&mut self, sender: &BatchSender) -> Result<Infallible, Error>;
    /// Reads the present letters and returns how many were stored.
    fn drain(&mut self, sender: &BatchSender) -> Result<usize, Error>;
    /// Describes the mailbox to a person without fetching a letter.
    fn check(&mut self) -> Result<String, Error>;
    /// Looks for the letter with this Message-ID in the folders where it may have arrived.
    fn find(&mut self, message_id: &str) -> Result<Option<FoundLetter>, Error>;
}

/// Connects the inbox's thread with the program.
pub(super) struct BatchSender {
    to: mpsc::Sender<Batch>,
    stop: ShutdownSignal,
    health: watch::Sender<Health>,
    runtime: Handle,
}

impl BatchSender {
    /// Creates the sender for a mailbox. Call it within the runtime.
    pub(super) fn new(
        to: mpsc::Sender<Batch>,
        stop: ShutdownSignal,
        health: watch::Sender<Health>,
    ) -> BatchSender {
        BatchSender { to, stop, health, runtime: Handle::current() }
    }

    /// Whether the program is shutting down.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }

    /// Whether the receiver of batches is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.to.is_closed()
    }

    /// Returns when the mailbox was last read to its end.
    pub(super) fn last_ok(&self) -> Option<DateTime<Utc>> {
        self.health.borrow().last_ok
    }

    /// Hands over letters and returns when they are stored. The receiver takes all letters, except from a
    /// spam folder.
    pub(super) fn send_batch(&self, letters: Vec<FetchedLetter>) -> Result<Taken, Error> {
        let (stored, answer) = oneshot::channel();
        self.runtime.block_on(async {
            tokio::select! {
                sent = self.to.send(Batch { letters, stored }) => sent.map_err(|_closed| Error::Stopped)?,
                () = self.stop.wait() => return Err(Error::Stopped),
            }
            tokio::select! {
                answer = answer => answer.map_err(|_dropped| Error::NotStored),
                () = self.stop.wait() => Err(Error::Stopped),
            }
        })
    }

    /// Sleeps, and fails at shutdown.
    pub(super) fn sleep(&self, time: Duration) -> Result<(), Error> {
        let end = Instant::now() + time;
        while !self.stop.is_set() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            // In short steps, because nothing wakes a sleeping thread at shutdown.
            thread::sleep(left.min(Duration::from_millis(100)));
        }
        Err(Error::Stopped)
    }

    /// Reports that the mailbox was read to its end, except for `unreadable` letters.
    pub(super) fn report_ok(&self, unreadable: usize) {
        let before =
            self.health.send_replace(Health { last_ok: Some(Utc::now()), trouble: None, unreadable });
        if before.trouble.is_some() {
            tracing::info!("mailbox readable again");
        } else if before.last_ok.is_none() {
            tracing::info!("mailbox opened");
        }
    }

    pub(super) fn report_trouble(&self, error: &Error) {
        let text = error.to_string();
        let error = without_addresses(&text);
        // A fault is logged once, not at each of its retries.
        if self.health.borrow().trouble.as_ref() == Some(&text) {
            tracing::debug!(error, "still failing to read the mailbox");
        } else {
            tracing::warn!(error, "failed to read the mailbox; retrying");
            self.health.send_modify(|health| health.trouble = Some(text));
        }
    }
}

/// Lets another thread close the connection on which the inbox's thread waits.
#[derive(Clone, Default)]
pub(super) struct ConnectionHandle(Arc<Mutex<HandleState>>);

#[derive(Default)]
struct HandleState {
    connection: Option<TcpStream>,
    closed: bool,
}

impl ConnectionHandle {
    /// Sets the connection on which the thread waits from now on. Closes it if the handle is closed already.
    pub(super) fn set(&self, connection: TcpStream) {
        let mut state = self.lock();
        if state.closed {
            shut_down(&connection);
        }
        state.connection = Some(connection);
    }

    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        if let Some(connection) = state.connection.take() {
            shut_down(&connection);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HandleState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the thread's current read or write.
fn shut_down(connection: &TcpStream) {
    // It fails only if the connection is closed already.
    let _ = connection.shutdown(Shutdown::Both);
}
