//! The source of chance in a match agreed on by letter, so that nobody can draw again and again until they
//! like the outcome.
//!
//! The program draws a key when somebody makes an offer, and both players are told its SHA-256. The secret of
//! the match, and the seats if they are drawn, follow from that key and the digest of the letter that takes
//! up the offer. The writer of that letter does not know the key, and a GM who knows it cannot choose what
//! they write. The end of the match reveals the key.

use serde::{Deserialize, Serialize};

use super::SealKey;
use crate::game::Seat;
use crate::letter::Digest;

/// The source of a match's chance, apart from the letter that opened it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lot {
    /// The key of the offer.
    pub key: SealKey,
    /// The letter that made the offer.
    pub offer: Digest,
    /// The seat of the player who made the offer, if it was drawn.
    pub seat: Option<Seat>,
}

/// A lot in the ledger, which pins its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedLot {
    /// The SHA-256 of the key.
    pub key: Digest,
    pub offer: Digest,
    pub seat: Option<Seat>,
}

impl Lot {
    pub fn pinned(&self) -> PinnedLot {
        PinnedLot { key: self.key.pin(), offer: self.offer, seat: self.seat }
    }

    /// Draws the seat of the player who made the offer: `first` if the secret of the match is an even number.
    pub fn draw_seat(self, letter: Digest) -> Lot {
        Lot { seat: Some(self.drawn_seat(letter)), ..self }
    }

    /// Whether the seat is the one that the draw gives. True if the seat was not drawn.
    pub fn has_drawn_seat(&self, letter: Digest) -> bool {
        self.seat.is_none_or(|seat| seat == self.drawn_seat(letter))
    }

    fn drawn_seat(&self, letter: Digest) -> Seat {
        Seat::BOTH[usize::from(self.secret_digest(letter).as_bytes()[31] & 1)]
    }

    /// Returns the secret of the match that this letter opens: the SHA-256 of the key and the letter's
    /// digest.
    pub fn secret(&self, letter: Digest) -> SealKey {
        SealKey::new(*self.secret_digest(letter).as_bytes())
    }

    fn secret_digest(&self, letter: Digest) -> Digest {
        self.key.hash(&[letter.as_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lot(key: u8) -> Lot {
        Lot { key: SealKey::new([key; 32]), offer: Digest::of(b"an offer"), seat: None }
    }

    #[test]
    fn the_secret_depends_on_the_key_and_on_the_letter() {
        let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
        let secret = lot(1).secret(a);
        assert!(secret != lot(2).secret(a) && secret != lot(1).secret(b));
        let whole = [[1; 32], *a.as_bytes()].concat();
        assert_eq!(secret.reveal(), Digest::of(&whole).to_string());
    }

    #[test]
    fn either_seat_is_drawn_about_as_often() {
        let letter = Digest::of(b"a");
        let firsts =
            (0..=u8::MAX).filter(|key| lot(*key).draw_seat(letter).seat == Some(Seat::First)).count();
        assert!((96..160).contains(&firsts), "{firsts} of 256");
        let drawn = lot(1).draw_seat(letter);
        assert!(lot(1).has_drawn_seat(letter) && drawn.has_drawn_seat(letter));
        let other = drawn.seat.map(Seat::other);
        assert!(!Lot { seat: other, ..drawn }.has_drawn_seat(letter));
    }
}
