//! Alpha-beta on the surface of War in the Pacific, by the points of both fleets.

use std::cmp::{Ordering, Reverse};

use crate::alpha_beta::Position;
use crate::plain_pacific::{Plain, Turn, points};

impl Position for Plain {
    type Turn = Turn;

    /// The dearest sinkings come first.
    fn sorted(&self) -> Vec<Turn> {
        let mut turns = self.turns();
        let sunk = |to: usize| self.cells[to].filter(|ship| ship.side != self.mover);
        turns.sort_by_key(|&(_, to)| Reverse(sunk(to).map_or(0, |ship| points(ship.letter))));
        turns
    }

    fn make(&mut self, turn: Turn) {
        self.play(turn);
    }

    fn pass(&mut self) {
        self.mover = 1 - self.mover;
    }

    /// Only the side to move can have lost its last ship.
    fn ended(&self) -> Option<Ordering> {
        let (_, hulls) = self.fleet(self.mover);
        (hulls == 0).then_some(Ordering::Less)
    }

    fn count(&self) -> i32 {
        let [(own, _), (theirs, _)] = [self.mover, 1 - self.mover].map(|side| self.fleet(side));
        own - theirs
    }
}
