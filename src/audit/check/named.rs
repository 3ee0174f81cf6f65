//! Compares the letters that entries name besides their cause, each of which proves something: who opened a match, who
//! confirmed a letter, who changed the holder of a seat, or who announced an absence in another match.

use super::Check;
use crate::audit::verdict::Place;
use crate::game::Seat;
use crate::ledger::{Entry, Fact, PinnedKind, Source};
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
        match (&entry.fact, &entry.cause) {
            (Fact::MatchOpened { lot, .. }, cause) => {
                let opened_by = cause.letter();
                let offered = lot.iter().map(|lot| lot.offer);
                for letter in offered.filter(|letter| Some(*letter) != opened_by) {
                    self.check_named_letter(entry.seq, letter, Sender::Anybody);
                }
                if let Some(letter) = opened_by {
                    self.check_named_letter(entry.seq, letter, Sender::Player);
                }
            }
            (Fact::LetterConfirmed { seat, by, .. }, _) => {
                self.check_named_letter(entry.seq, *by, Sender::Seat(*seat));
            }
            (Fact::SeatHeld { seat, letter: Some(letter), .. }, _) => {
                self.check_named_letter(entry.seq, *letter, Sender::Seat(*seat));
            }
            (Fact::AbsenceNoted { seat, .. }, Source::House { .. }) => {
                let confirmed_by = entry.cause.confirmation();
                let sender = if confirmed_by.is_some() { Sender::Anybody } else { Sender::Seat(*seat) };
                if let Some(letter) = entry.cause.letter() {
                    self.check_named_letter(entry.seq, letter, sender);
                }
                if let Some(letter) = confirmed_by {
                    self.check_named_letter(entry.seq, letter, Sender::Seat(*seat));
                }
            }
            _ => {}
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
