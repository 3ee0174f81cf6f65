//! Random numbers that a repeated decision draws again.
//!
//! A decision is repeated when a row is missing: for example, whether the match name that it drew is free. It must
//! then draw the same name again, so it cannot ask the system for random numbers. A letter is also decided again
//! after an older backup was restored. People then still have the codes, names and tokens that it brought about, so
//! it must bring about the same ones: its numbers follow from the club's secret and the letter's digest. Whoever
//! wrote the letter knows the digest, and can predict nothing without the secret. What no letter causes follows from
//! random bits that are loaded for each decision.

use ring::hmac;

use crate::letter::{Digest, Token};

/// A stream of random bytes: HMAC-SHA-256 of a counter, under a key of its own.
#[derive(Clone, Debug)]
pub struct RandomStream {
    key: hmac::Key,
    blocks: u64,
}

impl RandomStream {
    /// Creates the stream with this number among those that a cause, such as a letter, uses for a purpose.
    pub fn new(secret: &[u8; 32], cause: Option<Digest>, purpose: &str, number: u64) -> RandomStream {
        let mut name = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret));
        // Only the last part varies in length, so no two streams have the same name.
        name.update(&[u8::from(cause.is_some())]);
        name.update(cause.map_or([0; 32], |digest| *digest.as_bytes()).as_slice());
        name.update(&number.to_be_bytes());
        name.update(purpose.as_bytes());
        RandomStream { key: hmac::Key::new(hmac::HMAC_SHA256, name.sign().as_ref()), blocks: 0 }
    }

    /// Returns the next bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        const { assert!(N <= 32, "a block has 32 bytes") };
        let block = hmac::sign(&self.key, &self.blocks.to_be_bytes());
        self.blocks += 1;
        let mut bytes = [0; N];
        bytes.copy_from_slice(&block.as_ref()[..N]);
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
        let letter = Digest::of(b"a letter");
        let drawn = |secret: u8, cause, purpose, number| {
            RandomStream::new(&[secret; 32], cause, purpose, number).bytes::<32>()
        };
        let one = drawn(1, Some(letter), "code", 1);
        assert_eq!(one, drawn(1, Some(letter), "code", 1));
        for other in [
            drawn(2, Some(letter), "code", 1),
            drawn(1, Some(Digest::of(b"another")), "code", 1),
            drawn(1, Some(Digest::from([0; 32])), "code", 1),
            drawn(1, None, "code", 1),
            drawn(1, Some(letter), "token", 1),
            drawn(1, Some(letter), "code", 2),
        ] {
            assert_ne!(one, other);
        }
        let mut stream = RandomStream::new(&[0; 32], None, "", 0);
        assert_ne!(stream.bytes::<10>(), stream.bytes::<10>());
    }
}
