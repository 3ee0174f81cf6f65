//! The capabilities of a mail server, from its reply to EHLO.

use lettre::transport::smtp::authentication::Mechanism;
use lettre::transport::smtp::response::Response;

use crate::oauth;

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
