//! The tokens of a login, and the times of their renewal.
//!
//! The file with the tokens of a login: private to its owner, replaced by rename, and locked during a
//! renewal.
//!
//! One request to a token server: HTTPS by hyper over our own TLS, without redirects.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use oauth2::basic::BasicTokenType;
use oauth2::http::header::{HOST, HeaderValue};
use oauth2::http::{Request, Response, Uri};
use oauth2::{ExtraTokenFields, StandardTokenResponse, TokenResponse as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::owner::{give_to_owner_at, parent_of};
use crate::{Error, Secret, tls};

/// Lifetime of an access token if the server does not say.
const USUAL_LIFETIME: Duration = Duration::from_secs(3600);

/// Delay before asking the provider again after it ended the login.
const ENDED_RETRY: TimeDelta = TimeDelta::minutes(10);

/// Time by which the clock may be set back before a token is distrusted.
const TOLERANCE: TimeDelta = TimeDelta::minutes(1);

/// Age at which an unused login is renewed: if the provider cannot be reached, a day is left of the week.
const UNUSED_RENEWAL: TimeDelta = TimeDelta::days(6);

/// A token server's answer.
pub type TokenAnswer = StandardTokenResponse<RefreshLifetime, BasicTokenType>;

/// The lifetime of a refresh token. Few providers state it; Google does, whose logins end after seven days
/// while the program is "in testing".
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RefreshLifetime {
    /// Seconds. Any other value from a server must not spoil the login.
    #[serde(default)]
    refresh_token_expires_in: Option<Value>,
}

impl ExtraTokenFields for RefreshLifetime {}

/// The error if there is no login.
pub const LOG_IN: &str = "nobody has logged in yet; run: fogpost login";

/// The tokens of a login.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tokens {
    #[serde(serialize_with = "serialize_secret")]
    pub refresh: Secret,
    /// Missing after a mail server has refused the access token.
    pub access: Option<AccessToken>,
    pub logged_in_at: DateTime<Utc>,
    pub renewed_at: DateTime<Utc>,
    /// The time at which the provider said that the login has ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// The time at which the login ends, if the provider has said so.
    pub ends_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AccessToken {
    #[serde(serialize_with = "serialize_secret")]
    pub token: Secret,
    pub renew_at: DateTime<Utc>,
}

fn serialize_secret<S: serde::Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.reveal())
}

impl AccessToken {
    fn of(answer: &TokenAnswer, now: DateTime<Utc>) -> AccessToken {
        let token = Secret::new(answer.access_token().secret());
        AccessToken { token, renew_at: renewal(now, answer.expires_in()) }
    }
}

impl Tokens {
    /// Returns the tokens of a new login.
    pub fn new(refresh: Secret, answer: &TokenAnswer, now: DateTime<Utc>) -> Tokens {
        Tokens {
            refresh,
            access: Some(AccessToken::of(answer, now)),
            logged_in_at: now,
            renewed_at: now,
            ended_at: None,
            ends_at: end_of_login(answer, now),
        }
    }

    /// Returns the tokens after a renewal. The provider may have replaced the refresh token.
    pub fn renewed(&self, answer: &TokenAnswer, now: DateTime<Utc>) -> Tokens {
        let refresh = answer.refresh_token().map(|token| Secret::new(token.secret()));
        let ends_at = match &refresh {
            Some(_) => end_of_login(answer, now),
            // The old refresh token stays valid, and so does the end of its login.
            None => end_of_login(answer, now).or(self.ends_at),
        };
        Tokens {
            refresh: refresh.unwrap_or_else(|| self.refresh.clone()),
            access: Some(AccessToken::of(answer, now)),
            logged_in_at: self.logged_in_at,
            renewed_at: now,
            ended_at: None,
            ends_at,
        }
    }

    /// Returns the tokens after the provider has said that the login has ended.
    pub fn ended(&self, now: DateTime<Utc>) -> Tokens {
        Tokens { ended_at: Some(now), ..self.clone() }
    }

