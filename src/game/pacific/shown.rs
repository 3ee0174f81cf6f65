//! What both the text and the picture of the board show.

use super::fleet::Submarine;
use super::view::{Depths, Notice, Sighted, View};
use crate::game::Seat;

/// The rounds for which an attack with depth charges or sonar stays on the board, including the open one. A submarine
/// that was heard earlier can be anywhere by now.
const ROUNDS_SHOWN: u32 = 2;

/// The attacks with depth charges or sonar that the board still shows.
pub fn recent_attacks(view: &View) -> impl Iterator<Item = &Notice> {
    let is_recent = |sighted: &&Sighted| sighted.round + ROUNDS_SHOWN > view.round;
    view.sightings.iter().filter(is_recent).map(|sighted| &sighted.notice)
}

/// The submarines whose squares the viewer knows: its own, and once the match is over those of both sides.
pub fn known_submarines(view: &View) -> impl Iterator<Item = (Seat, Submarine)> {
    view.submarines.iter().flat_map(|(side, depths)| {
        let known = match depths {
            Depths::Charted(submarines) => submarines.as_slice(),
            Depths::Counted(_) => &[],
        };
        known.iter().map(move |submarine| (side, *submarine))
    })
}
