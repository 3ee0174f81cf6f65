//! Alpha-beta in Quantum, by a simple count of towers and heights.

use std::cmp::{Ordering, Reverse};

use crate::alpha_beta::Position;
use crate::plain_quantum::{Judge, Plain, Turn};

impl Position for Plain {
    type Turn = Turn;

    /// The moves that make the highest stacks come first.
    fn sorted(&self) -> Vec<Turn> {
        let mut turns = self.turns();
        turns.sort_by_key(|&(from, to)| {
            let below = self.cells[to].height;
            Reverse(if below > 0 { below + self.cells[from].height } else { 0 })
        });
        turns
    }

    fn make(&mut self, turn: Turn) {
        self.play(turn);
    }

    fn pass(&mut self) {
        self.mover = 1 - self.mover;
        self.quiet += 1;
    }

    fn ended(&self) -> Option<Ordering> {
        self.winner().map(|winner| match winner {
            2 => Ordering::Equal,
            winner if winner == self.mover => Ordering::Greater,
            _ => Ordering::Less,
        })
    }

    fn count(&self) -> i32 {
        count(self, self.mover) - count(self, 1 - self.mover)
    }
}

fn count(position: &Plain, side: u8) -> i32 {
    let stacks = position.cells.iter().filter(|cell| cell.height > 0 && cell.side == side);
    stacks
        .map(|cell| match (position.judge, cell.height) {
            (_, 6..) => 1_000,
            // Ten for each piece in a stack that can move, and more for one that lies high.
            (Judge::Heights, 5) => 40,
            (Judge::Heights, height) => 10 * i32::from(height) + i32::from(cell.straight && cell.diagonal),
            (Judge::Pieces, height) => 10 * i32::from(height),
            (Judge::Squares, height) => i32::from(height).pow(2),
            (Judge::Stacks, _) => 10,
            (Judge::Towers, _) => 0,
        })
        .sum()
}
