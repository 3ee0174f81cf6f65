//! The post office: how letters come in and how they go out.
//!
//! It answers how bytes are fetched from a mailbox without losing any, and how bytes are handed to a mail server.
//! It does not look into a letter, knows no match and no database: a batch of letters is passed on through a
//! channel, and the mailbox is told that they were taken only after the other end has said that they are stored.

pub mod dkim;
pub mod imap;
pub mod inbox;
pub mod maildir;
pub mod maildirs;
pub mod outbox;
pub mod refusal;
pub mod sendmail;
mod settings;
pub mod smtp;
pub mod stdin;
mod tls;

use std::fmt;
use std::io;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use tokio::sync::{oneshot, watch};

use self::refusal::Refusal;

/// The default of `max_letter_bytes`: what is larger is not acted on, so only its beginning is fetched.
pub const MAX_LETTER_BYTES: usize = 2 * 1024 * 1024;

/// One letter as the mailbox held it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedLetter {
    /// The letter's bytes, unchanged; only the beginning if `cut`.
    pub raw: Vec<u8>,
    /// When our side received it: IMAP INTERNALDATE (RFC 3501, 2.3.3), or the file's time in a Maildir.
    pub received_at: DateTime<Utc>,
    /// Where it lay: `imap:INBOX/uidvalidity/uid`, `maildir:name` or `stdin`. For the log, and unique in a mailbox.
    pub origin: String,
    /// Whether the letter is larger than `max_letter_bytes`.
    pub cut: bool,
    /// The letter's whole size in bytes, as the mailbox tells it.
    pub size: u64,
}

/// Letters that were fetched together, in order of arrival; never empty.
#[derive(Debug)]
pub struct Batch {
    pub letters: Vec<FetchedLetter>,
    /// To be answered when the letters are stored for good. Dropped unanswered, the letters stay where they are and
    /// are met again.
    pub stored: oneshot::Sender<()>,
}

/// A password: kept out of every log by a `Debug` that does not tell it.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// How a connection to a mail server is protected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tls {
    /// TLS from the first byte (RFC 8314).
    #[default]
    Tls,
    /// A plain beginning, then the STARTTLS command; refused by us if the server does not offer it.
    StartTls,
    /// No protection: only to this very machine.
    None,
}

impl fmt::Display for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tls::Tls => "tls",
            Tls::StartTls => "starttls",
            Tls::None => "none",
        })
    }
}

/// The mailbox's health, for whoever must know of outages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// When the mailbox was last read to its end; while all is well, never longer ago than `idle_seconds` and a little.
    pub last_ok: Option<DateTime<Utc>>,
    /// Why it cannot be read at present.
    pub trouble: Option<String>,
    /// How many letters lie there that cannot be read; each was named in the log.
    pub unreadable: usize,
}

/// Tells those who hold the matching [`ShutdownSignal`]s to end; so does dropping it.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// The wish that a loop end.
#[derive(Debug, Clone)]
pub struct ShutdownSignal(watch::Receiver<bool>);

impl ShutdownSignal {
    pub fn new() -> (Stopper, ShutdownSignal) {
        let (stopper, stop) = watch::channel(false);
        (Stopper(stopper), ShutdownSignal(stop))
    }

    pub fn is_set(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Returns when it is time to end.
    pub async fn wait(&self) {
        // An error means that the other end is gone, which is the same wish.
        let _ = self.0.clone().wait_for(|set| *set).await;
    }
}

impl Stopper {
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Why a mailbox could not be read, or a mail server not be reached.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{what}: {cause}")]
    Io { what: String, cause: io::Error },
    #[error("{0}")]
    Configuration(String),
    #[error("the login was rejected: {0}")]
    Login(Refusal),
    /// The server answered no, or said goodbye, in these words.
    #[error("the server said: {0}")]
    Server(Refusal),
    #[error("the server's answer could not be understood")]
    Malformed,
    #[error("the letters could not be stored")]
    NotStored,
    #[error("stopped")]
    Stopped,
}

impl Error {
    pub(crate) fn io(what: impl Into<String>, cause: io::Error) -> Error {
        Error::Io { what: what.into(), cause }
    }

    /// Whether the same may succeed later without anybody's help; a wrong setting or password does not heal.
    pub fn is_transient(&self) -> bool {
        !matches!(self, Error::Configuration(_) | Error::Login(_))
    }
}

/// What a server said, fit for a log line: one line, bounded, without control characters.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .take(200)
        .collect()
}

/// The same without mail addresses, which servers like to repeat: for a log, which tells nobody's.
pub(crate) fn without_addresses(text: &str) -> String {
    let word = |word: &'_ str| if word.contains('@') { "…".to_owned() } else { word.to_owned() };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The letter with the line ends of this system's files and pipes (LF), as mail programs on it expect.
pub(crate) fn with_lf_line_ends(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for (i, &byte) in bytes.iter().enumerate() {
        if byte != b'\r' || bytes.get(i + 1) != Some(&b'\n') {
            out.push(byte);
        }
    }
    out
}

/// This machine's name, for unique file names and for greeting mail servers.
pub(crate) fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .or_else(|_| std::fs::read_to_string("/etc/hostname"))
        .unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}
