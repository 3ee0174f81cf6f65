//! Turns a plan into orders: what to build, which ships guard the home base, and which ship goes to which
//! star.
//!
//! The part of a side's knowledge that plans read. In a search it comes from a guessed state.

use std::cmp::Reverse;

use crate::game::quadrant_z::{
    Class, Event, Intruder, KnownStar, Layout, Order, Quadrant, Quadrants, Sector, Ship, Square, Star, State,
    View,
};
use crate::game::{Dice, Seat};

#[derive(Debug, PartialEq)]
pub(super) struct Known<'a> {
    pub me: Seat,
    pub layout: Layout,
    pub ships: &'a [Ship],
    pub stock: u16,
    /// The highest number that a ship of this side ever had.
    pub highest: u16,
    pub charted: Quadrants,
    /// The stars that nobody has captured.
    pub stars: Vec<KnownStar>,
    /// The intruders that survived battles.
    pub intruders: Vec<Intruder>,
}

impl Known<'_> {
    pub fn from_view(view: &View) -> Known<'_> {
        let context = &view.context;
        Known {
            me: context.viewer,
            layout: context.options.layout,
            ships: &view.ships,
            stock: view.stock,
            highest: context.highest,
            charted: context.charted,
            stars: view.stars.iter().filter(|star| star.captured_by.is_none()).copied().collect(),
            intruders: remaining_intruders(
                view.intruders.clone(),
                view.battles.iter().map(|battle| (battle.quadrant, battle.enemy.lost)),
            ),
        }
    }

    /// The knowledge that a view of `me` would hold.
    pub fn from_state(state: &State, me: Seat) -> Known<'_> {
        let side = &state.sides[me];
        let intruder = |event: &Event| match *event {
            Event::Intruded { by, at, size } if by != me => Some(Intruder { at, size }),
            _ => None,
        };
        let battle = |event: &Event| match event {
            Event::Fought { quadrant, sides } => Some((*quadrant, sides[me.other()].lost_size)),
            _ => None,
        };
        let star = |(at, star): (Square, Star)| {
            let is_open = side.charted.contains(at.quadrant());
            let value = if is_open { star.value() } else { u16::from(star.placed[me]) };
            let base = side.base == Some(at);
            (star.captured_by.is_none() && value > 0).then_some(KnownStar {
                at,
                value,
                captured_by: None,
                base,
            })
        };
        let mut stars = Vec::with_capacity(Square::COUNT);
        stars.extend(state.stars.iter().filter_map(star));
        Known {
            me,
            layout: state.options.layout,
            ships: &side.ships,
            stock: side.stock,
            highest: side.highest,
            charted: side.charted,
            stars,
            intruders: remaining_intruders(
                state.news.iter().filter_map(intruder).collect(),
                state.news.iter().filter_map(battle),
            ),
        }
    }
}

/// Returns the intruders left after combat; they are reported as they were before it (3.3, 3.4). Each battle
/// is a quadrant and the size of the ships that the enemy lost there.
fn remaining_intruders(
    mut intruders: Vec<Intruder>,
    battles: impl Iterator<Item = (Quadrant, u16)>,
) -> Vec<Intruder> {
    for (quadrant, mut lost) in battles {
        for intruder in intruders.iter_mut().filter(|intruder| intruder.at.quadrant() == quadrant) {
            let sunk = lost.min(intruder.size);
            intruder.size -= sunk;
            lost -= sunk;
        }
    }
    intruders.retain(|intruder| intruder.size > 0);
    intruders
}

/// The priorities of a side. A star of no value is worth [`STAR`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The worth that each point of a star's value adds.
    pub value: i32,
    /// The worth that a star loses for each step by which it is nearer to the enemy's home quadrant.
    pub shy: i32,
    /// The worth of an intruder for each point of its size; 0 to leave it alone.
    pub hunt: i32,
    /// Whether the home base is guarded against intruders.
    pub guard: bool,
    /// The points of offence that go for the enemy's home base together; 0 for none.
    pub strike: u16,
    /// The greatest offence and defence of ships to build.
    pub largest: u16,
    pub armour: u16,
    /// The number of goals, out of eight, that are overlooked.
    pub overlooked: usize,
}

