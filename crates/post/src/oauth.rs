//! Logins without a password (OAuth 2.0, RFC 6749): the tokens for mail servers, and their renewal.
//!
//! A person logs in once on each machine (`fogpost login`). After that the refresh token is exchanged for
//! access tokens, each valid for about an hour. Both are in the token file and nowhere else: every connection
//! reads them there, and a renewal locks the file, so that the mailbox, the outbox and other programs with
//! the same login renew it once.
//!
//! Mechanisms that show an access token to a mail server: OAUTHBEARER (RFC 7628), or Google's and Microsoft's
//! XOAUTH2.

use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};
use oauth2::basic::{
    BasicErrorResponse, BasicErrorResponseType, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse,
};
use oauth2::{
    AuthType, AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, DeviceAuthorizationUrl,
    EndpointNotSet, EndpointSet, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RefreshToken,
    RequestTokenError, Scope, StandardDeviceAuthorizationResponse, StandardRevocableToken,
    TokenResponse as _, TokenUrl,
};
use serde::Deserialize;

use self::tokens::{LOG_IN, TokenAnswer, TokenFile, Tokens};
use super::{Error, Secret, one_line};

mod tokens;

/// Time limit for a person to log in by device code.
const LOGIN_LIMIT: Duration = Duration::from_secs(15 * 60);

/// The scopes for mail of Microsoft 365 and Outlook.com.
const MICROSOFT_SCOPES: [&str; 3] = [
    "https://outlook.office.com/IMAP.AccessAsUser.All",
    "https://outlook.office.com/SMTP.Send",
    "offline_access",
];

/// A login by OAuth.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OauthLogin {
    /// A provider whose addresses are known.
    pub provider: Option<Provider>,
    /// Microsoft's name for the organisation; `common` for any.
    #[serde(default = "common")]
    pub tenant: String,
    /// The program's ID, as registered with the provider.
    pub client_id: String,
    /// The program's password, if the provider gave one; `client_secret_file` may hold it instead.
    pub client_secret: Option<Secret>,
    pub client_secret_file: Option<PathBuf>,
    /// The address of the token server.
    pub token_url: Option<String>,
    /// The address at which a login by device code begins (RFC 8628).
    pub device_url: Option<String>,
    /// The address at which a login in the browser begins.
    pub auth_url: Option<String>,
    /// The scopes that the program asks for.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// This machine's file of tokens.
    #[serde(default = "default_token_file")]
    pub token_file: PathBuf,
    /// A PEM file with the certificate authorities to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    Microsoft,
}

fn common() -> String {
    "common".to_owned()
}

fn default_token_file() -> PathBuf {
    PathBuf::from("oauth.token")
}

/// A client of the provider, with or without the address of the token server.
type ClientWith<TokenAddress> = oauth2::Client<
    BasicErrorResponse,
    TokenAnswer,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    TokenAddress,
>;

type Client = ClientWith<EndpointSet>;

type TokenError = RequestTokenError<Error, BasicErrorResponse>;

/// A login by device code that waits for a person.
pub struct DeviceLogin(StandardDeviceAuthorizationResponse);

impl DeviceLogin {
    /// Returns the page that the person opens.
    pub fn page(&self) -> &str {
        self.0.verification_uri()
    }

    /// Returns the code that the person enters there.
    pub fn code(&self) -> &str {
        self.0.user_code().secret()
    }
}

/// A login in the browser that waits for a person.
pub struct BrowserLogin {
    /// The page that the person opens.
    pub page: String,
    redirect: RedirectUrl,
    state: CsrfToken,
    verifier: PkceCodeVerifier,
}

/// The state of a login.
#[derive(Debug, Clone, Copy)]
pub struct LoginState {
    pub logged_in_at: DateTime<Utc>,
    pub renewed_at: DateTime<Utc>,
    /// The time at which the provider ends it, if it has said so.
    pub ends_at: Option<DateTime<Utc>>,
    /// Whether the provider has ended it, so that a person must log in again.
    pub has_ended: bool,
}

