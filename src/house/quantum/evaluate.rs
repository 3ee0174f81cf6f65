//! Rates quiet positions.
//!
//! A piece is worth 100. The weights were chosen by matches: those of a logistic regression on positions of
//! such matches told the winner better, and won no more.

use super::position::{Position, TRAITS};

/// The weights of [`Position::traits`] for the side to move, and for the other side.
const MOVER: [i32; TRAITS] = [500, 1200, 50, 120, 230, 300, 350, 60, -10, 8, 20, 40, 60, 80, 140, 100];
const OTHER: [i32; TRAITS] = [500, 1200, 50, 120, 230, 300, 350, 60, -10, 8, 10, 20, 30, 40, 50, 50];
/// The worth of being the side to move.
const TO_MOVE: i32 = 30;

fn sum(traits: &[i32], weights: &[i32]) -> i32 {
    traits.iter().zip(weights).map(|(count, weight)| count * weight).sum()
}

/// Rates a position for the side to move.
pub(super) fn worth(position: &Position) -> i32 {
    let (me, foe) = (position.mover, 1 - position.mover);
    TO_MOVE + sum(&position.traits(me), &MOVER) - sum(&position.traits(foe), &OTHER)
}
