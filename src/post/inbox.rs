//! Letters in: a mailbox is read on a thread of its own and handed on batch by batch.
//!
//! Every letter of the mailbox is taken, seen or not: what was stored but not yet filed when the program died is met
//! again, and it is for the receiver to recognise it. Faults of the mailbox are survived here, with a growing backoff.

use std::convert::Infallible;
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chrono::Utc;
use serde::Deserialize;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::{Batch, Error, FetchedLetter, Health, ShutdownSignal, imap, maildir, without_addresses};

/// At most so many letters in a batch, which is one transaction of the receiver.
pub(super) const MAX_BATCH_LETTERS: usize = 500;
/// A batch is closed when it holds so many bytes: it lies in memory as a whole.
pub(super) const MAX_BATCH_BYTES: usize = 16 * 1024 * 1024;
/// How long a letter that could not be read is left alone: the fault may have been the server's.
pub(super) const UNREADABLE_RETRY: Duration = Duration::from_secs(300);

const FIRST_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// A thread that is still looking up a name by then is left to itself; it ends after that.
const SHUTDOWN_LIMIT: Duration = Duration::from_millis(900);

/// A mailbox, by its settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inbox {
    Imap(imap::Settings),
    Maildir(maildir::Settings),
}

/// What each kind of mailbox can do, on the inbox's thread.
pub(super) trait Source {
    /// Reads whatever is there and whatever comes, until something fails or `sender` is closed.
    fn watch(&mut self, sender: &BatchSender) -> Result<Infallible, Error>;
    /// Reads what is there now and returns how many letters were taken.
    fn drain(&mut self, sender: &BatchSender) -> Result<usize, Error>;
    /// Takes nothing; says what it found.
    fn check(&mut self) -> Result<String, Error>;
}

impl Inbox {
    /// Which mailbox it is, the same for all who read it.
    pub fn name(&self) -> String {
        match self {
            Inbox::Imap(imap::Settings { host, user, folder, .. }) => format!("imap {user} {host} {folder}"),
            Inbox::Maildir(settings) => format!("maildir {}", settings.path.display()),
        }
    }

    fn source(self, handle: ConnectionHandle) -> Box<dyn Source> {
        match self {
            Inbox::Imap(settings) => Box::new(imap::ImapReader::new(settings, handle)),
            Inbox::Maildir(settings) => Box::new(maildir::MaildirReader::new(settings)),
        }
    }

    /// The letters that were filed as processed, to be read once more. A Maildir's stay where they are; those of an
    /// IMAP mailbox go back to the folder that is read, are met again there, and are filed once more.
    ///
    /// # Errors
    /// The Maildir's folder is missing and cannot be made.
    pub fn processed(&self) -> std::io::Result<Inbox> {
        Ok(match self.clone() {
            Inbox::Imap(settings) => {
                let (folder, processed) = (settings.processed.clone(), settings.folder.clone());
                Inbox::Imap(imap::Settings { folder, processed, ..settings })
            }
            Inbox::Maildir(settings) => {
                let path = settings.path.join(format!(".{}", settings.processed));
                maildir::create(&path)?;
                // Filed into the folder itself.
                Inbox::Maildir(maildir::Settings { path, processed: String::new(), ..settings })
            }
        })
    }

    /// Hands on all that is there and all that comes, until `stop`; then it ends within a second.
    ///
    /// # Errors
    /// Only when no thread can be had; faults of the mailbox are survived, logged, and shown in `health`.
    pub async fn run(
        self,
        to: mpsc::Sender<Batch>,
        stop: ShutdownSignal,
        health: watch::Sender<Health>,
    ) -> Result<(), Error> {
        let sender = BatchSender { to, stop: stop.clone(), health, runtime: Handle::current() };
        let running = self.run_on_thread(stop, move |source| {
            watch_until_closed(source, &sender);
            Ok(())
        });
        match running.await {
            Err(Error::Stopped) => Ok(()),
            outcome => outcome,
        }
    }

    /// Hands on what is there now, waits until it is stored and filed, and returns how many letters there were.
    ///
    /// # Errors
    /// When the mailbox cannot be read to its end, or a batch is not stored.
    pub async fn drain(self, to: mpsc::Sender<Batch>) -> Result<usize, Error> {
        let (_stopper, stop) = ShutdownSignal::new();
        let health = watch::channel(Health::default()).0;
        let sender = BatchSender { to, stop: stop.clone(), health, runtime: Handle::current() };
        self.run_on_thread(stop, move |source| source.drain(&sender)).await
    }

    /// Looks into the mailbox without taking anything, and says what it found.
    ///
    /// # Errors
    /// When it cannot be opened as the settings say.
    pub async fn check(&self) -> Result<String, Error> {
        let (_stopper, stop) = ShutdownSignal::new();
        self.clone().run_on_thread(stop, |source| source.check()).await
    }

