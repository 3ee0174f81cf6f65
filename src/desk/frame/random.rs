//! Random numbers from a seed, so that a repeated decision draws the same ones.
//!
//! A decision is repeated when a row is missing: for example, whether the match name that it drew is free. It
//! must then draw the same name again, so it cannot ask the system for random numbers. Instead the loaded
//! rows hold a seed of 256 bits from the system, and a stream is SHA-256 over the seed, a label and a
//! counter.

use sha2::{Digest as _, Sha256};

use crate::letter::Token;

/// A stream of random bytes.
#[derive(Clone, Debug)]
pub struct Random {
    key: [u8; 32],
    blocks: u64,
}

impl Random {
    /// Creates the stream with this number for a `subject`, which is the digest of a letter, or empty.
    pub fn new(seed: &[u8; 32], subject: &[u8], stream: u64) -> Random {
        // Only the last part varies in length, so no two streams hash the same bytes.
        let key = Sha256::new().chain_update(seed).chain_update(stream.to_be_bytes()).chain_update(subject);
        Random { key: key.finalize().into(), blocks: 0 }
    }

    /// Returns the next bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        const { assert!(N <= 32, "a block has 32 bytes") };
        let block = Sha256::new().chain_update(self.key).chain_update(self.blocks.to_be_bytes()).finalize();
        self.blocks += 1;
        let mut bytes = [0; N];
        bytes.copy_from_slice(&block[..N]);
        bytes
    }

    pub fn token(&mut self) -> Token {
        Token::from_random(self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_repeats_itself_and_differs_from_every_other() {
        let drawn =
            |seed: u8, subject: &[u8], stream| Random::new(&[seed; 32], subject, stream).bytes::<32>();
        assert_eq!(drawn(1, b"letter", 1), drawn(1, b"letter", 1));
        assert_ne!(drawn(1, b"letter", 1), drawn(2, b"letter", 1));
        assert_ne!(drawn(1, b"letter", 1), drawn(1, b"other", 1));
        assert_ne!(drawn(1, b"letter", 1), drawn(1, b"letter", 2));
        let mut stream = Random::new(&[0; 32], b"", 0);
        assert_ne!(stream.bytes::<10>(), stream.bytes::<10>());
    }
}
