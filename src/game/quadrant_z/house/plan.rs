//! Turns a plan into the orders of a turn: what to build, who guards the home base, and which ship goes to which star.

use crate::game::Dice;
use crate::game::quadrant_z::fleet::{Class, Ship};
use crate::game::quadrant_z::galaxy::{Quadrant, Sector, Square};
use crate::game::quadrant_z::order::Order;
use crate::game::quadrant_z::view::{KnownStar, View};

/// What a side is after. A star of no value is worth [`STAR`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// What each point of a star's value adds to it.
    pub value: i32,
    /// What it takes off a star that it is near to the enemy's home quadrant, for each step.
    pub shy: i32,
    /// What an intruder is worth for each point of its size; 0 lets it be.
    pub hunt: i32,
    /// Whether the home base is guarded against intruders.
    pub guard: bool,
    /// The points of offence that go for the enemy's home base together; 0 for none.
    pub strike: u16,
    /// The greatest offence of a ship that is built.
    pub largest: u16,
    /// Of eight goals, so many are overlooked.
    pub overlooked: usize,
}

/// What a star is worth before its value.
const STAR: i32 = 100;
/// What the enemy's home base is worth.
const BASE: i32 = 2000;
/// An enemy that comes so near the home quadrant is a danger to the base.
const NEAR: u8 = 3;

/// A place to go to.
#[derive(Clone, Copy, Debug)]
struct Goal {
    at: Square,
    worth: i32,
    /// The offence that it takes, and that of the ships sent there so far.
    needs: u16,
    sent: u16,
    is_star: bool,
}

/// The orders of a turn as far as they are found.
struct Planner<'a> {
    view: &'a View,
    plan: &'a Plan,
    /// Ships without an order.
    free: Vec<Ship>,
    goals: Vec<Goal>,
    orders: Vec<Order>,
}

/// Returns the orders of a turn for the viewer.
pub(super) fn orders(view: &View, plan: &Plan, dice: &mut Dice) -> Vec<Order> {
    let mut planner = Planner { view, plan, free: view.ships.clone(), goals: Vec::new(), orders: Vec::new() };
    planner.build();
    if plan.guard {
        planner.guard();
    }
    planner.set_goals(dice);
    planner.strike();
    planner.assign(dice);
    planner.orders
}

/// The turns until a ship can stand on a square.
fn turns(from: Square, to: Square) -> i32 {
    if from == to {
        0
    } else if from.quadrant() == to.quadrant() {
        if from.is_adjacent(to) { 1 } else { 2 }
    } else {
        i32::from(from.quadrant().distance(to.quadrant()))
    }
}