/// The plan that gathers stars and guards the base. Other plans are variations of it.
pub(super) const PLAIN: Plan =
    Plan { value: 20, shy: 0, hunt: 0, guard: true, strike: 0, largest: 2, armour: 0, overlooked: 0 };

/// The worth of a star before its value.
const STAR: i32 = 100;
/// The worth of the enemy's home base.
const BASE: i32 = 2000;
/// An enemy at most this far from the home quadrant is a danger to the base.
const NEAR: u8 = 3;

/// A place to go to.
#[derive(Clone, Copy, Debug)]
struct Goal {
    at: Square,
    worth: i32,
    /// Value to a sufficiently strong ship, by the turns it needs to get there.
    promises: [i32; FARTHEST + 1],
    /// The offence that it takes, and the offence of the ships sent there so far.
    needs: u16,
    sent: u16,
    is_star: bool,
}

/// The number of turns from corner to corner.
const FARTHEST: usize = 8;

impl Goal {
    fn new(at: Square, worth: i32, needs: u16, is_star: bool) -> Goal {
        let promises = std::array::from_fn(|turns| worth * 10 / (turns as i32 + 1));
        Goal { at, worth, promises, needs, sent: 0, is_star }
    }
}

/// The most promising goal for a ship, and its worth.
struct Best {
    goal: usize,
    worth: i32,
    /// Whether the worth is exact; if not, it is an upper bound.
    is_sure: bool,
}

/// Assigns ships to goals, one pair at a time.
struct Planner<'a> {
    known: &'a Known<'a>,
    plan: &'a Plan,
    /// Ships without an order.
    free: Vec<Ship>,
    goals: Vec<Goal>,
    orders: Vec<Order>,
    /// The offence that stays on each square.
    staying: [u16; Square::COUNT],
    /// The squares of uncaptured stars, and the quadrants of intruders.
    has_star: [bool; Square::COUNT],
    intruded: Quadrants,
}

/// Returns the orders of a turn for the side that knows this.
pub(super) fn orders(known: &Known<'_>, plan: &Plan, dice: &mut Dice) -> Vec<Order> {
    let mut planner = Planner::new(known, plan);
    planner.build();
    if plan.guard {
        planner.guard();
    }
    planner.set_goals(dice);
    planner.strike();
    planner.assign(dice);
    planner.capture();
    planner.orders
}

/// The turns until a ship can reach a square, by the indices of both squares. A search looks up millions.
static TURNS: [[u8; Square::COUNT]; Square::COUNT] = all_turns();

const fn all_turns() -> [[u8; Square::COUNT]; Square::COUNT] {
    let mut turns = [[0; Square::COUNT]; Square::COUNT];
    let mut index = 0;
    while index < Square::COUNT * Square::COUNT {
        let from = index / Square::COUNT;
        let to = index % Square::COUNT;
        let here = from / 4;
        let there = to / 4;
        // Within a quadrant, two steps lead to the diagonal square.
        let cells = ((from ^ to) & 3).count_ones();
        let away = (here % 5).abs_diff(there % 5) + (here / 5).abs_diff(there / 5);
        turns[from][to] = if here == there { cells as u8 } else { away as u8 };
        index += 1;
    }
    turns
}

fn turns(from: Square, to: Square) -> i32 {
    TURNS[from.index()][to.index()].into()
}

