//! The login to an IMAP server, by password or by OAuth.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::ImapConfig;
use super::command::{quoted, run, run_with, words};
use super::connection::{Connection, Reply, classify};
use crate::post::oauth::{self, Mechanism};
use crate::post::{Error, Secret};

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
pub(super) fn log_in(settings: &ImapConfig, connection: &mut Connection) -> Result<(), Failure> {
    match &settings.oauth {
        Some(oauth) => log_in_by_token(settings, oauth, connection),
        None => Ok(log_in_by_password(settings, connection).map_err(refused)?),
    }
}

/// Returns what the server offers now; a login may change it.
pub(super) fn capabilities(connection: &mut Connection) -> Result<Vec<String>, Error> {
    let mut offered = Vec::new();
    run_with(connection, "CAPABILITY", |response| {
        let line = words(&response).into_iter().map(|word| word.to_ascii_uppercase());
        if line.clone().nth(1).is_some_and(|word| word == "CAPABILITY") {
            offered.extend(line.skip(2));
        }
        Ok(())
    })?;
    // Every server offers IMAP itself (RFC 3501, 6.1.1).
    if offered.is_empty() { Err(Error::Malformed) } else { Ok(offered) }
}

fn log_in_by_password(settings: &ImapConfig, connection: &mut Connection) -> Result<(), Error> {
    let (user, password) = (&settings.user, settings.password.as_ref().map_or("", Secret::reveal));
    for (key, text) in [("user", user.as_str()), ("password", password)] {
        if text.contains(['\r', '\n', '\0']) {
            return Err(Error::Configuration(format!("inbox.imap.{key} has more than one line")));
        }
    }
    // LOGIN takes ASCII only (RFC 3501, 9: `QUOTED-CHAR`).
    if !(user.is_ascii() && password.is_ascii()) {
        let offered = capabilities(connection)?;
        if offered.iter().any(|name| name == "AUTH=PLAIN") {
            let message = format!("\0{user}\0{password}");
            return authenticate(connection, "PLAIN", &message, "", &offered);
        }
    }
    run(connection, &format!("LOGIN {} {}", quoted(user), quoted(password)))
}

fn log_in_by_token(
    settings: &ImapConfig,
    oauth: &oauth::OauthLogin,
    connection: &mut Connection,
) -> Result<(), Failure> {
    let offered = capabilities(connection)?;
    let mechanisms = offered.iter().filter_map(|name| name.strip_prefix("AUTH="));
    let Some(mechanism) = Mechanism::best(mechanisms) else {
        let text = "the server offers no login by OAuth (OAUTHBEARER, XOAUTH2); see inbox.imap.oauth";
        return Err(Error::Configuration(text.to_owned()).into());
    };
    let token = oauth.access_token_blocking()?;
    let message = mechanism.first_message(&settings.user, &settings.host, settings.port(), &token);
    let login = authenticate(connection, mechanism.name(), &message, mechanism.acknowledgement(), &offered);
    login.map_err(|error| match refused(error) {
        error @ Error::Login(_) => match oauth.forget_blocking(&token) {
            Ok(()) => Failure::TokenRefused(error),
            Err(error) => Failure::Other(error),
        },
        error => Failure::Other(error),
    })
}

/// AUTHENTICATE (RFC 3501, 6.2.2). Any challenge after our message explains a refusal, and is acknowledged.
fn authenticate(
    connection: &mut Connection,
    mechanism: &str,
    message: &str,
    acknowledgement: &str,
    offered: &[String],
) -> Result<(), Error> {
    let message = STANDARD.encode(message);
    // SASL-IR (RFC 4959) saves a round trip.
    let at_once = offered.iter().any(|name| name == "SASL-IR");
    let tag = connection.send_command(&match at_once {
        true => format!("AUTHENTICATE {mechanism} {message}"),
        false => format!("AUTHENTICATE {mechanism}"),
    })?;
    let mut unsent = (!at_once).then_some(message);
    let mut is_acknowledged = false;
    loop {
        let line = connection.read_line()?;
        match classify(&line, &tag)? {
            Reply::Done => return Ok(()),
            Reply::Refused(refusal) => return Err(Error::Server(refusal)),
            Reply::Bad(refusal) => return Err(Error::Misunderstood(refusal)),
            Reply::Continuation => match unsent.take() {
                Some(message) => connection.send_line(&message)?,
                None if is_acknowledged => return Err(Error::Malformed),
                None => {
                    is_acknowledged = true;
                    connection.send_line(&STANDARD.encode(acknowledgement))?;
                }
            },
            Reply::Remark | Reply::Data => {}
        }
    }
}

/// Tells a refusal of the login from other faults.
fn refused(error: Error) -> Error {
    match error {
        Error::Server(refusal) if !refusal.is_momentary() => Error::Login(refusal),
        error => error,
    }
}
