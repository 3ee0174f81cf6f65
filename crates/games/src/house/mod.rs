//! The house, the computer player: its games, its levels and its turns.
//!
//! The house knows what a player in its seat knows, and files by the same rules. Its user
//! decides when it plays, and at which level.

use std::fmt::Display;

use engine::{House, Insight};

use crate::game::any::{AnySeen, Choices, GameKind, on_game, on_seen};
use crate::game::{self, Dice, Game, Values};

mod engine;
mod pacific;
pub mod quad;
mod quadrant_z;
pub mod quantum;

pub use engine::{Chosen, HouseLevel, Level};

/// A game that the house may play.
trait Housed: Game {
    /// `None` if the house does not play it.
    const HOUSE: Option<House<Self::View, Self::Order>>;
}

impl Housed for game::quadrant_z::State {
    const HOUSE: Option<House<Self::View, Self::Order>> = Some(quadrant_z::HOUSE);
}

impl Housed for game::pacific::State {
    const HOUSE: Option<House<Self::View, Self::Order>> = Some(pacific::HOUSE);
}

impl Housed for game::quantum::State {
    const HOUSE: Option<House<Self::View, Self::Order>> = Some(quantum::HOUSE);
}

impl Housed for game::quad::State {
    const HOUSE: Option<House<Self::View, Self::Order>> = Some(quad::HOUSE);
}

/// Returns the levels at which the house plays a game, the weakest first; empty if it does not.
pub fn levels(game: GameKind) -> &'static [HouseLevel] {
    on_game!(game, State => State::HOUSE.map_or(&[], |house| house.levels))
}

/// Returns the level of a game that goes by this name, ignoring case.
pub fn level(game: GameKind, name: &str) -> Option<&'static HouseLevel> {
    levels(game).iter().find(|level| level.is_called(name))
}

/// Returns the version of the house for a game, 0 if it does not play it. Every change that can alter a turn
/// raises it.
pub fn version(game: GameKind) -> u32 {
    on_game!(game, State => State::HOUSE.map_or(0, |house| house.version))
}

/// The highest turn limit of a match against the house. It bounds how long the house plays on if its opponent
/// vanishes.
const MOST_TURNS: u32 = 100;

/// Returns the reason why the house does not play with these options, as a sentence that begins in lower
/// case.
pub fn limit_fault(game: GameKind, wanted: &[(&str, &str)]) -> Option<String> {
    let is_limit = |name: &str| {
        let mut limits = game.option_rules().iter().filter(|rule| matches!(rule.values, Values::Limit));
        limits.any(|rule| rule.name.eq_ignore_ascii_case(name))
    };
    let exceeds = |value: &str| value.parse::<u32>().is_ok_and(|value| value > MOST_TURNS);
    let (name, value) = wanted.iter().find(|(name, value)| is_limit(name) && exceeds(value))?;
    let name = name.to_ascii_lowercase();
    Some(format!(
        "option `{name}` cannot be `{value}` where the house plays; it takes a whole number from 1 to \
         {MOST_TURNS}"
    ))
}

/// Checks the options of a match against the house. Options that `wanted` lacks come from the level.
///
/// # Errors
/// As for [`GameKind::choose`], or if a limit is too high for the house.
pub fn choices_at(game: GameKind, level: &HouseLevel, wanted: &[(&str, &str)]) -> Result<Choices, String> {
    if let Some(fault) = limit_fault(game, wanted) {
        return Err(fault);
    }
    let is_chosen = |name: &str| wanted.iter().any(|(chosen, _)| chosen.eq_ignore_ascii_case(name));
    let of_level = level.options.iter().copied().filter(|(name, _)| !is_chosen(name));
    game.choose(wanted.iter().copied().chain(of_level))
}

/// Returns the turn that the house plays at this level, as order lines; `None` if it does not play the game.
/// The seat must owe orders.
pub fn play(seen: &AnySeen, level: &HouseLevel, dice: u64) -> Option<Chosen<String>> {
    on_seen!(seen, seen of State => Some(in_words((State::HOUSE?.play)(seen, level, Dice::new(dice)))))
}

/// Returns the turn of the highest level if it guesses from setups alone, for measurements; `None` for a game
/// that hides nothing. The seat must owe orders.
pub fn play_blind(seen: &AnySeen, dice: u64) -> Option<Chosen<String>> {
    on_seen!(seen, seen of State => {
        Some(in_words((State::HOUSE?.with_insight?)(seen, Insight::Blind, Dice::new(dice))))
    })
}

/// Returns the turn of the highest level if it guesses right, for measurements; `None` for a game that hides
/// nothing. The last view must show everything: take it from the match closed in a phase in which the seat
/// owes orders.
pub fn play_open(seen: &AnySeen, dice: u64) -> Option<Chosen<String>> {
    on_seen!(seen, seen of State => {
        let mut seen = seen.clone();
        let open = seen.take_last()?;
        Some(in_words((State::HOUSE?.with_insight?)(&seen, Insight::Open(&open), Dice::new(dice))))
    })
}

fn in_words<O: Display>(chosen: Chosen<O>) -> Chosen<String> {
    let Chosen { orders, positions } = chosen;
    Chosen { orders: orders.iter().map(O::to_string).collect(), positions }
}

/// Support for the tests of all games.
#[cfg(test)]
mod support {
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
        let mut won = 0;
        let mut lost = 0;
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
}
