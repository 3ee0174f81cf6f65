//! Corrects the enemy's fleet in a guess by what the seat was told in a turn.
//!
//! In the guess, each ship has followed a plan. Reported intruders, captures, entries and standoffs are
//! attributed to the nearest ships that could have caused them. Battles leave as much as their totals show,
//! and a ship that would have been reported where it is goes elsewhere. Finally, the fleet becomes as large
//! as the enemy's points allow.

use super::plan::Known;
use crate::game::quadrant_z::{
    Battle, Class, Event, FLEET, Intruder, Quadrant, Sector, Ship, Side, Square, Stars, State, View,
};
use crate::game::{Dice, Seat};

/// The largest ship that [`Fleet::count`] adds.
const BUILT: Class = Class { offence: 2, defence: 2 };

/// Corrects the ships of the viewer's enemy. `before` holds its ships before the turn, and `lost` is its
/// total losses in all battles so far.
pub(super) fn correct(state: &mut State, before: &[Ship], view: &View, lost: u16, dice: &mut Dice) {
    let foe = view.context.viewer.other();
    let side = &mut state.sides[foe];
    let tracked = |ship: &Ship| {
        let old = before.iter().find(|old| old.no == ship.no).unwrap_or(ship);
        Tracked { ship: *ship, was: old.at, is_settled: false }
    };
    let base = side.base.unwrap_or(Quadrant::home(foe).square(0));
    let ships = side.ships.iter().map(tracked).collect();
    let mut fleet = Fleet { view, stars: &state.stars, base, ships, highest: side.highest, dice };
    fleet.take_back_entries();
    fleet.leave_seen_places();
    fleet.explain();
    fleet.count((FLEET + view.score[foe].value).saturating_sub(side.stock + lost));
    side.highest = fleet.highest;
    side.ships = fleet.ships.into_iter().map(|tracked| tracked.ship).collect();
    // The seat knows the intruders that were reported to it, and the enemy knows the ones in the guess.
    let intruded = |by: Seat, known: Known| {
        known.intruders.into_iter().map(move |Intruder { at, size }| Event::Intruded { by, at, size })
    };
    let own = intruded(foe.other(), Known::from_state(state, foe));
    state.news = intruded(foe, Known::from_view(view)).chain(own).collect();
}

#[derive(Clone, Copy)]
struct Tracked {
    ship: Ship,
    /// Its square before the turn.
    was: Square,
    /// Whether what was told explains its square.
    is_settled: bool,
}

struct Fleet<'a> {
    view: &'a View,
    stars: &'a Stars,
    /// The square where the enemy builds.
    base: Square,
    /// Ordered by number.
    ships: Vec<Tracked>,
    highest: u16,
    dice: &'a mut Dice,
}

