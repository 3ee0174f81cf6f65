//! The common parts of all kinds of mailboxes. [`imap`](super::imap) and [`maildir`](super::maildir) build on
//! them, and [`inbox`](super::inbox) runs them.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    Error, FetchedLetter, FetchedLetters, FoundLetter, Health, InboxCheck, InboxMessage, ShutdownSignal,
    Taken, Trouble, without_addresses,
};

/// Maximum letters in a batch, which the receiver stores in one transaction.
pub(super) const MAX_BATCH_LETTERS: usize = 500;
/// Bytes at which a batch is full: the whole batch is in memory.
pub(super) const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Number of the letters that were filed last to compare, and the bytes of each to read.
pub(super) const COMPARED_LETTERS: usize = 16;
pub(super) const COMPARED_BYTES: usize = 1024 * 1024;
/// Time until an unreadable letter is retried, because the fault may have been the server's.
pub(super) const UNREADABLE_RETRY: Duration = Duration::from_secs(300);

/// Time for which letters that may be old are searched before the next look for new ones.
pub(super) const SEARCH_TIME: Duration = Duration::from_secs(1);

/// The letters that a look at a mailbox had to leave where they are.
pub(super) struct Remainder {
    /// Number of letters that could not be read.
    pub unreadable_count: usize,
    /// Their names and the reason.
    pub unreadable: Option<String>,
    /// The reason why stored letters are still in the mailbox.
    pub unfiled: Option<String>,
}

/// A kind of mailbox. Its methods run on the inbox's thread, one at a time: `watch` as long as the daemon runs,
/// called again after each error with a pause that grows; `drain` instead in a single run; `check` for `fogpost
/// doctor`; `find` when a letter that a person names is looked for. An implementor owes the receiver every letter
/// at least once, files a letter only after its batch was stored, and returns soon after `sender` is stopped.
pub(super) trait Source {
    /// Reads present and new letters until something fails or `sender` is closed.
    fn watch(&mut self, sender: &BatchSender) -> Result<Infallible, Error>;
    /// Reads the present letters and returns how many were stored.
    fn drain(&mut self, sender: &BatchSender) -> Result<usize, Error>;
    /// Describes the mailbox to a person without fetching a letter.
    fn check(&mut self) -> Result<InboxCheck, Error>;
    /// Looks for the letter with this Message-ID in the folders where it may have arrived, and moves it to
    /// the processed letters.
    fn find(&mut self, message_id: &str) -> Result<Option<FoundLetter>, Error>;
    /// Returns the file with the secret of the login, if there is one: once it changes, a new attempt makes
    /// sense.
    fn secret_file(&self) -> Option<&Path> {
        None
    }
}

/// Connects the inbox's thread with the program.
pub(super) struct BatchSender {
    to: mpsc::Sender<InboxMessage>,
    stop: ShutdownSignal,
    health: watch::Sender<Health>,
    runtime: Handle,
}

