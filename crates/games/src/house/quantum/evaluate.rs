//! Rates quiet positions.
//!
//! A lead counts for little where the enemy has too few pieces left to build towers on. A piece is worth 100.
//! The weights were chosen by playing matches. Weights from a logistic regression on positions of such
//! matches predicted the winner better, but did not win more.

use super::position::{Position, TRAITS};
use crate::game::quantum::TOWER;

/// The weights of [`Position::traits`] for the side to move, and for the other side.
const MOVER: [i32; TRAITS] = [500, 1200, 50, 120, 230, 300, 350, 60, -10, 8, 20, 40, 60, 80, 140, 100];
const OTHER: [i32; TRAITS] = [500, 1200, 50, 120, 230, 300, 350, 60, -10, 8, 10, 20, 30, 40, 50, 50];
/// The worth of being the side to move.
const TO_MOVE: i32 = 30;

fn sum(traits: &[i32], weights: &[i32]) -> i32 {
    traits.iter().zip(weights).map(|(count, weight)| count * weight).sum()
}

/// The index at which the heights begin in [`Position::traits`].
const HEIGHTS: usize = 2;
/// With this many or more pieces to spare, a lead counts in full.
const PLENTY: i32 = 12;

/// Rates a position for the side to move.
pub(super) fn worth(position: &Position) -> i32 {
    let (me, foe) = (position.mover, 1 - position.mover);
    let (own, theirs) = (position.traits(me), position.traits(foe));
    let lead = TO_MOVE + sum(&own, &MOVER) - sum(&theirs, &OTHER);
    let spare =
        if lead > 0 { spare(position, me, &own, &theirs) } else { spare(position, foe, &theirs, &own) };
    lead * share_of(spare) / (2 * PLENTY)
}

/// Returns how many enemy pieces would be left if `side` built on them the towers that it still needs to have
/// more than the enemy; negative if there are not enough. A tower needs an enemy stack to land on, and as
/// many more pieces as its side's highest stack lacks. A side that needs no other tower has plenty.
fn spare(position: &Position, side: usize, own: &[i32], theirs: &[i32]) -> i32 {
    let needed = i32::from(position.towers[1 - side]) - i32::from(position.towers[side]) + 1;
    if needed <= 0 {
        return PLENTY;
    }
    let (own, theirs) = (&own[HEIGHTS..], &theirs[HEIGHTS..]);
    let (mut stacks, mut pieces, mut towers) = (0, 0, needed);
    for height in (1..i32::from(TOWER)).rev() {
        let at = height as usize - 1;
        let built = towers.min(own[at]);
        towers -= built;
        pieces += height * theirs[at] - (i32::from(TOWER) - height) * built;
        stacks += theirs[at];
    }
    // Each tower without a stack of its own to grow from lacks all its pieces.
    pieces -= i32::from(TOWER) * towers;
    if stacks < needed { pieces.min(stacks - needed) } else { pieces }
}

/// Returns the share of a lead that counts, in parts of twice [`PLENTY`].
fn share_of(spare: i32) -> i32 {
    match spare {
        0.. => PLENTY + spare.min(PLENTY),
        // A draw is likely, but may not come if the enemy takes some stacks first.
        _ => (PLENTY / 2 + spare).max(1),
    }
}
