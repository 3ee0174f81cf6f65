//! Everything that a seat of any game was told and filed.

use super::{AnySeen, AnyState, Filing, sealed_orders};
use crate::game::{BySeat, Seat};

impl AnySeen {
    /// Adds an adjudication: the filings, of which only the seat's own is kept, and the state that followed.
    ///
    /// # Panics
    /// Panics if they are not of the same match.
    pub fn add(&mut self, filed: &BySeat<Option<Filing>>, after: &AnyState) {
        on_seen!(self, seen of State => {
            let after = <&State>::try_from(after).expect("a match stays one of its game");
            seen.add(filed[seen.seat()].as_ref().map(sealed_orders), after);
        });
    }

    /// The seat that was told this and filed.
    pub fn seat(&self) -> Seat {
        on_seen!(self, seen => seen.seat())
    }
}
