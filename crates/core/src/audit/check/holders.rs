//! The holders of each seat over time: compares letters from and to a seat with the pins in the entries.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::game::{BySeat, Seat};
use crate::ledger::{Entry, Fact, KeptPin, LetterCause, PinnedKind, PlayerSettings, SeatPins, TokenOf};
use crate::letter::{Digest, Letter};

/// A seat as stored: its reply token, and the addresses of its player.
#[derive(Clone, Debug, Default)]
pub struct StoredSeat {
    pub token: String,
    pub addresses: Vec<String>,
    /// Its player's name and settings. `None` in a dossier, which has none beside the match.
    pub player: Option<StoredPlayer>,
}

/// The name and the settings of a player, as stored. A running match has the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPlayer {
    pub name: String,
    pub settings: PlayerSettings,
}

/// The holders of each seat, as the entries so far pin them.
pub(super) struct Holders {
    kept: BTreeMap<Digest, KeptPin>,
    held: Vec<PinPeriod>,
}

/// A pin that an entry names, and the time at which a later entry ended it.
struct PinPeriod {
    seat: Seat,
    pin: Digest,
    until: Option<DateTime<Utc>>,
}

impl Holders {
    pub fn new(kept: Vec<KeptPin>) -> Holders {
        Holders { kept: kept.into_iter().map(|kept| (kept.pin, kept)).collect(), held: Vec::new() }
    }

    /// Notes who holds a seat from `at` on. Fails if the value of a pin is not kept, or does not match the
    /// pin.
    fn note(&mut self, seat: Seat, pins: &SeatPins, at: DateTime<Utc>) -> Result<(), &'static str> {
        for held in self.held.iter_mut().filter(|held| held.seat == seat && held.until.is_none()) {
            held.until = Some(at);
        }
        let addresses = pins.addresses.iter().map(|pin| (PinnedKind::Address, *pin));
        for (kind, pin) in addresses.chain([(PinnedKind::Token, pins.token)]) {
            let kept = self.kept.get(&pin).filter(|kept| (kept.seat, kept.kind) == (seat, kind));
            if !kept.ok_or("it pins an address or a token that is not kept")?.is_sound() {
                return Err("the address or the token that is kept for one of its pins was changed");
            }
            self.held.push(PinPeriod { seat, pin, until: None });
        }
        Ok(())
    }

    /// Whether a seat had this token or address at some time since `since`. Unknown for a forgotten player.
    pub(super) fn had(
        &self,
        seat: Seat,
        kind: PinnedKind,
        value: &str,
        since: Option<DateTime<Utc>>,
    ) -> bool {
        let of_seat = self.held.iter().filter(|held| held.seat == seat);
        let mut in_time =
            of_seat.filter(|held| held.until.is_none_or(|until| since.is_some_and(|since| until >= since)));
        in_time.any(|held| {
            self.kept.get(&held.pin).is_some_and(|kept| {
                kept.kind == kind && kept.opened.as_ref().is_none_or(|opened| opened.value == value)
            })
        })
    }

    /// Counts the addresses of a seat's player.
    pub(super) fn address_count(&self, seat: Seat) -> usize {
        let now = self.held.iter().filter(|held| held.seat == seat && held.until.is_none());
        now.filter(|held| self.kept.get(&held.pin).is_some_and(|kept| kept.kind == PinnedKind::Address))
            .count()
    }

    /// Notes the holders of seats that an entry pins. Returns the faults of its pins, as clauses.
    pub(super) fn note_entry(&mut self, entry: &Entry) -> Vec<&'static str> {
        let pinned: BySeat<Option<&SeatPins>> = match &entry.fact {
            Fact::MatchOpened { holders: Some(holders), .. } => {
                BySeat::new(Some(&holders.first), Some(&holders.second))
            }
            Fact::HolderPinned { seat, pins, .. } => BySeat::from_fn(|own| (own == *seat).then_some(pins)),
            _ => return Vec::new(),
        };
        let pinned = pinned.iter().filter_map(|(seat, pins)| pins.map(|pins| (seat, pins)));
        pinned.filter_map(|(seat, pins)| self.note(seat, pins, entry.at).err()).collect()
    }

    /// Returns the seat that a letter acts for, according to its sender, its tokens and its circumstances.
    pub(super) fn sender_seat(&self, letter: &Letter, cause: &LetterCause) -> Option<Seat> {
        let is_confirmed = cause.confirmed_by.is_some();
        let stated = Some(cause.seat);
        match cause.token {
            // The token of the other match is pinned in that match's ledger.
            TokenOf::Other => stated.filter(|seat| is_confirmed || self.is_address_of(*seat, letter, cause)),
            TokenOf::Own if is_confirmed => stated.filter(|seat| self.has_token_of(*seat, letter, cause)),
            TokenOf::Own => Seat::BOTH.into_iter().find(|seat| {
                self.has_token_of(*seat, letter, cause) && self.is_address_of(*seat, letter, cause)
            }),
        }
    }

    /// Whether a letter comes from an address that this seat's player had when it arrived.
    fn is_address_of(&self, seat: Seat, letter: &Letter, cause: &LetterCause) -> bool {
        self.had(seat, PinnedKind::Address, letter.from.as_str(), Some(cause.received))
    }

    /// Whether a letter has a reply token that this seat had when it arrived.
    fn has_token_of(&self, seat: Seat, letter: &Letter, cause: &LetterCause) -> bool {
        let mut tokens = letter.tokens.iter().map(ToString::to_string);
        tokens.any(|token| self.had(seat, PinnedKind::Token, &token, Some(cause.received)))
    }
}
