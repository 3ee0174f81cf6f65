//! Parts that the principal variation searches of the games share: iterative deepening at the root until the
//! position budget is used up, and the windows in which turns are searched.

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
}
