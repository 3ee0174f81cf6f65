//! The secret of a match, and the values derived from it: the salts of entries, the digests of sealed orders,
//! the random numbers of the house.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::game::Seat;
use crate::letter::Digest;

/// The secret of a match, from which its salts are derived. It is revealed with the result.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SealKey(Digest);

impl SealKey {
    pub fn new(random: [u8; 32]) -> Self {
        SealKey(Digest::from(random))
    }

    /// Returns the SHA-256 of the secret, which commits to it at the opening.
    pub fn pin(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }

    /// Returns the secret as 64 hexadecimal digits. Never show it before the match is over.
    pub fn reveal(&self) -> String {
        self.0.to_string()
    }

    /// Returns the random seed of the house in a phase: the first 8 bytes of the SHA-256 of the key, `dice`
    /// and the phase's number (4 bytes, big-endian).
    pub fn dice(&self, phase_no: u32) -> u64 {
        self.seed("dice", &phase_no.to_be_bytes())
    }

    /// Returns the seed of a ready setup: the first 8 bytes of the SHA-256 of the key, `setup` and the seat's
    /// name.
    pub fn setup_dice(&self, seat: Seat) -> u64 {
        self.seed("setup", seat.as_str().as_bytes())
    }

    fn seed(&self, purpose: &str, of: &[u8]) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = *self.hash(&[purpose.as_bytes(), of]).as_bytes();
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// Returns the SHA-256 of the key and these bytes.
    pub(super) fn hash(&self, parts: &[&[u8]]) -> Digest {
        let start = Sha256::new().chain_update(self.0.as_bytes());
        let hash = parts.iter().fold(start, |hash, part| hash.chain_update(part));
        Digest::from(<[u8; 32]>::from(hash.finalize()))
    }

    /// Hides a letter's place in the ledger in its Message-ID, because the place would reveal how often the
    /// other side wrote.
    ///
    /// Returns 16 hexadecimal digits: a Feistel network whose round function is the SHA-256 of the key,
    /// `mail`, the round and a half. A hash alone would not do, because the audit reads the number back, and
    /// a block cipher would be a dependency for this one number.
    pub fn veil(&self, place: u64) -> String {
        let (mut left, mut right) = halves(place);
        for round in 0..VEIL_ROUNDS {
            (left, right) = (right, left ^ self.veil_half(round, right));
        }
        format!("{left:08x}{right:08x}")
    }

    /// Returns the number that [`SealKey::veil`] hid.
    pub fn unveil(&self, written: &str) -> Option<u64> {
        let (mut left, mut right) = halves(u64::from_str_radix(written, 16).ok()?);
        for round in (0..VEIL_ROUNDS).rev() {
            (left, right) = (right ^ self.veil_half(round, left), left);
        }
        Some(u64::from(left) << 32 | u64::from(right))
    }

    fn veil_half(&self, round: u8, half: u32) -> u32 {
        let [a, b, c, d, ..] = *self.hash(&[b"mail", &[round], &half.to_be_bytes()]).as_bytes();
        u32::from_be_bytes([a, b, c, d])
    }

    /// Returns the salt of entry `seq`: the first 16 bytes of the SHA-256 of the key and `seq` (8 bytes,
    /// big-endian).
    pub fn salt(&self, seq: u64) -> String {
        self.hash(&[&seq.to_be_bytes()]).to_string()[..32].to_owned()
    }
}

/// Enough rounds to hide numbers from anybody without the key.
const VEIL_ROUNDS: u8 = 6;

fn halves(number: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = number.to_be_bytes();
    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey(…)")
    }
}

/// Returns the digest of sealed orders in receipts: the SHA-256 of the salt and the orders, each followed by
/// a line feed.
pub fn seal_digest(salt: &str, orders: &[String]) -> Digest {
    let lines = std::iter::once(salt).chain(orders.iter().map(String::as_str));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    Digest::of(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_veiled_number_is_read_with_the_key_alone() {
        let (key, other) = (SealKey::new([7; 32]), SealKey::new([8; 32]));
        let mut veiled: Vec<String> = (0..100).map(|seq| key.veil(seq)).collect();
        for (seq, veiled) in (0..100).zip(&veiled) {
            assert_eq!((key.unveil(veiled), veiled.len()), (Some(seq), 16));
            assert_ne!(other.unveil(veiled), Some(seq));
        }
        veiled.dedup();
        assert_eq!(veiled.len(), 100);
        assert_eq!(key.unveil("x"), None);
    }
}
