//! The place of one of our letters in the ledger of its match, as the letter's Message-ID names it: veiled by
//! the secret of the match.

use super::SealKey;

/// Returns the beginning of the part of a Message-ID that is unique to one letter of a match: all of it
/// except the open turn. `seq` is the length of the ledger.
pub fn unique_start(match_id: &str, key: &SealKey, seq: u64, index: usize) -> String {
    let place = seq << INDEX_BITS | (index as u64 & INDEX_MASK);
    format!("{}.{}.", match_id.to_lowercase(), key.veil(place))
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
    /// The part that is unique to the letter: the match, the place and the open turn.
    pub unique: &'a str,
}

impl<'a> PlaceInMatch<'a> {
    /// Reads a Message-ID. `None` if it is not about this match.
    pub fn read(message_id: &'a str, match_id: &str, key: &SealKey) -> Option<PlaceInMatch<'a>> {
        let local = message_id.split('@').next()?;
        let marker = format!("{}.", match_id.to_lowercase());
        let at = local.find(&marker)?;
        let token = local[..at].trim_end_matches('.');
        let [veiled, _turn] = local[at + marker.len()..].split('.').collect::<Vec<_>>()[..] else {
            return None;
        };
        Some(PlaceInMatch { token, seq: key.unveil(veiled)? >> INDEX_BITS, unique: &local[at..] })
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
            let place = PlaceInMatch { token, seq: 57, unique: &unique };
            assert_eq!(PlaceInMatch::read(&id, "QZ-7K3M", &key), Some(place), "{id}");
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
