#![doc = include_str!("../README.md")]

use std::collections::BTreeSet;
use std::path::Path;
use std::{fmt, io};

use chrono::{DateTime, Utc};
use serde::Deserialize;
use tokio::sync::{oneshot, watch};

use self::refusal::Refusal;
use fogpost_letter::printable::is_printable;

mod arrivals;
pub mod backoff;
pub mod dkim;
pub mod dns;
pub mod imap;
pub mod inbox;
pub mod maildir;
pub mod maildirs;
pub mod oauth;
pub mod outbox;
mod outgoing;
pub mod owner;
pub mod refusal;
pub mod sendmail;
mod settings;
pub mod smtp;
mod source;
pub mod stdin;
pub mod text_file;
mod tls;

/// The default of `max_letter_bytes`. Larger letters are not acted on, so only their beginning is fetched.
pub const MAX_LETTER_BYTES: usize = 10 * 1024 * 1024;

/// A letter as the mailbox holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedLetter {
    /// The letter's bytes, unchanged; only the beginning if `cut`.
    pub raw: Vec<u8>,
    /// The time at which our mail server received it: IMAP INTERNALDATE (RFC 3501, 2.3.3), or a Maildir
    /// file's modification time. If the mailbox does not say, the time at which it was fetched.
    pub received_at: DateTime<Utc>,
    /// All times at which the mailbox says that it arrived. A Maildir file's name may state another one.
    pub arrivals: Vec<DateTime<Utc>>,
    /// `imap:INBOX/uidvalidity/uid`, `maildir:name` or `stdin`. For the log; unique within a mailbox.
    pub origin: String,
    /// Whether the letter is larger than `max_letter_bytes`.
    pub cut: bool,
    /// The size of the whole letter in bytes, as the mailbox states it.
    pub size: u64,
    /// Whether it was found in the provider's spam folder.
    pub is_spam: bool,
}

/// A letter found by its Message-ID.
#[derive(Debug, PartialEq, Eq)]
pub struct FoundLetter {
    /// The folder it is in, as the mailbox calls it.
    pub folder: String,
    pub is_spam: bool,
    pub raw: Vec<u8>,
    /// The error that kept it from being moved to the processed letters.
    pub unfiled: Option<String>,
}

/// The letters of a batch that are stored durably.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    All,
    /// The letters at these places. The others stay where they were found, and are not handed over again.
    Only(Vec<usize>),
}

impl Taken {
    /// Divides the letters of a batch into those that are stored and the others.
    pub fn divide<T>(&self, letters: Vec<T>) -> (Vec<T>, Vec<T>) {
        let mut stored = Vec::new();
        let mut others = Vec::new();
        for (place, letter) in letters.into_iter().enumerate() {
            let is_stored = match self {
                Taken::All => true,
                Taken::Only(places) => places.contains(&place),
            };
            if is_stored { stored.push(letter) } else { others.push(letter) }
        }
        (stored, others)
    }
}

/// A message from the mailbox's thread.
#[derive(Debug)]
pub enum InboxMessage {
    Letters(FetchedLetters),
    /// The beginnings of letters that may be old. The answer names the places of those that are.
    Beginnings {
        letters: Vec<FetchedLetter>,
        old: oneshot::Sender<Vec<usize>>,
    },
    /// The letters that were filed last, to compare them with those that the receiver knows before any other letter
    /// is handed over; only the beginnings of large ones.
    Filed {
        letters: Vec<FetchedLetter>,
        compared: oneshot::Sender<()>,
    },
    /// Letters, by origin, that are stored but could not be moved out of their folder.
    Unfiled(Vec<String>),
    /// Letters, by origin, that were left in their folder and are no longer there.
    Gone(Vec<String>),
}

/// Letters, by origin, that stay in the mailbox and are not handed over again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftLetters {
    /// Letters that the receiver did not take.
    pub untaken: BTreeSet<String>,
    /// Letters that are stored and still to be moved.
    pub unfiled: BTreeSet<String>,
    /// Letters that arrived before this are probably not taken. If it is set, the letters that were filed last are
    /// compared, too.
    pub mark: Option<DateTime<Utc>>,
    /// Letters that arrived before this answer none of the receiver's, so they are read after all others.
    pub began: Option<DateTime<Utc>>,
}

/// A mailbox as a check found it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct InboxCheck {
    /// A description for a person.
    pub found: String,
    /// Hints that may help a person.
    pub hints: Vec<String>,
    /// The latest time at which each letter in it arrived, or `None` where the mailbox does not say.
    pub arrivals: Vec<Option<DateTime<Utc>>>,
    /// The letters that were filed last.
    pub filed: Vec<FetchedLetter>,
}