impl OauthLogin {
    /// Returns all paths in the settings.
    pub fn paths(&mut self) -> Vec<&mut PathBuf> {
        let files = self.ca_file.iter_mut().chain(&mut self.client_secret_file);
        files.chain([&mut self.token_file]).collect()
    }

    /// Returns the files that hold secrets.
    pub fn secret_files(&self) -> Vec<PathBuf> {
        self.client_secret_file.iter().chain([&self.token_file]).cloned().collect()
    }

    /// # Errors
    /// Returns a sentence that names the key if an address is missing.
    pub fn check(&self) -> Result<(), String> {
        if self.token_url().is_none() {
            return Err("oauth.token_url is missing; set it, or provider = \"microsoft\"".to_owned());
        }
        if self.device_url().is_none() && self.auth_url().is_none() {
            return Err("oauth needs device_url or auth_url for `fogpost login`".to_owned());
        }
        if self.client_secret.is_some() && self.client_secret_file.is_some() {
            return Err("oauth has client_secret and client_secret_file; remove one".to_owned());
        }
        Ok(())
    }

    fn token_url(&self) -> Option<String> {
        self.token_url.clone().or_else(|| self.microsoft("token"))
    }

    /// Returns the address at which a login by device code begins, if the provider has one.
    pub fn device_url(&self) -> Option<String> {
        self.device_url.clone().or_else(|| self.microsoft("devicecode"))
    }

    fn auth_url(&self) -> Option<String> {
        self.auth_url.clone().or_else(|| self.microsoft("authorize"))
    }

    fn microsoft(&self, page: &str) -> Option<String> {
        let Provider::Microsoft = self.provider?;
        Some(format!("https://login.microsoftonline.com/{}/oauth2/v2.0/{page}", self.tenant))
    }

    fn scopes(&self) -> Vec<Scope> {
        let scopes: Vec<String> = match self.provider {
            Some(Provider::Microsoft) if self.scopes.is_empty() => {
                MICROSOFT_SCOPES.map(ToOwned::to_owned).to_vec()
            }
            Some(Provider::Microsoft) | None => self.scopes.clone(),
        };
        scopes.into_iter().map(Scope::new).collect()
    }

    fn client(&self) -> Result<Client, Error> {
        let url = self.token_url().ok_or_else(|| missing("token_url"))?;
        let client = ClientWith::<EndpointNotSet>::new(ClientId::new(self.client_id.clone()))
            .set_auth_type(AuthType::RequestBody)
            .set_token_uri(TokenUrl::new(url).map_err(|error| faulty("token_url", &error))?);
        Ok(match self.client_secret()? {
            Some(secret) => client.set_client_secret(secret),
            None => client,
        })
    }

    fn client_secret(&self) -> Result<Option<ClientSecret>, Error> {
        if let Some(secret) = &self.client_secret {
            return Ok(Some(ClientSecret::new(secret.reveal().to_owned())));
        }
        let Some(file) = &self.client_secret_file else { return Ok(None) };
        let secret = Secret::in_file(file).map_err(|error| {
            Error::Configuration(format!("client_secret_file {}: {error}", file.display()))
        })?;
        Ok(Some(ClientSecret::new(secret.reveal().trim_end().to_owned())))
    }

    /// Returns an access token that stays valid for a while, renewed if necessary.
    ///
    /// # Errors
    /// [`Error::Login`] if a person must log in (again).
    pub(super) async fn access_token(&self) -> Result<Secret, Error> {
        if let Some(token) = usable(tokens::read(&self.token_file)?.as_ref())? {
            return Ok(token);
        }
        // Renew in a separate task: if it were cancelled with its caller, a rotated refresh token could be
        // lost.
        let login = self.clone();
        let renewing = tokio::spawn(async move { login.renew().await });
        renewing.await.unwrap_or(Err(Error::Stopped))
    }

