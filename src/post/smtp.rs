//! Letters out to a mail server by SMTP.

use std::path::PathBuf;

use lettre::Address;
use serde::Deserialize;

use super::outbox::SendError;
use super::{Error, Secret, Tls};

/// A mail server that takes letters to anybody (RFC 6409).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The server's name; its certificate must bear it.
    pub host: String,
    /// The port; by default 465 for `tls`, 587 for `starttls`, 25 for `none`.
    pub port: Option<u16>,
    /// `tls`, `starttls`, or `none`, which is allowed to this machine only.
    #[serde(default)]
    pub tls: Tls,
    /// A PEM file with the authorities to trust, instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// The login name, where the server wants one.
    pub user: Option<String>,
    /// The password that goes with it.
    pub password: Option<Secret>,
    /// The name by which this machine greets the server; by default its own, or its address.
    pub hello: Option<String>,
    /// How many letters may be sent at the same time, each over a connection of its own.
    #[serde(default = "connections")]
    pub connections: usize,
    /// How long the server may take over one step, in seconds; over a whole letter's end it may take five times that.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
    /// How long an unused connection is kept, in seconds.
    #[serde(default = "idle_seconds")]
    pub idle_seconds: u64,
}

fn connections() -> usize {
    4
}

fn timeout_seconds() -> u64 {
    60
}

fn idle_seconds() -> u64 {
    30
}

/// A pool of connections to a mail server.
pub struct Smtp {
    settings: Settings,
}

impl Smtp {
    pub(super) fn new(settings: Settings) -> Result<Smtp, Error> {
        Ok(Smtp { settings })
    }

    pub(super) fn connections(&self) -> usize {
        self.settings.connections.max(1)
    }

    pub(super) async fn check(&self) -> Result<String, Error> {
        Err(Error::Nonsense)
    }

    pub(super) async fn send(
        &self,
        _return_path: Option<Address>,
        _to: Address,
        _bytes: &[u8],
    ) -> Result<String, SendError> {
        Err(SendError::Unreachable(Error::Nonsense))
    }
}
