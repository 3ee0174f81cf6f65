//! Chooses the orders of a turn: plays pairs of plans a few turns ahead on guesses of the galaxy, mixes the
//! plans by their payoffs, draws one, and improves its orders.

use super::ahead::Ahead;
use super::belief::guesses;
use super::known::Known;
use super::plan::{self, PLAIN, Plan};
use super::refine::{Tries, refine};
use crate::game::quadrant_z::{Order, State, View};
use crate::game::{Dice, Seat, Seen};
use crate::house::engine::{Chosen, Insight, mixture};

/// The limits of playing ahead to choose orders.
#[derive(Clone, Copy)]
struct Effort {
    /// Guesses of the galaxy, and how many of them each plan is tried on alone.
    guesses: usize,
    trials: usize,
    /// The number of plans of either side that remain after that.
    kept: usize,
    /// The number of turns that plans are played ahead.
    turns: usize,
    /// The limits on other squares that ships try.
    tries: Tries,
}

/// Debug builds make do with less.
const EFFORT: Effort = if cfg!(debug_assertions) {
    Effort { guesses: 1, trials: 1, kept: 2, turns: 1, tries: Tries { squares: 4, turns: 1 } }
} else {
    Effort { guesses: 16, trials: 4, kept: 5, turns: 4, tries: Tries { squares: 48, turns: 3 } }
};

/// With up to this many ships on both sides together, all guesses are played.
const SHIPS: usize = 32;
/// A rough limit on the phases that are replayed for all guesses together: a long match gets fewer guesses,
/// but at least [`Effort::trials`].
const FOLLOWED: usize = 1_600;

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
    // Go for the most valuable stars, in large ships.
    Plan { value: 40, shy: 10, hunt: 40, largest: 4, ..PLAIN },
    // Build ships that withstand the enemy's.
    Plan { shy: 10, hunt: 20, armour: 2, ..PLAIN },
    Plan { shy: 10, hunt: 20, armour: 1, ..PLAIN },
    Plan { value: 10, hunt: 40, armour: 2, ..PLAIN },
    Plan { shy: 10, hunt: 60, guard: false, armour: 2, ..PLAIN },
    Plan { value: 0, largest: 1, armour: 1, ..PLAIN },
    Plan { hunt: 20, strike: 5, largest: 3, armour: 3, ..PLAIN },
];

/// Chooses orders for the seat of `seen`, and counts the turns that it plays ahead.
pub(super) fn choose(seen: &Seen<View, Order>, insight: Insight<'_, View>, dice: &mut Dice) -> Chosen<Order> {
    let known = Known::from_view(seen.now());
    let followed = FOLLOWED / seen.before().count().max(1);
    let theirs = PLANS.into_iter().cycle().take(followed.clamp(EFFORT.trials, EFFORT.guesses));
    let Some(mut guesses) = guesses(seen, insight, theirs, dice) else {
        return Chosen { orders: plan::orders(&known, &PLANS[0], dice), positions: 1 };
    };
    dice.shuffle(&mut guesses);
    guesses.truncate(affordable(&guesses[0].state));
    // Different dice from the ones that draw the plan.
    let mut ahead = Ahead { me: seen.seat(), guesses: &guesses, dice: dice.clone().mixed(7), played: 0 };
    let (rows, columns) = (best_own(&mut ahead), best_theirs(&mut ahead));
    let payoffs: Vec<Vec<i32>> = rows.iter().map(|own| payoffs(&mut ahead, own, &columns)).collect();
    let plan = rows[mixture::draw(&payoffs, dice)];
    let orders = plan::orders(&known, &plan, dice);
    let orders = refine(&mut ahead, &known, &plan, orders, EFFORT.tries);
    Chosen { orders, positions: ahead.played }
}

/// The number of guesses on which plans are played: fewer if there are many ships, whose turns take longer.
fn affordable(state: &State) -> usize {
    let ships: usize = Seat::BOTH.map(|seat| state.sides[seat].ships.len()).iter().sum();
    (EFFORT.guesses * SHIPS / ships.max(1)).clamp(EFFORT.trials, EFFORT.guesses)
}

/// The seat's best plans against the enemy's plans in the first guesses.
fn best_own(ahead: &mut Ahead<'_>) -> Vec<Plan> {
    let trials = ahead.guesses.iter().take(EFFORT.trials);
    best(|own| trials.clone().map(|guess| ahead.outlook(guess, (own, &guess.plan), EFFORT.turns)).sum())
}

/// The enemy's plans that cost the seat most in the first guesses, if the seat follows the first of
/// [`PLANS`].
fn best_theirs(ahead: &mut Ahead<'_>) -> Vec<Plan> {
    let trials = ahead.guesses.iter().take(EFFORT.trials);
    best(|theirs| -> i32 {
        trials.clone().map(|guess| -ahead.outlook(guess, (&PLANS[0], theirs), EFFORT.turns)).sum()
    })
}

/// Returns the plans of highest worth, as many as are kept.
fn best(mut worth: impl FnMut(&Plan) -> i32) -> Vec<Plan> {
    let mut plans = PLANS.to_vec();
    plans.sort_by_cached_key(|plan| -worth(plan));
    plans.truncate(EFFORT.kept);
    plans
}

/// Returns the worth of a plan against each plan of the enemy, summed over all guesses.
fn payoffs(ahead: &mut Ahead<'_>, own: &Plan, columns: &[Plan]) -> Vec<i32> {
    let guesses = ahead.guesses;
    let payoff = |theirs| guesses.iter().map(|guess| ahead.outlook(guess, (own, theirs), EFFORT.turns)).sum();
    columns.iter().map(payoff).collect()
}
