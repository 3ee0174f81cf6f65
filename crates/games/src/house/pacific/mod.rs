//! The house: a computer player for War in the Pacific, at three levels.
//!
//! On the surface it searches the moves of both sides, and beneath it guesses where the enemy's submarines
//! are, from what its seat was told. The same arguments give the same turn, so that an audit can repeat it.

use belief::{Belief, Fleets};
use position::{Move, PASS, Position};

use crate::game::pacific::{Order, Square, View};
use crate::game::{Dice, Phase, Seen};
use crate::house::engine::root::Choice;
use crate::house::engine::{Chosen, House, HouseLevel, Insight, Level};

mod belief;
mod depths;
mod position;
mod prospects;
mod search;
mod setup;
mod shallow;
mod values;

/// The computer player. Debug builds search less and so play other turns, which makes them another version.
pub(super) const HOUSE: House<View, Order> = House {
    version: if cfg!(debug_assertions) { 0 } else { 1 },
    levels: LEVELS,
    play,
    with_insight: Some(with_insight),
};

/// The levels, the weakest first.
const LEVELS: &[HouseLevel] = &[
    Level::Trainer.described("looks at your next move, and overlooks most of it", &[]),
    Level::Easy.described("looks at your next move, and overlooks one threat in eight", &[]),
    Level::Average.described("looks a few moves ahead, and hunts your submarines", &[]),
];

/// Positions that Average looks at in a turn. Debug builds look at fewer, because they are slow.
const POSITIONS: u32 = if cfg!(debug_assertions) { 100 } else { 30_000 };
/// Number of guesses that Average makes of the enemy's submarines.
const GUESSES: usize = if cfg!(debug_assertions) { 8 } else { 256 };
/// The moves that the dice may choose from: in the opening, and later.
const IN_OPENING: Choice = Choice { margin: 12, wide: false };
const LATER: Choice = Choice { margin: 4, wide: false };
/// Number of rounds that count as the opening.
const OPENING_ROUNDS: u32 = 6;

/// The abilities of a level.
struct Skill<'a> {
    /// Positions to look at in a search; 0 to look only at the enemy's next move.
    positions: u32,
    /// Number of guesses of the enemy's submarines.
    guesses: usize,
    /// The source of the guesses.
    insight: Insight<'a, View>,
    /// The number of threats or shots, out of eight, that are overlooked.
    overlooked: usize,
}

fn skill(level: Level) -> Skill<'static> {
    let (positions, guesses, overlooked) = match level {
        Level::Trainer => (0, 0, 5),
        Level::Easy => (0, 8, 1),
        Level::Average | Level::Expert => (POSITIONS, GUESSES, 0),
    };
    Skill { positions, guesses, insight: Insight::Told, overlooked }
}

/// Chooses the orders of a seat. Its present view lists all reports of submarines so far, and the earlier
/// views show where its ships were.
fn play(seen: &Seen<View, Order>, level: &HouseLevel, dice: Dice) -> Chosen<Order> {
    choose(seen.now(), &fleets(seen), &skill(Level::of(level)), dice)
}

/// Plays Average with another insight.
fn with_insight(seen: &Seen<View, Order>, insight: Insight<'_, View>, dice: Dice) -> Chosen<Order> {
    choose(seen.now(), &fleets(seen), &Skill { insight, ..skill(Level::Average) }, dice)
}

/// The fleet of the seat in each submarine phase so far.
fn fleets(seen: &Seen<View, Order>) -> Fleets<'_> {
    let phases = seen.before().filter(|view| view.phase == Some(Phase::Submarines));
    phases.map(|view| (view.round, view.own_ships())).collect()
}

/// Chooses orders for the viewer, who must owe some.
fn choose(view: &View, fleets: &Fleets<'_>, skill: &Skill<'_>, mut dice: Dice) -> Chosen<Order> {
    let (orders, positions) = match view.phase {
        Some(Phase::Setup) => (setup::draw(view.viewer, &view.options, &mut dice), 0),
        Some(Phase::Surface) => surface(view, fleets, skill, &mut dice),
        Some(Phase::Submarines) => {
            let belief = belief(view, fleets, skill, &mut dice);
            let order = depths::choose(view, &belief, skill.overlooked, &mut dice);
            (vec![Order::Submarine(order)], 1)
        }
        Some(Phase::Turn | Phase::Casualties | Phase::Move) | None => (Vec::new(), 0),
    };
    Chosen { orders, positions }
}

fn belief(view: &View, fleets: &Fleets<'_>, skill: &Skill<'_>, dice: &mut Dice) -> Belief {
    match skill.insight {
        Insight::Told => Belief::new(view, fleets, skill.guesses, dice),
        Insight::Blind => Belief::blind(view, skill.guesses, dice),
        Insight::Open(open) => Belief::open(open),
    }
}

/// Chooses a surface turn, and returns how many positions it looked at.
fn surface(view: &View, fleets: &Fleets<'_>, skill: &Skill<'_>, dice: &mut Dice) -> (Vec<Order>, u64) {
    let belief = belief(view, fleets, skill, dice);
    let attack = depths::attack(view, &belief);
    let danger = if skill.guesses == 0 { values::SAFE } else { belief.danger() };
    let values = values::values(view, &danger);
    let mut position = Position::new(&view.ships, view.viewer, view.options.squadron_leap, &values);
    let worth = attack.map(|(_, worth)| worth);
    let (turn, looked_at) = if skill.positions == 0 {
        (shallow::best(&mut position, worth, skill.overlooked, dice), 1)
    } else {
        let choice = if view.round <= OPENING_ROUNDS { IN_OPENING } else { LATER };
        let (rated, looked_at) = search::best(&mut position, worth, skill.positions, choice);
        (rated[dice.below(rated.len())].turn, looked_at)
    };
    let order = match attack {
        Some((area, _)) if turn == PASS => Order::Asw(area.corner()),
        _ => to_order(&position, turn),
    };
    (vec![order], looked_at.into())
}

fn to_order(position: &Position<'_>, turn: Move) -> Order {
    let square = |at: u8| Square::new(at & 15, at >> 4).expect("the house moves on the board");
    let class = position.hull(turn.from).map(|hull| hull.class);
    Order::Move { class, from: square(turn.from), to: square(turn.to) }
}

#[cfg(test)]
mod tests;
