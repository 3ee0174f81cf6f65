//! A mailbox on an IMAP server.
use std::convert::Infallible;
use std::path::PathBuf;

use serde::Deserialize;

use super::inbox::{Door, Line, Source};
use super::{Error, Secret, Tls};

/// A mailbox on an IMAP server (RFC 3501).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The server's name; its certificate must bear it.
    pub host: String,
    /// The port; by default 993 for TLS, else 143.
    pub port: Option<u16>,
    /// `tls`, `starttls`, or `none`, which is allowed to this machine only.
    #[serde(default)]
    pub tls: Tls,
    /// A PEM file with the authorities to trust, instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// The login name.
    pub user: String,
    /// The password.
    pub password: Secret,
    /// The folder to read.
    #[serde(default = "inbox")]
    pub folder: String,
    /// The folder to which letters go once they are stored; made if it is missing.
    #[serde(default = "processed")]
    pub processed: String,
    /// How often to look where the server cannot tell of new letters by itself (IDLE), in seconds.
    #[serde(default = "poll_seconds")]
    pub poll_seconds: u64,
    /// How long the server may keep silent within an answer, in seconds.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
    /// Of a letter larger than this only the beginning is fetched.
    #[serde(default = "max_letter_bytes")]
    pub max_letter_bytes: usize,
}

fn inbox() -> String {
    "INBOX".to_owned()
}

fn processed() -> String {
    "Processed".to_owned()
}

fn poll_seconds() -> u64 {
    60
}

fn timeout_seconds() -> u64 {
    30
}

fn max_letter_bytes() -> usize {
    super::MAX_LETTER_BYTES
}

pub(super) struct Reading;

impl Reading {
    pub(super) fn new(_settings: Settings, _line: Line) -> Reading {
        Reading
    }
}

impl Source for Reading {
    fn stay(&mut self, _door: &Door) -> Result<Infallible, Error> {
        Err(Error::Nonsense)
    }
    fn visit(&mut self, _door: &Door) -> Result<usize, Error> {
        Err(Error::Nonsense)
    }
    fn look(&mut self) -> Result<String, Error> {
        Err(Error::Nonsense)
    }
}
