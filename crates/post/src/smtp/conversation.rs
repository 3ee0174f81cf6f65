//! A conversation with an SMTP server (RFC 5321): greeting, EHLO, STARTTLS, AUTH, and one letter after
//! another.
//!
//! lettre builds the commands and parses the replies. The conversation is our own, because lettre's
//! connection
//! - leaves Nagle's algorithm on and sends the end of a letter as a segment of its own, which then waits for
//!   the server's delayed acknowledgement: 23 letters a second on a connection instead of 4,000;
//! - sends one command at a time, while pipelining (RFC 2920) saves two round trips a letter;
//! - cannot start TLS on a stream that its caller connected, and does not expose enhanced status codes.
//!
//! The server is not trusted: its replies are bounded in size, and each exchange in time.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lettre::Address;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::commands::{Auth, Data, Ehlo, Mail, Quit, Rcpt, Rset, Starttls};
use lettre::transport::smtp::extension::{ClientId, MailBodyParameter, MailParameter};
use lettre::transport::smtp::response::{Response, Severity};
use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::SmtpConfig;
use super::wire::{Capabilities, encode_data, read_reply};
use crate::refusal::{Exchange, Refusal};
use crate::{Error, Secret, Tls, host_name, tls};

/// Maximum challenges in a login: LOGIN asks for the user name and the password.
const MAX_CHALLENGES: usize = 2;

/// Time limit for a whole letter, and again for the reply to it, in multiples of that of an exchange: letters
/// are large, and servers filter them before they reply (RFC 5321, 4.5.3.2.6).
const LETTER_STEPS: u32 = 5;

/// Time limit for the reply to QUIT, which nobody needs.
const QUIT_LIMIT: Duration = Duration::from_secs(1);

/// A plain or secured connection.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// An open connection to a mail server that takes letters.
pub(super) struct Conversation {
    stream: BufReader<Box<dyn Stream>>,
    /// Time limit of an exchange.
    limit: Duration,
    /// The name in the server's reply to EHLO.
    server_name: String,
    capabilities: Capabilities,
    usable: bool,
}

/// The reason why an exchange failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server replied with a 4yz or 5yz code.
    Refused(Refusal),
    /// The connection can no longer be used.
    Broken { exchange: Exchange, error: Error },
}

impl Failure {
    /// Whether the connection was lost before the server could have taken the letter.
    pub(super) fn ended_before_letter(&self) -> bool {
        match self {
            Failure::Refused(refusal) => {
                self.ends_connection()
                    && refusal.smtp.is_some_and(|status| status.exchange != Exchange::Letter)
            }
            Failure::Broken { exchange, .. } => *exchange != Exchange::Letter,
        }
    }

    /// Whether the server asks to try again later.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Failure::Refused(refusal) => refusal.has_transient_code(),
            Failure::Broken { .. } => false,
        }
    }

    fn is_timeout(&self) -> bool {
        match self {
            Failure::Broken { error: Error::Io { cause, .. }, .. } => cause.kind() == io::ErrorKind::TimedOut,
            Failure::Broken { .. } | Failure::Refused(_) => false,
        }
    }

    /// Whether the connection is at its end: it broke, or the server replied 421, which closes it (RFC 5321,
    /// 4.2.3).
    fn ends_connection(&self) -> bool {
        match self {
            Failure::Refused(refusal) => refusal.has_code(421),
            Failure::Broken { .. } => true,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        match failure {
            Failure::Refused(refusal) => Error::Server(refusal),
            Failure::Broken { error, .. } => error,
        }
    }
}

impl Conversation {
    /// Connects, secures the connection and logs in, as the settings say.
    pub(super) async fn open(
        settings: &SmtpConfig,
        trust: &Arc<ClientConfig>,
    ) -> Result<Conversation, Error> {
        let mut conversation = Conversation::connect(settings, trust).await?;
        let Some(user) = &settings.user else { return Ok(conversation) };
        let Some(oauth) = &settings.oauth else {
            let password = settings.password.as_ref().map_or("", Secret::reveal);
            conversation.log_in(Credentials::new(user.clone(), password.to_owned())).await?;
            return Ok(conversation);
        };
        let token = oauth.access_token().await?;
        match conversation.show_token(settings, user, &token).await {
            Err(Error::Login(_)) => {}
            shown => return shown.map(|()| conversation),
        }
        // Retry with a new token: the server may have ended this one early.
        oauth.forget(&token).await?;
        let token = oauth.access_token().await?;
        let mut conversation = Conversation::connect(settings, trust).await?;
        conversation.show_token(settings, user, &token).await?;
        Ok(conversation)
    }

