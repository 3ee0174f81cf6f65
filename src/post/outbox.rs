//! Letters out: one letter to one recipient, handed to a mail server, a sendmail command or a Maildir.
//!
//! Whoever calls keeps the letter until it was taken, and tries again when told that the fault may pass. Sending is
//! at least once: a connection that dies after the last byte leaves open whether the server took the letter.

use lettre::Address;
use serde::Deserialize;

use super::maildirs::{self, Maildirs};
use super::refusal::Refusal;
use super::sendmail::{self, Sendmail};
use super::{Error, smtp};

/// One letter to one recipient.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// The envelope's sender, to which bounces go; `None` for the null return path (RFC 5321, 4.5.5).
    pub return_path: Option<&'a str>,
    /// The envelope's recipient: a bare address.
    pub to: &'a str,
    /// The whole letter, with CRLF line ends.
    pub bytes: &'a [u8],
}

/// The way out, as it is set.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Settings {
    Smtp(smtp::Settings),
    Sendmail(sendmail::Settings),
    Maildir(maildirs::Settings),
}

/// The way out.
pub enum Outbox {
    Smtp(Box<smtp::Smtp>),
    Sendmail(Sendmail),
    Maildir(Maildirs),
}

/// Why a letter was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The letter or its address was refused for good: trying again is of no use (RFC 5321, 4.2.1: 5yz).
    #[error("refused: {0}")]
    Refused(Refusal),
    /// It was not taken this time.
    #[error("not taken now: {0}")]
    NotNow(Refusal),
    /// The way out itself is at fault: unreachable, rejects the login, not as it is set.
    #[error(transparent)]
    Unreachable(#[from] Error),
}

impl SendError {
    /// Whether to try again later; true unless the letter itself was refused for good.
    pub fn is_transient(&self) -> bool {
        !matches!(self, SendError::Refused(_))
    }

    /// Whether a setting or password is wrong, so that no letter will go out until a person mends it.
    pub fn is_configuration(&self) -> bool {
        matches!(self, SendError::Unreachable(error) if !error.is_transient())
    }
}

impl Outbox {
    /// Opens nothing yet: connections are made when letters go out.
    ///
    /// # Errors
    /// When a certificate file that the settings name cannot be read.
    pub fn new(settings: Settings) -> Result<Outbox, Error> {
        Ok(match settings {
            Settings::Smtp(settings) => Outbox::Smtp(Box::new(smtp::Smtp::new(settings)?)),
            Settings::Sendmail(settings) => Outbox::Sendmail(Sendmail::new(settings)),
            Settings::Maildir(settings) => Outbox::Maildir(Maildirs::new(settings)),
        })
    }

    /// Sends one letter and returns the last word of the one who took it.
    ///
    /// # Errors
    /// When it was not taken; [`SendError::is_transient`] says whether to try again.
    pub async fn send(&self, letter: &Outgoing<'_>) -> Result<String, SendError> {
        let to = address(letter.to)?;
        let return_path = letter.return_path.map(address).transpose()?;
        match self {
            Outbox::Smtp(smtp) => smtp.send(return_path, to, letter.bytes).await,
            Outbox::Sendmail(sendmail) => sendmail.send(letter).await,
            Outbox::Maildir(maildirs) => maildirs.deliver(letter).await,
        }
    }

    /// Ends the connections that are kept for a next letter; another can be sent all the same.
    pub async fn close(&self) {
        if let Outbox::Smtp(smtp) = self {
            smtp.close().await;
        }
    }

    /// Sends nothing; says whether letters could go out, and how.
    ///
    /// # Errors
    /// When they could not.
    pub async fn check(&self) -> Result<String, Error> {
        match self {
            Outbox::Smtp(smtp) => smtp.check().await,
            Outbox::Sendmail(sendmail) => sendmail.check(),
            Outbox::Maildir(maildirs) => maildirs.check(),
        }
    }
}

/// In bytes (RFC 5321, 4.5.3.1.3, without the angle brackets).
const LONGEST_ADDRESS: usize = 254;

fn address(text: &str) -> Result<Address, SendError> {
    let none = || SendError::Refused("this is not a mail address".into());
    if text.len() > LONGEST_ADDRESS { Err(none()) } else { text.parse().map_err(|_| none()) }
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
