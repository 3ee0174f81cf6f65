//! Who holds a seat: pinned in the ledger of the match when it opens, and whenever the reply token or the player's
//! addresses change.

use super::desk::Desk;
use super::rows::Decided;
use super::rows::LoadedMatch;
use crate::game::Seat;
use crate::ledger::{KeptPin, PinKey, PinnedKind, SeatPins};
use crate::letter::Digest;
use crate::referee::Act;
use crate::store::{Player, TokenRow};

impl Desk<'_> {
    /// Pins a seat's reply token and its player's addresses, each under a key of its own, and saves the keys.
    pub fn pin_seat(&mut self, row: &TokenRow) -> SeatPins {
        let mut random = self.random();
        let mut pin = |kind: PinnedKind, value: &str| {
            let kept = KeptPin::new(row.seat, kind, PinKey::new(random.bytes()), value);
            let pin = kept.pin;
            self.draft.settlement.seat_pins.push((row.match_id.clone(), kept));
            pin
        };
        SeatPins {
            token: pin(PinnedKind::Token, &row.token),
            addresses: row.player.addresses.iter().map(|own| pin(PinnedKind::Address, own)).collect(),
        }
    }

    /// Returns the act that notes in the ledger who holds a seat of `loaded` now.
    pub fn hold(&mut self, loaded: &LoadedMatch, seat: Seat, letter: Option<Digest>) -> Act {
        Act::Hold { seat, pins: self.pin_seat(&loaded.seats[seat]), letter }
    }

    /// Notes in the ledgers of the matches of these players, which are one now, which addresses the player has. Matches that
    /// are over note it too: letters from and to their players are compared with it.
    pub fn hold_seats_of(&mut self, players: &[i64], player: &Player, letter: Option<Digest>) -> Decided<()> {
        for id in players {
            for mut loaded in self.matches_with(*id)? {
                let is_own = |seat: &Seat| players.contains(&loaded.seats[*seat].player.id);
                let Some(seat) = Seat::BOTH.into_iter().find(is_own) else { continue };
                loaded.seats[seat].player = player.clone();
                let act = self.hold(&loaded, seat, letter);
                let ruling = self.act(&loaded.game_match, act);
                self.keep_unasked(loaded, ruling, None)?;
            }
        }
        Ok(())
    }
}
