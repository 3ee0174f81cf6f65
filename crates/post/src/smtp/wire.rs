//! The bytes of an SMTP connection: replies in, letters out.
//!
//! The capabilities of a mail server, from its reply to EHLO.

use std::io;

use lettre::transport::smtp::authentication::Mechanism;
use lettre::transport::smtp::response::Response;
use tokio::io::{AsyncBufReadExt, AsyncReadExt};

use crate::oauth;

/// Maximum bytes of a reply line, its CRLF included. RFC 5321, 4.5.3.1.5 allows 512, but some servers send
/// more.
const MAX_LINE_BYTES: u64 = 2 * 1024;

/// Maximum lines of a reply. The longest replies are those to EHLO, with a line for each extension.
const MAX_REPLY_LINES: usize = 100;

/// Reads one reply (RFC 5321, 4.2.1). Returns `None` if it is malformed or exceeds the limits.
pub(super) async fn read_reply(stream: &mut (impl AsyncBufReadExt + Unpin)) -> io::Result<Option<Response>> {
    let mut reply = String::new();
    let mut line = Vec::new();
    for _ in 0..MAX_REPLY_LINES {
        line.clear();
        (&mut *stream).take(MAX_LINE_BYTES).read_until(b'\n', &mut line).await?;
        let Some(text) = line.strip_suffix(b"\n") else {
            let cut = line.len() as u64 == MAX_LINE_BYTES;
            return if cut { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        };
        let text = String::from_utf8_lossy(text.trim_ascii_end());
        reply.push_str(&text);
        // A code may stand alone (RFC 5321, 4.2.1), which lettre does not expect.
        if text.len() == 3 {
            reply.push(' ');
        }
        reply.push_str("\r\n");
        if text.as_bytes().get(3) != Some(&b'-') {
            return Ok(reply.parse().ok());
        }
    }
    Ok(None)
}

/// Returns the letter as DATA sends it: dots doubled at the start of lines (RFC 5321, 4.5.2) and the final
/// dot added. Every line ends in CRLF: some servers take a bare CR or LF for a line end, so that a letter
/// could end early and smuggle in another one (RFC 5321, 2.3.8).
pub(super) fn encode_data(letter: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(letter.len() + letter.len() / 32 + 8);
    let mut at_line_start = true;
    let mut bytes = letter.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'\r' || byte == b'\n' {
            if byte == b'\r' {
                bytes.next_if_eq(&b'\n');
            }
            out.extend_from_slice(b"\r\n");
            at_line_start = true;
            continue;
        }
        if byte == b'.' && at_line_start {
            out.push(b'.');
        }
        out.push(byte);
        at_line_start = false;
    }
    if !at_line_start {
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b".\r\n");
    out
}

/// The service extensions that we use.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Capabilities {
    /// Several commands in one segment (RFC 2920).
    pub pipelining: bool,
    /// TLS on request (RFC 3207).
    pub start_tls: bool,
    /// Letters beyond ASCII (RFC 6152).
    pub eight_bit_mime: bool,
    /// Addresses beyond ASCII (RFC 6531).
    pub smtp_utf8: bool,
    /// Letter sizes in MAIL (RFC 1870).
    pub size: bool,
    /// The names of all login mechanisms that the server offers.
    pub offered_logins: Vec<String>,
    /// The best login mechanism (RFC 4954) that both sides know.
    pub login: Option<Mechanism>,
    /// The best mechanism for access tokens.
    pub token_login: Option<oauth::Mechanism>,
}

impl Capabilities {
    /// Reads the reply to EHLO (RFC 5321, 4.1.1.1): an extension on each line but the first.
    pub fn of(reply: &Response) -> Capabilities {
        let mut capabilities = Capabilities::default();
        for line in reply.message().skip(1) {
            let line = line.to_ascii_uppercase();
            let mut words = line.split_whitespace();
            match words.next().unwrap_or_default() {
                "PIPELINING" => capabilities.pipelining = true,
                "STARTTLS" => capabilities.start_tls = true,
                "8BITMIME" => capabilities.eight_bit_mime = true,
                "SMTPUTF8" => capabilities.smtp_utf8 = true,
                "SIZE" => capabilities.size = true,
                "AUTH" => {
                    capabilities.token_login = oauth::Mechanism::best(words.clone());
                    capabilities.offered_logins = words.clone().map(ToOwned::to_owned).collect();
                    capabilities.login = best_mechanism(words);
                }
                _ => {}
            }
        }
        capabilities
    }

