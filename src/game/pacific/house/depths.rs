//! What the submarines do, and whether it is worth to attack those of the enemy.

use super::belief::Belief;
use super::values::targets;
use crate::game::Dice;
use crate::game::pacific::chart::{REACH, reaches};
use crate::game::pacific::fleet::{Area, ShipKind, Square};
use crate::game::pacific::order::SubmarineOrder;
use crate::game::pacific::rules::torpedo_reaches;
use crate::game::pacific::view::View;

/// What a submarine is worth, in hundredths of a point: it sinks a ship every other round if it is let.
const SUBMARINE: i32 = 1200;
/// What it costs to be heard.
const HEARD: i32 = 60;
/// A shot that a move prepares counts for a half, because its target may move on.
const PREPARED: i32 = 2;
const DIRECTIONS: [(i8, i8); 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];

/// Returns the attack with depth charges that promises most (3.6), and what it is worth. `None` if there is none.
pub(super) fn attack(view: &View, belief: &Belief) -> Option<(Area, i32)> {
    if !view.options.submarines {
        return None;
    }
    let areas = Area::all().filter(|area| reaches(view.own_ships(), *area));
    best_area(areas, belief)
}

fn best_area(areas: impl Iterator<Item = Area>, belief: &Belief) -> Option<(Area, i32)> {
    let rated = areas.map(|area| (area, belief.expected(area) * SUBMARINE / 1000));
    rated.max_by_key(|&(area, worth)| (worth, std::cmp::Reverse(area)))
}

/// Chooses the order of a submarine phase. Overlooks each shot with a chance of so many eighths.
pub(super) fn choose(view: &View, belief: &Belief, overlooked: usize, dice: &mut Dice) -> SubmarineOrder {
    let mut orders = vec![(0, SubmarineOrder::Pass)];
    for submarine in view.own_submarines() {
        let (no, from) = (submarine.no, submarine.at);
        for (at, worth) in shots(view, from) {
            if dice.below(8) >= overlooked {
                orders.push((worth - HEARD, SubmarineOrder::Fire { no, at }));
            }
        }
        let near = Area::all().filter(|area| area.distance(from) <= REACH);
        if let Some((area, worth)) = best_area(near, belief) {
            orders.push((worth - HEARD, SubmarineOrder::Sonar { no, area: area.corner() }));
        }
        let here = promise(view, from);
        for to in goals(view, from) {
            let worth = (promise(view, to) - here) / PREPARED;
            orders.push((worth, SubmarineOrder::Move { no, from: Some(from), to }));
        }
    }
    let best = orders.iter().map(|&(worth, _)| worth).max().unwrap_or_default();
    let best: Vec<SubmarineOrder> =
        orders.into_iter().filter(|&(worth, _)| worth >= best).map(|(_, order)| order).collect();
    best[dice.below(best.len())]
}

/// The ships that a submarine can fire at from a square, and what is gained.
fn shots(view: &View, from: Square) -> Vec<(Square, i32)> {
    let enemy = view.viewer.other();
    let in_range = |&(at, _): &(Square, i32)| torpedo_reaches(view.options.torpedo, from.king_steps(at));
    let mut shots: Vec<(Square, i32)> = targets(view)[enemy].iter().copied().filter(in_range).collect();
    for (at, worth) in &mut shots {
        let goes_down = view.ships[enemy].iter().any(|ship| {
            matches!(ship.kind, ShipKind::Squadron { no, launched: false, .. } if carries(view, *at, no))
        });
        *worth += if goes_down { 1000 } else { 0 };
    }
    shots
}

/// Whether the enemy's carrier of this number is on a square.
fn carries(view: &View, at: Square, no: u16) -> bool {
    let enemy = view.viewer.other();
    view.ships[enemy].iter().any(|ship| ship.at == at && ship.kind == ShipKind::Carrier { no })
}

/// What a submarine can hope for on a square: its best shot from there, a little of the others, or else to come near.
fn promise(view: &View, from: Square) -> i32 {
    let shots = shots(view, from);
    let best = shots.iter().map(|&(_, worth)| worth).max().unwrap_or_default();
    let all: i32 = shots.iter().map(|&(_, worth)| worth).sum();
    let prey = &targets(view)[view.viewer.other()];
    let away =
        prey.iter().map(|(at, _)| i32::from(at.king_steps(from).abs_diff(2))).min().unwrap_or_default();
    best + (all - best) / 8 - 20 * away
}

/// The squares that a submarine can go to (4.1).
fn goals(view: &View, from: Square) -> Vec<Square> {
    let mut goals = Vec::new();
    for (files, ranks) in DIRECTIONS {
        let along = (1..=3).filter_map(|far| from.step(files * far, ranks * far));
        goals.extend(along.filter(|to| view.own_submarines().iter().all(|own| own.at != *to)));
    }
    goals
}
