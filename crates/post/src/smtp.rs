//! Letters out to a mail server by SMTP, over connections that are kept for the next letter.
//!
//! This is the pool; [`conversation`] speaks the protocol. Each letter has one recipient, so that one bad
//! address cannot hold up the others.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lettre::Address;
use lettre::transport::smtp::response::Response;
use rustls::ClientConfig;
use serde::Deserialize;

use self::conversation::{Conversation, Failure};
use super::outgoing::{Checked, SendError};
use super::refusal::Exchange;
use super::{Error, Secret, Tls, oauth, one_line, tls};

mod conversation;
mod wire;

/// A mail server that accepts letters to any address (RFC 6409).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmtpConfig {
    /// The server's name, for which its certificate must be valid.
    pub host: String,
    /// The port; by default 465 for `tls`, 587 for `starttls`, 25 for `none`.
    pub port: Option<u16>,
    /// `tls`, `starttls`, or `none`, which is allowed only for this machine.
    #[serde(default)]
    pub tls: Tls,
    /// A PEM file with the certificate authorities to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// The login name, if the server requires a login.
    pub user: Option<String>,
    /// The password; `password_file` may hold it instead.
    pub password: Option<Secret>,
    pub password_file: Option<PathBuf>,
    /// A login by OAuth instead of a password.
    pub oauth: Option<Box<oauth::OauthLogin>>,
    /// The name by which this machine greets the server; by default its own, or its address.
    pub hello: Option<String>,
    /// Maximum letters sent at the same time, each over its own connection.
    #[serde(default = "connections")]
    pub connections: usize,
    /// Time limit of an exchange, in seconds. The reply to a whole letter may take five times as long.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
    /// Seconds for which an unused connection is kept.
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

impl SmtpConfig {
    /// Returns the defaults for the server called `host`, without a login.
    pub fn to(host: impl Into<String>) -> SmtpConfig {
        SmtpConfig {
            host: host.into(),
            port: None,
            tls: Tls::default(),
            ca_file: None,
            user: None,
            password: None,
            password_file: None,
            oauth: None,
            hello: None,
            connections: connections(),
            timeout_seconds: timeout_seconds(),
            idle_seconds: idle_seconds(),
        }
    }

    fn port(&self) -> u16 {
        self.port.unwrap_or(match self.tls {
            Tls::Tls => 465,
            Tls::StartTls => 587,
            Tls::None => 25,
        })
    }

    /// Explains a port that does not speak the kind of TLS that is set.
    pub fn port_advice(&self) -> Option<String> {
        match (self.tls, self.port()) {
            (Tls::StartTls | Tls::None, port @ 465) => Some(tls::speaks_tls(port, "outbox.smtp", 587)),
            (Tls::Tls, port @ (25 | 587)) => Some(tls::speaks_starttls(port, "outbox.smtp", 465)),
            _ => None,
        }
    }

    fn step_limit(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.max(1))
    }
}

/// A pool of connections to a mail server.
pub struct Smtp {
    settings: SmtpConfig,
    trust: Arc<ClientConfig>,
    /// Unused connections, the one used last at the end.
    kept: Mutex<Vec<Kept>>,
}

/// A connection that waits for the next letter.
struct Kept {
    conversation: Conversation,
    since: Instant,
}

impl Smtp {
    pub(super) fn new(settings: SmtpConfig) -> Result<Smtp, Error> {
        let trust = tls::client_config(settings.ca_file.as_deref())?;
        Ok(Smtp { settings, trust, kept: Mutex::default() })
    }

    pub(super) async fn check(&self) -> Result<Checked, Error> {
        let conversation = self.connect().await?;
        let name = one_line(conversation.server_name());
        let is_anonymous = self.settings.user.is_none() && conversation.offers_login();
        conversation.quit().await;
        let login = if self.settings.user.is_some() { "logged in" } else { "no login" };
        let SmtpConfig { host, tls, .. } = &self.settings;
        let port = self.settings.port();
        Ok(Checked {
            found: format!("SMTP {host}:{port} ({tls}), {login}, the server calls itself {name}"),
            warning: is_anonymous.then_some(
                "the server offers a login, and none is set; most such servers then refuse mail to other domains. Set \
                 outbox.smtp.user",
            ),
        })
    }

    /// Ends the connections that are not in use.
    pub(super) async fn close(&self) {
        let kept = std::mem::take(&mut *self.kept());
        for kept in kept {
            kept.conversation.quit().await;
        }
    }

    /// Sends one letter and returns the server's reply to it.
    pub(super) async fn send(
        &self,
        return_path: Option<Address>,
        to: Address,
        letter: &[u8],
    ) -> Result<String, SendError> {
        if let Some(mut conversation) = self.take_kept() {
            match conversation.send(return_path.clone(), to.clone(), letter).await {
                // Servers end unused connections. This one cannot have taken the letter, so send it over a
                // new one.
                Err(failure) if failure.ended_before_letter() => {}
                sent => return self.finish(conversation, sent).await,
            }
        }
        let mut conversation = self.connect().await?;
        let sent = conversation.send(return_path, to, letter).await;
        self.finish(conversation, sent).await
    }

    /// Keeps the connection if it can be used again. After a transient refusal the next letter gets a new
    /// one: it may reach another server behind the same name, while this one would refuse every retry.
    async fn finish(
        &self,
        mut conversation: Conversation,
        sent: Result<Response, Failure>,
    ) -> Result<String, SendError> {
        if sent.as_ref().is_err_and(Failure::is_transient) {
            conversation.quit().await;
        } else if sent.is_ok() || conversation.reset().await {
            self.kept().push(Kept { conversation, since: Instant::now() });
        }
        let reply = sent?;
        Ok(one_line(&format!("{} {}", reply.code(), reply.first_line().unwrap_or_default())))
    }

    async fn connect(&self) -> Result<Conversation, Error> {
        Conversation::open(&self.settings, &self.trust).await
    }

    fn take_kept(&self) -> Option<Conversation> {
        let limit = Duration::from_secs(self.settings.idle_seconds);
        let mut kept = self.kept();
        kept.retain(|kept| kept.since.elapsed() < limit);
        // Take the connection used last, because the server is least likely to have ended it.
        kept.pop().map(|kept| kept.conversation)
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Failure> for SendError {
    fn from(failure: Failure) -> SendError {
        let refusal = match failure {
            Failure::Broken {
                exchange: Exchange::Sender | Exchange::Recipient | Exchange::Data | Exchange::Letter,
                error,
            } => {
                return SendError::Interrupted(error);
            }
            Failure::Broken { error, .. } => return SendError::Unreachable(error),
            Failure::Refused(refusal) => refusal,
        };
        match refusal.smtp.map(|status| status.code) {
            // The server requires a login, or a different one (RFC 4954, 6). The letter is not at fault.
            Some(530 | 534 | 535 | 538) => SendError::Unreachable(Error::Login(refusal)),
            _ if refusal.has_transient_code() => SendError::NotNow(refusal),
            _ => SendError::Refused(refusal),
        }
    }
}
