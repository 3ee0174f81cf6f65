//! The refusal of a mail server or a sendmail command.
//!
//! It keeps the words and the codes, and classifies the refusal by what it concerns ([`RefusalClass`]). The
//! consequences are up to the sender of the letter.
//!
//! The class of a refusal, and the time at which the server wants to be asked again.
//!
//! The enhanced status code counts first (RFC 3463), then the basic code and the exchange at which it came.
//! Providers refuse with 5yz codes when a quota is used up, so a permanent code is not enough to give up a
//! letter.
//!
//! Refusals because the sender's domain is not authenticated: SPF (RFC 7208), DKIM (RFC 6376) or DMARC (RFC 7489)
//! did not pass. Only the owner of the domain can do something about them.

use std::fmt;

use chrono::TimeDelta;
use lettre::transport::smtp::response::Response;
use serde::{Deserialize, Serialize};

use super::one_line;

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
        // A code after which only a person can help overrides words that sound temporary.
        !has_any(&text, &FOR_GOOD) && has_any(&text, &FOR_THE_MOMENT)
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

/// Whether a text contains one of these words.
pub(super) fn has_any(text: &str, known: &[&str]) -> bool {
    known.iter().any(|word| text.contains(word))
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
        let class = numbers.next()??;
        let subject = numbers.next()??;
        let detail = numbers.next()??;
        let agrees = class == code / 100 && numbers.next().is_none();
        agrees.then_some(EnhancedCode { class, subject, detail })
    }
}

impl fmt::Display for EnhancedCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.class, self.subject, self.detail)
    }
}

/// The subject of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalClass {
    /// The recipient is permanently wrong.
    Recipient,
    /// The letter: its size or its content.
    Letter,
    /// Our account, our server or only this letter is temporarily refused. The next letters show which.
    NotNow,
    /// Our account or our server: not even a recipient was accepted.
    Account,
}

/// Words in a permanent refusal that point to a limit on what we send.
const WORDS_OF_LIMITS: [&str; 8] =
    ["limit", "limits", "limited", "quota", "quotas", "rate", "rates", "daily"];

/// Phrases, and a part of a word, with the same meaning.
const PHRASES_OF_LIMITS: [&str; 3] = ["try again later", "too many", "quotaexceeded"];

/// Phrases after which a server names the time until the next attempt.
const BEFORE_A_TIME: [&str; 3] = ["again in", "again after", "retry after"];

/// The longest time that a server can ask us to wait. It is not trusted beyond that.
const LONGEST_WAIT: TimeDelta = TimeDelta::hours(24);

impl Refusal {
    /// Returns the class of the refusal.
    pub fn class(&self) -> RefusalClass {
        // We refused it ourselves: nothing can be sent to such an address.
        let Some(SmtpStatus { exchange, code, enhanced }) = self.smtp else { return RefusalClass::Recipient };
        let class = match enhanced {
            _ if code < 500 => RefusalClass::NotNow,
            Some(enhanced) => self.class_by(enhanced).unwrap_or_else(|| self.class_by_code(exchange, code)),
            None => self.class_by_code(exchange, code),
        };
        match class {
            RefusalClass::NotNow | RefusalClass::Recipient if exchange.is_before_recipient() => {
                RefusalClass::Account
            }
            class => class,
        }
    }

    /// Returns how long the server asks us to wait, if it says so: "try again in 10 minutes".
    pub fn named_wait(&self) -> Option<TimeDelta> {
        let text = self.text.to_lowercase();
        let after = BEFORE_A_TIME.iter().find_map(|phrase| Some(text.split_once(phrase)?.1))?;
        let mut words = after.split_whitespace();
        let number: i64 = words.next()?.parse().ok().filter(|number| (1..=100_000).contains(number))?;
        let unit = words.next()?;
        let wait = match unit {
            _ if unit.starts_with("sec") => TimeDelta::seconds(number),
            _ if unit.starts_with("min") => TimeDelta::minutes(number),
            _ if unit.starts_with("hour") => TimeDelta::hours(number),
            _ => return None,
        };
        Some(wait.min(LONGEST_WAIT))
    }

