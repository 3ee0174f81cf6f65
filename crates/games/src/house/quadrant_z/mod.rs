//! The house: a computer player for Quadrant Z, at three levels.
//!
//! It follows plans, which rate stars, intruders and the enemy's base. Average chooses its plan by playing
//! plans against each other on guesses of the galaxy, and then improves its orders ship by ship. The guesses
//! are made from what its seat was told and filed; the same arguments give the same turn, so that an audit
//! can repeat it.

use known::Known;
use plan::{PLAIN, Plan};

use crate::game::quadrant_z::{Order, View};
use crate::game::{Dice, Phase, Seen};
use crate::house::engine::{Chosen, House, HouseLevel, Insight, Level};

mod ahead;
mod belief;
mod known;
mod plan;
mod refine;
mod setup;
mod think;
mod tracking;

/// The computer player. Debug builds guess less and so play other turns, which makes them another version.
pub(super) const HOUSE: House<View, Order> = House {
    version: if cfg!(debug_assertions) { 0 } else { 1 },
    levels: LEVELS,
    play,
    with_insight: Some(with_insight),
};

/// The levels, the weakest first.
const LEVELS: &[HouseLevel] = &[
    Level::Trainer.described("gathers stars, overlooks half of them, and guards nothing", &[]),
    Level::Easy.described("gathers stars and guards its base, and overlooks one star in eight", &[]),
    Level::Average.described("gathers fast, guesses what you have, and plans a few turns ahead", &[]),
];

/// The plan of the levels that have only one.
fn only_plan(level: Level) -> Option<Plan> {
    match level {
        Level::Trainer => Some(Plan { value: 0, guard: false, largest: 3, overlooked: 4, ..PLAIN }),
        Level::Easy => Some(Plan { value: 10, shy: 10, largest: 3, overlooked: 1, ..PLAIN }),
        Level::Average | Level::Expert => None,
    }
}

/// Chooses orders for a seat, which must owe some.
fn play(seen: &Seen<View, Order>, level: &HouseLevel, dice: Dice) -> Chosen<Order> {
    choose(seen, Level::of(level), Insight::Told, dice)
}

/// Plays Average with another insight.
fn with_insight(seen: &Seen<View, Order>, insight: Insight<'_, View>, dice: Dice) -> Chosen<Order> {
    choose(seen, Level::Average, insight, dice)
}

/// Chooses orders as [`play`] does. In the phase `casualties`, the least valuable set is lost.
fn choose(
    seen: &Seen<View, Order>,
    level: Level,
    insight: Insight<'_, View>,
    mut dice: Dice,
) -> Chosen<Order> {
    let view = seen.now();
    match view.context.phase {
        Some(Phase::Setup) => {
            let orders = setup::draw(view.context.options.layout, view.context.viewer, level, &mut dice);
            Chosen { orders, positions: 0 }
        }
        Some(Phase::Turn) => match only_plan(level) {
            Some(plan) => {
                let orders = plan::orders(&Known::from_view(view), &plan, &mut dice);
                Chosen { orders, positions: 1 }
            }
            None => think::choose(seen, insight, &mut dice),
        },
        Some(Phase::Casualties | Phase::Surface | Phase::Submarines | Phase::Move) | None => {
            Chosen { orders: Vec::new(), positions: 0 }
        }
    }
}

#[cfg(test)]
mod tests;
