//! Chooses a plan: plays pairs of plans a few turns ahead on guesses of the galaxy, and mixes the plans by what they
//! bring.

use super::belief::{Guess, adjudicated, guesses};
use super::known::Known;
use super::plan::{self, PLAIN, Plan};
use crate::game::house::{Insight, mixture};
use crate::game::quadrant_z::order::Order;
use crate::game::quadrant_z::state::State;
use crate::game::quadrant_z::view::View;
use crate::game::{Dice, Game, Seat, Seen};

/// How much is played to choose a plan.
#[derive(Clone, Copy)]
struct Effort {
    /// Guesses of the galaxy, and how many of them each plan is tried on alone.
    guesses: usize,
    trials: usize,
    /// The plans of either side that are left after that.
    kept: usize,
    /// The turns that plans are played ahead.
    turns: usize,
}

/// Debug builds make do with less.
const EFFORT: Effort = if cfg!(debug_assertions) {
    Effort { guesses: 1, trials: 1, kept: 2, turns: 1 }
} else {
    Effort { guesses: 16, trials: 4, kept: 7, turns: 4 }
};

/// The ships of both sides up to which all guesses are played.
const SHIPS: usize = 32;
/// What a match won is worth, a captured star, and a point of stock or of a ship.
const WON: i32 = 1_000;
const STAR: i32 = 10;
const POINT: i32 = 3;

/// The plans of either side.
pub(super) const PLANS: [Plan; 16] = [
    // Gather and hunt intruders.
    Plan { shy: 10, hunt: 20, ..PLAIN },
    // Spread far, in many small ships.
    Plan { value: 0, largest: 1, ..PLAIN },
    // Hold what is near.
    Plan { shy: 40, hunt: 60, ..PLAIN },
    // Strike at the enemy's base.
    Plan { strike: 5, largest: 3, ..PLAIN },
    // Race for the nearest stars and leave the base alone.
    Plan { value: 10, shy: 20, guard: false, ..PLAIN },
    // Take the stars near the enemy first, with the base guarded or not.
    Plan { shy: -20, ..PLAIN },
    Plan { value: 10, shy: -40, guard: false, ..PLAIN },
    // Strike with more ships, or with a few and the base open.
    Plan { strike: 8, largest: 3, ..PLAIN },
    Plan { value: 10, guard: false, strike: 4, largest: 4, ..PLAIN },
    // Go for the dearest stars, in large ships.
    Plan { value: 40, shy: 10, hunt: 40, largest: 4, ..PLAIN },
    // Build ships that withstand the enemy's.
    Plan { shy: 10, hunt: 20, armour: 2, ..PLAIN },
    Plan { shy: 10, hunt: 20, armour: 1, ..PLAIN },
    Plan { value: 10, hunt: 40, armour: 2, ..PLAIN },
    Plan { shy: 10, hunt: 60, guard: false, armour: 2, ..PLAIN },
    Plan { value: 0, largest: 1, armour: 1, ..PLAIN },
    Plan { hunt: 20, strike: 5, largest: 3, armour: 3, ..PLAIN },
];

/// Chooses a plan for the seat of `seen`, and returns how many turns it played for that.
pub(super) fn choose(seen: &Seen<View, Order>, insight: Insight<'_, View>, dice: &mut Dice) -> (Plan, u64) {
    let theirs = PLANS.into_iter().cycle().take(EFFORT.guesses);
    let Some(mut guesses) = guesses(seen, insight, theirs, dice) else { return (PLANS[0], 0) };
    dice.shuffle(&mut guesses);
    guesses.truncate(affordable(&guesses[0].state));
    let mut table = Table { me: seen.seat(), guesses: &guesses, dice: dice.clone().mixed(7), played: 0 };
    let (rows, columns) = (table.best_own(), table.best_theirs());
    let mut payoffs = Vec::new();
    for own in &rows {
        let row =
            columns.iter().map(|theirs| guesses.iter().map(|guess| table.outlook(guess, own, theirs)).sum());
        payoffs.push(row.collect::<Vec<i32>>());
    }
    (rows[mixture::draw(&payoffs, dice)], table.played)
}

/// The number of guesses on which plans are played: fewer if there are many ships, whose turns take longer.
fn affordable(state: &State) -> usize {
    let ships: usize = Seat::BOTH.map(|seat| state.sides[seat].ships.len()).iter().sum();
    (EFFORT.guesses * SHIPS / ships.max(1)).clamp(EFFORT.trials, EFFORT.guesses)
}

/// What pairs of plans lead to.
struct Table<'a> {
    me: Seat,
    guesses: &'a [Guess],
    /// The same for every pair, so that only the plans differ.
    dice: Dice,
    /// The turns played so far.
    played: u64,
}

impl Table<'_> {
    /// The plans that bring the seat most against what the enemy is after on the first guesses.
    fn best_own(&mut self) -> Vec<Plan> {
        let trials = self.guesses.iter().take(EFFORT.trials);
        best(|own| trials.clone().map(|guess| self.outlook(guess, own, &guess.plan)).sum())
    }

    /// The plans of the enemy that cost the seat most there if it follows its first one.
    fn best_theirs(&mut self) -> Vec<Plan> {
        let trials = self.guesses.iter().take(EFFORT.trials);
        best(|theirs| -trials.clone().map(|guess| self.outlook(guess, &PLANS[0], theirs)).sum::<i32>())
    }

    /// What a pair of plans, the seat's own and the enemy's, leads to on a guess.
    fn outlook(&mut self, guess: &Guess, own: &Plan, theirs: &Plan) -> i32 {
        let (me, mut state, mut dice) = (self.me, guess.state.clone(), self.dice.clone());
        for _ in 0..EFFORT.turns {
            if state.due().is_none() {
                break;
            }
            let orders = plan::orders(&Known::from_state(&state, me), own, &mut dice);
            let answers = plan::orders(&Known::from_state(&state, me.other()), theirs, &mut dice);
            state = adjudicated(&state, me, orders, answers);
            self.played += 1;
        }
        worth(&state, me) - worth(&state, me.other())
    }
}

/// Returns the plans that are worth most, as many as are kept.
fn best(mut worth: impl FnMut(&Plan) -> i32) -> Vec<Plan> {
    let mut plans = PLANS.to_vec();
    plans.sort_by_cached_key(|plan| -worth(plan));
    plans.truncate(EFFORT.kept);
    plans
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
