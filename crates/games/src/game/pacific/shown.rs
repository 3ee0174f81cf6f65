//! Data that both the text and the picture of the board show.

use super::fleet::{Square, Submarine};
use super::view::{Depths, Notice, Sighted, View};
use crate::game::Seat;

/// The rounds for which an attack with depth charges or sonar stays on the board, including the open one. A
/// submarine that was heard earlier can be anywhere by now.
const ROUNDS_SHOWN: u32 = 2;

/// The attacks with depth charges or sonar that the board still shows.
pub fn recent_attacks(view: &View) -> impl Iterator<Item = &Notice> {
    let is_recent = |sighted: &&Sighted| sighted.round + ROUNDS_SHOWN > view.round;
    view.sightings.iter().filter(is_recent).map(|sighted| &sighted.notice)
}

/// Maximum number of older contacts on the board.
const CONTACTS_SHOWN: usize = 4;

/// Squares where the other side's submarines were noticed before the attacks that the board still shows, with
/// the round, latest first: the squares of ships that they torpedoed, and the south-west squares of areas
/// around which one was heard.
pub fn old_contacts(view: &View) -> impl Iterator<Item = (u32, Square)> {
    let is_old = |sighted: &&Sighted| view.phase.is_some() && sighted.round + ROUNDS_SHOWN <= view.round;
    let contact = |sighted: &Sighted| match &sighted.notice {
        Notice::Torpedo { side, at, .. } if *side != view.viewer => Some((sighted.round, *at)),
        Notice::Asw { side, area, contact: true, .. } | Notice::Sonar { side, area, contact: true, .. }
            if *side == view.viewer =>
        {
            Some((sighted.round, area.corner()))
        }
        Notice::Torpedo { .. }
        | Notice::Asw { .. }
        | Notice::Sonar { .. }
        | Notice::Move { .. }
        | Notice::SquadronLost { .. }
        | Notice::Pass { .. } => None,
    };
    view.sightings.iter().rev().filter(is_old).filter_map(contact).take(CONTACTS_SHOWN)
}

/// The submarines whose squares the viewer knows: its own, and, once the match is over, those of both sides.
pub fn known_submarines(view: &View) -> impl Iterator<Item = (Seat, Submarine)> {
    view.submarines.iter().flat_map(|(side, depths)| {
        let known = match depths {
            Depths::Charted(submarines) => submarines.as_slice(),
            Depths::Counted(_) => &[],
        };
        known.iter().map(move |submarine| (side, *submarine))
    })
}