    /// A thread and not a blocking task: one that idles for minutes would hold up the runtime's end.
    async fn run_on_thread<T: Send + 'static>(
        self,
        stop: ShutdownSignal,
        work: impl FnOnce(&mut dyn Source) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let handle = ConnectionHandle::default();
        let _close_on_drop = CloseOnDrop(handle.clone());
        let (done, mut outcome) = oneshot::channel();
        let thread_handle = handle.clone();
        thread::Builder::new()
            .name("inbox".to_owned())
            .spawn(move || done.send(work(&mut *self.source(thread_handle))))
            .map_err(|e| Error::io("no thread for the mailbox", e))?;
        let outcome = tokio::select! {
            outcome = &mut outcome => outcome,
            () = stop.wait() => {
                handle.close();
                timeout(SHUTDOWN_LIMIT, outcome).await.unwrap_or(Ok(Err(Error::Stopped)))
            }
        };
        outcome.unwrap_or(Err(Error::Malformed)) // No outcome: the thread panicked over what it was sent.
    }
}

/// Lets the source stay, again and again, until the sender is closed.
fn watch_until_closed(source: &mut dyn Source, sender: &BatchSender) {
    let mut backoff = FIRST_BACKOFF;
    while !sender.stop.is_set() && !sender.to.is_closed() {
        let began = Utc::now();
        // The IMAP library panics over some answers that it takes for impossible.
        let outcome = catch_unwind(AssertUnwindSafe(|| source.watch(sender)));
        let error = match outcome {
            Ok(Ok(never)) => match never {},
            Ok(Err(error)) => error,
            Err(_panic) => Error::Malformed,
        };
        if sender.stop.is_set() || matches!(error, Error::Stopped) {
            return;
        }
        if sender.health.borrow().last_ok.is_some_and(|at| at >= began) {
            backoff = FIRST_BACKOFF;
        }
        sender.report_trouble(&error);
        if sender.sleep(backoff.mul_f64(jitter())).is_err() {
            return;
        }
        backoff = (backoff * 2).min(MAX_BACKOFF);
    }
}

/// Between 0.75 and 1.25, so that many programs do not come back to a server at the same moment.
fn jitter() -> f64 {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    0.75 + f64::from(random) / f64::from(u32::MAX) / 2.0
}

/// The way from the inbox's thread into the program.
pub(super) struct BatchSender {
    to: mpsc::Sender<Batch>,
    stop: ShutdownSignal,
    health: watch::Sender<Health>,
    runtime: Handle,
}

impl BatchSender {
    /// Hands letters over and returns when they are stored.
    pub(super) fn send_batch(&self, letters: Vec<FetchedLetter>) -> Result<(), Error> {
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

    /// Sleeps, unless it is time to end.
    pub(super) fn sleep(&self, time: Duration) -> Result<(), Error> {
        let end = Instant::now() + time;
        while !self.stop.is_set() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            thread::sleep(left.min(Duration::from_millis(100)));
        }
        Err(Error::Stopped)
    }

    /// The mailbox was read to its end, but for the `unreadable`.
    pub(super) fn report_ok(&self, unreadable: usize) {
        let before =
            self.health.send_replace(Health { last_ok: Some(Utc::now()), trouble: None, unreadable });
        if before.trouble.is_some() {
            tracing::info!("the mailbox can be read again");
        } else if before.last_ok.is_none() {
            tracing::info!("the mailbox is open");
        }
    }

    fn report_trouble(&self, error: &Error) {
        let text = error.to_string();
        let error = without_addresses(&text);
        if self.health.borrow().trouble.as_ref() == Some(&text) {
            tracing::debug!(error, "the mailbox still cannot be read");
        } else {
            tracing::warn!(error, "the mailbox cannot be read; trying again");
            self.health.send_modify(|health| health.trouble = Some(text));
        }
    }
}

/// The connection that the inbox's thread waits on, so that others can cut it.
#[derive(Clone, Default)]
pub(super) struct ConnectionHandle(Arc<Mutex<HandleState>>);

#[derive(Default)]
struct HandleState {
    connection: Option<TcpStream>,
    closed: bool,
}

impl ConnectionHandle {
    /// The thread now waits on `connection`; cut at once if the handle was hung up before.
    pub(super) fn set(&self, connection: TcpStream) {
        let mut state = self.lock();
        if state.closed {
            let _ = connection.shutdown(Shutdown::Both); // Closed already is as good.
        }
        state.connection = Some(connection);
    }

    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        if let Some(connection) = state.connection.take() {
            let _ = connection.shutdown(Shutdown::Both); // Closed already is as good.
        }
    }

    fn lock(&self) -> MutexGuard<'_, HandleState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the thread's waiting also when the caller lets its future go.
struct CloseOnDrop(ConnectionHandle);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