    /// Connects and secures the connection, as the settings say.
    async fn connect(settings: &SmtpConfig, trust: &Arc<ClientConfig>) -> Result<Conversation, Error> {
        let host = &settings.host;
        let port = settings.port();
        let limit = settings.step_limit();
        let unreachable = |error| Error::io(format!("cannot reach {host}:{port}"), error);
        let tcp = timeout(limit, TcpStream::connect((host.as_str(), port)))
            .await
            .unwrap_or_else(|_elapsed| Err(io::ErrorKind::TimedOut.into()))
            .map_err(unreachable)?;
        tcp.set_nodelay(true).map_err(unreachable)?;
        let client = match &settings.hello {
            Some(name) => ClientId::Domain(name.clone()),
            None => own_name(tcp.local_addr().map_err(unreachable)?.ip()),
        };
        let stream: Box<dyn Stream> = match settings.tls {
            Tls::Tls => secure(Box::new(tcp), host, trust, limit).await?,
            Tls::StartTls => Box::new(tcp),
            Tls::None => {
                tls::allow_plain(tcp.peer_addr().map_err(unreachable)?.ip())?;
                Box::new(tcp)
            }
        };
        let mut conversation = Conversation::over(stream, limit);
        let greeting = conversation.expect(Exchange::Greeting, limit, Severity::PositiveCompletion).await;
        greeting.map_err(|failure| match settings.tls {
            Tls::StartTls | Tls::None if failure.is_timeout() => tls::silent_greeting(host, port),
            Tls::Tls | Tls::StartTls | Tls::None => failure.into(),
        })?;
        conversation.hello(&client).await?;
        if settings.tls == Tls::StartTls {
            conversation = conversation.start_tls(host, trust).await?;
            conversation.hello(&client).await?;
        }
        Ok(conversation)
    }

    fn over(stream: Box<dyn Stream>, limit: Duration) -> Conversation {
        Conversation {
            stream: BufReader::new(stream),
            limit,
            server_name: String::new(),
            capabilities: Capabilities::default(),
            usable: true,
        }
    }

    pub(super) fn server_name(&self) -> &str {
        &self.server_name
    }

    /// Whether the server offers a login by password.
    pub(super) fn offers_login(&self) -> bool {
        self.capabilities.login.is_some()
    }

    async fn hello(&mut self, client: &ClientId) -> Result<(), Error> {
        let reply = self.command(Exchange::Hello, &Ehlo::new(client.clone()).to_string()).await?;
        self.server_name = reply.first_word().unwrap_or_default().to_owned();
        self.capabilities = Capabilities::of(&reply);
        Ok(())
    }

    /// Returns a new conversation over TLS. It forgets what the server said before, because an attacker could
    /// have changed that (RFC 3207, 4.2).
    async fn start_tls(mut self, host: &str, trust: &Arc<ClientConfig>) -> Result<Conversation, Error> {
        if !self.capabilities.start_tls {
            return Err(Error::Configuration("the mail server does not offer STARTTLS".to_owned()));
        }
        self.command(Exchange::StartTls, &Starttls.to_string()).await?;
        // Bytes after the reply arrived unprotected, but would be read as if they had come over TLS. An
        // attacker may have injected them.
        if !self.stream.buffer().is_empty() {
            return Err(Error::Malformed);
        }
        let stream = secure(self.stream.into_inner(), host, trust, self.limit).await?;
        Ok(Conversation::over(stream, self.limit))
    }

    async fn log_in(&mut self, credentials: Credentials) -> Result<(), Error> {
        let Some(mechanism) = self.capabilities.login else {
            return Err(Error::Configuration(self.capabilities.without_password()));
        };
        let mut command = Auth::new(mechanism, credentials.clone(), None).map_err(|_| Error::Malformed)?;
        for _ in 0..=MAX_CHALLENGES {
            let reply = match self.command(Exchange::Login, &command.to_string()).await {
                Err(Failure::Refused(refusal)) if !refusal.has_transient_code() => {
                    return Err(Error::Login(refusal));
                }
                reply => reply?,
            };
            if !reply.has_code(334) {
                return Ok(());
            }
            command = Auth::new_from_response(mechanism, credentials.clone(), &reply)
                .map_err(|_| Error::Malformed)?;
        }
        Err(Error::Malformed)
    }

