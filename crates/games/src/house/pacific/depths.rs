//! Chooses the orders of submarines, and rates attacks on the enemy's submarines.

use super::belief::{Belief, Prospects, goals};
use crate::game::Dice;
use crate::game::pacific::{Area, Notice, REACH, Square, SubmarineOrder, View, reaches};

/// The gain from sinking a submarine with depth charges, in hundredths of a point. With 400 the house was
/// weaker.
const DEPTH_CHARGED: i32 = 1200;
/// The gain from sinking a submarine with sonar: less than any shot, because a side that searches does not
/// fire.
const SOUNDED: i32 = 100;
/// The cost of losing a submarine.
const SUBMARINE: i32 = 1200;
/// The cost of being heard even where no ship can attack.
const HEARD: i32 = 60;
/// The chance, in thousandths, that the enemy hits a submarine that it has heard and can attack.
const HEARD_FOUND: i32 = 250;
/// The estimate of how often the enemy hits starts as if the enemy had already made this many attacks, one in
/// ten a hit.
const ATTACKS_BEFORE: i32 = 2;
/// The divisor of a shot that a move prepares: it counts for half, because its target may move on.
const PREPARED: i32 = 2;

/// Returns the most promising attack with depth charges (3.6), and its worth. `None` if there is none.
pub(super) fn attack(view: &View, belief: &Belief) -> Option<(Area, i32)> {
    if !view.options.submarines {
        return None;
    }
    let areas = Area::all().filter(|area| reaches(view.own_ships(), *area));
    best_area(areas, belief, DEPTH_CHARGED)
}

fn best_area(areas: impl Iterator<Item = Area>, belief: &Belief, price: i32) -> Option<(Area, i32)> {
    let rated = areas.map(|area| (area, belief.expected(area) * price / 1000));
    rated.max_by_key(|&(area, worth)| (worth, std::cmp::Reverse(area)))
}

/// Chooses the order of a submarine phase. Overlooks each shot with a chance of `overlooked` eighths.
pub(super) fn choose(view: &View, belief: &Belief, overlooked: usize, dice: &mut Dice) -> SubmarineOrder {
    let mut orders = vec![(0, SubmarineOrder::Pass)];
    let prospects = Prospects::new(&view.ships[view.viewer.other()], view.options.torpedo);
    let squares: Vec<Square> = view.own_submarines().iter().map(|submarine| submarine.at).collect();
    let ears = belief.ears();
    // The chance, in thousandths, that the enemy can attack a square once the ship at `but` is sunk. Enemy
    // submarines count for half, because they seldom search.
    let exposed = |at: Square, but: Option<Square>| {
        if prospects.is_exposed(at, but) { 1000 } else { ears[at.index()] / 2 }
    };
    let found = chance_of_a_hit(view);
    let heard = (HEARD_FOUND - found).max(0);
    for submarine in view.own_submarines() {
        let no = submarine.no;
        let from = submarine.at;
        for (at, worth) in prospects.shots(from) {
            if dice.below(8) >= overlooked {
                let risk = at_risk(exposed(from, Some(at)), heard);
                orders.push((worth - HEARD - risk, SubmarineOrder::Fire { no, at }));
            }
        }
        let here = exposed(from, None);
        let near = Area::all().filter(|area| area.distance(from) <= REACH);
        if let Some((area, worth)) = best_area(near, belief, SOUNDED) {
            let risk = at_risk(here, heard);
            orders.push((worth - HEARD - risk, SubmarineOrder::Sonar { no, area: area.corner() }));
        }
        for to in goals(from, &squares) {
            let risk = at_risk(exposed(to, None) - here, found);
            let worth = (prospects.promise(to) - prospects.promise(from)) / PREPARED - risk;
            orders.push((worth, SubmarineOrder::Move { no, from: Some(from), to }));
        }
    }
    let best = orders.iter().map(|&(worth, _)| worth).max().unwrap_or_default();
    let best: Vec<SubmarineOrder> =
        orders.into_iter().filter(|&(worth, _)| worth >= best).map(|(_, order)| order).collect();
    best[dice.below(best.len())]
}

/// The expected loss of a submarine, from the chances, in thousandths, that the enemy can attack it and then
/// hits.
fn at_risk(exposed: i32, found: i32) -> i32 {
    exposed * found / 1000 * SUBMARINE / 1000
}

/// The chance, in thousandths, that the enemy hits a submarine it can attack, judged by its attacks so far.
fn chance_of_a_hit(view: &View) -> i32 {
    let mut attacks = ATTACKS_BEFORE;
    let mut hits = ATTACKS_BEFORE * 100;
    for sighted in &view.sightings {
        if let Notice::Asw { side, sunk, .. } | Notice::Sonar { side, sunk, .. } = sighted.notice
            && side != view.viewer
        {
            attacks += 1;
            hits += if sunk > 0 { 1000 } else { 0 };
        }
    }
    hits / attacks
}