    /// Reads a permanent enhanced code (RFC 3463, 3). Returns `None` if it says no more than the basic code.
    fn class_by(&self, enhanced: EnhancedCode) -> Option<RefusalClass> {
        Some(match (enhanced.subject, enhanced.detail) {
            // Gmail uses 5.2.1 both for a disabled mailbox and for one that currently gets too much mail.
            (2, 1) if self.speaks_of_limits() => RefusalClass::NotNow,
            (1, 1 | 2 | 3 | 6 | 10) | (2, 1) => RefusalClass::Recipient,
            // Microsoft's servers give this answer for an address that does not exist there.
            (4, 1) if self.text.to_lowercase().contains("recipient address rejected") => {
                RefusalClass::Recipient
            }
            (2, 3) | (3, 4) | (6, _) => RefusalClass::Letter,
            // Addresses of the sender (5.1.7, 5.1.8) and limits (5.1.90), full mailboxes (5.2.2), systems,
            // routes, protocols and policies.
            (1, 7..) | (2..=5, 1..) | (7, _) => RefusalClass::NotNow,
            _ => return None,
        })
    }

    fn class_by_code(&self, exchange: Exchange, code: u16) -> RefusalClass {
        match (code, exchange) {
            (552, Exchange::Sender | Exchange::Data | Exchange::Letter) => RefusalClass::Letter,
            _ if self.speaks_of_limits() => RefusalClass::NotNow,
            (530 | 534 | 535 | 538, _) => RefusalClass::NotNow,
            (501 | 550 | 551 | 553 | 556, Exchange::Recipient) => RefusalClass::Recipient,
            (_, Exchange::Letter) => RefusalClass::Letter,
            _ => RefusalClass::NotNow,
        }
    }

    fn speaks_of_limits(&self) -> bool {
        let text = self.text.to_lowercase();
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| WORDS_OF_LIMITS.contains(&word))
            || PHRASES_OF_LIMITS.iter().any(|phrase| text.contains(phrase))
    }
}

impl Exchange {
    /// Whether the exchange comes before the server has heard of any recipient.
    fn is_before_recipient(self) -> bool {
        match self {
            Exchange::Greeting
            | Exchange::Hello
            | Exchange::StartTls
            | Exchange::Login
            | Exchange::Sender => true,
            Exchange::Recipient | Exchange::Data | Exchange::Letter | Exchange::Reset | Exchange::Quit => {
                false
            }
        }
    }
}

/// The details of enhanced codes X.7.Y for this: those of RFC 7372, Gmail's (support.google.com/a/answer/3726730),
/// and Microsoft's (learn.microsoft.com, non-delivery reports in Exchange Online).
const DETAILS: [u16; 12] = [20, 21, 22, 23, 24, 26, 27, 30, 32, 40, 509, 515];

const WORDS: [&str; 4] = ["spf", "dkim", "dmarc", "unauthenticated"];