    async fn renew(&self) -> Result<Secret, Error> {
        let file = TokenFile::lock(&self.token_file).await?;
        let read = file.read()?;
        // The previous holder of the lock may have renewed the login.
        if let Some(token) = usable(read.as_ref())? {
            return Ok(token);
        }
        let Some(tokens) = read else { return Err(Error::Login(LOG_IN.into())) };
        let http = |request| tokens::send(request, self.ca_file.clone());
        let refresh = RefreshToken::new(tokens.refresh.reveal().to_owned());
        let client = self.client()?;
        let answer = match client.exchange_refresh_token(&refresh).request_async(&http).await {
            Ok(answer) => answer,
            Err(error) => {
                if has_ended(&error) {
                    // Note it in the file, so that no other connection asks the provider again for a while.
                    file.replace_patiently(&tokens.ended(Utc::now())).await?;
                }
                return Err(token_server_error(error));
            }
        };
        let renewed = tokens.renewed(&answer, Utc::now());
        // Save the tokens before using the access token: the provider may have ended the old refresh token.
        file.replace_patiently(&renewed).await?;
        tracing::debug!("login renewed");
        Ok(Secret::new(answer.access_token().secret()))
    }

    /// Renews the login if nobody has renewed it for six days: providers end unused logins, and a standby
    /// daemon does not use its own.
    ///
    /// # Errors
    /// [`Error::Login`] if a person must log in again.
    pub async fn renew_weekly(&self) -> Result<(), Error> {
        match tokens::read(&self.token_file)? {
            Some(tokens) if tokens.are_old(Utc::now()) => self.access_token().await.map(drop),
            Some(_) | None => Ok(()),
        }
    }

    /// Notes that a mail server refused an access token, so that the next one is new.
    pub(super) async fn forget(&self, token: &Secret) -> Result<(), Error> {
        let file = TokenFile::lock(&self.token_file).await?;
        match file.read()?.and_then(|tokens| tokens.without(token)) {
            Some(tokens) => file.replace(&tokens),
            None => Ok(()),
        }
    }

    /// Returns the state of the login, if there is one.
    ///
    /// # Errors
    /// Returns an error if the tokens cannot be read.
    pub fn state(&self) -> Result<Option<LoginState>, Error> {
        Ok(tokens::read(&self.token_file)?.map(|tokens| LoginState {
            logged_in_at: tokens.logged_in_at,
            renewed_at: tokens.renewed_at,
            ends_at: tokens.ends_at,
            has_ended: tokens.ended_at.is_some(),
        }))
    }

    /// Begins a login by device code (RFC 8628).
    ///
    /// # Errors
    /// Returns an error if the provider refuses or does not answer.
    pub async fn begin_device_login(&self) -> Result<DeviceLogin, Error> {
        let url = self.device_url().ok_or_else(|| missing("device_url"))?;
        let url = DeviceAuthorizationUrl::new(url).map_err(|error| faulty("device_url", &error))?;
        let http = |request| tokens::send(request, self.ca_file.clone());
        let client = self.client()?.set_device_authorization_url(url);
        let request = client.exchange_device_code().add_scopes(self.scopes());
        request.request_async(&http).await.map(DeviceLogin).map_err(token_server_error)
    }

    /// Waits until the person has entered the code, and stores the login.
    ///
    /// # Errors
    /// Returns an error if the person denies access or takes too long, or if the provider refuses.
    pub async fn finish_device_login(&self, login: &DeviceLogin) -> Result<(), Error> {
        let http = |request| tokens::send(request, self.ca_file.clone());
        let client = self.client()?;
        let request = client.exchange_device_access_token(&login.0);
        match request.request_async(&http, tokio::time::sleep, Some(LOGIN_LIMIT)).await {
            Ok(answer) => self.store(&answer).await,
            Err(RequestTokenError::ServerResponse(answer)) => {
                Err(Error::Login(one_line(&answer.to_string()).into()))
            }
            Err(RequestTokenError::Request(error)) => Err(error),
            Err(RequestTokenError::Parse(..) | RequestTokenError::Other(_)) => Err(Error::Malformed),
        }
    }

