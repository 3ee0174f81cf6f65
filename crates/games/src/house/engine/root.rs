//! Parts that the principal variation searches of the games share: iterative deepening at the root until the
//! position budget is used up, and the windows in which turns are searched.
//!
//! Orders the moves of a search, and remembers the quiet moves that were good elsewhere in it.

use std::cmp::Reverse;

/// The bounds, alpha and beta, between which a worth matters.
pub(in crate::house) type Window = (i32, i32);

/// A turn and its worth for the side that makes it.
#[derive(Clone, Copy, Debug)]
pub(in crate::house) struct Rated<T> {
    pub turn: T,
    pub worth: i32,
}

/// The limits of a search from its root.
#[derive(Clone, Copy)]
pub(in crate::house) struct Goal {
    /// The depth at which iteration ends.
    pub deepest: i32,
    /// More than any worth.
    pub infinite: i32,
    /// Beyond this, the match is won or lost.
    pub decided: i32,
    pub choice: Choice,
}

/// The turns that the dice may choose from.
#[derive(Clone, Copy)]
pub(in crate::house) struct Choice {
    /// Maximum difference from the worth of the best turn.
    pub margin: i32,
    /// Whether to include turns that the last depth did not reach, as far behind the best as at the depth
    /// before. This gives more turns to choose from, some of them less well known.
    pub wide: bool,
}

/// Returns the turns within the margin of the best, best first. `worth` rates the position after a turn for
/// the other side, to a depth and in a window, and returns `None` once the position budget is used up. There
/// must be at least one turn.
pub(in crate::house) fn deepen<T: Copy>(
    turns: Vec<T>,
    goal: Goal,
    mut worth: impl FnMut(T, i32, Window) -> Option<i32>,
) -> Vec<Rated<T>> {
    let mut rated: Vec<Rated<T>> =
        turns.into_iter().map(|turn| Rated { turn, worth: -goal.infinite }).collect();
    for depth in 1..=goal.deepest {
        let before = rated[0].worth;
        let Some(looked_at) = iterate(&mut rated, depth, goal, &mut worth) else { break };
        let best = rated[0].worth;
        let is_decided = best.abs() > goal.decided;
        if looked_at < rated.len() && goal.choice.wide && before > -goal.infinite && !is_decided {
            rated[looked_at..].iter_mut().for_each(|rated| rated.worth += best - before);
            rated.sort_by_key(|rated| -rated.worth);
            break;
        }
        if looked_at < rated.len() || is_decided {
            rated.truncate(looked_at);
            break;
        }
    }
    // Chooses the shortest win, so that the match ends.
    let best = rated[0].worth;
    let margin = if best.abs() > goal.decided { 0 } else { goal.choice.margin };
    rated.retain(|rated| rated.worth >= best - margin);
    rated
}

/// Searches each turn to `depth` and sorts them, best first. Returns how many it has searched, which are then
/// the first ones; `None` if the budget did not suffice for one.
fn iterate<T: Copy>(
    rated: &mut [Rated<T>],
    depth: i32,
    goal: Goal,
    worth: &mut impl FnMut(T, i32, Window) -> Option<i32>,
) -> Option<usize> {
    let mut best = -goal.infinite;
    let mut looked_at = 0;
    for (number, rated) in rated.iter_mut().enumerate() {
        let alpha = (best - goal.choice.margin - 1).max(-goal.infinite);
        let window = (alpha, goal.infinite);
        let found = in_window(number, (depth, 0), window, |depth, window| worth(rated.turn, depth, window));
        let Some(found) = found else { break };
        // A turn beyond the margin has a bound in place of its worth, so it keeps its place behind.
        rated.worth = if found > alpha { found } else { -goal.infinite };
        best = best.max(found);
        looked_at = number + 1;
    }
    rated[..looked_at].sort_by_key(|rated| -rated.worth);
    (looked_at > 0).then_some(looked_at)
}

