//! The lot of a match: what its chance comes from, so that nobody can draw until they like the outcome.
//!
//! The program draws a key before the letter that opens the match is written, and tells the player its SHA-256. The secret
//! of the match, and the seats if they are drawn by lot, follow from that key and the digests of the letters that opened
//! the match. Players cannot compute them, because they do not know the key, and a GM who knows it cannot choose what
//! players write. The end of the match reveals the key.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::SealKey;
use crate::game::Seat;
use crate::letter::Digest;

/// What the chance of a match comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lot {
    /// The key that was drawn before.
    pub key: SealKey,
    /// When a player was told the SHA-256 of the key. `None`: it was drawn with the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_at: Option<DateTime<Utc>>,
    /// The letters that opened the match, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub letters: Vec<Digest>,
    /// The seat of whoever offered the match or asked for it, if it was drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
}

/// A lot in the ledger, which pins its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedLot {
    /// The SHA-256 of the key.
    pub key: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub letters: Vec<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
}

impl Lot {
    pub fn pinned(&self) -> PinnedLot {
        let Lot { key, told_at, letters, seat } = self.clone();
        PinnedLot { key: key.pin(), told_at, letters, seat }
    }

    /// Draws the seat of whoever offered the match or asked for it: `first` if the secret of the match is an even number.
    pub fn draw_seat(self) -> Lot {
        Lot { seat: Some(self.drawn_seat()), ..self }
    }

    /// Whether the seat is the one that is drawn, if it was drawn.
    pub fn has_drawn_seat(&self) -> bool {
        self.seat.is_none_or(|seat| seat == self.drawn_seat())
    }

    fn drawn_seat(&self) -> Seat {
        Seat::BOTH[usize::from(self.secret_bytes()[31] & 1)]
    }

    /// The secret of the match: the SHA-256 of the key and the digests of the letters.
    pub fn secret(&self) -> SealKey {
        SealKey::new(self.secret_bytes())
    }

    fn secret_bytes(&self) -> [u8; 32] {
        let mut hash = Sha256::new().chain_update(self.key.as_bytes());
        for letter in &self.letters {
            hash.update(letter.as_bytes());
        }
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lot(key: u8, letters: &[&str]) -> Lot {
        let letters = letters.iter().map(|letter| Digest::of(letter.as_bytes())).collect();
        Lot { key: SealKey::new([key; 32]), told_at: None, letters, seat: None }
    }

    #[test]
    fn the_secret_depends_on_the_key_and_on_each_letter() {
        let all = [
            lot(1, &[]),
            lot(2, &[]),
            lot(1, &["a"]),
            lot(1, &["b"]),
            lot(1, &["a", "b"]),
            lot(1, &["b", "a"]),
        ];
        for (place, one) in all.iter().enumerate() {
            assert!(all[..place].iter().all(|other| other.secret() != one.secret()));
        }
        assert_eq!(all[2].secret(), lot(1, &["a"]).secret());
        let whole = [[1; 32], *Digest::of(b"a").as_bytes()].concat();
        assert_eq!(all[2].secret().reveal(), Digest::of(&whole).to_string());
    }

    #[test]
    fn either_seat_is_drawn_about_as_often() {
        let firsts =
            (0..=u8::MAX).filter(|key| lot(*key, &["a"]).draw_seat().seat == Some(Seat::First)).count();
        assert!((96..160).contains(&firsts), "{firsts} of 256");
        assert!(lot(1, &["a"]).has_drawn_seat() && lot(1, &["a"]).draw_seat().has_drawn_seat());
        let drawn = lot(1, &["a"]).draw_seat();
        let other = drawn.seat.map(Seat::other);
        assert!(!Lot { seat: other, ..drawn }.has_drawn_seat());
    }
}