impl<'a> Planner<'a> {
    fn new(known: &'a Known<'a>, plan: &'a Plan) -> Planner<'a> {
        let mut planner = Planner {
            known,
            plan,
            free: Vec::with_capacity(known.ships.len() + 8),
            goals: Vec::with_capacity(known.stars.len() + 8),
            orders: Vec::with_capacity(known.ships.len() + 8),
            staying: [0; Square::COUNT],
            has_star: [false; Square::COUNT],
            intruded: Quadrants::default(),
        };
        known.ships.iter().for_each(|ship| planner.add(*ship));
        known.stars.iter().for_each(|star| planner.has_star[star.at.index()] = true);
        known.intruders.iter().for_each(|intruder| planner.intruded.insert(intruder.at.quadrant()));
        planner
    }

    fn add(&mut self, ship: Ship) {
        self.free.push(ship);
        self.staying[ship.at.index()] += ship.class.offence;
    }

    fn home(&self) -> Quadrant {
        Quadrant::home(self.known.me)
    }

    fn abroad(&self) -> Quadrant {
        Quadrant::home(self.known.me.other())
    }

    /// The size of the intruders that are near the home quadrant.
    fn danger(&self) -> u16 {
        let near = self.known.intruders.iter().filter(|it| it.at.quadrant().distance(self.home()) <= NEAR);
        near.map(|intruder| intruder.size).sum()
    }

    fn base(&self) -> Option<Square> {
        self.known.stars.iter().find(|star| star.base).map(|star| star.at)
    }

    /// Spends the stock (3.1): on guards if the base is in danger, otherwise on ships that capture.
    fn build(&mut self) {
        let at_home = |star: &&KnownStar| star.at.quadrant() == self.home();
        let yard = self.known.stars.iter().filter(at_home).max_by_key(|star| star.base).map(|star| star.at);
        let Some(at) = yard else { return };
        let danger = if self.plan.guard { self.danger() } else { 0 };
        let mut stock = self.known.stock;
        let mut no = self.known.highest;
        while stock > 0 {
            let class = if danger > 0 {
                Class { offence: stock / 2, defence: stock - stock / 2 }
            } else {
                let offence = stock.min(self.plan.largest);
                Class { offence, defence: self.plan.armour.min(stock - offence) }
            };
            stock -= class.size();
            no += 1;
            self.orders.push(Order::Build { class, at });
            self.add(Ship { no, class, at });
        }
    }

    /// Keeps ships on the home base against intruders. A permanent guard would be missed elsewhere.
    fn guard(&mut self) {
        let Some(base) = self.base() else { return };
        let wanted = self.danger();
        let mut there = 0;
        while there < wanted {
            let near = |ship: &&Ship| turns(ship.at, base) <= 2;
            let best = self.free.iter().filter(near).min_by_key(|ship| {
                (turns(ship.at, base), ship.class.offence, Reverse(ship.class.defence), ship.no)
            });
            let Some(&ship) = best else { return };
            there += ship.class.size();
            self.go(ship, base);
        }
    }

    /// Lists the stars and intruders to go for.
    fn set_goals(&mut self, dice: &mut Dice) {
        let abroad = self.abroad();
        for star in self.known.stars.iter().filter(|star| !star.base) {
            if self.plan.overlooked > 0 && dice.below(8) < self.plan.overlooked {
                continue;
            }
            let quadrant = star.at.quadrant();
            let close = 4 - i32::from(quadrant.distance(abroad).min(4));
            let mut worth = STAR + self.plan.value * i32::from(star.value) - self.plan.shy * close;
            if quadrant == abroad && self.plan.strike > 0 {
                worth += BASE;
            }
            self.goals.push(Goal::new(star.at, worth, star.value, true));
        }
        for intruder in self.known.intruders.iter().filter(|_| self.plan.hunt > 0) {
            let worth = STAR + self.plan.hunt * i32::from(intruder.size);
            let needs = intruder.size.div_ceil(2) + 1;
            self.goals.push(Goal::new(intruder.at, worth, needs, false));
        }
    }

    /// Sends the strongest ships towards the enemy's home quadrant, where the stars are not known yet.
    fn strike(&mut self) {
        let abroad = self.abroad();
        if self.plan.strike == 0 || self.known.charted.contains(abroad) {
            return;
        }
        let at = abroad.square(0);
        self.goals.push(Goal::new(at, BASE, self.plan.strike, false));
    }

    /// Gives each ship its most promising goal, the best pair first.
    fn assign(&mut self, dice: &mut Dice) {
        let noise = dice.bits();
        let rate = |goals: &[Goal], ship: &Ship, number: usize| match promise(ship, &goals[number]) {
            0 => 0,
            // Two bits of the dice choose between goals that are nearly as good.
            worth => worth + (noise.rotate_left(2 * number as u32) & 3) as i32,
        };
        let best_for = |goals: &[Goal], ship: &Ship| {
            let mut best = Best { goal: 0, worth: 0, is_sure: true };
            for number in 0..goals.len() {
                let worth = rate(goals, ship, number);
                if worth > best.worth {
                    (best.worth, best.goal) = (worth, number);
                }
            }
            best
        };
        let mut best: Vec<Best> = self.free.iter().map(|ship| best_for(&self.goals, ship)).collect();
        while let Some(place) = (0..best.len()).max_by_key(|&place| (best[place].worth, Reverse(place)))
            && best[place].worth > 0
        {
            let ship = self.free[place];
            if !best[place].is_sure {
                best[place] = best_for(&self.goals, &ship);
                continue;
            }
            let number = best.remove(place).goal;
            self.goals[number].sent += ship.class.offence;
            self.go(ship, self.goals[number].at);
            // Only the promise of this goal has changed. A ship whose best goal it was looks for a new one
            // when its turn comes.
            for (other, best) in self.free.iter().zip(&mut best) {
                let worth = rate(&self.goals, other, number);
                if best.goal == number {
                    (best.worth, best.is_sure) = (best.worth.max(worth), false);
                } else if worth > best.worth || worth == best.worth && number > best.goal {
                    (best.worth, best.goal) = (worth, number);
                }
            }
        }
    }

    /// Captures the stars on which enough offence stays (3.5).
    fn capture(&mut self) {
        let stars = self.goals.iter().filter(|goal| goal.is_star);
        let held = stars.filter(|goal| self.staying[goal.at.index()] >= goal.needs);
        self.orders.extend(held.map(|goal| Order::Capture { at: goal.at }));
    }

    /// Orders a ship to go to a square, or lets it stay there.
    fn go(&mut self, ship: Ship, to: Square) {
        self.free.retain(|other| other.no != ship.no);
        if ship.at != to {
            let to = self.step(ship, to);
            self.staying[ship.at.index()] -= ship.class.offence;
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
        let nearer = |quadrant: &Quadrant| quadrant.distance(to.quadrant()) < away;
        let squares = from.quadrant().beside().filter(nearer).flat_map(Quadrant::squares);
        let rank = |at: &Square| {
            let met = self.intruded.contains(at.quadrant());
            let own = self.sector(*at) == Sector::Home(self.known.me);
            (!met, self.has_star[at.index()], own, (usize::from(ship.no) + at.index()) % 7)
        };
        squares.max_by_key(rank).unwrap_or(from)
    }

    fn sector(&self, at: Square) -> Sector {
        self.known.layout.sector(at.quadrant())
    }
}

/// Value of a goal to a ship: less if it is far, and if the ship alone is too weak or stronger than needed.
fn promise(ship: &Ship, goal: &Goal) -> i32 {
    let missing = i32::from(goal.needs) - i32::from(goal.sent);
    let offence = i32::from(ship.class.offence);
    if missing <= 0 || offence == 0 {
        return 0;
    }
    let turns = turns(ship.at, goal.at);
    // A ship alone that is strong enough is better than several.
    if offence >= missing {
        goal.promises[turns as usize] - 4 * (offence - missing)
    } else {
        goal.worth * offence * 6 / (missing * (turns + 1))
    }
}