    /// Logs in by an access token.
    async fn show_token(&mut self, settings: &SmtpConfig, user: &str, token: &Secret) -> Result<(), Error> {
        let Some(mechanism) = self.capabilities.token_login else {
            let text = "the mail server offers no login by OAuth (OAUTHBEARER, XOAUTH2)";
            return Err(Error::Configuration(text.to_owned()));
        };
        let first = mechanism.first_message(user, &settings.host, settings.port(), token);
        let mut command = format!("AUTH {} {}\r\n", mechanism.name(), STANDARD.encode(first));
        for _ in 0..=MAX_CHALLENGES {
            let reply = match self.command(Exchange::Login, &command).await {
                Err(Failure::Refused(refusal)) if !refusal.has_transient_code() => {
                    return Err(Error::Login(refusal));
                }
                reply => reply?,
            };
            if !reply.has_code(334) {
                return Ok(());
            }
            // The server is explaining a refusal, which follows this acknowledgement.
            command = format!("{}\r\n", STANDARD.encode(mechanism.acknowledgement()));
        }
        Err(Error::Malformed)
    }

    /// Sends one letter to one recipient (RFC 5321, 3.3), and returns the server's reply.
    pub(super) async fn send(
        &mut self,
        return_path: Option<Address>,
        to: Address,
        letter: &[u8],
    ) -> Result<Response, Failure> {
        let sent = self.send_unpipelined(return_path, to, letter).await;
        if sent.as_ref().is_err_and(Failure::ends_connection) {
            self.usable = false;
        }
        sent
    }

    async fn send_unpipelined(
        &mut self,
        return_path: Option<Address>,
        to: Address,
        letter: &[u8],
    ) -> Result<Response, Failure> {
        let parameters = self.mail_parameters(return_path.as_ref(), &to, letter)?;
        let mail = Mail::new(return_path, parameters).to_string();
        let rcpt = Rcpt::new(to, Vec::new()).to_string();
        if self.capabilities.pipelining {
            self.pipeline(&[mail, rcpt, Data.to_string()]).await?;
        } else {
            self.command(Exchange::Sender, &mail).await?;
            self.command(Exchange::Recipient, &rcpt).await?;
            self.write(Exchange::Data, self.limit, Data.to_string().as_bytes()).await?;
            self.expect(Exchange::Data, self.limit, Severity::PositiveIntermediate).await?;
        }
        let limit = self.limit * LETTER_STEPS;
        self.write(Exchange::Letter, limit, &encode_data(letter)).await?;
        self.expect(Exchange::Letter, limit, Severity::PositiveCompletion).await
    }

    fn mail_parameters(
        &self,
        return_path: Option<&Address>,
        to: &Address,
        letter: &[u8],
    ) -> Result<Vec<MailParameter>, Failure> {
        let mut parameters = Vec::new();
        let is_ascii = |address: &Address| AsRef::<str>::as_ref(address).is_ascii();
        if !is_ascii(to) || !return_path.is_none_or(is_ascii) {
            if !self.capabilities.smtp_utf8 {
                let text = "the mail server does not accept addresses beyond ASCII (no SMTPUTF8)";
                return Err(Failure::Refused(text.into()));
            }
            parameters.push(MailParameter::SmtpUtfEight);
        }
        // A server without 8BITMIME gets the same bytes, because nearly all servers accept them.
        if self.capabilities.eight_bit_mime && !letter.is_ascii() {
            parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
        }
        // The size lets the server refuse a letter that is too large before it is transferred.
        if self.capabilities.size {
            parameters.push(MailParameter::Size(letter.len()));
        }
        Ok(parameters)
    }

