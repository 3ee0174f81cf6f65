//! What identifies our own mail, so that it is recognised when it comes back.

use super::address::Address;

/// The addresses and the Message-ID domain of the referee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnIdentity {
    /// The referee's address. A reply token follows its local part and a `+`.
    pub address: Address,
    /// The domain of the Message-IDs of our letters.
    pub message_id_domain: String,
    /// The envelope sender of our letters, without an ID in its plus part, if it differs from `address`.
    pub return_path: Option<Address>,
}

impl OwnIdentity {
    /// Returns the referee's address and, if there is a separate one, the return path.
    pub(super) fn addresses(&self) -> impl Iterator<Item = &Address> {
        std::iter::once(&self.address).chain(&self.return_path)
    }
}
