//! Incoming letters: a thread reads the mailbox and hands over its letters in batches.
//!
//! It hands over every letter in the folder, seen or not. Letters that were stored but not filed when the
//! program died are handed over again, and the receiver must deduplicate them. Letters that the receiver does
//! not take, or that cannot be filed, stay where they are. Faults of the mailbox are retried with backoff.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use chrono::Utc;
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::backoff::Backoff;
use super::source::{BatchSender, ConnectionHandle, Source};
use super::{
    Error, FoundLetter, Health, InboxCheck, InboxMessage, LeftLetters, ShutdownSignal, imap, maildir,
};

/// Time between checks of the file with the secret of a login that was refused.
const SECRET_INTERVAL: Duration = Duration::from_secs(1);

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
            Inbox::Imap(settings) => imap_name(settings, &settings.folder),
            Inbox::Maildir(settings) => {
                format!("maildir {}", settings.written_path.as_ref().unwrap_or(&settings.path).display())
            }
        }
    }

    /// Identifies the spam folder that is read in addition to the mailbox, if there is one.
    pub fn spam_name(&self) -> Option<String> {
        match self {
            Inbox::Imap(settings) => Some(imap_name(settings, settings.spam_folder.as_ref()?)),
            Inbox::Maildir(_) => None,
        }
    }

    /// Whether everything that arrives at the mailbox's address is read, rather than one folder with a part
    /// of it.
    pub fn is_main_folder(&self) -> bool {
        match self {
            Inbox::Imap(settings) => settings.folder.eq_ignore_ascii_case("INBOX"),
            // A Maildir++ folder within another Maildir begins with a dot.
            Inbox::Maildir(settings) => {
                let name = settings.path.file_name().unwrap_or_default();
                !name.as_encoded_bytes().starts_with(b".")
            }
        }
    }

    /// Describes a failure to read the mailbox, with the setting to look at.
    pub fn explain(&self, error: &Error) -> String {
        let advice = match self {
            Inbox::Imap(settings) => settings.advice(error),
            Inbox::Maildir(_) => Some("see inbox.maildir.path".to_owned()),
        };
        match advice {
            Some(advice) => format!("{error}; {advice}"),
            None => error.to_string(),
        }
    }

    fn source(self, handle: ConnectionHandle, left: LeftLetters) -> Box<dyn Source> {
        match self {
            Inbox::Imap(settings) => Box::new(imap::ImapReader::new(settings, handle, left)),
            Inbox::Maildir(settings) => Box::new(maildir::MaildirReader::new(settings, left)),
        }
    }

    /// Returns the folder of processed letters as an inbox, to read them again. A Maildir's letters stay in
    /// that folder. Those of an IMAP mailbox move back to the original folder, are read there, and are filed
    /// again.
    ///
    /// # Errors
    /// Returns an error if there is no Maildir, or if its folder is missing and cannot be created.
    pub fn processed(&self) -> std::io::Result<Inbox> {
        Ok(match self.clone() {
            Inbox::Imap(settings) => {
                let folder = settings.processed.clone();
                let processed = settings.folder.clone();
                Inbox::Imap(imap::ImapConfig { folder, processed, ..settings })
            }
            Inbox::Maildir(settings) => {
                if !settings.path.is_dir() {
                    // Half of a Maildir would be in the way of the whole one that a person puts back.
                    return Err(std::io::Error::other(format!(
                        "there is no Maildir {}",
                        settings.path.display()
                    )));
                }
                let path = settings.path.join(format!(".{}", settings.processed));
                maildir::create(&path)?;
                // With an empty name, letters are filed in the folder that is read.
                let written_path = None;
                let processed = String::new();
                Inbox::Maildir(maildir::MaildirConfig { path, written_path, processed, ..settings })
            }
        })
    }

    /// Hands over present and new letters until `stop`, except those that were `left` in the mailbox before,
    /// then ends within a second.
    ///
    /// # Errors
    /// Returns an error if no thread can be started. Faults of the mailbox are retried, logged, and shown in
    /// `health`.
    pub async fn run(
        self,
        left: LeftLetters,
        to: mpsc::Sender<InboxMessage>,
        stop: ShutdownSignal,
        health: watch::Sender<Health>,
    ) -> Result<(), Error> {
        let sender = BatchSender::new(to, stop.clone(), health);
        let settings = self.clone();
        let running = self.run_on_thread(left, stop, move |source| {
            watch_until_closed(&settings, source, &sender);
            Ok(())
        });
        match running.await {
            Err(Error::Stopped) => Ok(()),
            outcome => outcome,
        }
    }

    /// Hands over the present letters, except those that were `left` before, waits until they are stored and
    /// filed, and returns their number. Letters that cannot be filed are not an error.
    ///
    /// # Errors
    /// Returns an error if the mailbox cannot be read to its end, or if a batch is not stored.
    pub async fn drain(
        self,
        left: LeftLetters,
        to: mpsc::Sender<InboxMessage>,
        health: watch::Sender<Health>,
    ) -> Result<usize, Error> {
        let (_stopper, stop) = ShutdownSignal::new();
        let sender = BatchSender::new(to, stop.clone(), health);
        self.run_on_thread(left, stop, move |source| source.drain(&sender)).await
    }

    /// Describes the mailbox to a person without fetching a letter.
    ///
    /// # Errors
    /// Returns an error if the mailbox cannot be opened as the settings say.
    pub async fn check(&self) -> Result<InboxCheck, Error> {
        let (_stopper, stop) = ShutdownSignal::new();
        self.clone().run_on_thread(LeftLetters::default(), stop, |source| source.check()).await
    }

    /// Looks for the letter with this Message-ID (without angle brackets) in the folders where it may have
    /// arrived, and moves it to the processed letters.
    ///
    /// # Errors
    /// Returns an error if the mailbox cannot be opened as the settings say.
    pub async fn find(&self, message_id: String) -> Result<Option<FoundLetter>, Error> {
        let (_stopper, stop) = ShutdownSignal::new();
        self.clone().run_on_thread(LeftLetters::default(), stop, move |source| source.find(&message_id)).await
    }

    /// Runs `work` on a thread: `spawn_blocking` would delay shutdown until IDLE ends.
    async fn run_on_thread<T: Send + 'static>(
        self,
        left: LeftLetters,
        stop: ShutdownSignal,
        work: impl FnOnce(&mut dyn Source) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let handle = ConnectionHandle::default();
        let _close_on_drop = CloseOnDrop(handle.clone());
        let (done, mut outcome) = oneshot::channel();
        let thread_handle = handle.clone();
        thread::Builder::new()
            .name("inbox".to_owned())
            .spawn(move || done.send(work(&mut *self.source(thread_handle, left))))
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

