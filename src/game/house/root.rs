//! The root of a principal variation search: its turns are searched deeper and deeper until the positions are used up.

/// A turn and its worth for the side that makes it.
#[derive(Clone, Copy, Debug)]
pub(in crate::game) struct Rated<T> {
    pub turn: T,
    pub worth: i32,
}

/// What a root is searched for.
#[derive(Clone, Copy)]
pub(in crate::game) struct Goal {
    /// The depth at which iteration ends.
    pub deepest: i32,
    /// More than any worth.
    pub infinite: i32,
    /// Beyond this a worth is that of a match won or lost.
    pub decided: i32,
    /// By how much a turn may be worse than the best to be returned.
    pub margin: i32,
}

/// Returns the turns within the margin of the best, best first. `worth` searches what follows from a turn to a depth
/// between two bounds, and returns `None` once the positions are used up. There is at least one turn.
pub(in crate::game) fn deepen<T: Copy>(
    turns: Vec<T>,
    goal: Goal,
    mut worth: impl FnMut(T, i32, (i32, i32)) -> Option<i32>,
) -> Vec<Rated<T>> {
    let mut rated: Vec<Rated<T>> =
        turns.into_iter().map(|turn| Rated { turn, worth: -goal.infinite }).collect();
    for depth in 1..=goal.deepest {
        let Some(looked_at) = iterate(&mut rated, depth, goal, &mut worth) else { break };
        if looked_at < rated.len() || rated[0].worth.abs() > goal.decided {
            rated.truncate(looked_at);
            break;
        }
    }
    // The shortest way of a won match, so that it comes to an end.
    let best = rated[0].worth;
    let margin = if best.abs() > goal.decided { 0 } else { goal.margin };
    rated.retain(|rated| rated.worth >= best - margin);
    rated
}

/// Searches each turn to `depth` and sorts them, best first. Returns how many it has searched, which are the first ones
/// then; `None` if the positions did not last for one.
fn iterate<T: Copy>(
    rated: &mut [Rated<T>],
    depth: i32,
    goal: Goal,
    worth: &mut impl FnMut(T, i32, (i32, i32)) -> Option<i32>,
) -> Option<usize> {
    let mut best = -goal.infinite;
    let mut looked_at = 0;
    for (number, rated) in rated.iter_mut().enumerate() {
        let alpha = (best - goal.margin - 1).max(-goal.infinite);
        // After the first turn, find out whether a turn reaches the margin before its worth is searched for.
        let reaches = match number {
            0 => Some(goal.infinite),
            _ => worth(rated.turn, depth, (alpha, alpha + 1)),
        };
        let found = match reaches {
            Some(bound) if bound > alpha => worth(rated.turn, depth, (alpha, goal.infinite)),
            other => other,
        };
        let Some(found) = found else { break };
        // A turn beyond the margin has a bound in place of its worth, so it keeps its place behind.
        rated.worth = if found > alpha { found } else { -goal.infinite };
        best = best.max(found);
        looked_at = number + 1;
    }
    rated[..looked_at].sort_by_key(|rated| -rated.worth);
    (looked_at > 0).then_some(looked_at)
}
