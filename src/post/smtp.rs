//! Letters out to a mail server by SMTP (RFC 5321), over connections that are kept for the next letter.
//!
//! The library speaks the protocol over a stream of ours: its own leaves Nagle's algorithm on and so sends 23 letters
//! a second on a connection. Each letter has one recipient, so that one bad address cannot hold up the others.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lettre::Address;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::{Extension, MailBodyParameter, MailParameter};
use lettre::transport::smtp::response::Response;
use rustls::ClientConfig;
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::outbox::SendError;
use super::{Error, Secret, Tls, one_line, tls, wire};

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
    /// The password that goes with it; or else a file that holds it.
    pub password: Option<Secret>,
    pub password_file: Option<PathBuf>,
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

impl Settings {
    /// The defaults for the server called `host`, without a login.
    pub fn to(host: impl Into<String>) -> Settings {
        Settings {
            host: host.into(),
            port: None,
            tls: Tls::default(),
            ca_file: None,
            user: None,
            password: None,
            password_file: None,
            hello: None,
            connections: connections(),
            timeout_seconds: timeout_seconds(),
            idle_seconds: idle_seconds(),
        }
    }
}

/// How many times `timeout_seconds` the server may take over the end of a letter (RFC 5321, 4.5.3.2.6: it may be
/// filtering it just then).
const END_OF_LETTER: u32 = 5;

/// A pool of connections to a mail server.
pub struct Smtp {
    settings: Settings,
    trust: Arc<ClientConfig>,
    /// As many letters at a time as there may be connections.
    permits: Semaphore,
    /// Unused connections, the longest unused first.
    kept: Mutex<Vec<Session>>,
}

struct Session {
    connection: AsyncSmtpConnection,
    /// Whether the server takes several commands at once (RFC 2920).
    pipelining: bool,
    used: Instant,
}

/// A step that failed.
struct Fault {
    error: SendError,
    /// Whether the connection is of no more use.
    lost: bool,
    /// Whether the server cannot have taken the letter.
    early: bool,
}

impl Fault {
    /// This fault, where the connection still serves for the answers that follow.
    fn answered(self) -> Result<Option<Fault>, Fault> {
        if self.lost { Err(self) } else { Ok(Some(self)) }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault { error: SendError::Unreachable(error), lost: true, early: true }
    }
}

impl Smtp {
    pub(super) fn new(settings: Settings) -> Result<Smtp, Error> {
        let trust = tls::client_config(settings.ca_file.as_deref())?;
        let permits = Semaphore::new(settings.connections.max(1));
        Ok(Smtp { settings, trust, permits, kept: Mutex::default() })
    }

    pub(super) async fn check(&self) -> Result<String, Error> {
        let session = self.connect().await?;
        let name = one_line(session.connection.server_info().name());
        session.quit().await;
        let login = if self.settings.user.is_some() { "logged in" } else { "no login" };
        let Settings { host, tls, .. } = &self.settings;
        Ok(format!("SMTP {host}:{} ({tls}), {login}, the server calls itself {name}", self.port()))
    }

    /// Ends the connections that are not in use.
    pub(super) async fn close(&self) {
        let kept = std::mem::take(&mut *self.kept());
        for session in kept {
            session.quit().await;
        }
    }

    pub(super) async fn send(
        &self,
        return_path: Option<Address>,
        to: Address,
        bytes: &[u8],
    ) -> Result<String, SendError> {
        let _turn = self.permits.acquire().await.expect("the permits is never closed");
        let bytes = network_lines(bytes);
        if let Some(mut session) = self.take_kept() {
            match self.hand_in(&mut session, return_path.clone(), to.clone(), &bytes).await {
                // The server had ended the connection in the meantime, as it may.
                Err(fault) if fault.lost && fault.early => {}
                outcome => return self.settle(session, outcome).await,
            }
        }
        let mut session = self.connect().await?;
        let outcome = self.hand_in(&mut session, return_path, to, &bytes).await;
        self.settle(session, outcome).await
    }

