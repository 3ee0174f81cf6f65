//! Chooses a plan: plays pairs of plans a few turns ahead on guesses of the galaxy, and mixes the plans by what they
//! bring.

use super::belief::{Guess, adjudicated, guesses};
use super::plan::{self, Plan};
use crate::game::house::mixture;
use crate::game::quadrant_z::order::Order;
use crate::game::quadrant_z::state::State;
use crate::game::quadrant_z::view::View;
use crate::game::{Dice, Game, Seat, Seen};

/// Guesses of the galaxy, and turns that each pair of plans is played on them. Debug builds make do with less.
const GUESSES: usize = if cfg!(debug_assertions) { 1 } else { 6 };
const TURNS: usize = if cfg!(debug_assertions) { 1 } else { 5 };
/// What a match won is worth, a captured star, and a point of stock or of a ship.
const WON: i32 = 1_000;
const STAR: i32 = 10;
const POINT: i32 = 3;

/// The plans of either side.
pub(super) const PLANS: [Plan; 5] = [
    // Gather and hunt intruders.
    Plan { value: 20, shy: 10, hunt: 20, guard: true, strike: 0, largest: 2, overlooked: 0 },
    // Spread far, in many small ships.
    Plan { value: 0, shy: 0, hunt: 0, guard: true, strike: 0, largest: 1, overlooked: 0 },
    // Hold what is near.
    Plan { value: 20, shy: 40, hunt: 60, guard: true, strike: 0, largest: 2, overlooked: 0 },
    // Strike at the enemy's base.
    Plan { value: 20, shy: 0, hunt: 0, guard: true, strike: 5, largest: 3, overlooked: 0 },
    // Race for the nearest stars and leave the base alone.
    Plan { value: 10, shy: 20, hunt: 0, guard: false, strike: 0, largest: 2, overlooked: 0 },
];

/// Chooses a plan for the seat of `seen`, and returns how many turns it played for that.
pub(super) fn choose(seen: &Seen<View, Order>, dice: &mut Dice) -> (Plan, u64) {
    let theirs = (0..GUESSES).map(|number| PLANS[number % PLANS.len()]);
    let Some(guesses) = guesses(seen, theirs, dice) else { return (PLANS[0], 0) };
    let mut payoffs = Vec::new();
    let mut played = 0;
    for own in &PLANS {
        let row = PLANS.iter().map(|theirs| {
            guesses.iter().map(|guess| outlook(guess, seen.seat(), [own, theirs], dice, &mut played)).sum()
        });
        payoffs.push(row.collect::<Vec<i32>>());
    }
    (PLANS[mixture::draw(&payoffs, dice)], played)
}

/// What a pair of plans, the seat's own and the enemy's, leads to on a guess.
fn outlook(guess: &Guess, me: Seat, [own, theirs]: [&Plan; 2], dice: &Dice, played: &mut u64) -> i32 {
    let mut state = guess.state.clone();
    // The same dice for every pair, so that only the plans differ.
    let mut dice = dice.clone().mixed(7);
    for _ in 0..TURNS {
        if state.due().is_none() {
            break;
        }
        let orders = plan::orders(&state.view(me), own, &mut dice);
        let answers = plan::orders(&state.view(me.other()), theirs, &mut dice);
        state = adjudicated(&state, me, orders, answers);
        *played += 1;
    }
    worth(&state, me) - worth(&state, me.other())
}

/// What a side has.
fn worth(state: &State, seat: Seat) -> i32 {
    if let Some(outcome) = state.outcome()
        && outcome.winner.is_some()
    {
        return if outcome.winner == Some(seat) { WON } else { 0 };
    }
    let side = &state.sides[seat];
    let fleet: u16 = side.ships.iter().map(|ship| ship.class.size()).sum();
    STAR * i32::from(state.stars.score()[seat].stars) + POINT * i32::from(fleet + side.stock)
}
