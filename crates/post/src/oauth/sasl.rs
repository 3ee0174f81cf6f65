//! Mechanisms that show an access token to a mail server: OAUTHBEARER (RFC 7628), or Google's and Microsoft's
//! XOAUTH2.

use crate::Secret;

/// The SASL mechanisms for access tokens, the better one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mechanism {
    OAuthBearer,
    XOAuth2,
}

impl Mechanism {
    /// Returns the best of the mechanisms that a server offers.
    pub fn best<'a>(offered: impl IntoIterator<Item = &'a str>) -> Option<Mechanism> {
        let named = |name: &str| {
            let all = [Mechanism::OAuthBearer, Mechanism::XOAuth2];
            all.into_iter().find(|mechanism| mechanism.name().eq_ignore_ascii_case(name))
        };
        offered.into_iter().filter_map(named).min()
    }

    pub fn name(self) -> &'static str {
        match self {
            Mechanism::OAuthBearer => "OAUTHBEARER",
            Mechanism::XOAuth2 => "XOAUTH2",
        }
    }

    /// Returns the client's first message, before base64.
    pub fn first_message(self, user: &str, host: &str, port: u16, token: &Secret) -> String {
        let token = token.reveal();
        match self {
            Mechanism::OAuthBearer => {
                // RFC 5801, 4: a comma ends the name, and `=` starts an escape.
                let user = user.replace('=', "=3D").replace(',', "=2C");
                format!("n,a={user},\u{1}host={host}\u{1}port={port}\u{1}auth=Bearer {token}\u{1}\u{1}")
            }
            Mechanism::XOAuth2 => format!("user={user}\u{1}auth=Bearer {token}\u{1}\u{1}"),
        }
    }

    /// Returns the answer to a server's explanation of a refusal. The server then ends the login.
    pub fn acknowledgement(self) -> &'static str {
        match self {
            Mechanism::OAuthBearer => "\u{1}",
            Mechanism::XOAuth2 => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_mechanism_is_preferred_and_messages_are_as_specified() {
        assert_eq!(Mechanism::best(["PLAIN", "xoauth2", "OAuthBearer"]), Some(Mechanism::OAuthBearer));
        assert_eq!(Mechanism::best(["XOAUTH2", "PLAIN"]), Some(Mechanism::XOAuth2));
        assert_eq!(Mechanism::best(["PLAIN", "LOGIN"]), None);
        let message = |mechanism: Mechanism| {
            mechanism.first_message("a,b@club.test", "mail.test", 993, &Secret::new("t0k"))
        };
        let bearer = "n,a=a=2Cb@club.test,\u{1}host=mail.test\u{1}port=993\u{1}auth=Bearer t0k\u{1}\u{1}";
        assert_eq!(message(Mechanism::OAuthBearer), bearer);
        assert_eq!(message(Mechanism::XOAuth2), "user=a,b@club.test\u{1}auth=Bearer t0k\u{1}\u{1}");
    }
}