impl Fleet<'_> {
    /// Moves ships that would have been reported when they entered a quadrant: back to where they were, or to
    /// another quadrant, if they would have been reported capturing the star there.
    fn take_back_entries(&mut self) {
        for number in 0..self.ships.len() {
            let Tracked { ship, was, .. } = self.ships[number];
            if ship.at.quadrant() == was.quadrant() || self.can_have_entered(ship.at.quadrant()) {
                continue;
            }
            let others = was.quadrant().beside().filter(|&quadrant| self.can_have_entered(quadrant));
            let others: Vec<Quadrant> = others.collect();
            let can_capture = self.is_goal(was) && ship.class.offence >= self.stars.at(was).value();
            self.ships[number].ship.at = if can_capture && !others.is_empty() {
                let quadrant = others[self.dice.below(others.len())];
                self.place_within(quadrant)
            } else {
                was
            };
        }
    }

    /// Whether ships that entered a quadrant were reported (`Z-ENTRY`, `Z-INTRUDER`), or would not have been.
    fn can_have_entered(&self, quadrant: Quadrant) -> bool {
        let view = self.view;
        match view.context.options.layout.sector(quadrant) {
            Sector::Neutral => view.entries.contains(&quadrant),
            Sector::Home(seat) if seat == view.context.viewer => {
                view.intruders.iter().any(|intruder| intruder.at.quadrant() == quadrant)
            }
            Sector::Home(_) => true,
        }
    }

    /// Whether a square has a star that nobody has captured.
    fn is_goal(&self, at: Square) -> bool {
        let star = self.stars.at(at);
        star.value() > 0 && star.captured_by.is_none()
    }

    /// Draws a square of a quadrant for a ship: one with a star to capture, if any, or else any square.
    fn place_within(&mut self, quadrant: Quadrant) -> Square {
        let goals: Vec<Square> = quadrant.squares().filter(|&at| self.is_goal(at)).collect();
        let cell = self.dice.below(if goals.is_empty() { 4 } else { goals.len() });
        goals.get(cell).copied().unwrap_or(quadrant.square(cell as u8))
    }

    /// Moves ships away from where the seat would have seen them, that is, its home sector and quadrants with
    /// ships of its own: back to where they were, or to a place nearby.
    fn leave_seen_places(&mut self) {
        let view = self.view;
        let is_seen = |at: Square| {
            let quadrant = at.quadrant();
            let sector = view.context.options.layout.sector(quadrant);
            let is_told = view.standoffs.contains(&quadrant) || view.intruders.iter().any(|it| it.at == at);
            let is_watched = sector == Sector::Home(view.context.viewer)
                || view.ships.iter().any(|ship| ship.at.quadrant() == quadrant);
            is_watched && !is_told
        };
        let places: Vec<Square> = Square::all().filter(|&at| !is_seen(at)).collect();
        for Tracked { ship, was, .. } in self.ships.iter_mut().filter(|tracked| is_seen(tracked.ship.at)) {
            let away = |at: &Square| at.quadrant().distance(was.quadrant());
            let nearest = places.iter().map(away).min().unwrap_or_default();
            let near: Vec<Square> = places.iter().copied().filter(|at| away(at) == nearest).collect();
            if !is_seen(*was) {
                ship.at = *was;
            } else if !near.is_empty() {
                ship.at = near[self.dice.below(near.len())];
            }
        }
    }

    /// Finds ships for everything that was told, in the order of a turn (3.3 to 3.5).
    fn explain(&mut self) {
        let view = self.view;
        for intruder in &view.intruders {
            self.bring(intruder.at, intruder.size, Class::size);
        }
        for &quadrant in &view.entries {
            self.enter(quadrant, None);
        }
        for &quadrant in &view.standoffs {
            match view.battles.iter().find(|battle| battle.quadrant == quadrant) {
                Some(battle) => self.fight(battle),
                None => self.face(quadrant),
            }
        }
        for capture in view.captures.iter().filter(|capture| capture.by != view.context.viewer) {
            self.bring(capture.at, capture.offence, |class| class.offence);
        }
    }

    /// The total `measure` of the ships that are known to be on a square.
    fn settled(&self, at: Square, measure: impl Fn(Class) -> u16) -> u16 {
        let there = self.ships.iter().filter(|tracked| tracked.is_settled && tracked.ship.at == at);
        there.map(|tracked| measure(tracked.ship.class)).sum()
    }

    /// Brings ships to a square until they add up to the reported amount; adds a new ship for what is
    /// missing.
    fn bring(&mut self, at: Square, amount: u16, measure: impl Fn(Class) -> u16) {
        let mut missing = amount.saturating_sub(self.settled(at, &measure));
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
            let candidates =
                self.ships.iter_mut().filter_map(|tracked| Some((rank(tracked, missing)?, tracked)));
            let Some((_, tracked)) = candidates.min_by_key(|(rank, _)| *rank) else {
                return self.add(Class { offence: missing, defence: 0 }, at, true);
            };
            let class = &mut tracked.ship.class;
            // Shrink a ship that was guessed too large.
            class.offence -= measure(*class).saturating_sub(missing).min(class.offence);
            class.defence -= measure(*class).saturating_sub(missing).min(class.defence);
            missing -= measure(*class);
            (tracked.ship.at, tracked.is_settled) = (at, true);
        }
        // Other ships that were guessed to be there are not.
        for tracked in &mut self.ships {
            if tracked.ship.at == at && !tracked.is_settled && measure(tracked.ship.class) > 0 {
                tracked.ship.at = if tracked.was == at { self.base } else { tracked.was };
            }
        }
    }

    /// Removes ships in a quadrant until as much is left as a battle left of its participants (3.4).
    fn fight(&mut self, battle: &Battle) {
        let quadrant = battle.quadrant;
        let Side { offence, defence, damage, lost } = battle.enemy;
        // A side that lost less than the damage that it took has lost all its ships there.
        let left = if lost < damage { 0 } else { (offence + defence).saturating_sub(lost) };
        let mut kept = 0;
        let mut sunk = lost;
        let base = self.base;
        self.ships.retain_mut(|Tracked { ship, was, is_settled }| {
            let size = ship.class.size();
            if ship.at.quadrant() != quadrant {
                true
            } else if size <= sunk {
                sunk -= size;
                false
            } else if kept + size <= left {
                (kept, *is_settled) = (kept + size, true);
                true
            } else {
                ship.at = if was.quadrant() == quadrant { base } else { *was };
                true
            }
        });
        if kept < left {
            let at = self.place_within(quadrant);
            let there = self.settled(at, Class::size);
            self.bring(at, there + left - kept, Class::size);
        }
    }

    /// Finds a ship in a quadrant where both sides' ships are diagonal, as they did not fight (`Z-STANDOFF`).
    fn face(&mut self, quadrant: Quadrant) {
        let own = |at: &Square| self.view.ships.iter().any(|own| own.at == *at || own.at.is_adjacent(*at));
        let Some(at) = quadrant.squares().find(|at| !own(at)) else { return };
        let mut is_there = false;
        for tracked in self.ships.iter_mut().filter(|tracked| tracked.ship.at.quadrant() == quadrant) {
            (tracked.ship.at, tracked.is_settled, is_there) = (at, true, true);
        }
        if !is_there {
            self.enter(quadrant, Some(at));
        }
    }

    /// Finds a ship that entered a quadrant, and sends it to the square, or to a star if the square is
    /// unknown.
    fn enter(&mut self, quadrant: Quadrant, at: Option<Square>) {
        let entered = |tracked: &&mut Tracked| {
            tracked.ship.at.quadrant() == quadrant && tracked.was.quadrant() != quadrant
        };
        if let Some(tracked) = self.ships.iter_mut().find(entered) {
            tracked.is_settled = true;
            return;
        }
        // A ship from the next quadrant, one whose star is captured first. The number spreads the choice.
        let rank = |tracked: &Tracked| {
            let far = tracked.was.quadrant().distance(quadrant);
            let ranked = (far.abs_diff(1), self.is_goal(tracked.was), tracked.ship.no % 3, tracked.ship.no);
            (far <= 2 && !tracked.is_settled).then_some(ranked)
        };
        let candidates = self.ships.iter().enumerate().filter_map(|(number, it)| Some((rank(it)?, number)));
        let Some((_, number)) = candidates.min() else { return };
        let at = at.unwrap_or_else(|| self.place_within(quadrant));
        (self.ships[number].ship.at, self.ships[number].is_settled) = (at, true);
    }

    /// Makes the fleet as large as the enemy's `points`: the points that it had and captured, less those that
    /// it lost or may have in stock.
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
        // Missing ships must have been built. They have usually left the base since, so they are placed
        // anywhere at home.
        let view = &self.view.context;
        let home: Vec<Quadrant> = view.options.layout.home_quadrants(view.viewer.other()).collect();
        while size < points || self.ships.is_empty() {
            let missing = points.saturating_sub(size).max(1);
            let offence = missing.min(BUILT.offence);
            let class = Class { offence, defence: (missing - offence).min(BUILT.defence) };
            let quadrant = home[self.dice.below(home.len())];
            let at = self.place_within(quadrant);
            self.add(class, at, false);
            size += class.size();
        }
    }

    fn add(&mut self, class: Class, at: Square, is_settled: bool) {
        self.highest += 1;
        self.ships.push(Tracked { ship: Ship { no: self.highest, class, at }, was: at, is_settled });
    }
}