impl BatchSender {
    /// Creates the sender for a mailbox. Call it within the runtime.
    pub(super) fn new(
        to: mpsc::Sender<InboxMessage>,
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

    /// Hands over letters and returns which of them are stored.
    pub(super) fn send_batch(&self, letters: Vec<FetchedLetter>) -> Result<Taken, Error> {
        let (stored, answer) = oneshot::channel();
        self.send(InboxMessage::Letters(FetchedLetters { letters, stored }))?;
        self.until_stopped(answer)?.map_err(|_dropped| Error::NotStored)
    }

    /// Hands over the beginnings of letters and returns the places of those that are old.
    pub(super) fn find_old(&self, letters: Vec<FetchedLetter>) -> Result<Vec<usize>, Error> {
        let (old, answer) = oneshot::channel();
        self.send(InboxMessage::Beginnings { letters, old })?;
        self.until_stopped(answer)?.map_err(|_dropped| Error::NotStored)
    }

    /// Logs how many old letters were left in the mailbox, in one line for all of them, and resets the count.
    pub(super) fn log_old(&self, count: &mut usize) {
        if *count > 0 {
            tracing::info!(letters = std::mem::take(count), "old letters are left in the mailbox");
        }
    }

    /// Hands over the letters that were filed last, and waits until they are compared.
    pub(super) fn compare_filed(&self, letters: Vec<FetchedLetter>) -> Result<(), Error> {
        let (compared, answer) = oneshot::channel();
        self.send(InboxMessage::Filed { letters, compared })?;
        self.until_stopped(answer)?.map_err(|_dropped| Error::NotStored)
    }

    /// Reports which letters cannot be moved, if they differ from `before`.
    pub(super) fn report_unfiled(
        &self,
        before: &BTreeSet<String>,
        now: &BTreeSet<String>,
    ) -> Result<(), Error> {
        let new: Vec<String> = now.difference(before).cloned().collect();
        if !new.is_empty() {
            self.send(InboxMessage::Unfiled(new))?;
        }
        self.report_gone(before.difference(now).cloned().collect())
    }

    /// Reports which of the letters that were left are no longer in the folder.
    pub(super) fn report_gone(&self, letters: Vec<String>) -> Result<(), Error> {
        if letters.is_empty() { Ok(()) } else { self.send(InboxMessage::Gone(letters)) }
    }

    fn send(&self, message: InboxMessage) -> Result<(), Error> {
        self.until_stopped(self.to.send(message))?.map_err(|_closed| Error::Stopped)
    }

    /// Waits for some work, and fails at shutdown.
    fn until_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, Error> {
        self.runtime.block_on(async {
            tokio::select! {
                done = work => Ok(done),
                () = self.stop.wait() => Err(Error::Stopped),
            }
        })
    }

    /// Sleeps, and fails at shutdown.
    pub(super) fn sleep(&self, time: Duration) -> Result<(), Error> {
        self.sleep_unless(time, || false)
    }

    /// Sleeps until the time is up or `is_woken` returns true, and fails at shutdown.
    pub(super) fn sleep_unless(&self, time: Duration, is_woken: impl Fn() -> bool) -> Result<(), Error> {
        self.wait_by(time, |step| {
            thread::sleep(step);
            is_woken()
        })
    }

    /// Waits in steps until the time is up or a step returns true, and fails at shutdown. The steps are short, because
    /// nothing wakes a sleeping thread at shutdown.
    pub(super) fn wait_by(&self, time: Duration, step: impl Fn(Duration) -> bool) -> Result<(), Error> {
        let end = Instant::now() + time;
        while !self.stop.is_set() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || step(left.min(Duration::from_millis(100))) {
                return Ok(());
            }
        }
        Err(Error::Stopped)
    }

    /// Reports that the mailbox was read to its end, and what could not be read or moved.
    pub(super) fn report_ok(&self, remainder: Remainder) {
        let Remainder { unreadable_count, unreadable, unfiled } = remainder;
        let now = Health {
            last_ok: Some(Utc::now()),
            trouble: None,
            unreadable: unreadable_count,
            left_unread: unreadable,
            unfiled,
        };
        let before = self.health.send_replace(now);
        if before.trouble.is_some() {
            tracing::info!("mailbox readable again");
        } else if before.last_ok.is_none() {
            tracing::info!("mailbox opened");
        }
    }

    /// Reports that the mailbox cannot be read for this reason. `refusals` counts the logins that were
    /// refused.
    pub(super) fn report_trouble(&self, reason: String, error: &Error, refusals: u32) {
        let before = self.health.borrow().trouble.clone();
        let logged = without_addresses(&reason);
        // A fault is logged once, not at each of its retries.
        if before.as_ref().is_some_and(|before| before.reason == reason) {
            tracing::debug!(error = logged, "still failing to read the mailbox");
        } else {
            tracing::warn!(error = logged, "failed to read the mailbox; retrying");
        }
        let since = before.map_or_else(Utc::now, |before| before.since);
        let is_lasting = !error.is_transient();
        let is_unstored = matches!(error, Error::NotStored);
        let trouble = Trouble { since, reason, is_lasting, is_unstored, refusals };
        self.health.send_modify(|health| health.trouble = Some(trouble));
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
