//! Letters out: one letter to one recipient, handed to a mail server, a sendmail command or a Maildir.
//!
//! The caller keeps the letter until it was taken, and retries it after a transient failure. Sending is at least once:
//! if a connection breaks after the last byte, nobody knows whether the server took the letter.

use lettre::Address;
use serde::Deserialize;

use super::maildirs::{self, Maildirs};
pub use super::outgoing::{Checked, Outgoing, SendError, SendPermit};
use super::sendmail::{self, Sendmail};
use super::{Error, smtp};

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

    /// Waits until another letter may be sent.
    ///
    /// # Errors
    /// [`SendError::Suspended`] if none may be sent.
    pub async fn permit(&self) -> Result<SendPermit<'_>, SendError> {
        match self {
            Outbox::Smtp(smtp) => smtp.permit().await,
            Outbox::Sendmail(sendmail) => sendmail.permit().await,
            Outbox::Maildir(_) => Ok(SendPermit::unlimited()),
        }
    }

    /// Sends one letter when it may be sent; see [`Outbox::send_with`].
    ///
    /// # Errors
    /// [`SendError`] if the letter was not taken.
    pub async fn send(&self, letter: &Outgoing<'_>) -> Result<String, SendError> {
        let permit = self.permit().await?;
        self.send_with(&permit, letter).await
    }

    /// Sends one letter and returns the reply of the server, or the name of the file.
    ///
    /// # Errors
    /// [`SendError`] if the letter was not taken. [`SendError::is_transient`] tells whether to retry.
    pub async fn send_with(
        &self,
        _permit: &SendPermit<'_>,
        letter: &Outgoing<'_>,
    ) -> Result<String, SendError> {
        let to = address(letter.to).ok_or_else(|| SendError::Refused("this is not a mail address".into()))?;
        let return_path = letter.return_path.map(|path| address(path).ok_or_else(faulty_return_path));
        let return_path = return_path.transpose()?;
        match self {
            Outbox::Smtp(smtp) => smtp.send(return_path, to, letter.bytes).await,
            Outbox::Sendmail(sendmail) => sendmail.send(letter).await,
            Outbox::Maildir(maildirs) => maildirs.deliver(letter).await,
        }
    }

    /// Lets letters that wait for a connection fail with [`SendError::Suspended`], or no longer.
    pub fn suspend(&self, suspended: bool) {
        match self {
            Outbox::Smtp(smtp) => smtp.suspend(suspended),
            Outbox::Sendmail(sendmail) => sendmail.suspend(suspended),
            Outbox::Maildir(_) => {}
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

/// Maximum bytes of an address (RFC 5321, 4.5.3.1.3, without the angle brackets).
const MAX_ADDRESS_BYTES: usize = 254;

fn address(text: &str) -> Option<Address> {
    text.parse().ok().filter(|_| text.len() <= MAX_ADDRESS_BYTES)
}

/// Every letter has it, so no reader is to blame.
fn faulty_return_path() -> Error {
    let text = "no mail server takes the return path; see club.return_path and club.address";
    Error::Configuration(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::post::refusal::RefusalClass;

    #[tokio::test]
    async fn a_faulty_return_path_is_no_fault_of_the_reader() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_owned();
        let outbox = Outbox::new(Settings::Maildir(maildirs::Settings { path })).expect("an outbox");
        let class = async |return_path, to| {
            let letter = Outgoing { return_path: Some(return_path), to, bytes: b"Subject: x\r\n\r\n" };
            outbox.send(&letter).await.expect_err("refused").class()
        };
        // `letter::Address` takes two dots in a row.
        assert_eq!(class("the..club@club.example", "ann@players.example").await, RefusalClass::Account);
        assert_eq!(class("referee@club.example", "ann..b@players.example").await, RefusalClass::Recipient);
    }
}
