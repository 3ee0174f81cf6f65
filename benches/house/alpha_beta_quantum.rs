//! Plain alpha-beta for Quantum, a few turns deep, with a simple count of towers and heights.

use crate::plain_quantum::{Plain, Turn};

const WON: i32 = 1_000_000;

/// Returns the best turn after a search of `depth` turns. Among equal ones `choose` picks: it returns a number below its
/// argument. `None` if there is no move.
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
    if let Some(winner) = position.winner() {
        return match winner {
            2 => 0,
            winner if winner == position.mover => WON,
            _ => -WON - depth as i32,
        };
    }
    if depth == 0 {
        return count(position, position.mover) - count(position, 1 - position.mover);
    }
    let turns = sorted(position);
    if turns.is_empty() {
        let mut next = position.clone();
        next.mover = 1 - next.mover;
        next.quiet += 1;
        return -worth(&next, depth - 1, -beta, -alpha);
    }
    let mut best = -2 * WON;
    for turn in turns {
        let mut next = position.clone();
        next.play(turn);
        best = best.max(-worth(&next, depth - 1, -beta, -alpha));
        alpha = alpha.max(best);
        if alpha >= beta {
            break;
        }
    }
    best
}

fn sorted(position: &Plain) -> Vec<Turn> {
    let mut turns = position.turns();
    turns.sort_by_key(|&(from, to)| {
        let below = position.cells[to].height;
        let height = if below > 0 { below + position.cells[from].height } else { 0 };
        std::cmp::Reverse(height)
    });
    turns
}

/// Ten for each piece in a stack that can move, more for those that lie high, and much for a tower.
fn count(position: &Plain, side: u8) -> i32 {
    let stacks = position.cells.iter().filter(|cell| cell.height > 0 && cell.side == side);
    stacks
        .map(|cell| match cell.height {
            6.. => 1_000,
            5 => 40,
            height => 10 * i32::from(height) + i32::from(cell.straight && cell.diagonal),
        })
        .sum()
}
