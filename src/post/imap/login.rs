//! The login to an IMAP server, by password or by OAuth.

use std::cell::Cell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imap::Session;

use super::ImapConfig;
use super::connection::{Connection, Reply, SharedConnection, classify, failed};
use crate::post::oauth::{self, Mechanism};
use crate::post::{Error, Secret, one_line};

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
    match &settings.oauth {
        Some(oauth) => log_in_by_token(settings, oauth, connection),
        None => {
            let password = settings.password.as_ref().map_or("", Secret::reveal);
            let login = imap::Client::new(connection.clone()).login(&settings.user, password);
            login.map_err(|(error, _client)| refused(error).into())
        }
    }
}

fn log_in_by_token(
    settings: &ImapConfig,
    oauth: &oauth::OauthLogin,
    connection: &SharedConnection,
) -> Result<Session<SharedConnection>, Failure> {
    let offered = capabilities(&mut connection.borrow())?;
    let mechanisms = offered.iter().filter_map(|name| name.strip_prefix("AUTH="));
    let Some(mechanism) = Mechanism::best(mechanisms) else {
        let text = "the server offers no login by OAuth (OAUTHBEARER, XOAUTH2)";
        return Err(Error::Configuration(text.to_owned()).into());
    };
    let token = oauth.access_token_blocking()?;
    let first = mechanism.first_message(&settings.user, &settings.host, settings.port(), &token);
    // SASL-IR (RFC 4959) saves a round trip.
    let at_once = offered.iter().any(|name| name == "SASL-IR");
    let command = match at_once {
        true => format!("{} {}", mechanism.name(), STANDARD.encode(&first)),
        false => mechanism.name().to_owned(),
    };
    let answers = Answers { first: Cell::new((!at_once).then_some(first)), mechanism };
    let login = imap::Client::new(connection.clone()).authenticate(command, &answers);
    login.map_err(|(error, _client)| match refused(error) {
        error @ Error::Login(_) => match oauth.forget_blocking(&token) {
            Ok(()) => Failure::TokenRefused(error),
            Err(error) => Failure::Other(error),
        },
        error => Failure::Other(error),
    })
}

/// Asks what the server offers before a login.
fn capabilities(connection: &mut Connection) -> Result<Vec<String>, Error> {
    let tag = connection.send_command("CAPABILITY")?;
    let mut offered = Vec::new();
    loop {
        let line = connection.read_line()?;
        match classify(&line, &tag)? {
            Reply::Done => return Ok(offered),
            Reply::Refused(refusal) => return Err(Error::Server(refusal)),
            Reply::Continuation => return Err(Error::Malformed),
            Reply::Data => {
                let line = String::from_utf8_lossy(&line).to_ascii_uppercase();
                offered.extend(line.split_whitespace().skip(2).map(ToOwned::to_owned));
            }
            Reply::Remark => {}
        }
    }
}

/// Our answers to the server's challenges.
struct Answers {
    /// The first message, unless it went with the command.
    first: Cell<Option<String>>,
    mechanism: Mechanism,
}

impl imap::Authenticator for Answers {
    type Response = String;

    /// Returns the first message, unless it is sent already. Any further challenge explains a refusal.
    fn process(&self, _challenge: &[u8]) -> String {
        self.first.take().unwrap_or_else(|| self.mechanism.acknowledgement().to_owned())
    }
}

fn refused(error: imap::Error) -> Error {
    match error {
        imap::Error::No(no) => Error::Login(one_line(&no.information).into()),
        error => failed(error),
    }
}
