//! The view for the readers of a replay that shows everything: both fleets, and what both sides did.

use super::deeds;
use super::galaxy::Square;
use super::state::{Event, Stage, State};
use super::view::{Deeds, Readers, View, plain};
use crate::game::{Game, Seat, Step};

/// Implements [`crate::game::Game::open_view`]. The first side counts as the viewer.
pub fn open_view(state: &State, step: Option<Step<'_, State>>) -> View {
    let mut view = plain(state, Seat::First, true);
    // Arrows show who entered what.
    view.entries.clear();
    view.intruders.clear();
    view.context.phase = None;
    let mut readers = Readers { is_open: true, ..Readers::default() };
    // The news, if there is any, may be of another turn.
    let is_whole = step.is_some() && !matches!(state.stage, Stage::Casualties(_));
    if !is_whole {
        view.standoffs.clear();
        view.battles.clear();
        view.captures.clear();
    }
    if let Some((before, orders)) = step {
        for seat in Seat::BOTH {
            let own = before.view(seat);
            let deeds = deeds::deeds(&own, orders[seat], &state.view(seat));
            if is_whole {
                readers.lost.extend(places_of_losses(state, seat, &own, &deeds));
            }
            match seat {
                Seat::First => view.did = Some(Box::new(deeds)),
                Seat::Second => readers.moved = deeds.moved,
            }
        }
    }
    view.context.readers = Some(readers);
    view
}

/// Returns the squares on which a side lost ships in the turn that led to `state`: where they were after their moves.
fn places_of_losses(state: &State, seat: Seat, before: &View, deeds: &Deeds) -> Vec<Square> {
    let ships = before.context.unfinished.as_ref().map_or(&before.ships, |turn| &turn.ships);
    let place = |no: &u16| {
        let moved = deeds.moved.iter().find(|movement| movement.no == *no).map(|movement| movement.to);
        let stayed = || ships.iter().chain(&deeds.built).find(|ship| ship.no == *no).map(|ship| ship.at);
        moved.or_else(stayed)
    };
    let lost = state.news.iter().filter_map(|event| match event {
        Event::Fought { sides, .. } => Some(&sides[seat].lost),
        Event::Entered { .. } | Event::Intruded { .. } | Event::Met { .. } | Event::Captured { .. } => None,
    });
    lost.flatten().filter_map(place).collect()
}
