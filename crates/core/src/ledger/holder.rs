//! The holder of a seat, as a ledger pins it: addresses and reply tokens enter a chain only as digests under
//! separate keys, so that the chain can be published and each pin can be opened alone.

use std::fmt::{self, Display};
use std::str::FromStr;

use ring::hmac;
use serde::{Deserialize, Serialize};

use crate::game::Seat;
use crate::game::named_enum;
use crate::letter::Digest;

/// 128 random bits under which one value is pinned. The key is stored with the seat, and is not derived from
/// the secret of the match, which is revealed at its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PinKey([u8; 16]);

impl PinKey {
    pub fn new(random: [u8; 16]) -> PinKey {
        PinKey(random)
    }

    /// Returns the HMAC-SHA-256 of a value.
    pub fn pin(&self, value: &str) -> Digest {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &self.0), value.as_bytes());
        Digest::from(<[u8; 32]>::try_from(tag.as_ref()).expect("a SHA-256 has 32 bytes"))
    }
}

impl Display for PinKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PinKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PinKey(…)")
    }
}

/// The text is not a key of 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a pin key has 32 hexadecimal digits")]
pub struct ParseKeyError;

impl FromStr for PinKey {
    type Err = ParseKeyError;

    fn from_str(hex: &str) -> Result<PinKey, ParseKeyError> {
        let is_hex = hex.len() == 32 && hex.bytes().all(|digit| digit.is_ascii_hexdigit());
        let bits = u128::from_str_radix(hex, 16).ok().filter(|_| is_hex).ok_or(ParseKeyError)?;
        Ok(PinKey(bits.to_be_bytes()))
    }
}

/// The pins of a seat's reply token, and of each address of its player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatPins {
    pub token: Digest,
    pub addresses: Vec<Digest>,
}

named_enum! {
    /// The kind of a pinned value.
    pub enum PinnedKind {
        Address = "address",
        Token = "token",
    }
}

/// A pin, as stored with its seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPin {
    pub seat: Seat,
    pub kind: PinnedKind,
    pub pin: Digest,
    /// `None` once the player is forgotten.
    pub opened: Option<OpenedPin>,
}

/// The value that a pin stands for, and the key that proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedPin {
    #[serde(with = "key_as_hex")]
    pub key: PinKey,
    pub value: String,
}

impl KeptPin {
    pub fn new(seat: Seat, kind: PinnedKind, key: PinKey, value: &str) -> KeptPin {
        KeptPin { seat, kind, pin: key.pin(value), opened: Some(OpenedPin { key, value: value.to_owned() }) }
    }

    /// Whether the pin stands for the value that is stored with it.
    pub fn is_sound(&self) -> bool {
        self.opened.as_ref().is_none_or(|opened| opened.key.pin(&opened.value) == self.pin)
    }
}

mod key_as_hex {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::PinKey;

    pub fn serialize<S: Serializer>(key: &PinKey, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(key)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PinKey, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_an_hmac_sha_256() {
        // The expected pin was computed with Python's `hmac`.
        let key = PinKey::new([0x0b; 16]);
        assert_eq!(key.to_string(), "0b".repeat(16));
        assert_eq!(key.to_string().parse(), Ok(key));
        assert_eq!(
            key.pin("Hi There").to_string(),
            "492ce020fe2534a5789dc3848806c78f4f6711397f08e7e7a12ca5a4483c8aa6"
        );
    }

    #[test]
    fn what_is_not_a_key_is_refused() {
        for wrong in ["", "0b", &"0g".repeat(16), &"+".repeat(32), &"0b".repeat(17)] {
            assert_eq!(wrong.parse::<PinKey>(), Err(ParseKeyError), "{wrong}");
        }
    }
}
