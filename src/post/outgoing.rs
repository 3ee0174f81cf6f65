//! A letter on its way out, why it was not taken, and what a check of an outbox finds. The ways to send build on it, and
//! [`outbox`](super::outbox) chooses between them.

use super::Error;
use super::refusal::Refusal;

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

/// What the check of an outbox that can be used found.
#[derive(Debug)]
pub struct Checked {
    /// The outbox, described to a person.
    pub found: String,
    /// What may still go wrong.
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