/// Letters that were fetched together, in order of arrival. Never empty.
#[derive(Debug)]
pub struct FetchedLetters {
    pub letters: Vec<FetchedLetter>,
    /// Confirms that the letters are stored durably. If it is dropped instead, they stay in the mailbox and
    /// are fetched again.
    pub stored: oneshot::Sender<Taken>,
}

/// A password or a token. Its `Debug` hides it from logs.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// Reads the secret that a file holds. A line break at its end is no part of it.
    ///
    /// # Errors
    /// The file cannot be read, or is not UTF-8.
    pub fn in_file(path: &Path) -> io::Result<Secret> {
        Ok(Secret::new(text_file::read(path)?.trim_end_matches(['\r', '\n'])))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// The protection of a connection to a mail server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Tls {
    /// TLS from the first byte (RFC 8314).
    #[default]
    Tls,
    /// Plain at first, then the STARTTLS command. We refuse servers that do not offer it.
    StartTls,
    /// No protection. Allowed only for connections to this machine.
    None,
}

/// A period in which the mailbox cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub since: DateTime<Utc>,
    /// The latest reason, with the setting to look at. It may contain mail addresses.
    pub reason: String,
    /// Whether a person must change something.
    pub is_lasting: bool,
    /// Whether the mailbox can be read, but its letters could not be stored.
    pub is_unstored: bool,
    /// Logins that the server has refused so far.
    pub refusals: u32,
}

/// The mailbox's health. Deadlines are extended after an outage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// The last time the mailbox was read to its end. While all is well, that is not much longer ago than
    /// `idle_seconds`.
    pub last_ok: Option<DateTime<Utc>>,
    /// Set while it cannot be read.
    pub trouble: Option<Trouble>,
    /// Number of letters in it that cannot be read. The log names each.
    pub unreadable: usize,
    /// Their names and the reason, for a person.
    pub left_unread: Option<String>,
    /// The reason why stored letters cannot be moved out of their folder. The mailbox is read all the same.
    pub unfiled: Option<String>,
}

/// Triggers the matching [`ShutdownSignal`]s, at the latest when it is dropped.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// Tells a loop to end.
#[derive(Debug, Clone)]
pub struct ShutdownSignal(watch::Receiver<bool>);

impl ShutdownSignal {
    pub fn new() -> (Stopper, ShutdownSignal) {
        let (stopper, stop) = watch::channel(false);
        (Stopper(stopper), ShutdownSignal(stop))
    }

    pub fn is_set(&self) -> bool {
        // A dropped stopper is a signal, too.
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Waits for the signal.
    pub async fn wait(&self) {
        // An error means that the stopper was dropped, which is a signal too.
        let _ = self.0.clone().wait_for(|set| *set).await;
    }
}

impl Stopper {
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// A failure to read a mailbox or to use a mail server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{what}: {cause}")]
    Io { what: String, cause: io::Error },
    #[error("{0}")]
    Configuration(String),
    #[error("the login was rejected: {0}")]
    Login(Refusal),
    /// The server refused.
    #[error("the server said: {0}")]
    Server(Refusal),
    /// The server did not understand a command.
    #[error("the server said: {0}")]
    Misunderstood(Refusal),
    /// The server ended the session.
    #[error("the server said: {0}")]
    Goodbye(Refusal),
    /// The server broke the protocol, or exceeded our limits.
    #[error("the server's answer is malformed")]
    Malformed,
    /// The receiver dropped a batch without storing it.
    #[error("the letters could not be stored")]
    NotStored,
    #[error("stopped")]
    Stopped,
}

impl Error {
    pub(crate) fn io(what: impl Into<String>, cause: io::Error) -> Error {
        Error::Io { what: what.into(), cause }
    }

    /// Whether a retry may succeed. A wrong setting or password needs a person.
    pub fn is_transient(&self) -> bool {
        !matches!(self, Error::Configuration(_) | Error::Login(_))
    }
}

/// Makes a server's words fit for the log: one line of at most 200 characters, without control characters.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .filter(|c| is_printable(*c))
        .take(200)
        .collect()
}

/// Removes mail addresses from a server's words, for the log. Servers often repeat the recipient.
pub fn without_addresses(text: &str) -> String {
    let words = text.split(' ').map(|word| if word.contains('@') { "…" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Replaces CRLF by LF, which mail programs on this system expect in files and pipes.
pub(crate) fn with_lf_line_ends(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = 0;
    for end in memchr::memmem::find_iter(bytes, b"\r\n") {
        out.extend_from_slice(&bytes[rest..end]);
        rest = end + 1;
    }
    out.extend_from_slice(&bytes[rest..]);
    out
}

/// Returns this machine's name, for unique file names and EHLO.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .or_else(|_| std::fs::read_to_string("/etc/hostname"))
        .unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}