fn imap_name(settings: &imap::ImapConfig, folder: &str) -> String {
    let user = &settings.user;
    let host = settings.host.to_ascii_lowercase();
    let is_inbox = folder.eq_ignore_ascii_case("INBOX");
    format!("imap {user} {host} {}", if is_inbox { "INBOX" } else { folder })
}

/// Watches the source until the sender is closed, and starts again after each failure.
fn watch_until_closed(settings: &Inbox, source: &mut dyn Source, sender: &BatchSender) {
    let mut backoff = Backoff::default();
    while !sender.is_stopped() && !sender.is_closed() {
        let began = Utc::now();
        // Read the secret before the attempt, so that no change during it is missed.
        let tried = read_secret(source);
        let outcome = catch_unwind(AssertUnwindSafe(|| source.watch(sender)));
        let error = match outcome {
            Ok(Ok(never)) => match never {},
            Ok(Err(error)) => error,
            // This program has a bug that the server's answer triggered.
            Err(_panic) => Error::Malformed,
        };
        if sender.is_stopped() || matches!(error, Error::Stopped) {
            return;
        }
        // The mailbox was readable in between, so this is a new fault.
        if sender.last_ok().is_some_and(|at| at >= began) {
            backoff = Backoff::default();
        }
        let pause = backoff.pause_after(&error);
        sender.report_trouble(settings.explain(&error), &error, backoff.refusals);
        let looked_at = Cell::new(Instant::now());
        let has_new_secret = || {
            let is_time = looked_at.get().elapsed() >= SECRET_INTERVAL;
            if is_time {
                looked_at.set(Instant::now());
            }
            is_time && read_secret(source) != tried
        };
        if sender.sleep_unless(pause.mul_f64(jitter()), has_new_secret).is_err() {
            return;
        }
    }
}

fn read_secret(source: &dyn Source) -> Option<Vec<u8>> {
    std::fs::read(source.secret_file()?).ok()
}

/// Returns a factor between 1 and 1.25, so that many programs do not reconnect at the same moment, and none
/// too early.
fn jitter() -> f64 {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    1.0 + f64::from(random) / f64::from(u32::MAX) / 4.0
}

/// Stops the thread even if the caller drops its future.
struct CloseOnDrop(ConnectionHandle);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
