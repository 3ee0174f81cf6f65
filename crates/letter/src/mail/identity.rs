//! The marks by which our own mail is recognised when it returns.

use super::address::{Address, Token};
use super::dialect::Dialect;
use super::header::addresses;

/// The addresses and the Message-ID domain of the referee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnIdentity {
    /// The referee's address. A reply token follows its local part and a `+`.
    pub address: Address,
    /// The domain of the Message-IDs of our letters.
    pub message_id_domain: String,
    /// The envelope sender of our letters, without an ID in its plus part, if it differs from `address`.
    pub return_path: Option<Address>,
    pub dialect: &'static Dialect,
}

impl OwnIdentity {
    /// Returns the referee's address and, if there is a separate one, the return path.
    fn addresses(&self) -> impl Iterator<Item = &Address> {
        std::iter::once(&self.address).chain(&self.return_path)
    }

    /// Whether this is one of our addresses, with or without a plus part.
    pub(crate) fn has_address(&self, address: &Address) -> bool {
        self.addresses().any(|own| own == address || own.plus_of(address).is_some())
    }
}

/// Whether a Message-ID must be ours: its domain is, and it contains a token or the domain is used for nothing else.
pub fn is_own_id(id: &str, own: &OwnIdentity) -> bool {
    let shared = own.message_id_domain.eq_ignore_ascii_case(own.address.domain());
    has_own_domain(id, own) && (!shared || token_of_id(id).is_some())
}

pub fn has_own_domain(id: &str, own: &OwnIdentity) -> bool {
    id.rsplit_once('@').is_some_and(|(_, domain)| domain.eq_ignore_ascii_case(&own.message_id_domain))
}

/// Returns the token in a Message-ID of the form of ours: `TOKEN.N@domain`. The domain does not matter: answers to letters
/// from before a club moved to another one bear the old one. A token proves itself by being valid.
pub fn token_of_id(id: &str) -> Option<Token> {
    let (local, _) = id.rsplit_once('@')?;
    Token::parse(local.split_once('.')?.0)
}

/// Returns the tokens after the `+` of addresses in an address field, at whatever address a club once had.
pub fn plus_tokens(value: &str) -> Vec<Token> {
    addresses(value).filter_map(|address| Token::parse(address.plus()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::dialect::example::DIALECT;

    #[test]
    fn tokens_are_found_in_addresses_and_message_ids() {
        let own = OwnIdentity {
            address: Address::parse("referee@club.example").unwrap(),
            message_id_domain: "fogpost.club.example".into(),
            return_path: None,
            dialect: &DIALECT,
        };
        let token = Token::parse("0123456789abcdef").unwrap();
        assert_eq!(
            plus_tokens("\"R\" <Referee+0123456789ABCDEF@club.example>, x@y.z"),
            std::slice::from_ref(&token)
        );
        assert_eq!(plus_tokens("referee+0123456789abcdef@old.example").len(), 1, "from before a move");
        assert_eq!(plus_tokens("referee+list@club.example, referee@club.example"), []);
        for id in ["0123456789abcdef.7@fogpost.club.example", "0123456789ABCDEF.7@old.example"] {
            assert_eq!(token_of_id(id), Some(token.clone()), "{id}");
        }
        for id in ["digest-5@fogpost.club.example", "0123456789abcdef@x.y", "0123456789abcdef.7"] {
            assert_eq!(token_of_id(id), None, "{id}");
        }
        assert!(!is_own_id("0123456789abcdef.7@old.example", &own));
        let shared = OwnIdentity { message_id_domain: "club.example".into(), ..own.clone() };
        assert!(is_own_id("n.1@fogpost.club.example", &own) && !is_own_id("n.1@club.example", &own));
        assert!(is_own_id("0123456789abcdef.7@club.example", &shared));
        assert!(!is_own_id("a1b2c3@club.example", &shared), "a member who writes from the club's domain");
    }
}
