//! Everything that a seat of any game was told and filed.

use super::{AnySeen, AnyState, Filing, sealed_orders};
use crate::game::{BySeat, Seat};

impl AnySeen {
    /// Adds an adjudication: the seat's own filing, taken from `filed`, and the state that followed.
    ///
    /// # Panics
    /// Panics if they are of another game.
    pub fn add(&mut self, filed: &BySeat<Option<Filing>>, after: &AnyState) {
        on_seen!(self, seen of State => {
            let after = <&State>::try_from(after).expect("a match stays one of its game");
            seen.add(filed[seen.seat()].as_ref().map(sealed_orders), after);
        });
    }

    /// The seat whose knowledge and filings these are.
    pub fn seat(&self) -> Seat {
        on_seen!(self, seen => seen.seat())
    }
}
