//! Random play of Quantum.

use fogpost_games::game::quantum::State;
use fogpost_games::game::{Game, Seat};

use super::{RandomPlay, Rng};

impl RandomPlay for State {
    /// Prefers stacking moves, so that towers rise. Now and then, the line is faulty.
    fn random_filing(&self, seat: Seat, rng: Rng<'_>) -> Vec<String> {
        let view = self.view(seat);
        let moves = view.moves();
        let stackings: Vec<_> = moves.iter().filter(|order| view.stacks[order.to].is_some()).collect();
        if moves.is_empty() || pick(20, rng) == 0 {
            return vec![["A1 A1", "D3 E9", "H8 A2", ""][pick(4, rng)].to_string()];
        }
        let order = if stackings.is_empty() || pick(3, rng) == 0 {
            moves[pick(moves.len(), rng)]
        } else {
            *stackings[pick(stackings.len(), rng)]
        };
        vec![order.to_string()]
    }
}

fn pick(len: usize, rng: Rng<'_>) -> usize {
    rng(u32::try_from(len).expect("a side has few moves")) as usize
}
