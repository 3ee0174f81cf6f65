//! The refusal of a mail server or a sendmail command.
//!
//! It keeps the words and the codes, and classifies the refusal by what it concerns ([`RefusalClass`]). The
//! consequences are up to the sender of the letter.

use std::fmt;

use lettre::transport::smtp::response::Response;
use serde::{Deserialize, Serialize};

use super::one_line;

mod class;
mod domain;

pub use self::class::RefusalClass;
pub use self::domain::doubts_domain;

/// Response codes of IMAP servers after which only a person can help.
const FOR_GOOD: [&str; 5] =
    ["[AUTHENTICATIONFAILED]", "[AUTHORIZATIONFAILED]", "[EXPIRED]", "[PRIVACYREQUIRED]", "[CONTACTADMIN]"];

/// Response codes and words of temporary refusals by IMAP servers.
const FOR_THE_MOMENT: [&str; 13] = [
    "[UNAVAILABLE]",
    "[INUSE]",
    "[LIMIT]",
    "[SERVERBUG]",
    "[THROTTLED]",
    "TOO MANY",
    "TRY AGAIN",
    "TRY LATER",
    "TEMPORAR",
    "UNAVAILABLE",
    "BANDWIDTH LIMIT",
    "SERVER BUSY",
    // Microsoft's servers, while the one with the mailbox cannot be reached.
    "AUTHENTICATED BUT NOT CONNECTED",
];

/// Signs that a server is not about to start again, but has too much to do.
const OF_LIMITS: [&str; 4] = ["[INUSE]", "[LIMIT]", "TOO MANY", "MAXIMUM"];

/// What follows from a temporary refusal by an IMAP server, for a person.
pub(super) const MOMENTARY: &str = "the server refuses only for the moment and is asked again";

/// A refusal in the words of the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// One line, with the reply code in front if an SMTP server refused. It may contain mail addresses.
    pub text: String,
    /// The codes of an SMTP server's reply.
    pub smtp: Option<SmtpStatus>,
}

/// The part of an SMTP server's refusal that programs can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmtpStatus {
    /// The exchange that the server refused: the same code means different things for a login and for a
    /// recipient.
    pub exchange: Exchange,
    /// The reply code (RFC 5321, 4.2): 4yz is temporary, 5yz permanent.
    pub code: u16,
    /// The enhanced status code, if the server gave one.
    pub enhanced: Option<EnhancedCode>,
}

/// An exchange of the conversation with an SMTP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Exchange {
    Greeting,
    #[strum(to_string = "EHLO")]
    Hello,
    #[strum(to_string = "STARTTLS")]
    StartTls,
    Login,
    #[strum(to_string = "MAIL")]
    Sender,
    #[strum(to_string = "RCPT")]
    Recipient,
    #[strum(to_string = "DATA")]
    Data,
    Letter,
    #[strum(to_string = "RSET")]
    Reset,
    #[strum(to_string = "QUIT")]
    Quit,
}

/// An enhanced status code such as 5.1.1 (RFC 3463, 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnhancedCode {
    /// 2 for success, 4 for a failure that may pass, 5 for one that will not.
    pub class: u16,
    /// The part of the mail system at fault, such as 1 for addresses and 7 for security.
    pub subject: u16,
    pub detail: u16,
}

impl Refusal {
    /// Reads a negative reply of an SMTP server.
    pub(super) fn from_reply(exchange: Exchange, reply: &Response) -> Refusal {
        let code = u16::from(reply.code());
        let enhanced = EnhancedCode::parse(code, reply.first_line().unwrap_or_default());
        let mut text = code.to_string();
        for (number, line) in reply.message().enumerate() {
            // Servers repeat the enhanced code on every line (RFC 2034, 4).
            let repeated = enhanced.filter(|_| number > 0).map(|code| code.to_string());
            let line = repeated.and_then(|code| line.strip_prefix(&code)).unwrap_or(line);
            text.push(' ');
            text.push_str(line);
        }
        Refusal { text: one_line(&text), smtp: Some(SmtpStatus { exchange, code, enhanced }) }
    }

    /// Whether the server gave a 4yz code: the same may be accepted later.
    pub(super) fn has_transient_code(&self) -> bool {
        self.smtp.is_some_and(|status| status.code < 500)
    }

    /// Whether an IMAP server's refusal is temporary, by its code (RFC 5530) or its words.
    pub(super) fn is_momentary(&self) -> bool {
        let text = self.text.to_uppercase();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        // A code after which only a person can help overrides words that sound temporary.
        !has(&FOR_GOOD) && has(&FOR_THE_MOMENT)
    }

    /// Whether a server that ended the session says no more than that it is going away, as before a restart.
    pub(super) fn is_of_a_restart(&self) -> bool {
        let text = self.text.to_uppercase();
        self.is_momentary() && !OF_LIMITS.iter().any(|word| text.contains(word))
    }

    pub(super) fn has_code(&self, code: u16) -> bool {
        self.smtp.is_some_and(|status| status.code == code)
    }
}

impl From<String> for Refusal {
    fn from(text: String) -> Refusal {
        Refusal { text, smtp: None }
    }
}

impl From<&str> for Refusal {
    fn from(text: &str) -> Refusal {
        text.to_owned().into()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl EnhancedCode {
    /// Reads the enhanced code in front of a reply's text. Its class must be the first digit of `code` (RFC
    /// 2034, 4): otherwise the text merely begins with a number such as an IP address.
    pub(super) fn parse(code: u16, text: &str) -> Option<EnhancedCode> {
        let word = text.split_whitespace().next()?;
        let mut numbers = word.split('.').map(|number| {
            let in_range = (1..=3).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
            in_range.then(|| number.parse().ok()).flatten()
        });
        let (class, subject, detail) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let agrees = class == code / 100 && numbers.next().is_none();
        agrees.then_some(EnhancedCode { class, subject, detail })
    }
}

impl fmt::Display for EnhancedCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.class, self.subject, self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_enhanced_code_counts_only_if_its_class_agrees_with_the_reply_code() {
        let code = |class, subject, detail| Some(EnhancedCode { class, subject, detail });
        assert_eq!(EnhancedCode::parse(550, "5.1.1 no such person"), code(5, 1, 1));
        assert_eq!(EnhancedCode::parse(451, "4.7.650"), code(4, 7, 650));
        for text in
            ["", "no such person", "4.1.1 x", "5.1 x", "5.1.1.1 x", "5.1.1234 x", "5..1 x", "5.1.+1 x"]
        {
            assert_eq!(EnhancedCode::parse(550, text), None, "{text}");
        }
    }

    #[test]
    fn a_refusal_keeps_the_codes_and_joins_the_lines() {
        let reply = "550-5.1.1 The account does not exist.\r\n550 5.1.1 Try another one.\r\n";
        let refusal = Refusal::from_reply(Exchange::Recipient, &reply.parse().expect("a reply"));
        assert_eq!(refusal.to_string(), "550 5.1.1 The account does not exist. Try another one.");
        let status = refusal.smtp.expect("codes");
        assert_eq!((status.exchange, status.code), (Exchange::Recipient, 550));
        assert_eq!(status.enhanced.expect("an enhanced code").to_string(), "5.1.1");
        assert!(!refusal.has_transient_code());
    }
}
