//! Plain players for the surface of War in the Pacific: one that takes what it can, and alpha-beta a few turns deep.

use crate::plain_pacific::{Plain, Turn, points};

const WON: i32 = 1_000_000;

/// Returns the dearest sinking, or else a random move: `choose` returns a number below its argument. `None` if there is
/// no move.
pub fn greedy(position: &Plain, choose: &mut dyn FnMut(usize) -> usize) -> Option<Turn> {
    best(position, 1, choose)
}

/// Returns the best turn after a search of `depth` turns; among equal ones `choose` picks. `None` if there is no move.
pub fn best(position: &Plain, depth: u32, choose: &mut dyn FnMut(usize) -> usize) -> Option<Turn> {
    let mut best = Vec::new();
    let mut highest = -2 * WON;
    for turn in sorted(position) {
        let mut next = position.clone();
        next.play(turn);
        let worth = -worth(&next, depth - 1, -2 * WON, -(highest - 1));
        if worth > highest {
            highest = worth;
            best.clear();
        }
        if worth == highest {
            best.push(turn);
        }
    }
    (!best.is_empty()).then(|| best[choose(best.len())])
}

fn worth(position: &Plain, depth: u32, mut alpha: i32, beta: i32) -> i32 {
    let [(own, hulls), (theirs, _)] = [position.mover, 1 - position.mover].map(|side| position.fleet(side));
    if hulls == 0 {
        return -WON - depth as i32;
    }
    if depth == 0 {
        return own - theirs;
    }
    let mut best = -2 * WON;
    for turn in sorted(position) {
        let mut next = position.clone();
        next.play(turn);
        best = best.max(-worth(&next, depth - 1, -beta, -alpha));
        alpha = alpha.max(best);
        if alpha >= beta {
            break;
        }
    }
    if best == -2 * WON { own - theirs } else { best }
}

/// The moves, with the dearest sinkings first.
fn sorted(position: &Plain) -> Vec<Turn> {
    let mut turns = position.turns();
    turns.sort_by_key(|&(_, to)| {
        std::cmp::Reverse(
            position.cells[to].map_or(
                0,
                |ship| {
                    if ship.side == position.mover { 0 } else { points(ship.letter) }
                },
            ),
        )
    });
    turns
}