    /// Explains why no login by password is possible, and what to do.
    pub fn without_password(&self) -> String {
        let advice = match (self.token_login, self.start_tls) {
            (Some(_), _) => "set up [outbox.smtp.oauth] and run fogpost login",
            (None, true) => "it may offer them over TLS: set outbox.smtp.tls = \"starttls\"",
            (None, false) => {
                "allow one of them on the server, use another port, or send through a command ([outbox.sendmail]) \
                 that speaks what it offers"
            }
        };
        let offered = match &self.offered_logins[..] {
            [] => "no login".to_owned(),
            names => format!("only {}", names.join(", ")),
        };
        format!("the mail server offers {offered}; fogpost logs in with PLAIN or LOGIN; {advice}")
    }
}

/// Prefers PLAIN, which takes two round trips fewer than LOGIN.
fn best_mechanism<'a>(offered: impl Iterator<Item = &'a str>) -> Option<Mechanism> {
    let mut best = None;
    for name in offered {
        match name {
            "PLAIN" => return Some(Mechanism::Plain),
            "LOGIN" => best = Some(Mechanism::Login),
            _ => {}
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_encoded_with_whole_line_ends_and_doubled_dots() {
        assert_eq!(encode_data(b"a\nb\r\nc\rd\n.\n"), b"a\r\nb\r\nc\r\nd\r\n..\r\n.\r\n");
        assert_eq!(encode_data(b".a.\r\n.."), b"..a.\r\n...\r\n.\r\n");
        assert_eq!(encode_data(b"\n\r"), b"\r\n\r\n.\r\n");
        assert_eq!(encode_data(b""), b".\r\n");
    }

    #[tokio::test]
    async fn replies_are_read_whole_and_only_within_the_limits() {
        let read = async |text: String| read_reply(&mut text.as_bytes()).await;
        let reply =
            read("250-a\r\n250-b\n250 c\r\n220 next\r\n".to_owned()).await.expect("whole").expect("valid");
        assert_eq!(reply.message().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(read("354\r\n".to_owned()).await.expect("whole").expect("valid").has_code(354));
        for malformed in ["99\r\n", "what?\r\n", "\r\n", "250-a\r\n550 b\r\n"] {
            assert_eq!(read(malformed.to_owned()).await.expect("whole"), None, "{malformed:?}");
        }
        let long = "x".repeat(MAX_LINE_BYTES as usize);
        assert_eq!(read(format!("250 {long}\r\n")).await.expect("cut"), None);
        assert_eq!(read("250-x\r\n".repeat(MAX_REPLY_LINES + 1)).await.expect("cut"), None);
        assert!(read("250-x\r\n250 ".to_owned()).await.is_err(), "the connection ended");
    }

    #[test]
    fn capabilities_are_read_in_any_case_and_not_from_the_servers_name() {
        let reply =
            "250-PIPELINING says hello\r\n250-size 1000\r\n250-Auth LOGIN CRAM-MD5\r\n250 8bitmime\r\n";
        let expected = Capabilities {
            size: true,
            eight_bit_mime: true,
            login: Some(Mechanism::Login),
            offered_logins: vec!["LOGIN".to_owned(), "CRAM-MD5".to_owned()],
            ..Default::default()
        };
        assert_eq!(Capabilities::of(&reply.parse().expect("a reply")), expected);
        assert_eq!(best_mechanism("LOGIN PLAIN".split(' ')), Some(Mechanism::Plain));
    }

    #[test]
    fn a_server_without_a_usable_login_gets_advice() {
        for (reply, wanted) in [
            (
                "250-x\r\n250 AUTH CRAM-MD5\r\n",
                ["only CRAM-MD5; fogpost logs in with PLAIN or LOGIN", "another port"],
            ),
            (
                "250-x\r\n250-STARTTLS\r\n250 AUTH SCRAM-SHA-1 CRAM-MD5\r\n",
                ["only SCRAM-SHA-1, CRAM-MD5", "starttls"],
            ),
            ("250-x\r\n250 AUTH XOAUTH2\r\n", ["only XOAUTH2", "[outbox.smtp.oauth]"]),
            ("250-x\r\n250 SIZE\r\n", ["offers no login", "[outbox.sendmail]"]),
        ] {
            let said = Capabilities::of(&reply.parse().expect("a reply")).without_password();
            assert!(wanted.iter().all(|words| said.contains(words)), "{said}");
        }
    }
}
