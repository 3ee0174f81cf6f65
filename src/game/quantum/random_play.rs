//! Random play; see [`crate::game::testing`].

use super::rules;
use super::state::State;
use super::view::View;
use crate::game::testing::{Perft, RandomPlay, Rng, Turn};
use crate::game::{BySeat, Sealed};

impl RandomPlay for State {
    /// Prefers stacking moves, so that towers rise. Now and then the line is at fault.
    fn random_filing(view: &View, rng: Rng<'_>) -> Vec<String> {
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

impl Perft for State {
    fn turns(&self) -> Vec<Turn<State>> {
        let Some(side) = self.to_move else { return Vec::new() };
        let mut turns = Vec::new();
        for order in rules::moves(&self.board, side, self.options.jump.is_on()) {
            let mut turn = BySeat::new(None, None);
            turn[side] = Some(Sealed::new(vec![order]));
            turns.push(turn);
        }
        if turns.is_empty() {
            // The side has no move and passes (N-PASS).
            turns.push(BySeat::new(None, None));
        }
        turns
    }
}
