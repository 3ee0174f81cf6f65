//! Corrects the enemy's fleet in a guess by what the seat was told in a turn.
//!
//! In the guess each ship has followed a plan. What was told of intruders, captures, entries and standoffs is laid to the
//! ships that can have done it, the nearest first. No ship stays where the seat would have seen it, and the fleet becomes
//! as large as the enemy's points allow.

use crate::game::Dice;
use crate::game::quadrant_z::fleet::{Class, Ship};
use crate::game::quadrant_z::galaxy::{Quadrant, Sector, Square};
use crate::game::quadrant_z::setup::FLEET;
use crate::game::quadrant_z::state::{Stars, State};
use crate::game::quadrant_z::view::View;

/// A ship of which nothing was told has at most so much offence and defence.
const BUILT: Class = Class { offence: 2, defence: 2 };

/// Corrects the ships of the viewer's enemy. `before` are those before the turn, and `lost` is what the enemy has lost in
/// all battles so far.
pub(super) fn correct(state: &mut State, before: &[Ship], told: &View, lost: u16, dice: &mut Dice) {
    let foe = told.context.viewer.other();
    let side = &mut state.sides[foe];
    let tracked = |ship: &Ship| {
        let old = before.iter().find(|old| old.no == ship.no).unwrap_or(ship);
        Tracked { ship: *ship, was: old.at, is_settled: false }
    };
    let base = side.base.unwrap_or(Quadrant::home(foe).square(0));
    let ships = side.ships.iter().map(tracked).collect();
    let mut fleet = Fleet { told, stars: &state.stars, base, ships, highest: side.highest, dice };
    fleet.take_back_entries();
    fleet.leave_seen_places();
    fleet.explain();
    fleet.count((FLEET + told.score[foe].value).saturating_sub(side.stock + lost));
    side.highest = fleet.highest;
    side.ships = fleet.ships.into_iter().map(|tracked| tracked.ship).collect();
}

struct Tracked {
    ship: Ship,
    /// Where it was before the turn.
    was: Square,
    /// Whether what was told explains its square.
    is_settled: bool,
}

struct Fleet<'a> {
    told: &'a View,
    stars: &'a Stars,
    /// Where the enemy builds.
    base: Square,
    /// Ordered by number.
    ships: Vec<Tracked>,
    highest: u16,
    dice: &'a mut Dice,
}

