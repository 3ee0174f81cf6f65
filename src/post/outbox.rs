//! Letters out: one letter to one recipient, handed to a mail server, a sendmail command or a Maildir.
//!
//! Whoever calls keeps the letter until it was taken, and tries again when told that the fault may pass. Sending is
//! at least once: a connection that dies after the last byte leaves open whether the server took the letter.

use std::io;
use std::path::{Path, PathBuf};

use lettre::Address;
use serde::Deserialize;

use super::{Error, maildir, sendmail, smtp, unix_lines};

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
    Maildir(MaildirSettings),
}

/// Letters are laid into Maildirs on this machine: for trials, and for a club within one house.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaildirSettings {
    /// The folder in which each recipient has a Maildir, named by the address.
    pub path: PathBuf,
}

/// The way out.
pub enum Outbox {
    Smtp(Box<smtp::Smtp>),
    Sendmail(sendmail::Settings),
    Maildir(MaildirSettings),
}

/// Why a letter was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The letter or its address was refused for good: trying again is of no use (RFC 5321, 4.2.1: 5yz).
    #[error("refused: {0}")]
    Refused(String),
    /// It was not taken this time.
    #[error("not taken now: {0}")]
    NotNow(String),
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
            Settings::Sendmail(settings) => Outbox::Sendmail(settings),
            Settings::Maildir(settings) => Outbox::Maildir(settings),
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
            Outbox::Sendmail(settings) => sendmail::send(settings, letter).await,
            Outbox::Maildir(settings) => lay(settings, letter).await,
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
            Outbox::Sendmail(settings) => sendmail::check(settings),
            Outbox::Maildir(MaildirSettings { path }) => {
                std::fs::create_dir_all(path)
                    .map_err(|e| Error::io(format!("{} cannot be made", path.display()), e))?;
                Ok(format!("Maildirs in {}", path.display()))
            }
        }
    }
}

/// In bytes (RFC 5321, 4.5.3.1.3, without the angle brackets).
const LONGEST_ADDRESS: usize = 254;

fn address(text: &str) -> Result<Address, SendError> {
    let none = || SendError::Refused("this is no mail address".to_owned());
    if text.len() > LONGEST_ADDRESS { Err(none()) } else { text.parse().map_err(|_| none()) }
}

/// The folder in which a Maildir outbox at `root` lays letters to this address, in whatever case it is written.
///
/// Letters, digits and `@ . _ + -` stand for themselves and all else as `%XX`, so that no address leads elsewhere.
pub fn folder_of(root: &Path, address: &str) -> PathBuf {
    let mut name = String::new();
    for (i, byte) in address.to_ascii_lowercase().bytes().enumerate() {
        if byte.is_ascii_alphanumeric() || b"@_+-".contains(&byte) || (byte == b'.' && i > 0) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    root.join(name)
}

/// Delivers as a mail server's last step would: Return-Path and Delivered-To on top (RFC 5321, 4.4), LF line ends.
async fn lay(settings: &MaildirSettings, letter: &Outgoing<'_>) -> Result<String, SendError> {
    let folder = folder_of(&settings.path, letter.to);
    let top = format!("Return-Path: <{}>\nDelivered-To: {}\n", letter.return_path.unwrap_or(""), letter.to);
    let body = unix_lines(letter.bytes);
    let laid = tokio::task::spawn_blocking(move || {
        maildir::create(&folder)?;
        maildir::deliver(&folder, &[top.as_bytes(), &body])
    });
    let place = laid.await.map_err(io::Error::other).and_then(|laid| laid);
    let place = place.map_err(|e| Error::io("the Maildir cannot be written", e))?;
    Ok(place.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_leads_out_of_the_outbox_folder() {
        let root = Path::new("/out");
        assert_eq!(folder_of(root, "../../x@y"), Path::new("/out/%2E.%2F..%2Fx@y"));
        assert_eq!(folder_of(root, ".."), Path::new("/out/%2E."));
        assert_eq!(folder_of(root, "Anna+Q7@Club.Example"), Path::new("/out/anna+q7@club.example"));
        assert_eq!(folder_of(root, "ü\0@x"), Path::new("/out/%C3%BC%00@x"));
    }

    #[test]
    fn only_a_refusal_is_final() {
        assert!(!SendError::Refused(String::new()).is_transient());
        assert!(SendError::NotNow(String::new()).is_transient());
        let login = SendError::Unreachable(Error::Login("535".to_owned()));
        assert!(login.is_transient() && login.is_configuration());
    }
}