    /// Returns the tokens without the access token, if that is `token`.
    pub fn without(&self, token: &Secret) -> Option<Tokens> {
        let is_ours = self.access.as_ref().is_some_and(|access| access.token == *token);
        is_ours.then(|| Tokens { access: None, ..self.clone() })
    }

    /// Returns the access token, unless it is time for a new one. A token from the future was made before the
    /// clock was set back, so nobody knows when it ends.
    pub fn fresh_access(&self, now: DateTime<Utc>) -> Option<&Secret> {
        let access = self.access.as_ref()?;
        let good = self.renewed_at - TOLERANCE..access.renew_at;
        good.contains(&now).then_some(&access.token)
    }

    /// Whether the provider said a short time ago that the login has ended.
    pub fn has_just_ended(&self, now: DateTime<Utc>) -> bool {
        self.ended_at.is_some_and(|ended| (ended - TOLERANCE..ended + ENDED_RETRY).contains(&now))
    }

    /// Whether the login is due to be renewed even if nobody uses it.
    pub fn are_old(&self, now: DateTime<Utc>) -> bool {
        now - self.renewed_at >= UNUSED_RENEWAL
    }
}

/// Returns the time at which the refresh token ends, if the server says so.
fn end_of_login(answer: &TokenAnswer, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let seconds = answer.extra_fields().refresh_token_expires_in.as_ref()?.as_i64()?;
    now.checked_add_signed(TimeDelta::try_seconds(seconds)?)
}

/// Returns the time to renew a token: after three quarters of its `lifetime` from now.
fn renewal(now: DateTime<Utc>, lifetime: Option<Duration>) -> DateTime<Utc> {
    // Three quarters of eight days are [`UNUSED_RENEWAL`].
    let lifetime = lifetime.unwrap_or(USUAL_LIFETIME).min(Duration::from_secs(8 * 86_400));
    now + TimeDelta::from_std(lifetime * 3 / 4).unwrap_or_default()
}

/// Maximum time to wait for the lock: longer than a token server may take to answer.
const LOCK_LIMIT: Duration = Duration::from_secs(90);

/// Time between attempts to get the lock.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// Time limit for storing the provider's answer. Request and storing together take less than [`LOCK_LIMIT`].
const STORE_LIMIT: Duration = Duration::from_secs(25);

/// Time between attempts to store it.
const STORE_INTERVAL: Duration = Duration::from_millis(100);

const OWNER_ONLY: u32 = 0o600;

/// A token file whose lock is held until this is dropped.
pub struct TokenFile {
    path: PathBuf,
    /// The lock is on a file of its own, because the token file is replaced.
    _lock: File,
}

impl TokenFile {
    /// Waits for the lock. Cancel-safe.
    pub async fn lock(path: &Path) -> Result<TokenFile, Error> {
        let beside = beside(path, ".lock");
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(OWNER_ONLY)
            .open(&beside)
            .and_then(|lock| give_to_owner_at(&lock, parent_of(path)).map(|()| lock))
            .map_err(|error| lock_fault(&beside, error))?;
        let began = Instant::now();
        loop {
            // Poll for the lock, because a thread that waits in the kernel could not be cancelled.
            match lock.try_lock() {
                Ok(()) => return Ok(TokenFile { path: path.to_owned(), _lock: lock }),
                Err(TryLockError::WouldBlock) if began.elapsed() < LOCK_LIMIT => {
                    tokio::time::sleep(LOCK_INTERVAL).await;
                }
                Err(TryLockError::WouldBlock) => return Err(lock_fault(&beside, ErrorKind::TimedOut.into())),
                Err(TryLockError::Error(error)) => return Err(lock_fault(&beside, error)),
            }
        }
    }

    pub fn read(&self) -> Result<Option<Tokens>, Error> {
        read(&self.path)
    }

    /// Replaces the file, durably. Retries for a while: if a rotated refresh token is not stored, the login
    /// has ended.
    pub async fn replace_patiently(&self, tokens: &Tokens) -> Result<(), Error> {
        let began = Instant::now();
        loop {
            match self.replace(tokens) {
                Err(_) if began.elapsed() < STORE_LIMIT => tokio::time::sleep(STORE_INTERVAL).await,
                replaced => return replaced,
            }
        }
    }

