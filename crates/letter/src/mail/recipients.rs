//! The other recipients of a letter, in To and Cc: all but us and the sender. They can read its reply token.

use super::address::Address;
use super::header::{self, Header};
use super::identity::OwnIdentity;

/// Maximum recipients to return. A single one is enough to disclose a token.
const MAX_RECIPIENTS: usize = 20;

/// Returns the addresses in To and Cc that are neither ours nor the sender's.
pub fn other_recipients(headers: &[Header], own: &OwnIdentity, from: &Address) -> Vec<Address> {
    let fields = headers.iter().filter(|header| matches!(header.name.as_str(), "to" | "cc" | "resent-to"));
    let addresses = fields.flat_map(|header| header::addresses(&header.value));
    addresses.filter(|address| address != from && !own.has_address(address)).take(MAX_RECIPIENTS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::dialect::example::DIALECT;

    #[test]
    fn the_referee_and_the_sender_are_not_others() {
        let address = |text: &str| Address::parse(text).unwrap();
        let own = OwnIdentity {
            address: address("referee@club.example"),
            message_id_domain: "fogpost.club.example".into(),
            return_path: None,
            dialect: &DIALECT,
        };
        let others = |to: &str, cc: &str| {
            let fields = [("to", to), ("cc", cc), ("bcc", "x@y.z")];
            let headers: Vec<Header> =
                fields.map(|(name, value)| Header { name: name.into(), value: value.into() }).into();
            other_recipients(&headers, &own, &address("ann@players.example"))
        };
        assert_eq!(others("\"R\" <Referee+0123456789abcdef@club.example>", "Ann <ANN@players.example>"), []);
        assert_eq!(others("undisclosed-recipients:;", ""), []);
        assert_eq!(
            others("referee@club.example, Bo <bo@players.example>", "list@x.example"),
            [address("bo@players.example"), address("list@x.example")]
        );
    }
}
