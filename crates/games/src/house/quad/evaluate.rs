//! Rates positions in which no quad is threatened.
//!
//! The weights come from a logistic regression on the results of matches that the house played against
//! itself; 400 are worth a factor of e in the odds of winning.

use super::position::{Position, points};

/// The number of traits of one side.
pub(super) const TRAITS: usize = 8;

/// Returns the traits of one side: its open squares with one and with two marbles; the points where it can
/// make one, two, three, and more threats at once; its stars; and whether it has none.
pub(super) fn traits(position: &Position, side: usize) -> [i32; TRAITS] {
    let mut forks = [0; 4];
    for point in points(position.attacks(side)) {
        let threats = position.count(side, 2, point).min(4);
        forks[threats as usize - 1] += 1;
    }
    let stars = i32::from(position.stars_left[side]);
    let [one, two, three, more] = forks;
    [position.all(side, 1), position.all(side, 2), one, two, three, more, stars, i32::from(stars == 0)]
}

/// The weight of each trait for the side to move: with all its marbles left, and with none.
const MOVER_FULL: [i32; TRAITS] = [10, 58, 48, 150, 280, 600, 250, 0];
const MOVER_NONE: [i32; TRAITS] = [3, -63, -68, -122, 0, 0, 930, 0];
/// The same for the other side.
const OTHER_FULL: [i32; TRAITS] = [6, 55, 49, 135, 190, 500, 256, 300];
const OTHER_NONE: [i32; TRAITS] = [-1, -48, -47, -145, 0, 0, 1100, 0];
/// The worth of being the side to move.
const TO_MOVE: i32 = 355;

fn sum(traits: &[i32], weights: &[i32]) -> i32 {
    traits.iter().zip(weights).map(|(count, weight)| count * weight).sum()
}

/// Rates the position for the side to move.
pub(super) fn worth(position: &Position) -> i32 {
    let (me, foe) = (position.mover, 1 - position.mover);
    let (own, theirs) = (traits(position, me), traits(position, foe));
    let left = i32::from(position.marbles_left[me]);
    let theirs_left = i32::from(position.marbles_left[foe]);
    let mine = left * sum(&own, &MOVER_FULL) + (20 - left) * sum(&own, &MOVER_NONE);
    let other = theirs_left * sum(&theirs, &OTHER_FULL) + (20 - theirs_left) * sum(&theirs, &OTHER_NONE);
    TO_MOVE + (mine - other) / 20
}