    /// Sends MAIL, RCPT and DATA in one segment. The server replies to each in order, even after a refusal
    /// (RFC 2920, 3.1).
    async fn pipeline(&mut self, commands: &[String; 3]) -> Result<(), Failure> {
        self.write(Exchange::Sender, self.limit, commands.concat().as_bytes()).await?;
        let mut refused = None;
        for exchange in [Exchange::Sender, Exchange::Recipient] {
            match self.expect(exchange, self.limit, Severity::PositiveCompletion).await {
                Ok(_) => {}
                Err(failure) if failure.ends_connection() => {
                    self.usable = false;
                    return Err(refused.unwrap_or(failure));
                }
                Err(failure) => refused = refused.or(Some(failure)),
            }
        }
        let data = self.expect(Exchange::Data, self.limit, Severity::PositiveIntermediate).await;
        let Some(refused) = refused else { return data.map(|_| ()) };
        // If the server asks for the letter anyway, it would take whatever comes next for the letter.
        if !matches!(data, Err(Failure::Refused(_))) {
            self.usable = false;
        }
        Err(refused)
    }

    /// Makes the server forget the letter that it refused. Returns whether the connection can be used again.
    pub(super) async fn reset(&mut self) -> bool {
        self.usable = self.usable && self.command(Exchange::Reset, &Rset.to_string()).await.is_ok();
        self.usable
    }

    pub(super) async fn quit(mut self) {
        // A courtesy: the connection is closed whatever the server replies.
        let _ = timeout(QUIT_LIMIT, self.command(Exchange::Quit, &Quit.to_string())).await;
    }

    /// Sends a command and returns its positive reply.
    async fn command(&mut self, exchange: Exchange, command: &str) -> Result<Response, Failure> {
        self.write(exchange, self.limit, command.as_bytes()).await?;
        let reply = self.read_reply(exchange, self.limit).await?;
        if reply.is_positive() {
            Ok(reply)
        } else {
            Err(Failure::Refused(Refusal::from_reply(exchange, &reply)))
        }
    }

    /// Reads the next reply, which must have this severity.
    async fn expect(
        &mut self,
        exchange: Exchange,
        limit: Duration,
        severity: Severity,
    ) -> Result<Response, Failure> {
        let reply = self.read_reply(exchange, limit).await?;
        match reply.code().severity {
            found if found == severity => Ok(reply),
            Severity::TransientNegativeCompletion | Severity::PermanentNegativeCompletion => {
                Err(Failure::Refused(Refusal::from_reply(exchange, &reply)))
            }
            Severity::PositiveCompletion | Severity::PositiveIntermediate => {
                Err(Failure::Broken { exchange, error: Error::Malformed })
            }
        }
    }

    async fn write(&mut self, exchange: Exchange, limit: Duration, bytes: &[u8]) -> Result<(), Failure> {
        let write = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        within(limit, exchange, write).await
    }

    async fn read_reply(&mut self, exchange: Exchange, limit: Duration) -> Result<Response, Failure> {
        let reply = within(limit, exchange, read_reply(&mut self.stream)).await?;
        reply.ok_or(Failure::Broken { exchange, error: Error::Malformed })
    }
}

/// Runs an exchange within its time limit.
async fn within<T>(
    limit: Duration,
    exchange: Exchange,
    work: impl Future<Output = io::Result<T>>,
) -> Result<T, Failure> {
    let error = match timeout(limit, work).await {
        Ok(Ok(done)) => return Ok(done),
        Ok(Err(error)) => Error::io(format!("the connection to the mail server broke ({exchange})"), error),
        Err(_elapsed) => {
            let what = format!("the mail server did not answer in time ({exchange})");
            Error::io(what, io::ErrorKind::TimedOut.into())
        }
    };
    Err(Failure::Broken { exchange, error })
}

async fn secure(
    stream: Box<dyn Stream>,
    host: &str,
    trust: &Arc<ClientConfig>,
    limit: Duration,
) -> Result<Box<dyn Stream>, Error> {
    let handshake = TlsConnector::from(Arc::clone(trust)).connect(tls::server_name(host)?, stream);
    let secured =
        timeout(limit, handshake).await.unwrap_or_else(|_elapsed| Err(io::ErrorKind::TimedOut.into()));
    Ok(Box::new(secured.map_err(|error| tls::handshake_fault(host, error))?))
}

/// Returns the name for EHLO: an address literal unless this machine has a qualified name (RFC 5321, 4.1.4).
fn own_name(local: IpAddr) -> ClientId {
    let name = host_name();
    match local {
        _ if name.contains('.') => ClientId::Domain(name),
        IpAddr::V4(ip) => ClientId::Ipv4(ip),
        IpAddr::V6(ip) => ClientId::Ipv6(ip),
    }
}
