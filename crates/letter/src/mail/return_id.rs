//! The ID in the return path of each of our letters. It identifies the letter that a bounce is about, even if
//! a server on the way replaced the Message-ID.

use super::header::{self, Header};
use super::identity::OwnIdentity;
use super::limits::add_new;

/// 96 random bits as 24 hexadecimal digits, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnId(String);

impl ReturnId {
    pub const LENGTH: usize = 24;

    pub fn from_random(random: [u8; 12]) -> ReturnId {
        let bits = random.iter().fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
        ReturnId(format!("{bits:024x}"))
    }

    /// Parses an ID, ignoring case.
    pub fn parse(text: &str) -> Option<ReturnId> {
        let is_id = text.len() == ReturnId::LENGTH && text.bytes().all(|b| b.is_ascii_hexdigit());
        is_id.then(|| ReturnId(text.to_ascii_lowercase()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Fields that may name the recipient of the envelope, which need not be in To.
const RECIPIENT_FIELDS: [&str; 6] =
    ["to", "delivered-to", "x-original-to", "envelope-to", "x-envelope-to", "x-delivered-to"];

/// Maximum IDs to look up for a letter. A bounce is sent to a single return path.
const MAX_IDS: usize = 4;

/// Returns the IDs of the return paths that a letter was sent to.
pub fn in_header(headers: &[Header], own: &OwnIdentity) -> Vec<ReturnId> {
    let Some(return_path) = &own.return_path else { return Vec::new() };
    let mut found = Vec::new();
    let fields = headers.iter().filter(|header| RECIPIENT_FIELDS.contains(&header.name.as_str()));
    for address in fields.flat_map(|field| header::addresses(&field.value)) {
        if let Some(id) = return_path.plus_of(&address).and_then(ReturnId::parse) {
            add_new(&mut found, id, MAX_IDS);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Address;
    use crate::mail::dialect::example::DIALECT;

    #[test]
    fn an_id_is_24_hexadecimal_digits() {
        let id = ReturnId::from_random([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255]);
        assert_eq!(id.as_str(), "000102030405060708090aff");
        assert_eq!(ReturnId::parse("000102030405060708090AFF"), Some(id));
        for text in ["", "000102030405060708090af", "000102030405060708090afg", "000102030405060708090aff0"] {
            assert_eq!(ReturnId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn ids_are_found_in_recipient_fields_at_the_return_path_only() {
        let address = |text: &str| Address::parse(text).expect("an address");
        let own = OwnIdentity {
            address: address("referee@club.example"),
            message_id_domain: "fogpost.club.example".into(),
            return_path: Some(address("bounce@club.example")),
            dialect: &DIALECT,
        };
        let found = |name: &str, value: &str| {
            let headers = [Header { name: name.into(), value: value.into() }];
            in_header(&headers, &own).into_iter().map(|id| id.0).collect::<Vec<_>>()
        };
        let id = "000102030405060708090aff";
        assert_eq!(found("to", &format!("<Bounce+{id}@club.example>")), [id]);
        assert_eq!(found("x-original-to", &format!("bounce+{id}@club.example")), [id]);
        assert_eq!(found("subject", &format!("bounce+{id}@club.example")), [""; 0]);
        assert_eq!(found("to", &format!("referee+{id}@club.example")), [""; 0]);
        assert_eq!(found("to", "bounce+0123456789abcdef@club.example"), [""; 0]);
    }
}
