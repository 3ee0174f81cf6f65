//! Letters out: one letter to one recipient, handed to a mail server, a sendmail command or a Maildir.
//!
//! The caller keeps the letter until it was taken, and retries it after a transient failure. Sending is at least once:
//! if a connection breaks after the last byte, nobody knows whether the server took the letter.

use lettre::Address;
use serde::Deserialize;

use super::maildirs::{self, Maildirs};
use super::refusal::Refusal;
use super::sendmail::{self, Sendmail};
use super::{Error, smtp};

/// One letter to one recipient.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// The envelope's sender, which gets the bounces; `None` for the null return path (RFC 5321, 4.5.5).
    pub return_path: Option<&'a str>,
    /// The envelope's recipient: an address without a name.
    pub to: &'a str,
    /// The whole letter, with CRLF line ends.
    pub bytes: &'a [u8],
}

/// The settings of an outbox.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Settings {
    Smtp(smtp::Settings),
    Sendmail(sendmail::Settings),
    Maildir(maildirs::Settings),
}

/// A way to send letters.
pub enum Outbox {
    Smtp(Box<smtp::Smtp>),
    Sendmail(Sendmail),
    Maildir(Maildirs),
}

/// Why a letter was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The letter or its address was refused for good (RFC 5321, 4.2.1: 5yz).
    #[error("refused: {0}")]
    Refused(Refusal),
    /// The letter was refused for now (4yz).
    #[error("deferred: {0}")]
    NotNow(Refusal),
    /// The outbox itself failed: the server is unreachable or rejects the login, or the settings are wrong.
    #[error(transparent)]
    Unreachable(#[from] Error),
}

impl SendError {
    /// Whether to retry: always, unless the letter itself was refused for good.
    pub fn is_transient(&self) -> bool {
        !matches!(self, SendError::Refused(_))
    }

    /// Whether a setting or password is wrong, so that no letter goes out until a person corrects it.
    pub fn is_configuration(&self) -> bool {
        matches!(self, SendError::Unreachable(error) if !error.is_transient())
    }
}

impl Outbox {
    /// Creates an outbox, which connects when the first letter is sent.
    ///
    /// # Errors
    /// Returns an error if the certificate file in the settings cannot be read.
    pub fn new(settings: Settings) -> Result<Outbox, Error> {
        Ok(match settings {
            Settings::Smtp(settings) => Outbox::Smtp(Box::new(smtp::Smtp::new(settings)?)),
            Settings::Sendmail(settings) => Outbox::Sendmail(Sendmail::new(settings)),
            Settings::Maildir(settings) => Outbox::Maildir(Maildirs::new(settings)),
        })
    }

    /// Sends one letter and returns the reply of the server, or the name of the file.
    ///
    /// # Errors
    /// [`SendError`] if the letter was not taken. [`SendError::is_transient`] tells whether to retry.
    pub async fn send(&self, letter: &Outgoing<'_>) -> Result<String, SendError> {
        let to = address(letter.to)?;
        let return_path = letter.return_path.map(address).transpose()?;
        match self {
            Outbox::Smtp(smtp) => smtp.send(return_path, to, letter.bytes).await,
            Outbox::Sendmail(sendmail) => sendmail.send(letter).await,
            Outbox::Maildir(maildirs) => maildirs.deliver(letter).await,
        }
    }

    /// Closes the connections that are kept for the next letter. More letters can be sent afterwards.
    pub async fn close(&self) {
        if let Outbox::Smtp(smtp) = self {
            smtp.close().await;
        }
    }

    /// Describes the outbox to a person without sending a letter.
    ///
    /// # Errors
    /// Returns an error if letters could not be sent now.
    pub async fn check(&self) -> Result<Checked, Error> {
        match self {
            Outbox::Smtp(smtp) => smtp.check().await,
            Outbox::Sendmail(sendmail) => sendmail.check().map(Checked::fine),
            Outbox::Maildir(maildirs) => maildirs.check().map(Checked::fine),
        }
    }
}

/// What the check of an outbox that can be used found.
#[derive(Debug)]
pub struct Checked {
    /// The outbox, described to a person.
    pub found: String,
    /// What may go wrong all the same.
    pub warning: Option<&'static str>,
}

impl Checked {
    fn fine(found: String) -> Checked {
        Checked { found, warning: None }
    }
}

/// Maximum bytes of an address (RFC 5321, 4.5.3.1.3, without the angle brackets).
const MAX_ADDRESS_BYTES: usize = 254;

fn address(text: &str) -> Result<Address, SendError> {
    match text.parse() {
        Ok(address) if text.len() <= MAX_ADDRESS_BYTES => Ok(address),
        _ => Err(SendError::Refused("this is not a mail address".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_is_final() {
        assert!(!SendError::Refused(Refusal::from("")).is_transient());
        assert!(SendError::NotNow(Refusal::from("")).is_transient());
        let login = SendError::Unreachable(Error::Login("535".into()));
        assert!(login.is_transient() && login.is_configuration());
    }
}