/// Rates a turn by its number in the order of search: the first with the full window, others only enough to
/// see that they are no better, and at first `late` turns less deep. `worth` rates the position after it for
/// the other side, to a depth and in a window.
pub(in crate::house) fn in_window(
    number: usize,
    (depth, late): (i32, i32),
    (alpha, beta): Window,
    mut worth: impl FnMut(i32, Window) -> Option<i32>,
) -> Option<i32> {
    if number > 0 {
        let null = (-alpha - 1, -alpha);
        let mut found = -worth(depth - late, null)?;
        if found > alpha && late > 0 {
            found = -worth(depth, null)?;
        }
        if found <= alpha || found >= beta {
            return Some(found);
        }
    }
    worth(depth, (-beta, -alpha)).map(|worth| -worth)
}

/// Every quiet move ranks below this.
pub(in crate::house) const ABOVE_QUIET: i32 = 1_000_000;
/// The rank of a killer.
const KILLER: i32 = 900_000;
/// The highest rank of any other quiet move.
const HISTORY: i32 = 800_000;

/// Returns the moves sorted by rank, highest first; moves of equal rank keep their order.
pub(in crate::house) fn by_rank<T>(turns: Vec<T>, rank: impl Fn(&T) -> i32) -> Vec<T> {
    // Most ranks are equal, and then a stable sort is fast: `sort_by_cached_key` made turns of the Pacific 30
    // % slower.
    let mut ranked: Vec<(i32, T)> = turns.into_iter().map(|turn| (rank(&turn), turn)).collect();
    ranked.sort_by_key(|&(rank, _)| Reverse(rank));
    ranked.into_iter().map(|(_, turn)| turn).collect()
}

/// A record of the quiet moves that refuted the move before them.
pub(in crate::house) struct QuietMoves<T> {
    /// For each ply, the last two such moves (killers).
    killers: Vec<[Option<T>; 2]>,
    /// For each move, by its number in the game, how often it was a killer, at any ply; deep searches count
    /// for more.
    history: Vec<i32>,
}

impl<T: Copy + PartialEq> QuietMoves<T> {
    /// Makes an empty record for a search of `plies` plies and moves numbered below `numbers`.
    pub fn new(plies: usize, numbers: usize) -> QuietMoves<T> {
        QuietMoves { killers: vec![[None; 2]; plies], history: vec![0; numbers] }
    }

    /// Returns the rank of a move, by its number. Moves of higher rank are tried first.
    pub fn rank(&self, ply: usize, turn: T, number: usize) -> i32 {
        if self.killers[ply].contains(&Some(turn)) { KILLER } else { self.history[number] }
    }

    /// Notes that a move refuted the move before it, in a search of `depth`.
    pub fn refuted(&mut self, ply: usize, depth: i32, turn: T, number: usize) {
        let killers = &mut self.killers[ply];
        if killers[0] != Some(turn) {
            *killers = [Some(turn), killers[0]];
        }
        self.history[number] = (self.history[number] + depth * depth).min(HISTORY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chooses among three turns, each worth 10 less than the one before, with a budget of `calls`.
    fn chosen(wide: bool, mut calls: u32) -> Vec<(i32, i32)> {
        let choice = Choice { margin: 15, wide };
        let goal = Goal { deepest: 9, infinite: 1_000, decided: 900, choice };
        let rated = deepen(vec![0, 1, 2], goal, |turn, depth, _| {
            calls = calls.checked_sub(1)?;
            Some(10 * turn + depth)
        });
        rated.iter().map(|rated| (rated.turn, rated.worth)).collect()
    }

    #[test]
    fn a_wide_choice_has_the_turns_that_the_last_depth_does_not_reach() {
        // The first depth takes four calls, and the fifth rates the first turn at the second depth.
        assert_eq!(chosen(true, 4), [(0, -1), (1, -11)]);
        assert_eq!(chosen(true, 5), [(0, -2), (1, -12)]);
        assert_eq!(chosen(false, 5), [(0, -2)]);
    }

    #[test]
    fn killers_rank_above_what_was_good_at_other_plies_and_that_above_the_rest() {
        let mut quiet = QuietMoves::new(4, 3);
        quiet.refuted(1, 5, 'a', 0);
        let ranks = [quiet.rank(1, 'a', 0), quiet.rank(2, 'a', 0), quiet.rank(1, 'b', 1)];
        assert_eq!(ranks, [KILLER, 25, 0]);
        (0..40_000).for_each(|_| quiet.refuted(3, 5, 'a', 0));
        assert!(quiet.rank(2, 'a', 0) < KILLER && KILLER < ABOVE_QUIET);
    }
}
