//! The house: a computer player for Quadrant Z, at three levels.
//!
//! Each level follows a plan: what a star, an intruder and the enemy's base are worth to it. It reads what its seat was
//! told and nothing else. The same view, level and dice give the same turn, so that an audit can repeat it.

use super::order::Order;
use super::view::View;
use crate::game::{Chosen, Dice, House, HouseLevel, Level, Phase, Seen};
use plan::Plan;

mod plan;
mod setup;

/// The computer player.
pub const HOUSE: House<View, Order> = House { version: 1, levels: LEVELS, play };

/// The levels, the weakest first.
const LEVELS: &[HouseLevel] = &[
    Level::Trainer.described("gathers stars, overlooks half of them, and guards nothing", &[]),
    Level::Easy.described("gathers stars and guards its base, and overlooks one star in eight", &[]),
    Level::Average.described("builds a fleet that gathers fast, guards its base, and hunts intruders", &[]),
];

/// What a level is after.
fn plan(level: Level) -> Plan {
    match level {
        Level::Trainer => {
            Plan { value: 0, shy: 0, hunt: 0, guard: false, strike: 0, largest: 3, overlooked: 4 }
        }
        Level::Easy => {
            Plan { value: 10, shy: 10, hunt: 0, guard: true, strike: 0, largest: 3, overlooked: 1 }
        }
        Level::Average | Level::Expert => {
            Plan { value: 20, shy: 10, hunt: 20, guard: true, strike: 0, largest: 2, overlooked: 0 }
        }
    }
}

fn play(seen: &Seen<View, Order>, level: &HouseLevel, dice: Dice) -> Chosen<Order> {
    choose(seen.now(), Level::of(level), dice)
}

/// Chooses orders for the viewer, from whom some must be due. In the phase `casualties` the least set is lost.
fn choose(view: &View, level: Level, mut dice: Dice) -> Chosen<Order> {
    let orders = match view.context.phase {
        Some(Phase::Setup) => setup::draw(view.context.options.layout, view.context.viewer, level, &mut dice),
        Some(Phase::Turn) => plan::orders(view, &plan(level), &mut dice),
        Some(Phase::Casualties | Phase::Surface | Phase::Submarines | Phase::Move) | None => Vec::new(),
    };
    Chosen { orders, positions: 1 }
}

#[cfg(test)]
mod tests;
