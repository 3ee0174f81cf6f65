//! Incoming letters: a thread reads the mailbox and hands over its letters in batches.
//!
//! It hands over every letter in the folder, seen or not. Letters that were stored but not filed when the
//! program died are handed over again, and the receiver must deduplicate them. Faults of the mailbox are
//! retried with backoff.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use chrono::Utc;
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::source::{BatchSender, ConnectionHandle, Source};
use super::{Batch, Error, FoundLetter, Health, ShutdownSignal, imap, maildir};

const FIRST_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// Time that shutdown waits for the thread. A name lookup cannot be interrupted; the thread ends after it.
const SHUTDOWN_LIMIT: Duration = Duration::from_millis(900);

/// A mailbox, by its settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inbox {
    Imap(imap::ImapConfig),
    Maildir(maildir::MaildirConfig),
}

impl Inbox {
    /// Identifies the mailbox. Equal for all daemons that read the same mailbox.
    pub fn name(&self) -> String {
        match self {
            Inbox::Imap(imap::ImapConfig { host, user, folder, .. }) => {
                format!("imap {user} {host} {folder}")
            }
            Inbox::Maildir(settings) => format!("maildir {}", settings.path.display()),
        }
    }

    fn source(self, handle: ConnectionHandle) -> Box<dyn Source> {
        match self {
            Inbox::Imap(settings) => Box::new(imap::ImapReader::new(settings, handle)),
            Inbox::Maildir(settings) => Box::new(maildir::MaildirReader::new(settings)),
        }
    }

    /// Returns the folder of processed letters as an inbox, to read them again. A Maildir's letters stay in
    /// that folder. Those of an IMAP mailbox move back to the original folder, are read there again, and are
    /// filed again.
    ///
    /// # Errors
    /// Returns an error if the Maildir's folder is missing and cannot be created.
    pub fn processed(&self) -> std::io::Result<Inbox> {
        Ok(match self.clone() {
            Inbox::Imap(settings) => {
                let (folder, processed) = (settings.processed.clone(), settings.folder.clone());
                Inbox::Imap(imap::ImapConfig { folder, processed, ..settings })
            }
            Inbox::Maildir(settings) => {
                let path = settings.path.join(format!(".{}", settings.processed));
                maildir::create(&path)?;
                // An empty name files letters into the folder that is read.
                Inbox::Maildir(maildir::MaildirConfig { path, processed: String::new(), ..settings })
            }
        })
    }

    /// Hands over present and new letters until `stop`, then ends within a second.
    ///
    /// # Errors
    /// Returns an error if no thread can be started. Faults of the mailbox are retried, logged, and shown in
    /// `health`.
    pub async fn run(
        self,
        to: mpsc::Sender<Batch>,
        stop: ShutdownSignal,
        health: watch::Sender<Health>,
    ) -> Result<(), Error> {
        let sender = BatchSender::new(to, stop.clone(), health);
        let running = self.run_on_thread(stop, move |source| {
            watch_until_closed(source, &sender);
            Ok(())
        });
        match running.await {
            Err(Error::Stopped) => Ok(()),
            outcome => outcome,
        }
    }

    /// Hands over the present letters, waits until they are stored and filed, and returns their number.
    ///
    /// # Errors
    /// Returns an error if the mailbox cannot be read to its end, or if a batch is not stored.
    pub async fn drain(self, to: mpsc::Sender<Batch>) -> Result<usize, Error> {
        let (_stopper, stop) = ShutdownSignal::new();
        let health = watch::channel(Health::default()).0;
        let sender = BatchSender::new(to, stop.clone(), health);
        self.run_on_thread(stop, move |source| source.drain(&sender)).await
    }

    /// Describes the mailbox to a person without fetching a letter.
    ///
    /// # Errors
    /// Returns an error if the mailbox cannot be opened as the settings say.
    pub async fn check(&self) -> Result<String, Error> {
        let (_stopper, stop) = ShutdownSignal::new();
        self.clone().run_on_thread(stop, |source| source.check()).await
    }

    /// Looks for the letter with this Message-ID (without angle brackets) in the folders where it may have
    /// arrived.
    ///
    /// # Errors
    /// Returns an error if the mailbox cannot be opened as the settings say.
    pub async fn find(&self, message_id: String) -> Result<Option<FoundLetter>, Error> {
        let (_stopper, stop) = ShutdownSignal::new();
        self.clone().run_on_thread(stop, move |source| source.find(&message_id)).await
    }

    /// Runs `work` on a thread: `spawn_blocking` would delay shutdown until IDLE ends.
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
            .map_err(|e| Error::io("failed to start a thread for the mailbox", e))?;
        let outcome = tokio::select! {
            outcome = &mut outcome => outcome,
            () = stop.wait() => {
                handle.close();
                timeout(SHUTDOWN_LIMIT, outcome).await.unwrap_or(Ok(Err(Error::Stopped)))
            }
        };
        // Without an outcome, the thread panicked over the server's answer.
        outcome.unwrap_or(Err(Error::Malformed))
    }
}

/// Watches the source until the sender is closed, and starts again after each failure.
fn watch_until_closed(source: &mut dyn Source, sender: &BatchSender) {
    let mut backoff = FIRST_BACKOFF;
    while !sender.is_stopped() && !sender.is_closed() {
        let began = Utc::now();
        // The imap crate panics over some answers that it considers impossible.
        let outcome = catch_unwind(AssertUnwindSafe(|| source.watch(sender)));
        let error = match outcome {
            Ok(Ok(never)) => match never {},
            Ok(Err(error)) => error,
            Err(_panic) => Error::Malformed,
        };
        if sender.is_stopped() || matches!(error, Error::Stopped) {
            return;
        }
        // The mailbox was readable in between, so this is a new fault.
        if sender.last_ok().is_some_and(|at| at >= began) {
            backoff = FIRST_BACKOFF;
        }
        sender.report_trouble(&error);
        if sender.sleep(backoff.mul_f64(jitter())).is_err() {
            return;
        }
        backoff = (backoff * 2).min(MAX_BACKOFF);
    }
}

/// Returns a factor between 0.75 and 1.25, so that many programs do not reconnect at the same moment.
fn jitter() -> f64 {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    0.75 + f64::from(random) / f64::from(u32::MAX) / 2.0
}

/// Stops the thread even if the caller drops its future.
struct CloseOnDrop(ConnectionHandle);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