    /// Replaces the file, durably.
    pub fn replace(&self, tokens: &Tokens) -> Result<(), Error> {
        let fault = |error| Error::io(format!("token_file {}", self.path.display()), error);
        let text = serde_json::to_vec_pretty(tokens).expect("tokens are plain text");
        let new = beside(&self.path, ".new");
        // An interrupted attempt may have left this file.
        let _ = fs::remove_file(&new);
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&new).map_err(fault)?;
        let folder = parent_of(&self.path);
        give_to_owner_at(&file, folder).map_err(fault)?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(fault)?;
        fs::rename(&new, &self.path).map_err(fault)?;
        // A rename lasts only once its folder is synced.
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(fault)
    }
}

fn lock_fault(file: &Path, error: io::Error) -> Error {
    Error::io(format!("token_file {}", file.display()), error)
}

/// Reads a token file, if there is one.
pub fn read(path: &Path) -> Result<Option<Tokens>, Error> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(format!("token_file {}", path.display()), error)),
    };
    // The parser's words could repeat a token.
    let invalid = |_| Error::Login(format!("{} is damaged; run: fogpost login", path.display()).into());
    serde_json::from_slice(&text).map(Some).map_err(invalid)
}

/// Returns a file beside `path` whose name ends in `end`.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(end);
    path.with_file_name(name)
}

/// Time limit for the whole exchange.
const LIMIT: Duration = Duration::from_secs(30);

/// Maximum bytes of an answer. Tokens have a few thousand.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Sends a request and returns the answer, whatever its status is.
pub(super) async fn send(
    request: Request<Vec<u8>>,
    ca_file: Option<PathBuf>,
) -> Result<Response<Vec<u8>>, Error> {
    let host = request.uri().host().unwrap_or_default().to_owned();
    let answer = timeout(LIMIT, send_without_limit(request, ca_file)).await;
    answer.unwrap_or_else(|_elapsed| Err(unreachable(&host, io::ErrorKind::TimedOut.into())))
}

async fn send_without_limit(
    request: Request<Vec<u8>>,
    ca_file: Option<PathBuf>,
) -> Result<Response<Vec<u8>>, Error> {
    let uri = request.uri().clone();
    let host = uri.host().unwrap_or_default().to_owned();
    let is_secure = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let tcp = TcpStream::connect((host.as_str(), port)).await.map_err(|error| unreachable(&host, error))?;
    if !is_secure {
        let peer = tcp.peer_addr().map_err(|error| unreachable(&host, error))?;
        if !peer.ip().to_canonical().is_loopback() {
            let text = format!("{uri} is not secure; the address of a token server must begin with https");
            return Err(Error::Configuration(text));
        }
        return exchange(tcp, request, &host).await;
    }
    let trust = tls::client_config(ca_file.as_deref())?;
    let stream = TlsConnector::from(trust).connect(tls::server_name(&host)?, tcp).await;
    exchange(stream.map_err(|error| tls::handshake_fault(&host, error))?, request, &host).await
}

async fn exchange<S>(stream: S, mut request: Request<Vec<u8>>, host: &str) -> Result<Response<Vec<u8>>, Error>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let broken = |error: hyper::Error| unreachable(host, io::Error::other(error));
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // The connection does its work on a task of its own; it ends with the sender.
    tokio::spawn(connection);
    let authority = request.uri().authority().map_or("", |authority| authority.as_str());
    let authority = HeaderValue::from_str(authority).map_err(|_| Error::Malformed)?;
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    // hyper's connection sends a request as it is, and only a proxy expects the whole URI.
    *request.uri_mut() = path.parse::<Uri>().map_err(|_| Error::Malformed)?;
    request.headers_mut().insert(HOST, authority);
    let request = request.map(|body| Full::new(Bytes::from(body)));
    let (head, body) = sender.send_request(request).await.map_err(broken)?.into_parts();
    let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await.map_err(|_| Error::Malformed)?;
    Ok(Response::from_parts(head, body.to_bytes().to_vec()))
}

fn unreachable(host: &str, error: io::Error) -> Error {
    Error::io(format!("cannot reach the token server {host}"), error)
}
