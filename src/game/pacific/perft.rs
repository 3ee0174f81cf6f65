//! Counting surface moves, to test and measure their generation.

use super::chart::Chart;
use super::order::Order;
use super::rules;
use super::state::{Square, Stage, State};
use crate::game::Seat;

/// Every legal move of `side` on the surface, as from and to; attacks on submarines are none of them.
pub fn surface_moves(state: &State, side: Seat) -> Vec<(Square, Square)> {
    let mut moves = Vec::new();
    Chart::new(&state.ships, state.options.squadron_leap)
        .each_move(side, |ship, to| moves.push((ship.at, to)));
    moves
}

/// How many sequences of `depth` surface moves there are from this state, the match ending where it does.
/// Submarine turns are skipped over: the state is meant to be of a match without them.
pub fn perft(state: &State, depth: u32) -> u64 {
    let Stage::Surface(side) = state.stage else { return u64::from(depth == 0) };
    if depth == 0 {
        return 1;
    }
    let moves = surface_moves(state, side);
    if depth == 1 {
        return moves.len() as u64;
    }
    let after = |(from, to)| rules::surface(state, side, Some(&Order::Move { class: None, from, to }));
    moves.into_iter().map(|step| perft(&after(step), depth - 1)).sum()
}
