//! Compares the letters that entries name besides their cause, each of which proves something: who opened a match, who
//! confirmed a letter, who changed the holder of a seat, or who announced an absence in another match.

use super::Check;
use crate::audit::verdict::Place;
use crate::game::Seat;
use crate::ledger::{Act, Cause, Entry, Fact, PinnedKind};
use crate::letter::Digest;

/// The required sender of a letter that an entry names.
#[derive(Clone, Copy)]
enum Sender {
    /// The player of this seat.
    Seat(Seat),
    /// A player of the match.
    Player,
    /// Somebody who may have had another address then.
    Anybody,
}

impl Check {
    /// Checks that the letters that an entry names besides its cause are there, whole, and from whom it says.
    pub(super) fn check_named_letters(&mut self, entry: &Entry) {
        let mut named: Vec<(Digest, Sender)> = Vec::new();
        match entry.own_cause() {
            Some(Cause::Letter(cause)) => {
                named.extend(cause.confirmed_by.map(|letter| (letter, Sender::Seat(cause.seat))));
            }
            Some(Cause::Gm { act, .. } | Cause::Program { act, .. }) => match act {
                Act::Open { letter } => {
                    let offer = match &entry.fact {
                        Fact::MatchOpened { lot: Some(lot), .. } => Some(lot.offer),
                        _ => None,
                    };
                    let offer = offer.filter(|offer| Some(*offer) != *letter);
                    named.extend(offer.map(|offer| (offer, Sender::Anybody)));
                    named.extend(letter.map(|letter| (letter, Sender::Player)));
                }
                Act::Hold { seat, letter, .. } => {
                    named.extend(letter.map(|letter| (letter, Sender::Seat(*seat))));
                }
                Act::Absent { seat, letter, confirmed_by, .. } => {
                    let holder = Sender::Seat(*seat);
                    named.push((*letter, if confirmed_by.is_some() { Sender::Anybody } else { holder }));
                    named.extend(confirmed_by.map(|letter| (letter, holder)));
                }
                _ => {}
            },
            Some(Cause::Clock { .. } | Cause::House { .. }) | None => {}
        }
        for (letter, sender) in named {
            self.check_named_letter(entry.seq, letter, sender);
        }
    }

    fn check_named_letter(&mut self, seq: u64, digest: Digest, sender: Sender) {
        let may_be_withheld = match sender {
            Sender::Seat(seat) => self.withheld.seats.contains(&seat),
            Sender::Player | Sender::Anybody => !self.withheld.seats.is_empty(),
        };
        let what = match self.letters.get(&digest) {
            None if may_be_withheld => {
                self.verdict.withheld_letters += 1;
                return;
            }
            None => "it is missing",
            Some(read) => match &read.letter {
                Err(why) => why,
                Ok(letter) => {
                    let is_from = |seat: Seat| {
                        let (address, since) = (letter.from.as_str(), Some(read.received_at));
                        self.holders.had(seat, PinnedKind::Address, address, since)
                    };
                    let is_sender = match sender {
                        Sender::Seat(seat) => is_from(seat),
                        Sender::Player => Seat::BOTH.into_iter().any(is_from),
                        Sender::Anybody => true,
                    };
                    if is_sender {
                        return;
                    }
                    "it is not from a player of the seat"
                }
            },
        };
        self.report(Place::Letter(digest), format!("{what}; entry #{seq} names it"));
    }
}
