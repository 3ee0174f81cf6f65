//! The submarine order of a seat, for its own report. Its surface moves are in the news to both sides.

use super::order::{Order, SubmarineOrder, submarine_order};
use super::rules::written_out;
use super::view::{Deeds, Memory, Notice, View};
use crate::game::Phase;

/// Returns what the seat of both views did, for [`crate::game::Game::tell_deeds`].
pub fn deeds(before: &View, filed: &[Order], after: &View) -> Deeds {
    if before.phase != Some(Phase::Submarines) {
        return Deeds::default();
    }
    let order = submarine_order(filed).filter(|order| *order != SubmarineOrder::Pass);
    let submarine = order.map(|order| written_out(order, before.own_submarines()));
    let prevented = matches!(submarine, Some(SubmarineOrder::Move { no, .. }) if after.lost.contains(&no));
    Deeds { submarine, prevented }
}

/// Returns what a seat remembers. The state keeps all sightings; only those in this turn's news are left out.
pub fn memory(view: &View) -> Memory {
    let is_attack = |notice: &&Notice| match notice {
        Notice::Asw { .. } | Notice::Sonar { .. } | Notice::Torpedo { .. } => true,
        Notice::Move { .. } | Notice::SquadronLost { .. } | Notice::Pass { .. } => false,
    };
    let new = view.news.iter().filter(is_attack).count();
    let earlier = view.sightings.len().saturating_sub(new);
    Memory { sightings: view.sightings[..earlier].to_vec() }
}
