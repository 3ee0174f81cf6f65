//! The place of one of our letters in the ledger of its match, as the letter's Message-ID names it: veiled by
//! the secret of the match.

use super::SealKey;
use crate::letter::Digest;

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
