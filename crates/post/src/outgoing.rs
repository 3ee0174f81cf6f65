//! A letter on its way out, the reasons why it was not taken, and the findings of a check of an outbox. The
//! ways to send build on it, and [`outbox`](super::outbox) chooses between them.

use chrono::TimeDelta;

use super::Error;
use super::refusal::{EnhancedCode, Refusal, RefusalClass};

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

/// The reason why a letter was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The letter or its address was permanently refused (RFC 5321, 4.2.1: 5yz).
    #[error("refused: {0}")]
    Refused(Refusal),
    /// The letter was temporarily refused (4yz).
    #[error("deferred: {0}")]
    NotNow(Refusal),
    /// The outbox itself failed: the server is unreachable or rejects the login, or the settings are wrong.
    #[error(transparent)]
    Unreachable(#[from] Error),
    /// The connection broke while the letter was sent.
    #[error(transparent)]
    Interrupted(Error),
}

impl SendError {
    /// Whether to retry: always, unless the letter itself was permanently refused.
    pub fn is_transient(&self) -> bool {
        !matches!(self, SendError::Refused(_))
    }

    /// Returns the class of the refusal: what it is about.
    pub fn class(&self) -> RefusalClass {
        match self {
            SendError::NotNow(refusal) if refusal.smtp.is_none() => RefusalClass::NotNow,
            SendError::Refused(refusal) | SendError::NotNow(refusal) => refusal.class(),
            SendError::Unreachable(_) => RefusalClass::Account,
            SendError::Interrupted(_) => RefusalClass::NotNow,
        }
    }

    /// Returns what the other side said, if it said anything.
    fn refusal(&self) -> Option<&Refusal> {
        match self {
            SendError::Refused(refusal) | SendError::NotNow(refusal) => Some(refusal),
            SendError::Unreachable(Error::Login(refusal) | Error::Server(refusal)) => Some(refusal),
            SendError::Unreachable(_) | SendError::Interrupted(_) => None,
        }
    }

    /// Whether the other side said nothing: it could not be reached, the connection broke, or there was no
    /// access token to show it, so that a letter can be tried again soon after a person has logged in.
    pub fn is_silent(&self) -> bool {
        match self.refusal() {
            Some(refusal) => {
                matches!(self, SendError::Unreachable(Error::Login(_))) && refusal.smtp.is_none()
            }
            None => !self.is_configuration(),
        }
    }

    /// Returns the codes of a permanent refusal (5yz).
    pub fn status(&self) -> Option<(u16, Option<EnhancedCode>)> {
        let status = self.refusal()?.smtp?;
        (status.code >= 500).then_some((status.code, status.enhanced))
    }

    /// Returns how long the server asks us to wait, if it says so.
    pub fn named_wait(&self) -> Option<TimeDelta> {
        self.refusal()?.named_wait()
    }

    /// Whether a setting or password is wrong, so that no letter goes out until a person corrects it.
    pub fn is_configuration(&self) -> bool {
        matches!(self, SendError::Unreachable(error) if !error.is_transient())
    }
}

/// The findings of a check of an outbox that can be used.
#[derive(Debug)]
pub struct Checked {
    /// The outbox, described to a person.
    pub found: String,
    /// A problem that may still arise.
    pub warning: Option<&'static str>,
}

impl Checked {
    pub(super) fn fine(found: String) -> Checked {
        Checked { found, warning: None }
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
