//! The state of a match of Quantum.

use serde::{Deserialize, Serialize};

use super::options::{Array, Options};
use super::pieces::{Board, Spot, Stack};
use crate::game::{Outcome, Seat};

/// The last turn. A pass has no squares (N-PASS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    pub side: Seat,
    pub from: Option<Spot>,
    pub to: Option<Spot>,
    pub stacked: bool,
}

/// A match of Quantum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) options: Options,
    pub(super) board: Board,
    /// The number of turns played, including passes.
    pub(super) turn: u32,
    /// `None` once the match is over.
    pub(super) to_move: Option<Seat>,
    /// Turns in a row without a stacking move.
    pub(super) quiet: u32,
    pub(super) last: Option<Last>,
    pub(super) outcome: Option<Outcome>,
}

impl State {
    pub(super) fn new(options: &Options) -> State {
        State {
            board: set_up(&options.array),
            options: options.clone(),
            turn: 0,
            to_move: Some(Seat::First),
            quiet: 0,
            last: None,
            outcome: None,
        }
    }

    /// Whether `quiet` has reached the limit, which counts turns of each side (N-STALL).
    pub(super) fn is_stale(&self) -> bool {
        self.quiet >= 2 * self.options.quiet_limit
    }
}

/// Places the array on each side's own ranks, the second side's mirrored along the files (N-ARRAY).
fn set_up(array: &Array) -> Board {
    let mut board = Board::EMPTY;
    for spot in Spot::all() {
        if let Some(kind) = array.piece(spot.rank(), spot.file()) {
            let mirrored = Spot::new(spot.file(), 7 - spot.rank()).expect("the mirror lies on the board");
            board[spot] = Some(Stack { side: Seat::First, kind, height: 1 });
            board[mirrored] = Some(Stack { side: Seat::Second, kind, height: 1 });
        }
    }
    board
}
