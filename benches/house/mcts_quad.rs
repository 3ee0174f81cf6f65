//! Tree search in Quad. Its playouts complete quads, block threats, and are random otherwise.

use crate::mcts::{Position, Random};
use crate::plain_quad::{Plain, Turn};

impl Position for Plain<'_> {
    type Turn = Turn;

    const EXPLORE: f64 = 0.5;

    fn side(&self) -> usize {
        self.mover
    }

    fn choices(&self) -> Vec<Turn> {
        if self.winner().is_some() { Vec::new() } else { self.turns() }
    }

    fn make(&mut self, turn: &Turn) {
        self.play(turn);
    }

    fn playout(mut self, random: Random<'_>) -> usize {
        let mut free = self.free();
        loop {
            if let Some(winner) = self.winner() {
                return winner;
            }
            let me = self.mover;
            if !self.threats(me).is_empty() {
                return me;
            }
            let mut blocks = self.threats(1 - me);
            if blocks.len() > self.stars_left[me] + 1 {
                return 1 - me;
            }
            let marble = if blocks.is_empty() {
                draw(&mut free, &self, random)
            } else {
                blocks.swap_remove(random(blocks.len()))
            };
            self.play(&Turn { stars: blocks, marble });
        }
    }
}

/// Draws a free point. `free` may still hold points that are taken.
fn draw(free: &mut Vec<usize>, state: &Plain<'_>, random: Random<'_>) -> usize {
    loop {
        let point = free.swap_remove(random(free.len()));
        if state.is_free(point) {
            return point;
        }
    }
}
