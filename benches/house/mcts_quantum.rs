//! Tree search in Quantum. Its playouts prefer stacking to other moves, and towers to both.

use crate::mcts::{Position, Random};
use crate::plain_quantum::{Plain, Turn};

/// Turns after which a playout is judged by its towers.
const LONGEST: u32 = 80;

impl Position for Plain {
    type Turn = Turn;

    const EXPLORE: f64 = 0.7;

    fn side(&self) -> usize {
        self.mover.into()
    }

    fn choices(&self) -> Vec<Turn> {
        if self.winner().is_some() { Vec::new() } else { self.turns() }
    }

    fn make(&mut self, turn: &Turn) {
        self.play(*turn);
    }

    fn playout(mut self, random: Random<'_>) -> usize {
        for _ in 0..LONGEST {
            if let Some(winner) = self.winner() {
                return winner.into();
            }
            let turns = self.turns();
            if turns.is_empty() {
                return self.ahead().into();
            }
            let height = |&(from, to): &Turn| match self.cells[to].height {
                0 => 0,
                below => below + self.cells[from].height,
            };
            let tower = turns.iter().copied().find(|turn| height(turn) >= 6);
            let stacking: Vec<Turn> = turns.iter().copied().filter(|turn| height(turn) > 0).collect();
            let turn = match tower {
                Some(turn) => turn,
                None if !stacking.is_empty() && random(3) > 0 => stacking[random(stacking.len())],
                None => turns[random(turns.len())],
            };
            self.play(turn);
        }
        self.ahead().into()
    }
}