    /// Begins a login in the browser, by code with PKCE (RFC 7636), which redirects to `redirect`.
    ///
    /// # Errors
    /// Returns an error if an address is missing or faulty.
    pub fn begin_browser_login(&self, redirect: String) -> Result<BrowserLogin, Error> {
        let url = self.auth_url().ok_or_else(|| missing("auth_url"))?;
        let url = AuthUrl::new(url).map_err(|error| faulty("auth_url", &error))?;
        let redirect = RedirectUrl::new(redirect).map_err(|error| faulty("redirect", &error))?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let client = self.client()?.set_auth_uri(url).set_redirect_uri(redirect.clone());
        let request = client.authorize_url(CsrfToken::new_random).add_scopes(self.scopes());
        let (page, state) = request.set_pkce_challenge(challenge).url();
        Ok(BrowserLogin { page: page.into(), redirect, state, verifier })
    }

    /// Completes a login in the browser. `redirected` is the address to which the provider redirected it, or
    /// its path and query.
    ///
    /// # Errors
    /// Returns an error if the address is not the answer to this login, or the provider refuses.
    pub async fn finish_browser_login(&self, login: BrowserLogin, redirected: &str) -> Result<(), Error> {
        let answer = login
            .redirect
            .url()
            .join(redirected)
            .map_err(|_| Error::Login("this is not an address".into()))?;
        let value = |name: &str| {
            answer.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
        };
        // Otherwise a stranger's link could log the club in to the stranger's mailbox (RFC 6749, 10.12).
        if value("state").as_ref() != Some(login.state.secret()) {
            return Err(Error::Login("this address is not the answer to this login".into()));
        }
        let Some(code) = value("code") else {
            let why = value("error_description").or_else(|| value("error")).unwrap_or_default();
            return Err(Error::Login(one_line(&why).into()));
        };
        let http = |request| tokens::send(request, self.ca_file.clone());
        let client = self.client()?.set_redirect_uri(login.redirect);
        let request = client.exchange_code(AuthorizationCode::new(code)).set_pkce_verifier(login.verifier);
        let answer = request.request_async(&http).await.map_err(token_server_error)?;
        self.store(&answer).await
    }

    /// Stores the tokens of a new login.
    async fn store(&self, answer: &TokenAnswer) -> Result<(), Error> {
        let Some(refresh) = answer.refresh_token() else {
            let text =
                "the provider gave no refresh token; the scopes may lack the one for it (offline_access)";
            return Err(Error::Configuration(text.to_owned()));
        };
        let refresh = Secret::new(refresh.secret());
        TokenFile::lock(&self.token_file).await?.replace(&Tokens::new(refresh, answer, Utc::now()))
    }
}

const ENDED: &str = "the login has ended; run: fogpost login";

/// Returns the access token unless it must be renewed.
fn usable(read: Option<&Tokens>) -> Result<Option<Secret>, Error> {
    let Some(tokens) = read else { return Err(Error::Login(LOG_IN.into())) };
    let now = Utc::now();
    match tokens.fresh_access(now) {
        Some(token) => Ok(Some(token.clone())),
        None if tokens.has_just_ended(now) => Err(Error::Login(ENDED.into())),
        None => Ok(None),
    }
}

fn has_ended(error: &TokenError) -> bool {
    matches!(error, RequestTokenError::ServerResponse(answer)
        if *answer.error() == BasicErrorResponseType::InvalidGrant)
}

/// Runs a request on a thread without a runtime.
pub(super) fn block_on<T>(request: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Error::io("failed to start a runtime", error))?.block_on(request)
}

