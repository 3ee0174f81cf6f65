//! The secret of a match, and the values derived from it: the salts of entries, the digests of sealed orders,
//! the random numbers of the house.
//!
//! The source of chance in a match agreed on by letter, so that nobody can draw again and again until they
//! like the outcome.
//!
//! The program draws a key when somebody makes an offer, and both players are told its SHA-256. The secret of
//! the match, and the seats if they are drawn, follow from that key and the digest of the letter that takes
//! up the offer. The writer of that letter does not know the key, and a GM who knows it cannot choose what
//! they write. The end of the match reveals the key.
//!
//! The place of one of our letters in the ledger of its match, as the letter's Message-ID names it: veiled by
//! the secret of the match.

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

/// Returns the beginning of the part of a Message-ID that is unique to one letter of a match: all of it
/// except the open turn. `seq` is the length of the ledger.
pub fn unique_start(match_id: &str, key: &SealKey, seq: u64, index: usize) -> String {
    let place = seq << INDEX_BITS | (index as u64 & INDEX_MASK);
    format!("{}.{}.", match_id.to_lowercase(), key.veil(place))
}

/// Hexadecimal digits of a mark, after its letter.
const MARK_DIGITS: usize = 12;

/// Adds a mark of the letter's text to the unique part of a Message-ID.
pub fn with_mark(unique: &str, text: Digest) -> String {
    format!("{unique}.t{}", &text.to_string()[..MARK_DIGITS])
}

/// Returns the local part of a Message-ID without the mark of the letter's text, if it has one.
pub fn without_mark(local: &str) -> &str {
    let is_mark = |word: &str| {
        let digits = word.strip_prefix('t').unwrap_or_default();
        digits.len() == MARK_DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit())
    };
    local.rsplit_once('.').filter(|(_, last)| is_mark(last)).map_or(local, |(before, _)| before)
}

/// Bits of a veiled place that hold the index of the letter.
const INDEX_BITS: u32 = 16;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// The place in a match that a letter's Message-ID names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceInMatch<'a> {
    /// The reply token; empty if there is none.
    pub token: &'a str,
    /// The length of the ledger after the ruling.
    pub seq: u64,
    /// The open turn, or `over`.
    pub turn: &'a str,
    /// The part that is unique to the letter: the match, the place and the open turn, without a mark.
    pub unique: &'a str,
}

impl<'a> PlaceInMatch<'a> {
    /// Returns the reply token and the match that a Message-ID names, if it has this form.
    pub fn token_and_match(message_id: &str) -> Option<(&str, String)> {
        let local = without_mark(message_id.split('@').next()?);
        let [token, match_id, _veiled, _turn] = local.split('.').collect::<Vec<_>>()[..] else { return None };
        Some((token, match_id.to_uppercase()))
    }

    /// Reads a Message-ID. `None` if it is not about this match.
    pub fn read(message_id: &'a str, match_id: &str, key: &SealKey) -> Option<PlaceInMatch<'a>> {
        let local = without_mark(message_id.split('@').next()?);
        let marker = format!("{}.", match_id.to_lowercase());
        let at = local.find(&marker)?;
        let token = local[..at].trim_end_matches('.');
        let [veiled, turn] = local[at + marker.len()..].split('.').collect::<Vec<_>>()[..] else {
            return None;
        };
        Some(PlaceInMatch { token, seq: key.unveil(veiled)? >> INDEX_BITS, turn, unique: &local[at..] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_veiled_number_is_read_with_the_key_alone() {
        let key = SealKey::new([7; 32]);
        let other = SealKey::new([8; 32]);
        let mut veiled: Vec<String> = (0..100).map(|seq| key.veil(seq)).collect();
        for (seq, veiled) in (0..100).zip(&veiled) {
            assert_eq!((key.unveil(veiled), veiled.len()), (Some(seq), 16));
            assert_ne!(other.unveil(veiled), Some(seq));
        }
        veiled.dedup();
        assert_eq!(veiled.len(), 100);
        assert_eq!(key.unveil("x"), None);
    }

    fn lot(key: u8) -> Lot {
        Lot { key: SealKey::new([key; 32]), offer: Digest::of(b"an offer"), seat: None }
    }

    #[test]
    fn the_secret_depends_on_the_key_and_on_the_letter() {
        let a = Digest::of(b"a");
        let b = Digest::of(b"b");
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

    #[test]
    fn a_message_id_names_its_place_in_the_match() {
        let key = SealKey::new([7; 32]);
        let unique = format!("qz-7k3m.{}.4", key.veil(57 << INDEX_BITS | 2));
        for (id, token) in
            [(format!("tok.{unique}@club.example"), "tok"), (format!("{unique}@club.example"), "")]
        {
            let place = Some(PlaceInMatch { token, seq: 57, turn: "4", unique: &unique });
            assert_eq!(PlaceInMatch::read(&id, "QZ-7K3M", &key), place, "{id}");
            let marked = id.replace(&unique, &with_mark(&unique, Digest::of(b"a text")));
            assert_eq!(PlaceInMatch::read(&marked, "QZ-7K3M", &key), place, "{marked}");
            let named = (!token.is_empty()).then(|| (token, "QZ-7K3M".to_owned()));
            assert_eq!(PlaceInMatch::token_and_match(&marked), named, "{marked}");
        }
        for id in [
            "tok.qd-7k3m.57.2.4@club.example",
            "tok.qz-7k3m@club.example",
            "tok.qz-7k3m.1.2.3.4@club.example",
        ] {
            assert_eq!(PlaceInMatch::read(id, "QZ-7K3M", &key), None, "{id}");
        }
    }
}