impl Fleet<'_> {
    /// A ship that would have been reported as it entered a neutral quadrant has not moved (`Z-ENTRY`).
    fn take_back_entries(&mut self) {
        for Tracked { ship, was, .. } in &mut self.ships {
            let quadrant = ship.at.quadrant();
            let is_neutral = self.told.context.options.layout.sector(quadrant) == Sector::Neutral;
            if is_neutral && was.quadrant() != quadrant && !self.told.entries.contains(&quadrant) {
                ship.at = *was;
            }
        }
    }

    /// Moves ships away from where the seat would have seen them: its home sector, and quadrants with ships of its own.
    fn leave_seen_places(&mut self) {
        let told = self.told;
        let is_seen = |at: Square| {
            let quadrant = at.quadrant();
            let sector = told.context.options.layout.sector(quadrant);
            let is_told = told.standoffs.contains(&quadrant) || told.intruders.iter().any(|it| it.at == at);
            let is_watched = sector == Sector::Home(told.context.viewer)
                || told.ships.iter().any(|ship| ship.at.quadrant() == quadrant);
            is_watched && !is_told
        };
        for Tracked { ship, .. } in self.ships.iter_mut().filter(|tracked| is_seen(tracked.ship.at)) {
            let places: Vec<Square> = Square::all().filter(|&at| !is_seen(at)).collect();
            let away = |at: &Square| at.quadrant().distance(ship.at.quadrant());
            let nearest = places.iter().map(away).min().unwrap_or_default();
            let near: Vec<Square> = places.into_iter().filter(|at| away(at) == nearest).collect();
            if !near.is_empty() {
                ship.at = near[self.dice.below(near.len())];
            }
        }
    }

    /// Finds ships for everything that was told.
    fn explain(&mut self) {
        let told = self.told;
        for intruder in &told.intruders {
            self.bring(intruder.at, intruder.size, Class::size);
        }
        for capture in told.captures.iter().filter(|capture| capture.by != told.context.viewer) {
            self.bring(capture.at, capture.offence, |class| class.offence);
        }
        for &quadrant in &told.entries {
            self.enter(quadrant);
        }
        for &quadrant in &told.standoffs {
            let battle = told.battles.iter().find(|battle| battle.quadrant == quadrant);
            if battle.is_some_and(|battle| battle.enemy.offence + battle.enemy.defence <= battle.enemy.lost) {
                self.ships.retain(|tracked| tracked.is_settled || tracked.ship.at.quadrant() != quadrant);
            } else {
                self.enter(quadrant);
            }
        }
    }

    /// Brings ships to a square until they amount to what was told; a new one for what is missing.
    fn bring(&mut self, at: Square, amount: u16, measure: impl Fn(Class) -> u16) {
        let mut missing = amount;
        let rank = |&Tracked { ship, was, is_settled }: &Tracked, missing: u16| {
            let far = was.quadrant().distance(at.quadrant());
            let can_be_there = ship.at == at || far <= 1;
            let measured = measure(ship.class);
            (can_be_there && measured > 0 && !is_settled).then_some((
                ship.at != at,
                measured > missing,
                was != at,
                far,
                ship.no,
            ))
        };
        while missing > 0 {
            let candidates = self.ships.iter_mut().filter(|tracked| rank(tracked, missing).is_some());
            let Some(tracked) = candidates.min_by_key(|tracked| rank(tracked, missing)) else {
                return self.add(Class { offence: missing, defence: 0 }, at, true);
            };
            let class = &mut tracked.ship.class;
            // A ship that was guessed too large is made smaller.
            class.offence -= measure(*class).saturating_sub(missing).min(class.offence);
            class.defence -= measure(*class).saturating_sub(missing).min(class.defence);
            missing -= measure(*class);
            (tracked.ship.at, tracked.is_settled) = (at, true);
        }
        // What else was guessed to be there is not.
        for tracked in &mut self.ships {
            if tracked.ship.at == at && !tracked.is_settled && measure(tracked.ship.class) > 0 {
                tracked.ship.at = if tracked.was == at { self.base } else { tracked.was };
            }
        }
    }

    /// Finds a ship that entered a quadrant or stands there, and sends it to a star.
    fn enter(&mut self, quadrant: Quadrant) {
        let entered = |tracked: &&mut Tracked| {
            tracked.ship.at.quadrant() == quadrant && tracked.was.quadrant() != quadrant
        };
        if let Some(tracked) = self.ships.iter_mut().find(entered) {
            tracked.is_settled = true;
            return;
        }
        let stars = self.stars;
        let is_goal = |at: Square| stars.at(at).value() > 0 && stars.at(at).captured_by.is_none();
        let far = |tracked: &Tracked| tracked.was.quadrant().distance(quadrant);
        let candidates = self.ships.iter_mut().filter(|tracked| far(tracked) <= 2 && !tracked.is_settled);
        // A ship whose star is captured moves on.
        let rank = |tracked: &&mut Tracked| {
            (far(tracked).abs_diff(1), is_goal(tracked.was), tracked.ship.no % 3, tracked.ship.no)
        };
        let Some(tracked) = candidates.min_by_key(rank) else { return };
        let goals: Vec<Square> = quadrant.squares().filter(|&at| is_goal(at)).collect();
        let cell = self.dice.below(if goals.is_empty() { 4 } else { goals.len() });
        tracked.ship.at = goals.get(cell).copied().unwrap_or(quadrant.square(cell as u8));
        tracked.is_settled = true;
    }

    /// Gives the fleet so many points: those that the enemy had and captured, less those that it lost and may have left.
    fn count(&mut self, points: u16) {
        let mut size: u16 = self.ships.iter().map(|tracked| tracked.ship.class.size()).sum();
        while size > points && self.ships.len() > 1 {
            let loose = |&place: &usize| !self.ships[place].is_settled;
            let loose: Vec<usize> = (0..self.ships.len()).filter(loose).collect();
            if loose.is_empty() {
                break;
            }
            size -= self.ships.remove(loose[self.dice.below(loose.len())]).ship.class.size();
        }
        while size < points || self.ships.is_empty() {
            let missing = points.saturating_sub(size).max(1);
            let offence = missing.min(BUILT.offence);
            let class = Class { offence, defence: (missing - offence).min(BUILT.defence) };
            self.add(class, self.base, false);
            size += class.size();
        }
    }

    fn add(&mut self, class: Class, at: Square, is_settled: bool) {
        self.highest += 1;
        self.ships.push(Tracked { ship: Ship { no: self.highest, class, at }, was: at, is_settled });
    }
}
