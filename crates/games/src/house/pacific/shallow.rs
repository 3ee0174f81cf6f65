//! Chooses moves for Trainer and Easy, which look at the opponent's next move and overlook some of it.

use super::position::{Move, PASS, Position};
use super::search::{loses, sunk_ship_price};
use crate::game::Dice;

/// Maximum difference from the worth of the best move at which the dice may choose a move.
const MARGIN: i32 = 15;
/// The number of threats out of which some are overlooked.
const THREATS: usize = 8;

/// Chooses a move, or [`PASS`] for an attack on submarines that gains `attack`. At least one must be
/// possible.
pub(super) fn best(
    position: &mut Position<'_>,
    attack: Option<i32>,
    overlooked: usize,
    dice: &mut Dice,
) -> Move {
    // Rolled once for each pair of squares, so that a threat is overlooked for every move considered.
    let salt = dice.bits();
    let sees = |turn: &Move| {
        let pair = u64::from(turn.from) * 256 + u64::from(turn.to);
        Dice::new(salt).mixed(pair).below(THREATS) >= overlooked
    };
    let mut rated: Vec<(i32, Move)> = Vec::new();
    for turn in position.moves(false) {
        let undo = position.play(turn);
        rated.push((-position.worth() - threat(position, sees), turn));
        position.take_back(&undo);
    }
    if let Some(attack) = attack {
        position.pass();
        rated.push((attack - position.worth() - threat(position, sees), PASS));
        position.pass();
    }
    let best = rated.iter().map(|&(worth, _)| worth).max().expect("there is a move or an attack");
    rated.retain(|&(worth, _)| worth >= best - MARGIN);
    rated[dice.below(rated.len())].1
}

/// The best sinking of the side to move, less the loss that it causes.
fn threat(position: &Position<'_>, sees: impl Fn(&Move) -> bool) -> i32 {
    let net = |turn: Move| {
        let own = if loses(position, turn) {
            sunk_ship_price(position, Move { from: turn.to, to: turn.from })
        } else {
            0
        };
        sunk_ship_price(position, turn) - own
    };
    position.moves(true).into_iter().filter(sees).map(net).max().unwrap_or_default().max(0)
}
