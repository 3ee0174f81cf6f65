//! The login to an IMAP server, by password or by OAuth.

use std::cell::Cell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imap::types::Capabilities;
use imap::{Client, Session};
use imap_proto::Capability;

use super::ImapConfig;
use super::command::{SharedConnection, convert_error};
use crate::oauth::{self, Mechanism};
use crate::{Error, Secret};

/// A failed login.
pub(super) enum Failure {
    /// The server refused the access token. A new one may be accepted.
    TokenRefused(Error),
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Other(error)
    }
}

/// Logs in as the settings say.
pub(super) fn log_in(
    settings: &ImapConfig,
    connection: &SharedConnection,
) -> Result<Session<SharedConnection>, Failure> {
    let client = Client::new(connection.clone());
    match &settings.oauth {
        Some(oauth) => log_in_by_token(settings, oauth, client),
        None => Ok(log_in_by_password(settings, client).map_err(login_error)?),
    }
}

fn log_in_by_password(
    settings: &ImapConfig,
    mut client: Client<SharedConnection>,
) -> Result<Session<SharedConnection>, Error> {
    let user = &settings.user;
    let password = settings.password.as_ref().map_or("", Secret::reveal);
    for (key, text) in [("user", user.as_str()), ("password", password)] {
        if text.contains(['\r', '\n', '\0']) {
            return Err(Error::Configuration(format!("inbox.imap.{key} has more than one line")));
        }
    }
    // LOGIN takes ASCII only (RFC 3501, 9: `QUOTED-CHAR`).
    if !(user.is_ascii() && password.is_ascii()) {
        let offered = client.capabilities().map_err(convert_error)?;
        if offered.has_str("AUTH=PLAIN") {
            return authenticate(client, "PLAIN", format!("\0{user}\0{password}"), "", &offered);
        }
    }
    client.login(user, password).map_err(|(error, _client)| convert_error(error))
}

fn log_in_by_token(
    settings: &ImapConfig,
    oauth: &oauth::OauthLogin,
    mut client: Client<SharedConnection>,
) -> Result<Session<SharedConnection>, Failure> {
    let offered = client.capabilities().map_err(convert_error)?;
    let mechanisms = offered.iter().filter_map(|capability| match capability {
        Capability::Auth(name) => Some(name.as_ref()),
        Capability::Imap4rev1 | Capability::Atom(_) => None,
    });
    let Some(mechanism) = Mechanism::best(mechanisms) else {
        let text = "the server offers no login by OAuth (OAUTHBEARER, XOAUTH2); see inbox.imap.oauth";
        return Err(Error::Configuration(text.to_owned()).into());
    };
    let token = oauth::block_on(oauth.access_token())?;
    let message = mechanism.first_message(&settings.user, &settings.host, settings.port(), &token);
    let login = authenticate(client, mechanism.name(), message, mechanism.acknowledgement(), &offered);
    login.map_err(|error| match login_error(error) {
        error @ Error::Login(_) => match oauth::block_on(oauth.forget(&token)) {
            Ok(()) => Failure::TokenRefused(error),
            Err(error) => Failure::Other(error),
        },
        error => Failure::Other(error),
    })
}

/// Sends AUTHENTICATE (RFC 3501, 6.2.2), and answers the server's challenges.
fn authenticate(
    client: Client<SharedConnection>,
    mechanism: &str,
    message: String,
    acknowledgement: &'static str,
    offered: &Capabilities,
) -> Result<Session<SharedConnection>, Error> {
    // SASL-IR (RFC 4959) saves a round trip.
    let at_once = offered.has_str("SASL-IR");
    let command =
        if at_once { format!("{mechanism} {}", STANDARD.encode(&message)) } else { mechanism.to_owned() };
    let answers = Answers { first: Cell::new((!at_once).then_some(message)), acknowledgement };
    client.authenticate(command, &answers).map_err(|(error, _client)| convert_error(error))
}

/// Our answers to the server's challenges.
struct Answers {
    /// The first message, unless it went with the command.
    first: Cell<Option<String>>,
    acknowledgement: &'static str,
}

impl imap::Authenticator for Answers {
    type Response = String;

    /// Returns the first message, unless it is sent already. Any further challenge explains a refusal.
    fn process(&self, _challenge: &[u8]) -> String {
        self.first.take().unwrap_or_else(|| self.acknowledgement.to_owned())
    }
}

/// Distinguishes a refused login from other faults. Some servers refuse by BAD, or end the connection.
fn login_error(error: Error) -> Error {
    match error {
        Error::Server(refusal) if !refusal.is_momentary() => Error::Login(refusal),
        Error::Misunderstood(refusal) | Error::Goodbye(refusal)
            if !refusal.is_momentary() && names_login(&refusal.to_string()) =>
        {
            Error::Login(refusal)
        }
        error => error,
    }
}

/// Whether a server's words are about the login.
fn names_login(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    ["authenticationfailed", "authentication failed", "login failed", "credentials"]
        .iter()
        .any(|known| words.contains(known))
}
