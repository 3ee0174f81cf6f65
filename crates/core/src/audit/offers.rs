//! Compares offers with the matches that they opened, and their keys with what our letters told.
//!
//! A letter that makes an offer is answered with the SHA-256 of the offer's key, so that the key cannot be replaced
//! before the match is drawn from it.
//!
//! Compares what belongs to no match and no event: offers, the GMs' reply tokens, and the marks of mailboxes.

use chrono::{DateTime, Utc};

use super::{AuditVerdict, CheckSubject, Finding, Place};
use crate::game::Seat;
use crate::game::any::{Choices, GameKind};
use crate::ledger::{KeptPin, PinnedKind, PinnedLot};
use crate::letter::Digest;
use crate::referee::Offer;

/// An offer as stored.
#[derive(Clone, Debug)]
pub struct StoredOffer {
    pub code: String,
    pub inviter: String,
    /// The address that was invited; `None` for anyone.
    pub invited: Option<String>,
    /// Its game, as lists show it.
    pub game: GameKind,
    /// `None` if it cannot be read.
    pub offer: Option<Offer>,
    pub is_open: bool,
    pub is_taken: bool,
    /// The match that it opened.
    pub match_id: Option<String>,
    /// The code of the standing offer that this seat was taken from.
    pub taken_from: Option<String>,
    /// The number of times that a standing offer was taken.
    pub taken: u32,
    /// The keys, by their SHA-256, that our answers to the letter that made the offer state. Empty if there is no
    /// such answer, or if a club's own template states none.
    pub pins: Vec<Digest>,
}

/// The opening of a match, as its ledger has it.
pub struct OpenedMatch {
    pub game: GameKind,
    pub options: Choices,
    pub lot: Option<PinnedLot>,
}

/// Returns the keys, by their SHA-256, that a text of ours states.
pub fn told_keys(text: &str) -> Vec<Digest> {
    let after = text.match_indices("SHA-256:").map(|(at, word)| &text[at + word.len()..]);
    let digits =
        after.filter_map(|rest| rest.trim_start_matches(|c: char| c.is_whitespace() || c == '|').get(..64));
    digits.filter_map(|digits| digits.parse().ok()).collect()
}

/// Returns how the offers that are stored as the origin of a match contradict its ledger.
pub(super) fn offers_of_match(
    opened: &OpenedMatch,
    pins: &[KeptPin],
    offers: &[StoredOffer],
) -> Option<Finding> {
    let what = match (&opened.lot, offers) {
        (None, []) => return None,
        (Some(lot), [offer]) => differs_from_opening(opened, lot, pins, offer)?,
        (Some(_), []) => "the offer that it came from is missing",
        (None, _) => "an offer is stored as its origin, but none opened it",
        (Some(_), _) => "several offers are stored as its origin",
    };
    Some(Finding::at(Place::Kept("the offers"), what))
}

fn differs_from_opening(
    opened: &OpenedMatch,
    lot: &PinnedLot,
    pins: &[KeptPin],
    stored: &StoredOffer,
) -> Option<&'static str> {
    let Some(offer) = &stored.offer else { return Some("the offer that it came from cannot be read") };
    let seat = offer.seat.or(lot.seat).unwrap_or(Seat::First);
    // The values behind the pins of a forgotten player are unknown.
    let pinned = offer.lot.as_ref().map(|own| (own.key.pin(), own.offer));
    if (stored.game, offer.game, &offer.choices) != (opened.game, opened.game, &opened.options) {
        Some("the offer that it came from is stored with another game, or with other options")
    } else if !stored.is_taken {
        Some("the offer that it came from is not stored as taken up")
    } else if !had_address(pins, seat, &stored.inviter) {
        Some("the offer that it came from is stored as made by somebody who does not play in that seat")
    } else if !stored.invited.as_ref().is_none_or(|invited| had_address(pins, seat.other(), invited)) {
        Some("the offer that it came from is stored as made to somebody who does not play in that seat")
    } else if pinned != Some((lot.key, lot.offer)) {
        Some("the offer that it came from is stored with another key, or another letter that made it")
    } else {
        other_key_was_told(stored)
    }
}

