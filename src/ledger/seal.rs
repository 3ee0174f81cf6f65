//! The secret of a match, and what comes of it: the salts of its entries, the digests of sealed orders, the dice of the
//! house.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::game::OrderLines;
use crate::letter::Digest;

/// The secret of a match from which all its salts come; opened with the result.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SealKey(Digest);

impl SealKey {
    pub fn new(random: [u8; 32]) -> Self {
        SealKey(Digest::from(random))
    }

    /// SHA-256 of the secret.
    pub fn pin(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }

    /// The secret itself, as 64 hexadecimal digits: told with the result, never before.
    pub fn reveal(&self) -> String {
        self.0.to_string()
    }

    /// The dice of the house in the phase of this number: the first 8 bytes of SHA-256 over the key, `dice` and the
    /// number (4 bytes, big-endian).
    pub fn dice(&self, phase_no: u32) -> u64 {
        let digest = Sha256::new().chain_update(self.0.as_bytes()).chain_update("dice");
        let [a, b, c, d, e, f, g, h, ..] =
            <[u8; 32]>::from(digest.chain_update(phase_no.to_be_bytes()).finalize());
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// The salt of entry `seq`: the first 16 bytes of SHA-256 over the key and the number (8 bytes, big-endian).
    pub fn salt(&self, seq: u64) -> String {
        let digest = Sha256::new().chain_update(self.0.as_bytes()).chain_update(seq.to_be_bytes()).finalize();
        Digest::from(<[u8; 32]>::from(digest)).to_string()[..32].to_owned()
    }
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey(…)")
    }
}

/// The digest of sealed orders that a receipt tells: SHA-256 over the salt and each order, a line feed after each.
pub fn seal_digest(salt: &str, orders: &OrderLines) -> Digest {
    let mut text = format!("{salt}\n");
    for order in orders.iter() {
        text.push_str(order);
        text.push('\n');
    }
    Digest::of(text.as_bytes())
}
