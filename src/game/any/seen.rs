//! Everything that a seat of any game was told and filed.

use super::{AnySeen, AnyState, Filing, GameKind};
use crate::game::{BySeat, Game, Sealed, Seat, Seen};

impl AnySeen {
    /// Adds an adjudication: the filings, of which only the seat's own is kept, and the state that followed.
    ///
    /// # Panics
    /// Panics if they are not of the same match.
    pub fn add(&mut self, filed: &BySeat<Option<Filing>>, after: &AnyState) {
        on_seen!(self, seen of State => add::<State>(seen, filed, after));
    }

    /// The seat that was told this and filed.
    pub fn seat(&self) -> Seat {
        on_seen!(self, seen => seen.seat())
    }
}

fn add<'a, G: Game + 'a>(
    seen: &mut Seen<G::View, G::Order>,
    filed: &BySeat<Option<Filing>>,
    after: &'a AnyState,
) where
    &'a G: TryFrom<&'a AnyState, Error = GameKind>,
    Sealed<G::Order>: TryFrom<Filing, Error = GameKind>,
{
    let after = <&G>::try_from(after).expect("a match stays one of its game");
    let own = filed[seen.seat()].clone();
    let own =
        own.map(|filing| Sealed::try_from(filing).expect("a match is filed for with orders of its own game"));
    seen.add(own, after);
}
