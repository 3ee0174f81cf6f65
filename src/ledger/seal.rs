//! The secret of a match and what is derived from it: the salts of entries, the digests of sealed orders, the random
//! numbers of the house.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::game::OrderLines;
use crate::letter::Digest;

/// The secret of a match, from which its salts are derived. It is revealed with the result.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SealKey(Digest);

impl SealKey {
    pub fn new(random: [u8; 32]) -> Self {
        SealKey(Digest::from(random))
    }

    /// The SHA-256 of the secret, which commits to it at the opening.
    pub fn pin(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }

    /// The secret as 64 hexadecimal digits. Never show it before the match is over.
    pub fn reveal(&self) -> String {
        self.0.to_string()
    }

    /// The random seed of the house in a phase: the first 8 bytes of the SHA-256 of the key, `dice` and the phase's
    /// number (4 bytes, big-endian).
    pub fn dice(&self, phase_no: u32) -> u64 {
        let digest = Sha256::new().chain_update(self.0.as_bytes()).chain_update("dice");
        let [a, b, c, d, e, f, g, h, ..] =
            <[u8; 32]>::from(digest.chain_update(phase_no.to_be_bytes()).finalize());
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// The salt of entry `seq`: the first 16 bytes of the SHA-256 of the key and the number (8 bytes, big-endian).
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

/// The digest of sealed orders, as receipts show it: the SHA-256 of the salt and the orders, each followed by a line
/// feed.
pub fn seal_digest(salt: &str, orders: &OrderLines) -> Digest {
    let mut text = format!("{salt}\n");
    for order in orders.iter() {
        text.push_str(order);
        text.push('\n');
    }
    Digest::of(text.as_bytes())
}
