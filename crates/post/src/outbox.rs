//! Letters out: one letter to one recipient, handed to a mail server, a sendmail command or a Maildir.
//!
//! The caller keeps the letter until it was taken, and retries it after a transient failure. Sending is at
//! least once: if a connection breaks after the last byte, nobody knows whether the server took the letter.

use serde::Deserialize;
use tokio::sync::Semaphore;

use super::maildirs::{self, Maildirs};
use super::sendmail::{self, SendmailConfig};
use super::{Error, smtp};
use fogpost_letter::Address;

pub use super::outgoing::{Checked, Outgoing, SendError};

/// The settings of an outbox.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutboxConfig {
    Smtp(smtp::SmtpConfig),
    Sendmail(SendmailConfig),
    Maildir(maildirs::MaildirsConfig),
}

/// Maximum letters written into Maildirs and synced together.
const MAX_FILES: usize = 256;

/// Sends letters, with a limit on how many at a time.
pub struct Outbox {
    way: Way,
    concurrency: usize,
    permits: Semaphore,
}

enum Way {
    Smtp(Box<smtp::Smtp>),
    Sendmail(SendmailConfig),
    Maildir(Maildirs),
}

impl Outbox {
    /// Creates an outbox, which connects when the first letter is sent.
    ///
    /// # Errors
    /// Returns an error if the certificate file in the settings cannot be read.
    pub fn new(settings: OutboxConfig) -> Result<Outbox, Error> {
        let (way, concurrency) = match settings {
            OutboxConfig::Smtp(settings) => {
                let connections = settings.connections.max(1);
                (Way::Smtp(Box::new(smtp::Smtp::new(settings)?)), connections)
            }
            OutboxConfig::Sendmail(settings) => (Way::Sendmail(settings), sendmail::MAX_PROCESSES),
            OutboxConfig::Maildir(settings) => (Way::Maildir(Maildirs::new(settings)), MAX_FILES),
        };
        Ok(Outbox { way, concurrency, permits: Semaphore::new(concurrency) })
    }

    /// Returns how many letters are sent at a time. Further ones wait in [`Outbox::send`], where a more
    /// urgent letter cannot overtake them.
    pub fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// Sends one letter and returns the reply of the server, or the name of the file.
    ///
    /// # Errors
    /// [`SendError`] if the letter was not taken. [`SendError::is_transient`] returns whether to retry.
    pub async fn send(&self, letter: &Outgoing<'_>) -> Result<String, SendError> {
        let to = address(letter.to).ok_or_else(|| SendError::Refused("this is not a mail address".into()))?;
        let return_path = letter.return_path.map(|path| address(path).ok_or_else(faulty_return_path));
        let return_path = return_path.transpose()?;
        let _permit = self.permits.acquire().await.expect("the semaphore is never closed");
        match &self.way {
            Way::Smtp(smtp) => smtp.send(return_path, to, letter.bytes).await,
            Way::Sendmail(sendmail) => sendmail.send(letter).await,
            Way::Maildir(maildirs) => maildirs.deliver(letter).await,
        }
    }

    /// Closes the connections that are kept for the next letter. More letters can be sent afterwards.
    pub async fn close(&self) {
        if let Way::Smtp(smtp) = &self.way {
            smtp.close().await;
        }
    }

    /// Describes the outbox to a person without sending a letter.
    ///
    /// # Errors
    /// Returns an error if letters could not be sent now.
    pub async fn check(&self) -> Result<Checked, Error> {
        match &self.way {
            Way::Smtp(smtp) => smtp.check().await,
            Way::Sendmail(sendmail) => sendmail.check().map(Checked::fine),
            Way::Maildir(maildirs) => maildirs.check().map(Checked::fine),
        }
    }
}

fn address(text: &str) -> Option<lettre::Address> {
    let address = Address::parse(text).ok()?;
    // Do not use lettre's own parser, which refuses addresses that exist, such as one with two dots in a row.
    Some(lettre::Address::new_dangerous(address.local(), address.domain()))
}

/// Returns the error for a faulty return path. Every letter has it, so no recipient is to blame.
fn faulty_return_path() -> Error {
    let text = "no mail server takes the return path; see club.return_path and club.address";
    Error::Configuration(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::RefusalClass;

    #[tokio::test]
    async fn a_faulty_return_path_is_no_fault_of_the_reader() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_owned();
        let outbox =
            Outbox::new(OutboxConfig::Maildir(maildirs::MaildirsConfig { path })).expect("an outbox");
        let class = async |return_path, to| {
            let letter = Outgoing { return_path: Some(return_path), to, bytes: b"Subject: x\r\n\r\n" };
            outbox.send(&letter).await.expect_err("refused").class()
        };
        assert_eq!(class("the club@club.example", "ann@players.example").await, RefusalClass::Account);
        assert_eq!(class("referee@club.example", "ann b@players.example").await, RefusalClass::Recipient);
    }
}
