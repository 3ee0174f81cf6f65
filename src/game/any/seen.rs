//! What a seat of any game was told and filed, and what the house plays on it.

use std::fmt::Display;

use super::{AnySeen, AnyState, Filing, GameKind};
use crate::game::house::Insight;
use crate::game::{
    BySeat, Chosen, Dice, Game, HouseLevel, Sealed, Seat, Seen, pacific, quad, quadrant_z, quantum,
};

impl AnySeen {
    /// Adds an adjudication: what both seats had filed, of which the seat's own is kept, and the state that followed.
    ///
    /// # Panics
    /// Panics if they are not of the same match.
    pub fn add(&mut self, filed: &BySeat<Option<Filing>>, after: &AnyState) {
        on_seen!(self, seen of State => add::<State>(seen, filed, after));
    }

    /// Whose orders these are and what they were told.
    pub fn seat(&self) -> Seat {
        on_seen!(self, seen => seen.seat())
    }

    /// Returns what the house plays at this level, as order lines; `None` if no house plays the game. Something must be due
    /// from the seat.
    pub fn play(&self, level: &HouseLevel, dice: u64) -> Option<Chosen<String>> {
        on_seen!(self, seen of State => play::<State>(seen, level, dice))
    }

    /// Returns what the highest level plays if it guesses from setups alone, for measurements; `None` in a game that hides
    /// nothing. Something must be due from the seat.
    pub fn play_blind(&self, dice: u64) -> Option<Chosen<String>> {
        on_seen!(self, seen of State => play_blind::<State>(seen, dice))
    }

    /// Returns what the highest level plays if it guesses right, for measurements; `None` in a game that hides nothing. The
    /// last view must be that of the match closed in a phase in which something was due from the seat, so that it shows
    /// everything.
    pub fn play_open(&self, dice: u64) -> Option<Chosen<String>> {
        on_seen!(self, seen of State => play_open::<State>(seen, dice))
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

fn play<G: Game>(seen: &Seen<G::View, G::Order>, level: &HouseLevel, dice: u64) -> Option<Chosen<String>> {
    Some(written((G::HOUSE?.play)(seen, level, Dice::new(dice))))
}

fn play_blind<G: Game>(seen: &Seen<G::View, G::Order>, dice: u64) -> Option<Chosen<String>> {
    Some(written((G::HOUSE?.with_insight?)(seen, Insight::Blind, Dice::new(dice))))
}

fn play_open<G: Game>(seen: &Seen<G::View, G::Order>, dice: u64) -> Option<Chosen<String>> {
    let mut seen = seen.clone();
    let open = seen.take_last()?;
    Some(written((G::HOUSE?.with_insight?)(&seen, Insight::Open(&open), Dice::new(dice))))
}

fn written<O: Display>(chosen: Chosen<O>) -> Chosen<String> {
    let Chosen { orders, positions } = chosen;
    Chosen { orders: orders.iter().map(O::to_string).collect(), positions }
}
