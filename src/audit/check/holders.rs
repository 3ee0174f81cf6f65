//! Who held each seat, and when: compares letters from and to a seat with the pins in the entries.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::Check;
use crate::audit::expected::ExpectedDispatch;
use crate::audit::verdict::Place;
use crate::game::{BySeat, Seat};
use crate::ledger::{Entry, Fact, KeptPin, PinnedKind, SeatPins};
use crate::letter::{Digest, Letter};

/// A seat as it is stored: its reply token, and the addresses of its player.
#[derive(Clone, Debug, Default)]
pub struct StoredSeat {
    pub token: String,
    pub addresses: Vec<String>,
}

/// The holders of each seat, as the entries so far pin them.
pub(super) struct Holders {
    kept: BTreeMap<Digest, KeptPin>,
    held: Vec<Held>,
}

/// A pin that an entry names, and when a later entry ended it.
struct Held {
    seat: Seat,
    pin: Digest,
    until: Option<DateTime<Utc>>,
}

impl Holders {
    pub fn new(kept: Vec<KeptPin>) -> Holders {
        Holders { kept: kept.into_iter().map(|kept| (kept.pin, kept)).collect(), held: Vec::new() }
    }

    /// Notes who holds a seat from `at` on. Fails if a pin is not kept, or does not stand for what is kept with it.
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
            self.held.push(Held { seat, pin, until: None });
        }
        Ok(())
    }

    /// Whether a seat had this token or address at some time since then. Of a forgotten player nobody can tell.
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
    fn address_count(&self, seat: Seat) -> usize {
        let now = self.held.iter().filter(|held| held.seat == seat && held.until.is_none());
        now.filter(|held| self.kept.get(&held.pin).is_some_and(|kept| kept.kind == PinnedKind::Address))
            .count()
    }
}

impl Check {
    /// Notes the holders of seats that an entry pins.
    pub(super) fn note_holders(&mut self, entry: &Entry) {
        let pinned: BySeat<Option<&SeatPins>> = match &entry.fact {
            Fact::MatchOpened { holders: Some(holders), .. } => {
                BySeat::new(Some(&holders.first), Some(&holders.second))
            }
            Fact::SeatHeld { seat, pins, .. } => BySeat::from_fn(|own| (own == *seat).then_some(pins)),
            _ => return,
        };
        for (seat, pins) in pinned.iter() {
            let Some(pins) = pins else { continue };
            if let Err(what) = self.holders.note(seat, pins, entry.at) {
                self.report(Place::Entry(entry.seq), what);
            }
        }
    }

    /// Whether a letter comes from an address that this seat's player had when it arrived.
    pub(super) fn is_address_of(&self, letter: &Letter, seat: Seat) -> bool {
        self.holders.had(seat, PinnedKind::Address, letter.from.as_str(), self.arrival())
    }

    /// Whether a letter has a reply token that this seat had when it arrived.
    pub(super) fn has_token_of(&self, letter: &Letter, seat: Seat) -> bool {
        let arrival = self.arrival();
        let mut tokens = letter.tokens.iter().map(ToString::to_string);
        tokens.any(|token| self.holders.had(seat, PinnedKind::Token, &token, arrival))
    }

    /// The seat that a letter may act for: one whose token it has, and from an address of its player.
    pub(super) fn seat_of(&self, letter: &Letter) -> Option<Seat> {
        let may_act = |seat: &Seat| self.has_token_of(letter, *seat) && self.is_address_of(letter, *seat);
        Seat::BOTH.into_iter().find(may_act)
    }

    /// The arrival of the letter of the first pending entry.
    fn arrival(&self) -> Option<DateTime<Utc>> {
        Some(self.letter_cause()?.received)
    }

    /// Checks that one of our letters went to an address of the seat's player, and bears the seat's token.
    pub(super) fn check_recipient(&mut self, dispatch: &ExpectedDispatch) {
        let Some(seat) = dispatch.stored.seat else { return };
        let at = Some(dispatch.at);
        let place = Place::Sent(dispatch.stored.message_id.clone());
        if !self.holders.had(seat, PinnedKind::Address, &dispatch.stored.recipient, at) {
            self.report(place, "it went to an address that no entry pins as one of the seat's player");
        } else if !self.holders.had(seat, PinnedKind::Token, &dispatch.token, at) {
            self.report(place, "its reply token is not the one that an entry pins for the seat");
        }
    }

    /// Compares the stored seats with what the last entries pin.
    pub(super) fn check_seats(&mut self) {
        for (seat, stored) in self.seats.clone().iter() {
            let has = |kind, value: &str| self.holders.had(seat, kind, value, None);
            let has_token = has(PinnedKind::Token, &stored.token);
            let are_pinned = self.withheld.seats.contains(&seat)
                || stored.addresses.iter().all(|own| has(PinnedKind::Address, own))
                    && stored.addresses.len() == self.holders.address_count(seat);
            if !has_token {
                let what = format!("the token of the {seat} seat is not the pinned one");
                self.report(Place::Kept("the seats"), what);
            } else if !are_pinned {
                let what =
                    format!("the player of the {seat} seat, or an address, is not as the ledger pins it");
                self.report(Place::Kept("the seats"), what);
            }
        }
    }
}