    /// Keeps the connection if it can be used again.
    async fn settle(
        &self,
        mut session: Session,
        outcome: Result<String, Fault>,
    ) -> Result<String, SendError> {
        let usable = match &outcome {
            Ok(_) => true,
            Err(fault) if fault.lost => false,
            Err(_) => self.step("RSET", 1, session.connection.command(Rset)).await.is_ok(),
        };
        if usable {
            session.used = Instant::now();
            self.kept().push(session);
        }
        outcome.map_err(|fault| fault.error)
    }

    fn take_kept(&self) -> Option<Session> {
        let idle = Duration::from_secs(self.settings.idle_seconds);
        let mut kept = self.kept();
        kept.retain(|session| session.used.elapsed() < idle);
        kept.pop()
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Session>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One letter over an open connection (RFC 5321, 3.3).
    async fn hand_in(
        &self,
        session: &mut Session,
        return_path: Option<Address>,
        to: Address,
        bytes: &[u8],
    ) -> Result<String, Fault> {
        let connection = &mut session.connection;
        let offers = |feature| connection.server_info().supports_feature(feature);
        let mut parameters = Vec::new();
        let plain_address = |address: &Address| AsRef::<str>::as_ref(address).is_ascii();
        if !return_path.iter().chain([&to]).all(plain_address) {
            if !offers(Extension::SmtpUtfEight) {
                let error =
                    SendError::Refused("the mail server takes no such address (no SMTPUTF8)".to_owned());
                return Err(Fault { error, lost: false, early: true });
            }
            parameters.push(MailParameter::SmtpUtfEight);
        }
        if !bytes.is_ascii() && offers(Extension::EightBitMime) {
            parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
        }
        let (mail, rcpt) = (Mail::new(return_path, parameters), Rcpt::new(to, Vec::new()));
        let go_on = if session.pipelining {
            self.ask_at_once(connection, mail, rcpt).await?
        } else {
            self.step("MAIL", 1, connection.command(mail)).await?;
            self.step("RCPT", 1, connection.command(rcpt)).await?;
            self.step("DATA", 1, connection.command(Data)).await?
        };
        if !go_on.has_code(354) {
            return Err(Error::Malformed.into());
        }
        // The end-of-letter mark brings its own line end.
        let bytes = bytes.strip_suffix(b"\r\n").unwrap_or(bytes);
        let taken = self.step("the letter", END_OF_LETTER, connection.message(bytes)).await;
        let taken = taken.map_err(|fault| Fault { early: false, ..fault })?;
        Ok(one_line(&format!("{} {}", taken.code(), taken.first_line().unwrap_or_default())))
    }

    /// The commands before the letter, sent together; each is answered, in order (RFC 2920, 3.1).
    async fn ask_at_once(
        &self,
        connection: &mut AsyncSmtpConnection,
        mail: Mail,
        rcpt: Rcpt,
    ) -> Result<Response, Fault> {
        let together = format!("{mail}{rcpt}{Data}");
        let mail = self.step("MAIL", 1, connection.command(together)).await;
        let mail = mail.map_or_else(|fault| fault.answered(), |_| Ok(None))?;
        let rcpt = self.step("RCPT", 1, connection.read_response()).await;
        let rcpt = rcpt.map_or_else(|fault| fault.answered(), |_| Ok(None))?;
        let data = self.step("DATA", 1, connection.read_response()).await;
        match mail.or(rcpt) {
            None => data,
            // A server that wants the letter all the same is left, for it would pass on an empty one.
            Some(refused) => {
                let refused_too = data.is_err_and(|fault| !fault.lost);
                Err(Fault { lost: !refused_too, ..refused })
            }
        }
    }

    async fn step(
        &self,
        what: &str,
        times: u32,
        work: impl Future<Output = Result<Response, lettre::transport::smtp::Error>>,
    ) -> Result<Response, Fault> {
        match timeout(self.patience() * times, work).await {
            Ok(answer) => answer.map_err(|error| judge(what, error)),
            Err(_late) => Err(late(what).into()),
        }
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(self.settings.timeout_seconds.max(1))
    }

    fn port(&self) -> u16 {
        self.settings.port.unwrap_or(match self.settings.tls {
            Tls::Tls => 465,
            Tls::StartTls => 587,
            Tls::None => 25,
        })
    }

    /// A greeted connection, logged in if there is a login.
    async fn connect(&self) -> Result<Session, Error> {
        let opened = timeout(self.patience(), wire::open(&self.settings, self.port(), &self.trust))
            .await
            .map_err(|_late| late("the connection"))?;
        let (wire, hello) = opened?;
        let pipelining = wire.pipelining();
        let greeted = AsyncSmtpConnection::connect_with_transport(Box::new(wire), &hello);
        let greeted = timeout(self.patience(), greeted).await.map_err(|_late| late("the greeting"))?;
        let mut connection = greeted.map_err(|error| reached("the greeting", &error))?;
        if let Some(user) = &self.settings.user {
            let password = self.settings.password.as_ref().map_or("", Secret::reveal);
            let credentials = Credentials::new(user.clone(), password.to_owned());
            let mechanisms = [Mechanism::Plain, Mechanism::Login];
            let offered = connection.server_info().get_auth_mechanism(&mechanisms).is_some();
            if !offered {
                return Err(Error::Configuration("the mail server offers no login by password".to_owned()));
            }
            let login = timeout(self.patience(), connection.auth(&mechanisms, &credentials)).await;
            login.map_err(|_late| late("the login"))?.map_err(|error| match error.is_permanent() {
                true => Error::Login(words(&error)),
                false => reached("the login", &error),
            })?;
        }
        Ok(Session { connection, pipelining: pipelining.load(Ordering::Relaxed), used: Instant::now() })
    }
}

impl Session {
    async fn quit(mut self) {
        // It is a courtesy: whether the server still answers changes nothing.
        let _ = timeout(Duration::from_secs(1), self.connection.quit()).await;
    }
}

fn late(what: &str) -> Error {
    Error::io(format!("the mail server kept silent over {what}"), io::ErrorKind::TimedOut.into())
}

/// The server's own words, or the library's.
fn words(error: &lettre::transport::smtp::Error) -> String {
    let said = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    one_line(&error.status().map_or(said.clone(), |code| format!("{code} {said}")))
}

fn reached(what: &str, error: &lettre::transport::smtp::Error) -> Error {
    match error.status() {
        Some(_) => Error::Server(words(error)),
        None => Error::io(format!("the connection broke over {what}"), io::Error::other(words(error))),
    }
}

/// What an answer to MAIL, RCPT, DATA or the letter means.
fn judge(what: &str, error: lettre::transport::smtp::Error) -> Fault {
    let Some(code) = error.status().map(u16::from) else {
        return reached(what, &error).into();
    };
    let error = match code {
        // RFC 4954, 6: it wants another login, or a login at all; the letter is not at fault.
        530 | 534 | 535 | 538 => SendError::Unreachable(Error::Login(words(&error))),
        500.. => SendError::Refused(words(&error)),
        _ => SendError::NotNow(words(&error)),
    };
    Fault { error, lost: code == 421, early: true }
}

/// The letter with CRLF at each line's end and nowhere else: a bare CR or LF could pass for a letter's end with some
/// servers, and another letter be smuggled in behind it (RFC 5321, 2.3.8).
fn network_lines(bytes: &[u8]) -> Cow<'_, [u8]> {
    let at = |i: usize| bytes.get(i).copied();
    let bare = |i: usize| match bytes[i] {
        b'\n' => i == 0 || at(i - 1) != Some(b'\r'),
        b'\r' => at(i + 1) != Some(b'\n'),
        _ => false,
    };
    if !(0..bytes.len()).any(bare) {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len() + 64);
    for (i, &byte) in bytes.iter().enumerate() {
        if bare(i) { out.extend_from_slice(b"\r\n") } else { out.push(byte) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_line_ends_become_whole_ones() {
        assert_eq!(&*network_lines(b"a\nb\r\nc\rd\n.\n"), b"a\r\nb\r\nc\r\nd\r\n.\r\n");
        assert!(matches!(network_lines(b"a\r\nb\r\n"), Cow::Borrowed(_)));
        assert_eq!(&*network_lines(b"\n\r"), b"\r\n\r\n");
    }
}