/// Whether a refusal, in the words of a server or of a sendmail command, doubts the sender's domain.
pub fn doubts_domain(refusal: &str) -> bool {
    let text = refusal.to_lowercase();
    let is_detail = |code: &str| {
        let detail = code.strip_prefix("5.7.").or(code.strip_prefix("4.7."));
        detail.and_then(|detail| detail.parse().ok()).is_some_and(|detail| DETAILS.contains(&detail))
    };
    text.split(|c: char| !(c.is_alphanumeric() || c == '.')).any(is_detail)
        || text.split(|c: char| !c.is_alphanumeric()).any(|word| WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::RefusalClass::{Account, Letter, NotNow, Recipient};
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

    fn refusal(exchange: Exchange, reply: &str) -> Refusal {
        let reply = format!("{}\r\n", reply.replace('\n', "\r\n"));
        Refusal::from_reply(exchange, &reply.parse().expect("a reply"))
    }

    /// Refusals that providers publish: support.google.com/a/answer/3726730, learn.microsoft.com
/// (non-delivery reports in Exchange Online), postmaster.gmx.net/en/error-messages, and Postfix's own
/// replies.
#[rustfmt::skip]
const PUBLISHED: &[(Exchange, &str, RefusalClass)] = &[
// Gmail
(Exchange::Letter, "550-5.4.5 Daily user sending limit exceeded. For more information on Gmail\n550-5.4.5 sending limits go to\n550 5.4.5 https://support.google.com/a/answer/166852 x.1 - gsmtp", NotNow),
(Exchange::Recipient, "550 5.4.5 Daily SMTP relay limit exceeded for user.", NotNow),
(Exchange::Recipient, "550-5.1.1 The email account that you tried to reach does not exist. Please try\n550 5.1.1 double-checking the recipient's email address for typos", Recipient),
(Exchange::Recipient, "550 5.2.1 The email account that you tried to reach is disabled.", Recipient),
(Exchange::Recipient, "550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered.", NotNow),
(Exchange::Recipient, "452 4.2.2 The email account that you tried to reach is over quota.", NotNow),
(Exchange::Recipient, "552 5.2.2 The email account that you tried to reach is over quota.", NotNow),
(Exchange::Recipient, "553 5.1.2 We weren't able to find the recipient domain.", Recipient),
(Exchange::Recipient, "553 5.1.3 The recipient address <x> is not a valid RFC 5321 address.", Recipient),
(Exchange::Recipient, "450 4.2.1 The user you are trying to contact is receiving mail too quickly.", NotNow),
(Exchange::Greeting, "421 4.7.0 Try again later, closing connection.", Account),
(Exchange::Hello, "421 4.7.0 Temporary System Problem. Try again later.", Account),
(Exchange::Sender, "530 5.5.1 Authentication Required.", Account),
(Exchange::Sender, "530 5.7.0 Must issue a STARTTLS command first.", Account),
(Exchange::Login, "535 5.7.8 Username and Password not accepted.", Account),
(Exchange::Login, "534 5.7.9 Application-specific password required.", Account),
(Exchange::Letter, "552 5.2.3 Your message exceeded Google's message size limits.", Letter),
(Exchange::Sender, "552 5.3.4 Your message exceeded Google's message size limits.", Letter),
(Exchange::Letter, "550 5.7.1 Our system has detected that this message is likely unsolicited mail.", NotNow),
(Exchange::Letter, "550 5.7.1 Email quota exceeded.", NotNow),
(Exchange::Letter, "554 5.6.0 Mail message is malformed. Not accepted.", Letter),
// Microsoft 365 and Outlook.com
(Exchange::Recipient, "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup", Recipient),
(Exchange::Recipient, "550 5.4.1 Recipient address rejected: Access denied.", Recipient),
(Exchange::Letter, "550 5.1.90 Your message can't be sent because you've reached your daily limit for message recipients", NotNow),
(Exchange::Letter, "554 5.2.252 SendAsDenied; club@example.org not allowed to send as referee@example.org", NotNow),
(Exchange::Letter, "554 5.2.0 STOREDRV.Submission.Exception: submission quota exceeded; daily", NotNow),
(Exchange::Letter, "554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException; Failed to process message", NotNow),
(Exchange::Recipient, "550 5.7.705 Access denied, tenant has exceeded threshold", NotNow),
(Exchange::Letter, "550 5.7.708 Access denied, traffic not accepted from this IP", NotNow),
(Exchange::Letter, "550 5.7.233 Your message can't be sent because your tenant exceeded its daily limit", NotNow),
(Exchange::Recipient, "550 5.4.6 Hop count exceeded, possible mail loop", NotNow),
(Exchange::Sender, "530 5.7.57 Client not authenticated to send mail.", Account),
(Exchange::Login, "535 5.7.139 Authentication unsuccessful, basic authentication is disabled.", Account),
(Exchange::Letter, "432 4.3.2 Concurrent connections limit exceeded", NotNow),
(Exchange::Letter, "451 4.7.500 Server busy. Please try again later", NotNow),
// GMX and WEB.DE, which give no enhanced codes
(Exchange::Recipient, "550 Requested action not taken: mailbox unavailable", Recipient),
(Exchange::Recipient, "550 Sender rate limit exceeded; try again later", NotNow),
(Exchange::Greeting, "554-gmx.net (mxgmx104) Nemesis ESMTP Service not available\n554-No SMTP service\n554 IP address is block listed.", Account),
(Exchange::Sender, "550 Sender address is not allowed.", Account),
(Exchange::Letter, "552 Requested mail action aborted: message size exceeds the limit", Letter),
(Exchange::Letter, "554 Transaction failed Reject due to policy restrictions.", Letter),
(Exchange::Letter, "450 Requested mail action not taken: mailbox unavailable Mail send limit exceeded.", NotNow),
// Postfix
(Exchange::Recipient, "550 5.1.1 <x@club.test>: Recipient address rejected: User unknown in local recipient table", Recipient),
(Exchange::Recipient, "554 5.7.1 <x@club.test>: Relay access denied", NotNow),
(Exchange::Recipient, "554 Relay access denied", NotNow),
(Exchange::Recipient, "450 4.7.1 <x@club.test>: Recipient address rejected: Greylisted", NotNow),
(Exchange::Recipient, "556 5.1.10 <x@club.test>: Domain club.test does not accept mail (nullMX)", Recipient),
(Exchange::Sender, "553 5.7.1 <x@club.test>: Sender address rejected: not owned by user", Account),
(Exchange::Sender, "452 4.3.1 Insufficient system storage", Account),
];

    #[test]
    fn published_refusals_are_of_the_right_class() {
        for (exchange, reply, class) in PUBLISHED {
            assert_eq!(refusal(*exchange, reply).class(), *class, "{exchange}: {reply}");
        }
        assert_eq!(Refusal::from("this is not a mail address").class(), Recipient);
    }

    #[test]
    fn the_time_that_a_server_names_is_read() {
        let wait = |text: &str| Refusal::from(text).named_wait();
        assert_eq!(wait("421 Too many letters, try again in 10 minutes."), Some(TimeDelta::minutes(10)));
        assert_eq!(
            wait("450 4.7.1 Greylisted, please try again after 300 seconds"),
            Some(TimeDelta::minutes(5))
        );
        assert_eq!(wait("451 Retry after 2 hours"), Some(TimeDelta::hours(2)));
        assert_eq!(wait("451 retry after 99999 hours"), Some(TimeDelta::hours(24)));
        for text in ["421 try again later", "450 again in", "450 again in -5 minutes", "450 again in 5 moons"]
        {
            assert_eq!(wait(text), None, "{text}");
        }
    }

    #[test]
    fn refusals_of_an_unauthenticated_domain_are_known_and_no_others() {
        for refusal in [
            "550 5.7.515 Access denied, sending domain FOG.EXAMPLE doesn't meet the required authentication level.",
            "550 5.7.26 Your email has been blocked because the sender is unauthenticated.",
            "421 4.7.27 This mail has been rate limited because SPF does not pass.",
            "550 5.7.1 Unauthenticated email from fog.example is not accepted due to domain's DMARC policy.",
            "550 5.7.509 Access denied, sending domain fog.example does not pass DMARC verification.",
            "the command ended with 69: msmtp: server message: 550-5.7.30 No DKIM signature",
            "550 SPF check failed",
            "554 5.7.5 Permanent error evaluating DMARC policy",
        ] {
            assert!(doubts_domain(refusal), "{refusal}");
        }
        for refusal in [
            "535 5.7.8 Authentication failed",
            "550 5.7.708 Access denied, traffic not accepted from this IP",
            "550 5.7.1 Our system has detected that this message is likely unsolicited mail.",
            "450 4.7.1 Greylisted",
            "550 5.1.26 no such user",
            "",
        ] {
            assert!(!doubts_domain(refusal), "{refusal}");
        }
    }
}
