//! Data for templates in addition to the view's JSON: attacks on submarines so far, the score, and sample
//! orders.

use serde_json::{Value, json};

use super::chart::{Chart, reaches};
use super::fleet::{Area, Class, Square, points};
use super::order::{Order, SubmarineOrder};
use super::ready::sample_setup;
use super::rules::{submarine_goes, torpedo_reaches};
use super::view::View;
use crate::game::Phase;

/// Implements [`crate::game::Game::extra`]. Derived from the view alone, like everything that a seat is sent.
pub fn extra(view: &View) -> Value {
    json!({
        "sightings": view.sightings,
        "lost": view.lost,
        "points": view.ships.as_ref().map(|fleet| points(fleet)),
        "quiet_end": 2 * view.options.quiet_limit,
        "examples": examples(view).iter().map(Order::to_string).collect::<Vec<_>>(),
    })
}

/// Returns valid orders of the open phase: all lines of a setup, or alternatives for a turn.
pub fn examples(view: &View) -> Vec<Order> {
    match view.phase {
        Some(Phase::Setup) => sample_setup(view.viewer, &view.options),
        Some(Phase::Surface) => surface_examples(view),
        Some(Phase::Submarines) => submarine_examples(view),
        Some(Phase::Turn | Phase::Casualties | Phase::Move) | None => Vec::new(),
    }
}

/// One move for each class of ship, and an attack on submarines.
fn surface_examples(view: &View) -> Vec<Order> {
    let chart = Chart::new(&view.ships, view.options.squadron_leap);
    let mut orders = Vec::new();
    for class in Class::ALL {
        let fleet = view.own_ships().iter().filter(|ship| ship.class() == class);
        let mut moves = fleet.filter_map(|ship| Some((ship.at, chart.first_target(view.viewer, ship)?)));
        orders.extend(moves.next().map(|(from, to)| Order::Move { class: Some(class), from, to }));
    }
    if view.options.submarines {
        let area = Area::all().find(|area| reaches(view.own_ships(), *area));
        orders.extend(area.map(|area| Order::Asw(area.corner())));
    }
    orders
}

/// A move, a sonar search, a shot if there is a target, and a pass.
fn submarine_examples(view: &View) -> Vec<Order> {
    let own = view.own_submarines();
    let mut orders = Vec::new();
    if let Some(submarine) = own.first() {
        let (no, from) = (submarine.no, submarine.at);
        let goes = |to: &Square| submarine_goes(from, *to) && own.iter().all(|own| own.at != *to);
        orders.extend(Square::all().find(goes).map(|to| SubmarineOrder::Move { no, from: Some(from), to }));
        let area = Area::all().find(|area| area.distance(from) <= super::chart::REACH);
        orders.extend(area.map(|area| SubmarineOrder::Sonar { no, area: area.corner() }));
    }
    let targets = || view.ships[view.viewer.other()].iter().filter(|ship| !ship.is_squadron());
    orders.extend(own.iter().find_map(|submarine| {
        let in_range = |at: Square| torpedo_reaches(view.options.torpedo, submarine.at.king_steps(at));
        let target = targets().find(|ship| in_range(ship.at))?;
        Some(SubmarineOrder::Fire { no: submarine.no, at: target.at })
    }));
    orders.push(SubmarineOrder::Pass);
    orders.into_iter().map(Order::Submarine).collect()
}