impl Planner<'_> {
    fn home(&self) -> Quadrant {
        Quadrant::home(self.view.context.viewer)
    }

    fn abroad(&self) -> Quadrant {
        Quadrant::home(self.view.context.viewer.other())
    }

    /// The size of the intruders that are near the home quadrant.
    fn danger(&self) -> u16 {
        let near = self.view.intruders.iter().filter(|it| it.at.quadrant().distance(self.home()) <= NEAR);
        near.map(|intruder| intruder.size).sum()
    }

    fn base(&self) -> Option<Square> {
        self.view.stars.iter().find(|star| star.base).map(|star| star.at)
    }

    /// Spends the stock (3.1): on guards if the base is in danger, else on ships that capture.
    fn build(&mut self) {
        let open = |star: &&KnownStar| star.at.quadrant() == self.home() && star.captured_by.is_none();
        let yard = self.view.stars.iter().filter(open).max_by_key(|star| star.base).map(|star| star.at);
        let Some(at) = yard else { return };
        let danger = if self.plan.guard { self.danger() } else { 0 };
        let (mut stock, mut no) = (self.view.stock, self.view.context.highest);
        while stock > 0 {
            let class = if danger > 0 {
                Class { offence: stock / 2, defence: stock - stock / 2 }
            } else {
                Class { offence: stock.min(self.plan.largest), defence: 0 }
            };
            stock -= class.size();
            no += 1;
            self.orders.push(Order::Build { class, at });
            self.free.push(Ship { no, class, at });
        }
    }

    /// Keeps ships on the home base: one always, and more against intruders.
    fn guard(&mut self) {
        let Some(base) = self.base() else { return };
        let wanted = self.danger().max(1);
        let mut there = 0;
        while there < wanted {
            let near = |ship: &&Ship| turns(ship.at, base) <= if wanted > 1 { 2 } else { 0 };
            let best = self.free.iter().filter(near).min_by_key(|ship| {
                (turns(ship.at, base), ship.class.offence, std::cmp::Reverse(ship.class.defence), ship.no)
            });
            let Some(&ship) = best else { return };
            there += ship.class.size();
            self.go(ship, base);
        }
    }

    /// Lists the stars and intruders to go for.
    fn set_goals(&mut self, dice: &mut Dice) {
        let (abroad, home) = (self.abroad(), self.home());
        for star in self.view.stars.iter().filter(|star| star.captured_by.is_none() && !star.base) {
            if dice.below(8) < self.plan.overlooked {
                continue;
            }
            let quadrant = star.at.quadrant();
            let close = 4 - i32::from(quadrant.distance(abroad).min(4));
            let mut worth = STAR + self.plan.value * i32::from(star.value) - self.plan.shy * close;
            if quadrant == abroad && self.plan.strike > 0 {
                worth += BASE;
            }
            // The last star of the home quadrant besides the base may be needed to build at.
            if quadrant == home && self.base().is_none() {
                worth = 0;
            }
            self.goals.push(Goal { at: star.at, worth, needs: star.value, sent: 0, is_star: true });
        }
        for intruder in self.view.intruders.iter().filter(|_| self.plan.hunt > 0) {
            let worth = STAR + self.plan.hunt * i32::from(intruder.size);
            let needs = intruder.size.div_ceil(2) + 1;
            self.goals.push(Goal { at: intruder.at, worth, needs, sent: 0, is_star: false });
        }
    }

    /// Sends the strongest ships towards the enemy's home quadrant, where the stars are not known yet.
    fn strike(&mut self) {
        let abroad = self.abroad();
        if self.plan.strike == 0 || self.view.context.charted.contains(abroad) {
            return;
        }
        let at = abroad.square(0);
        let needs = self.plan.strike;
        self.goals.push(Goal { at, worth: BASE, needs, sent: 0, is_star: false });
    }

    /// Gives each ship the goal that promises most for it, the best pair first.
    fn assign(&mut self, dice: &mut Dice) {
        let mut noise: Vec<i32> = Vec::new();
        noise.resize_with(self.goals.len(), || dice.below(5) as i32);
        let rate = |goals: &[Goal], ship: &Ship, number: usize| match promise(ship, &goals[number]) {
            0 => 0,
            worth => worth + noise[number],
        };
        let best_for = |goals: &[Goal], ship: &Ship| {
            let rated = (0..goals.len()).map(|number| (rate(goals, ship, number), number));
            rated.max_by_key(|&(worth, number)| (worth, std::cmp::Reverse(number))).unwrap_or_default()
        };
        let mut best: Vec<(i32, usize)> = self.free.iter().map(|ship| best_for(&self.goals, ship)).collect();
        while let Some(place) = (0..best.len()).max_by_key(|&place| (best[place].0, std::cmp::Reverse(place)))
            && best[place].0 > 0
        {
            let (_, number) = best.remove(place);
            let ship = self.free[place];
            self.goals[number].sent += ship.class.offence;
            self.go(ship, self.goals[number].at);
            // Only what this goal promises has changed.
            for (other, best) in self.free.iter().zip(&mut best) {
                if best.1 == number {
                    *best = best_for(&self.goals, other);
                } else {
                    *best = (*best).max((rate(&self.goals, other, number), number));
                }
            }
        }
        self.capture();
    }

    /// Captures the stars on which enough offence stays (3.5).
    fn capture(&mut self) {
        let moves = |no: u16| {
            self.orders.iter().any(|order| matches!(order, Order::Move { no: moved, .. } if *moved == no))
        };
        let mut ships: Vec<Ship> = self.view.ships.clone();
        // What is built this turn stays where it is, too.
        let mut no = self.view.context.highest;
        for order in &self.orders {
            if let Order::Build { class, at } = *order {
                no += 1;
                ships.push(Ship { no, class, at });
            }
        }
        let offence = |at: Square| -> u16 {
            let staying = ships.iter().filter(|ship| ship.at == at && !moves(ship.no));
            staying.map(|ship| ship.class.offence).sum()
        };
        let stars = self.goals.iter().filter(|goal| goal.is_star && offence(goal.at) >= goal.needs);
        let captures: Vec<Order> = stars.map(|goal| Order::Capture { at: goal.at }).collect();
        self.orders.extend(captures);
    }

    /// Orders a ship to go to a square, or lets it stay there.
    fn go(&mut self, ship: Ship, to: Square) {
        self.free.retain(|other| other.no != ship.no);
        if ship.at != to {
            let to = self.step(ship, to);
            self.orders.push(Order::Move { no: ship.no, from: Some(ship.at), to });
        }
    }

    /// The square to move to on the way: if possible one with a star, and not where an intruder stands.
    fn step(&self, ship: Ship, to: Square) -> Square {
        let from = ship.at;
        if from.reaches(to) {
            return to;
        }
        if from.quadrant() == to.quadrant() {
            return from.quadrant().squares().find(|&at| from.is_adjacent(at)).unwrap_or(from);
        }
        let away = from.quadrant().distance(to.quadrant());
        let nearer = |quadrant: &Quadrant| {
            quadrant.is_beside(from.quadrant()) && quadrant.distance(to.quadrant()) < away
        };
        let squares = Quadrant::all().filter(nearer).flat_map(Quadrant::squares);
        let rank = |at: &Square| {
            let star = self.view.stars.iter().any(|star| star.at == *at && star.captured_by.is_none());
            let met = self.view.intruders.iter().any(|it| it.at.quadrant() == at.quadrant());
            let own = self.sector(*at) == Sector::Home(self.view.context.viewer);
            (!met, star, own, (usize::from(ship.no) + at.index()) % 7)
        };
        squares.max_by_key(rank).unwrap_or(from)
    }

    fn sector(&self, at: Square) -> Sector {
        self.view.context.options.layout.sector(at.quadrant())
    }
}

/// What a goal promises to a ship: less if it is far, and if the ship alone is too weak or stronger than needed.
fn promise(ship: &Ship, goal: &Goal) -> i32 {
    let missing = goal.needs.saturating_sub(goal.sent);
    let offence = ship.class.offence;
    if missing == 0 || offence == 0 {
        return 0;
    }
    let share = i32::from(offence.min(missing)) * 60 / i32::from(missing);
    let waste = i32::from(offence.saturating_sub(missing)) * 4;
    // A ship alone that is strong enough is better than several.
    let full = if share == 60 { 100 } else { share };
    goal.worth * full / (turns(ship.at, goal.at) + 1) / 10 - waste
}