fn missing(key: &str) -> Error {
    Error::Configuration(format!("oauth.{key} is missing"))
}

fn faulty(key: &str, error: &dyn std::fmt::Display) -> Error {
    Error::Configuration(format!("oauth.{key}: {error}"))
}

/// Maps the refusal of a token server. A login that has ended, or a program that the server does not know,
/// needs a person.
fn token_server_error(error: TokenError) -> Error {
    let answer = match error {
        RequestTokenError::ServerResponse(answer) => answer,
        RequestTokenError::Request(error) => return error,
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => return Error::Malformed,
    };
    let text = one_line(&answer.to_string());
    match answer.error() {
        BasicErrorResponseType::InvalidGrant => {
            Error::Login(format!("the login has ended ({text}); run: fogpost login").into())
        }
        BasicErrorResponseType::InvalidClient
        | BasicErrorResponseType::InvalidRequest
        | BasicErrorResponseType::InvalidScope
        | BasicErrorResponseType::UnauthorizedClient
        | BasicErrorResponseType::UnsupportedGrantType => Error::Login(text.into()),
        // An example is `temporarily_unavailable`.
        BasicErrorResponseType::Extension(_) => Error::Server(text.into()),
    }
}

/// The SASL mechanisms for access tokens, the better one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mechanism {
    OAuthBearer,
    XOAuth2,
}

impl Mechanism {
    /// Returns the best of the mechanisms that a server offers.
    pub fn best<'a>(offered: impl IntoIterator<Item = &'a str>) -> Option<Mechanism> {
        let named = |name: &str| {
            let all = [Mechanism::OAuthBearer, Mechanism::XOAuth2];
            all.into_iter().find(|mechanism| mechanism.name().eq_ignore_ascii_case(name))
        };
        offered.into_iter().filter_map(named).min()
    }

    pub fn name(self) -> &'static str {
        match self {
            Mechanism::OAuthBearer => "OAUTHBEARER",
            Mechanism::XOAuth2 => "XOAUTH2",
        }
    }

    /// Returns the client's first message, before base64.
    pub fn first_message(self, user: &str, host: &str, port: u16, token: &Secret) -> String {
        let token = token.reveal();
        match self {
            Mechanism::OAuthBearer => {
                // RFC 5801, 4: a comma ends the name, and `=` starts an escape.
                let user = user.replace('=', "=3D").replace(',', "=2C");
                format!("n,a={user},\u{1}host={host}\u{1}port={port}\u{1}auth=Bearer {token}\u{1}\u{1}")
            }
            Mechanism::XOAuth2 => format!("user={user}\u{1}auth=Bearer {token}\u{1}\u{1}"),
        }
    }

    /// Returns the answer to a server's explanation of a refusal. The server then ends the login.
    pub fn acknowledgement(self) -> &'static str {
        match self {
            Mechanism::OAuthBearer => "\u{1}",
            Mechanism::XOAuth2 => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_mechanism_is_preferred_and_messages_are_as_specified() {
        assert_eq!(Mechanism::best(["PLAIN", "xoauth2", "OAuthBearer"]), Some(Mechanism::OAuthBearer));
        assert_eq!(Mechanism::best(["XOAUTH2", "PLAIN"]), Some(Mechanism::XOAuth2));
        assert_eq!(Mechanism::best(["PLAIN", "LOGIN"]), None);
        let message = |mechanism: Mechanism| {
            mechanism.first_message("a,b@club.test", "mail.test", 993, &Secret::new("t0k"))
        };
        let bearer = "n,a=a=2Cb@club.test,\u{1}host=mail.test\u{1}port=993\u{1}auth=Bearer t0k\u{1}\u{1}";
        assert_eq!(message(Mechanism::OAuthBearer), bearer);
        assert_eq!(message(Mechanism::XOAuth2), "user=a,b@club.test\u{1}auth=Bearer t0k\u{1}\u{1}");
    }
}
