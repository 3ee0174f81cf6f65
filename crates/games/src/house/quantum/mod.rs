//! The house: a computer player for Quantum, at four levels.
//!
//! It sees only its seat's view and plays by the rules. The same view, level and dice give the same turn, so
//! that an audit can repeat it: nothing here may depend on a clock. The seat and the level are chosen
//! elsewhere.

use position::{Move, Position, TOWERS_TO_WIN, Terms};

use crate::game::quantum::{Order, Spot, TOWER, View};
use crate::game::{Dice, Seat, Seen};
use crate::house::engine::root::Choice;
use crate::house::engine::{Chosen, House, HouseLevel, Level};

mod evaluate;
mod position;
mod search;

/// The computer player. Debug builds search less and so play other turns, which makes them another version.
pub(super) const HOUSE: House<View, Order> =
    House { version: if cfg!(debug_assertions) { 0 } else { 2 }, levels: LEVELS, play, with_insight: None };

/// The levels, the weakest first.
const LEVELS: &[HouseLevel] = &[
    Level::Trainer.described("looks at your next turn, and overlooks much of it", &[]),
    Level::Easy.described("looks at your next turn, and overlooks one threat in eight", &[]),
    Level::Average.described("looks a few turns ahead, and allows no tower that it can stop", &[]),
    Level::Expert.described("looks ten times as far through the turns that may follow", &[]),
];

/// Positions that Expert looks at in a turn; Average looks at a tenth. Debug builds are slow and do less.
const EXPERT_POSITIONS: u32 = if cfg!(debug_assertions) { 20_000 } else { 400_000 };
/// The turns that the dice may choose from after a search: in the opening, and later.
const IN_OPENING: Choice = Choice { margin: 40, wide: true };
const LATER: Choice = Choice { margin: 10, wide: false };
/// Maximum difference from the worth of the best turn, for the levels that look at one turn.
const SHALLOW_MARGIN: i32 = 20;
/// The number of turns, of both sides together, that count as the opening.
const OPENING_TURNS: u32 = 10;
/// Out of this many threats, Easy overlooks one and Trainer three.
const THREATS: usize = 8;

const NOTHING: Chosen<Order> = Chosen { orders: Vec::new(), positions: 0 };

/// Chooses the turn of a seat by its present view: nothing is hidden, so the past adds nothing.
fn play(seen: &Seen<View, Order>, level: &HouseLevel, dice: Dice) -> Chosen<Order> {
    choose(seen.now(), Level::of(level), dice)
}

/// Chooses a legal turn of the side to move. Empty if the match is over or the side has no move.
pub fn choose(view: &View, level: Level, dice: Dice) -> Chosen<Order> {
    choose_within(view, level, dice, EXPERT_POSITIONS)
}

/// Implements [`choose`] with an Expert that looks at `positions` positions.
fn choose_within(view: &View, level: Level, dice: Dice, positions: u32) -> Chosen<Order> {
    let mut dice = dice.mixed(u64::from(view.turn));
    let Some(position) = view.to_move.map(|side| position_of(view, side)) else { return NOTHING };
    let moves = position.moves();
    if moves.is_empty() {
        return NOTHING;
    }
    let choice = if view.turn < OPENING_TURNS { IN_OPENING } else { LATER };
    let (turn, positions) = match level {
        Level::Trainer => (shallow(&position, &moves, 3, &mut dice), 1),
        Level::Easy => (shallow(&position, &moves, 1, &mut dice), 1),
        Level::Average => thoughtful(&position, &safe(&position, moves), positions / 10, choice, &mut dice),
        Level::Expert => thoughtful(&position, &moves, positions, choice, &mut dice),
    };
    Chosen { orders: vec![to_order(turn)], positions: positions.into() }
}

fn to_order(turn: Move) -> Order {
    let spot = |square: u8| Spot::new(square % 8, square / 8).expect("the house moves on the board");
    Order::new(spot(turn.from), spot(turn.to))
}

fn position_of(view: &View, side: Seat) -> Position {
    let terms = Terms { jump: view.jump, quiet_limit: 2 * view.quiet_limit };
    let mut position = Position::new(side as usize, view.quiet, terms);
    for (spot, stack) in view.stacks.stacks() {
        position.put(spot.index() as u8, stack.side as usize, stack.kind, stack.height);
    }
    position
}

/// Returns the moves after which the opponent cannot make a tower at once, if there are any, or the move that
/// wins.
fn safe(position: &Position, moves: Vec<Move>) -> Vec<Move> {
    if let Some(&wins) = moves.iter().find(|&&turn| wins(position, turn)) {
        return vec![wins];
    }
    let safe: Vec<Move> = moves.iter().copied().filter(|&turn| !position.after(turn).makes_tower()).collect();
    if safe.is_empty() { moves } else { safe }
}

fn wins(position: &Position, turn: Move) -> bool {
    position.stacked(turn) >= TOWER && position.towers[position.mover] + 1 >= TOWERS_TO_WIN
}

/// Chooses among the best moves after a search, and returns how many positions it looked at.
fn thoughtful(
    position: &Position,
    moves: &[Move],
    positions: u32,
    choice: Choice,
    dice: &mut Dice,
) -> (Move, u32) {
    let (rated, searched) = search::best(position, moves, positions, choice);
    (rated[dice.below(rated.len())].turn, searched)
}

/// Chooses by the opponent's stacking moves in its next turn, and overlooks some in [`THREATS`] of them.
/// Positions are rated as the search rates them: if only the pieces counted, one match in ten against random
/// moves would not be won.
fn shallow(position: &Position, moves: &[Move], overlooked: usize, dice: &mut Dice) -> Move {
    // Rolled once for each pair of squares, so that a threat is overlooked for every move considered.
    let sees: Vec<bool> = (0..64 * 64).map(|_| dice.below(THREATS) >= overlooked).collect();
    let sees = |turn: &Move| sees[usize::from(turn.from) * 64 + usize::from(turn.to)];
    let worth = |turn: Move| {
        if wins(position, turn) {
            return i32::MAX;
        }
        let next = position.after(turn);
        let answers = next.stacking_moves().into_iter().filter(sees).map(|answer| {
            if wins(&next, answer) { -search::DECIDED } else { evaluate::worth(&next.after(answer)) }
        });
        answers.fold(-evaluate::worth(&next), i32::min)
    };
    let rated: Vec<(i32, Move)> = moves.iter().map(|&turn| (worth(turn), turn)).collect();
    let best = rated.iter().map(|&(worth, _)| worth).max().expect("there is a move");
    let near: Vec<Move> = rated
        .into_iter()
        .filter(|&(worth, _)| worth >= best.saturating_sub(SHALLOW_MARGIN))
        .map(|(_, turn)| turn)
        .collect();
    near[dice.below(near.len())]
}

#[cfg(test)]
mod tests;
