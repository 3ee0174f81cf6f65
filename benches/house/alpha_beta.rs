//! Plain alpha-beta, a few turns deep: what the outside opponents in Quantum and in the Pacific have in common.

use std::cmp::Ordering;

/// The worth of a match won at the depth of the search; one won earlier is worth more.
const WON: i32 = 1_000_000;
/// More than any worth.
const INFINITE: i32 = 2 * WON;

/// A position, and what the search asks of it.
pub trait Position: Clone {
    type Turn: Copy;

    /// The turns of the side to move, the most promising first.
    fn sorted(&self) -> Vec<Self::Turn>;

    fn make(&mut self, turn: Self::Turn);

    /// Passes, because there is no turn.
    fn pass(&mut self);

    /// How the match has ended for the side to move: greater if it has won; `None` while it runs.
    fn ended(&self) -> Option<Ordering>;

    /// What the side to move has on the board, less what the other side has.
    fn count(&self) -> i32;
}

/// Returns the best turn after a search of `depth` turns. Among equal ones `choose` picks: it returns a number below its
/// argument. `None` if there is no turn.
pub fn best<P: Position>(
    position: &P,
    depth: u32,
    choose: &mut dyn FnMut(usize) -> usize,
) -> Option<P::Turn> {
    let mut best = Vec::new();
    let mut highest = -INFINITE;
    for turn in position.sorted() {
        let mut next = position.clone();
        next.make(turn);
        let worth = -worth(&next, depth - 1, -INFINITE, -(highest - 1));
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

fn worth<P: Position>(position: &P, depth: u32, mut alpha: i32, beta: i32) -> i32 {
    if let Some(ended) = position.ended() {
        return ended as i32 * (WON + depth as i32);
    }
    if depth == 0 {
        return position.count();
    }
    let turns = position.sorted();
    if turns.is_empty() {
        let mut next = position.clone();
        next.pass();
        return -worth(&next, depth - 1, -beta, -alpha);
    }
    let mut best = -INFINITE;
    for turn in turns {
        let mut next = position.clone();
        next.make(turn);
        best = best.max(-worth(&next, depth - 1, -beta, -alpha));
        alpha = alpha.max(best);
        if alpha >= beta {
            break;
        }
    }
    best
}
