//! Support for the tests of all games of the house.

use crate::game::{BySeat, Game, Numbered, Options, Sealed, Seat};
use crate::house::Level;

/// The game's options, with these values.
pub fn options<O: Options>(chosen: &[(&str, &str)]) -> O {
    let mut options = O::default();
    chosen.iter().for_each(|(name, value)| options.set(name, value).expect("an option"));
    options
}

/// Seals orders of the house; panics if they are illegal.
pub fn seal_orders<G: Game>(view: &G::View, orders: &[G::Order]) -> Sealed<G::Order> {
    let numbered: Vec<_> =
        (1..).zip(orders).map(|(line, order)| Numbered { line, order: order.clone() }).collect();
    G::check(view, &numbered).unwrap_or_else(|faults| panic!("{orders:?}: {faults:?}"))
}

/// The state after these orders of the only side that is due.
pub fn after<G: Game>(state: &G, orders: &[G::Order]) -> G {
    let side = state.due().expect("the match runs").seats[0];
    let mut filed = BySeat::new(None, None);
    filed[side] = Some(seal_orders::<G>(&state.view(side), orders));
    state.adjudicate(&filed)
}

/// Returns the numbers of matches that `strong` won and lost against `weak`. Each side begins half of them.
/// `winner` plays a match with a seed.
pub fn score(
    [strong, weak]: [Level; 2],
    matches: u64,
    winner: impl Fn(BySeat<Level>, u64) -> Option<Seat>,
) -> (i32, i32) {
    let (mut won, mut lost) = (0, 0);
    for seed in 0..matches {
        let seat = if seed % 2 == 0 { Seat::First } else { Seat::Second };
        let mut levels = BySeat::new(weak, weak);
        levels[seat] = strong;
        match winner(levels, seed) {
            Some(winner) if winner == seat => won += 1,
            Some(_) => lost += 1,
            None => {}
        }
    }
    (won, lost)
}
