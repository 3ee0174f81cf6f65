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

/// Whether a Message-ID must be ours: it contains a token, or its domain is used for nothing else.
pub fn is_own_id(id: &str, own: &OwnIdentity) -> bool {
    let shared = own.message_id_domain.eq_ignore_ascii_case(own.address.domain());
    token_of_id(id, own).is_some() || !shared && has_own_domain(id, own)
}

pub fn has_own_domain(id: &str, own: &OwnIdentity) -> bool {
    id.rsplit_once('@').is_some_and(|(_, domain)| domain.eq_ignore_ascii_case(&own.message_id_domain))
}

/// Returns the token in one of our Message-IDs: `TOKEN.N@domain`.
pub fn token_of_id(id: &str, own: &OwnIdentity) -> Option<Token> {
    if !has_own_domain(id, own) {
        return None;
    }
    Token::parse(id.split_once('.')?.0)
}

/// Returns the tokens after the `+` of our addresses in an address field.
pub fn plus_tokens(value: &str, own: &OwnIdentity) -> Vec<Token> {
    let token = |address: Address| own.addresses().find_map(|own| Token::parse(own.plus_of(&address)?));
    addresses(value).filter_map(token).collect()
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
            plus_tokens("\"R\" <Referee+0123456789ABCDEF@club.example>, x@y.z", &own),
            std::slice::from_ref(&token)
        );
        assert_eq!(plus_tokens("referee+0123456789abcdef@other.example", &own), []);
        assert_eq!(token_of_id("0123456789abcdef.7@FOGPOST.club.example", &own), Some(token));
        assert_eq!(token_of_id("0123456789abcdef.7@club.example", &own), None);
        assert_eq!(token_of_id("digest-5@fogpost.club.example", &own), None);
        let shared = OwnIdentity { message_id_domain: "club.example".into(), ..own.clone() };
        assert!(is_own_id("n.1@fogpost.club.example", &own) && !is_own_id("n.1@club.example", &own));
        assert!(is_own_id("0123456789abcdef.7@club.example", &shared));
        assert!(!is_own_id("a1b2c3@club.example", &shared), "a member who writes from the club's domain");
    }
}