fn had_address(pins: &[KeptPin], seat: Seat, address: &str) -> bool {
    let mut own = pins.iter().filter(|pin| (pin.seat, pin.kind) == (seat, PinnedKind::Address));
    own.any(|pin| pin.opened.as_ref().is_none_or(|opened| opened.value == address))
}

/// Returns how offers contradict one another, and how the keys of open ones contradict what was told.
pub fn open_offers(offers: &[StoredOffer]) -> Vec<Finding> {
    let findings = offers.iter().filter_map(|stored| {
        let seats = offers.iter().filter(|seat| seat.taken_from.as_ref() == Some(&stored.code)).count();
        let is_whole = |code: &String| offers.iter().any(|other| other.code == *code);
        let Some(offer) = stored.offer.as_ref().filter(|offer| offer.game == stored.game) else {
            return Some(format!("offer {} cannot be read, or is stored with another game", stored.code));
        };
        let is_standing = offer.times.is_some() && stored.taken_from.is_none();
        let what = if seats != stored.taken as usize || seats > offer.times.unwrap_or_default() as usize {
            "is stored as taken up another number of times"
        } else if !stored.taken_from.as_ref().is_none_or(is_whole) {
            "is stored as taken from an offer that is missing"
        } else if stored.match_id.is_some() != (stored.is_taken && !is_standing) {
            "is stored as taken up without its match, or with a match without being taken up"
        } else {
            other_key_was_told(stored).filter(|_| stored.is_open)?
        };
        Some(format!("offer {}: {what}", stored.code))
    });
    findings.map(|what| Finding::at(Place::Kept("the offers"), what)).collect()
}

/// Whether our letters told the SHA-256 of another key than that of the offer, as a clause.
fn other_key_was_told(stored: &StoredOffer) -> Option<&'static str> {
    let key = stored.offer.as_ref()?.lot.as_ref()?.key.pin();
    let is_other = !stored.pins.is_empty() && !stored.pins.contains(&key);
    is_other.then_some("the SHA-256 of its key is not the one that our letters told")
}

/// The reply token of a GM.
#[derive(Clone, Debug)]
pub struct StoredGmToken {
    pub address: String,
    pub token: String,
    /// The token in the last letter to that address that has one.
    pub last_sent: Option<String>,
}

/// The stored data of the club itself.
#[derive(Clone, Debug)]
pub struct StoredClub {
    pub offers: Vec<StoredOffer>,
    pub tokens: Vec<StoredGmToken>,
    /// Each mailbox, with the time before which its letters are left alone.
    pub marks: Vec<(String, DateTime<Utc>)>,
    /// The time at which the database was made, which is the mark of the first mailbox. `None` if that is unknown.
    pub made: Option<DateTime<Utc>>,
}

/// Checks the club at `now`.
pub fn check_club(stored: &StoredClub, now: DateTime<Utc>) -> AuditVerdict {
    let mut verdict = AuditVerdict::new(CheckSubject::Club {});
    verdict.findings = open_offers(&stored.offers);
    for StoredGmToken { address, token, last_sent } in &stored.tokens {
        if last_sent.as_ref().is_some_and(|sent| sent != token) {
            let what = format!("that of {address} is not the one in the last letter there");
            verdict.findings.push(Finding::at(Place::Kept("the GMs' reply tokens"), what));
        }
    }
    for (name, _) in stored.marks.iter().filter(|(_, mark)| *mark > now) {
        verdict.findings.push(Finding::at(
            Place::Kept("the mailboxes"),
            format!("the mark of {name} lies in the future"),
        ));
    }
    let first = stored.marks.iter().map(|(_, mark)| *mark).min();
    if let (Some(first), Some(made)) = (first, stored.made)
        && first != made
    {
        let what = format!("the first mark is {first}, but the database was made at {made}");
        verdict.findings.push(Finding::at(Place::Kept("the mailboxes"), what));
    }
    verdict
}
