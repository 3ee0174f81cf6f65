//! Checks whether a setup may stand (clause 2).
//!
//! Ready setups (`Z-READY`): families of legal setups. The referee draws one.

use super::check::{list, out_of_phase};
use super::combat::Class;
use super::galaxy::{Layout, Quadrant, Sector, Square};
use super::order::{Order, ReadySetup};
use super::view::View;
use crate::game::{Dice, Fault, Numbered, READY_ALONE, Seat};

/// Points for stars of the home sector, for stars of the neutral sector, and for ships.
pub(super) const HOME_STARS: u16 = 15;
pub(super) const NEUTRAL_STARS: u16 = 30;
pub(crate) const FLEET: u16 = 15;
/// The highest number that a ship can have in a setup.
const HIGHEST_NUMBER: u16 = 99;

/// Returns every fault of a setup.
pub fn faults(view: &View, orders: &[Numbered<Order>]) -> Vec<Fault> {
    let mut plan = Plan { view, seat: view.context.viewer, stars: Vec::new(), ships: Vec::new() };
    let mut faults = Vec::new();
    for &Numbered { line, ref order } in orders {
        let taken = match *order {
            Order::Star { at, value, base } => plan.star(line, at, value, base),
            Order::Place { no, class, at } => plan.ship(line, no, class, at),
            // The referee replaces a ready setup with its lines, unless other lines accompany it.
            Order::Ready(_) => Err(Fault::on(line, READY_ALONE)),
            _ => Err(out_of_phase(line, order, "this is the setup")
                .with_example(format_args!("STAR {} 3 BASE", Quadrant::home(plan.seat).square(0)))),
        };
        faults.extend(taken.err());
    }
    // Lines that accompany a ready setup are not a whole setup, so do not check their totals.
    if orders.iter().any(|numbered| matches!(numbered.order, Order::Ready(_))) {
        return faults;
    }
    faults.extend(plan.star_totals());
    faults.extend(plan.star_counts());
    faults.extend(plan.base());
    faults.extend(plan.fleet_total());
    faults
}

/// Returns a line that a setup can hold; if possible, of the kind that `line` begins like.
pub fn example(view: &View, line: &str) -> Order {
    let plan = Plan { view, seat: view.context.viewer, stars: Vec::new(), ships: Vec::new() };
    let home = Quadrant::home(plan.seat);
    let verb = line.split_whitespace().next().unwrap_or_default();
    if verb.eq_ignore_ascii_case("star") {
        plan.another_star()
    } else if verb.eq_ignore_ascii_case("ship") {
        Order::Place { no: 1, class: Class { offence: 3, defence: 2 }, at: home.square(2) }
    } else {
        Order::Star { at: home.square(0), value: 3, base: true }
    }
}

/// The legal lines of a setup so far.
struct Plan<'a> {
    view: &'a View,
    seat: Seat,
    stars: Vec<PlannedStar>,
    ships: Vec<PlannedShip>,
}

struct PlannedStar {
    line: usize,
    at: Square,
    value: u16,
    base: bool,
}

struct PlannedShip {
    line: usize,
    no: u16,
    class: Class,
}

impl Plan<'_> {
    fn sector(&self, quadrant: Quadrant) -> Sector {
        self.view.context.options.layout.sector(quadrant)
    }

    fn home(&self) -> Sector {
        Sector::Home(self.seat)
    }

    /// Checks a star, as far as a single line can break clause 2.1.
    fn star(&mut self, line: usize, at: Square, value: u16, base: bool) -> Result<(), Fault> {
        let quadrant = at.quadrant();
        let home = Quadrant::home(self.seat);
        let (most, kind) = match self.sector(quadrant) {
            Sector::Home(owner) if owner == self.seat => (3, "your home sector have the value 1, 2 or 3"),
            Sector::Neutral => (2, "the neutral sector have the value 1 or 2"),
            Sector::Home(_) => {
                let reason = format!("{at} is in your opponent's home sector; you place no stars there.");
                return Err(Fault::on(line, reason).with_example(self.another_star()));
            }
        };
        if !(1..=most).contains(&value) {
            let reason = format!("A star of value {value} cannot be at {at}: stars of {kind}.");
            let base = base && quadrant == home;
            return Err(Fault::on(line, reason).with_example(Order::Star { at, value: 2, base }));
        }
        if base && quadrant != home {
            let reason = format!("{at} cannot be your home base, which is in {home}, your home quadrant.");
            return Err(Fault::on(line, reason).with_example(Order::Star { at, value, base: false }));
        }
        if let Some(other) = self.stars.iter().find(|star| star.at == at) {
            let reason =
                format!("Line {} puts a star on {at}; a square holds one star of yours.", other.line);
            return Err(Fault::on(line, reason).with_example(self.another_star()));
        }
        self.stars.push(PlannedStar { line, at, value, base });
        Ok(())
    }

    /// An example of a star, in a quadrant that needs one if there is any.
    fn another_star(&self) -> Order {
        let count =
            |quadrant: Quadrant| self.stars.iter().filter(|star| star.at.quadrant() == quadrant).count();
        let neutral = || self.view.context.options.layout.neutral();
        let quadrant =
            neutral().find(|&quadrant| count(quadrant) == 0).or_else(|| neutral().find(|&q| count(q) < 2));
        let quadrant = quadrant.unwrap_or(Quadrant::home(self.seat));
        let free = quadrant.squares().find(|&at| self.stars.iter().all(|star| star.at != at));
        Order::Star { at: free.unwrap_or(quadrant.square(0)), value: 2, base: false }
    }

    /// Checks a ship, as far as a single line can break clauses 2.3 and 2.4.
    fn ship(&mut self, line: usize, no: u16, class: Class, at: Square) -> Result<(), Fault> {
        let home = Quadrant::home(self.seat);
        let mut numbers = 1..=HIGHEST_NUMBER;
        let free = numbers.find(|&no| self.ships.iter().all(|ship| ship.no != no)).unwrap_or(HIGHEST_NUMBER);
        let (reason, example) = if !(1..=HIGHEST_NUMBER).contains(&no) {
            let reason = format!("A ship cannot be number {no}; numbers are 1 to {HIGHEST_NUMBER}.");
            (reason, Order::Place { no: free, class, at })
        } else if class.size() == 0 {
            let reason = format!("Ship {no} has neither offence nor defence; it needs at least one point.");
            (reason, Order::Place { no, class: Class { offence: 1, defence: 0 }, at })
        } else if self.sector(at.quadrant()) != self.home() {
            let sector = list(self.view.context.options.layout.home(self.seat).chars(), "and");
            let reason =
                format!("Ship {no} cannot start at {at}; your ships start in your home sector: {sector}.");
            (reason, Order::Place { no, class, at: home.square(at.cell()) })
        } else if let Some(other) = self.ships.iter().find(|ship| ship.no == no) {
            let reason = format!("Line {} places ship {no}; each ship has its own number.", other.line);
            (reason, Order::Place { no: free, class, at })
        } else {
            self.ships.push(PlannedShip { line, no, class });
            return Ok(());
        };
        Err(Fault::on(line, reason).with_example(example))
    }

    /// Checks the points of the stars, which only the setup as a whole can get wrong (clause 2.1).
    fn star_totals(&self) -> Vec<Fault> {
        let sectors = [
            (self.home(), "your home sector", HOME_STARS),
            (Sector::Neutral, "the neutral sector", NEUTRAL_STARS),
        ];
        let mut faults = Vec::new();
        for (sector, name, wanted) in sectors {
            let there = self.stars.iter().filter(|star| self.sector(star.at.quadrant()) == sector);
            let total: u16 = there.map(|star| star.value).sum();
            if total != wanted {
                let off = total.abs_diff(wanted);
                let way = if total < wanted { "few" } else { "many" };
                faults.push(Fault::whole(format!(
                    "The valid stars in {name} are worth {total} together; \
                     they must be worth {wanted}: {off} too {way}."
                )));
            }
        }
        faults
    }

    /// Checks the number of stars and their quadrants, which only the setup as a whole can get wrong (clause
    /// 2.1).
    fn star_counts(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let lines = |stars: &[&PlannedStar]| list(stars.iter().map(|star| star.line), "and");
        let threes: Vec<&PlannedStar> = self.stars.iter().filter(|star| star.value == 3).collect();
        if threes.len() > 2 {
            let count = threes.len();
            let lines = lines(&threes);
            faults.push(Fault::whole(format!(
                "{count} stars have the value 3 (lines {lines}); at most two may."
            )));
        }
        for quadrant in Quadrant::all() {
            let there: Vec<&PlannedStar> =
                self.stars.iter().filter(|star| star.at.quadrant() == quadrant).collect();
            if there.len() > 2 {
                let count = there.len();
                let lines = lines(&there);
                faults.push(Fault::whole(format!(
                    "{count} of your stars are in {quadrant} (lines {lines}); at most two may be in one quadrant."
                )));
            }
        }
        let bare = |quadrant: &Quadrant| self.stars.iter().all(|star| star.at.quadrant() != *quadrant);
        let empty: Vec<Quadrant> = self.view.context.options.layout.neutral().filter(bare).collect();
        if !empty.is_empty() {
            let reason = format!(
                "Every neutral quadrant needs one or two stars of yours; none is in {}.",
                list(&empty, "or")
            );
            faults.push(Fault::whole(reason).with_example(self.another_star()));
        }
        faults
    }

    /// Checks that there is exactly one home base (clause 2.1).
    fn base(&self) -> Option<Fault> {
        let home = Quadrant::home(self.seat);
        let bases: Vec<&PlannedStar> = self.stars.iter().filter(|star| star.base).collect();
        if bases.len() > 1 {
            let lines = list(bases.iter().map(|star| star.line), "and");
            return Some(Fault::whole(format!(
                "{} stars are marked as your home base (lines {lines}); one must be.",
                bases.len()
            )));
        }
        let star = self.stars.iter().find(|star| star.at.quadrant() == home);
        let (at, value) = star.map_or((home.square(0), 3), |star| (star.at, star.value));
        bases.is_empty().then(|| {
            Fault::whole(format!("One star in {home}, your home quadrant, must be marked as your home base."))
                .with_example(Order::Star { at, value, base: true })
        })
    }

    /// Checks the points of the fleet, which only the setup as a whole can get wrong (clause 2.3).
    fn fleet_total(&self) -> Option<Fault> {
        if self.ships.is_empty() {
            let at = Quadrant::home(self.seat).square(2);
            let example = Order::Place { no: 1, class: Class { offence: 3, defence: 2 }, at };
            return Some(Fault::whole("You need at least one ship.").with_example(example));
        }
        let total: u32 = self.ships.iter().map(|ship| u32::from(ship.class.size())).sum();
        (total > u32::from(FLEET)).then(|| {
            Fault::whole(format!(
                "Your ships cost {total} points together, offence and defence; you have {FLEET} to spend."
            ))
        })
    }
}

/// The least value of a neutral quadrant's stars, and how many of the thirteen have one more: 30 together.
const NEUTRAL_VALUE: u16 = 2;
const RICHER: usize = 4;

/// A star to be placed.
struct Place {
    at: Square,
    value: u16,
    base: bool,
}

impl ReadySetup {
    /// The values of the stars in the home sector, the home base first: 15 together.
    fn home_values(self) -> &'static [u16] {
        match self {
            ReadySetup::Balanced => &[3, 2, 2, 2, 2, 2, 1, 1],
            ReadySetup::Raid => &[3, 3, 2, 2, 2, 1, 1, 1],
            ReadySetup::Guard => &[3, 3, 2, 2, 2, 2, 1],
        }
    }

    /// The offence and the defence of each ship: 15 points together.
    fn classes(self) -> &'static [(u16, u16)] {
        match self {
            ReadySetup::Balanced => &[(3, 2), (3, 2), (2, 1), (1, 1)],
            ReadySetup::Raid => &[(4, 1), (4, 1), (4, 1)],
            ReadySetup::Guard => &[(2, 4), (3, 2), (2, 2)],
        }
    }

    /// Draws a setup of this family for `seat`.
    pub fn draw(self, layout: Layout, seat: Seat, dice: &mut Dice) -> Vec<Order> {
        let mut stars = self.home_stars(layout, seat, dice);
        let ships = self.ships(&stars, layout, seat, dice);
        stars.extend(self.neutral_stars(layout, seat, dice));
        stars.sort_unstable_by_key(|star| star.at);
        let stars = stars.into_iter().map(|Place { at, value, base }| Order::Star { at, value, base });
        stars.chain(ships).collect()
    }

    /// Two squares at most in each quadrant; the first star is the home base.
    fn home_stars(self, layout: Layout, seat: Seat, dice: &mut Dice) -> Vec<Place> {
        let mut squares: Vec<Square> = Vec::new();
        for quadrant in layout.home_quadrants(seat) {
            squares.extend(two_squares(quadrant, dice));
        }
        // The home quadrant comes first, and with it the base.
        dice.shuffle(&mut squares[1..]);
        let values = self.home_values().iter().zip(squares).enumerate();
        values.map(|(index, (value, at))| Place { at, value: *value, base: index == 0 }).collect()
    }

    /// Raiders make the quadrants towards the enemy rich, and guards those near home.
    fn neutral_stars(self, layout: Layout, seat: Seat, dice: &mut Dice) -> Vec<Place> {
        let mut quadrants: Vec<Quadrant> = layout.neutral().collect();
        dice.shuffle(&mut quadrants);
        match self {
            ReadySetup::Balanced => {}
            ReadySetup::Raid => {
                quadrants.sort_by_key(|quadrant| quadrant.distance(Quadrant::home(seat.other())));
            }
            ReadySetup::Guard => quadrants.sort_by_key(|quadrant| quadrant.distance(Quadrant::home(seat))),
        }
        let mut stars = Vec::new();
        for (index, quadrant) in quadrants.into_iter().enumerate() {
            let values: &[u16] = match (index < RICHER, dice.below(3)) {
                (true, _) => &[NEUTRAL_VALUE, 1],
                (false, 0) => &[1, 1],
                (false, _) => &[NEUTRAL_VALUE],
            };
            let places = two_squares(quadrant, dice).into_iter().zip(values);
            stars.extend(places.map(|(at, value)| Place { at, value: *value, base: false }));
        }
        stars
    }

    /// Balanced fleets start on stars that they can capture, raiders far out, and guards around the base.
    fn ships(self, stars: &[Place], layout: Layout, seat: Seat, dice: &mut Dice) -> Vec<Order> {
        let home = Quadrant::home(seat);
        let sector: Vec<Square> = layout.home_quadrants(seat).flat_map(Quadrant::squares).collect();
        let mut on_stars: Vec<Square> = stars.iter().filter(|star| !star.base).map(|star| star.at).collect();
        dice.shuffle(&mut on_stars);
        let far: Vec<Square> =
            sector.iter().copied().filter(|at| at.quadrant().distance(home) >= 2).collect();
        let outside: Vec<Square> = sector.iter().copied().filter(|at| at.quadrant() != home).collect();
        let mut place = |index: usize| match self {
            ReadySetup::Balanced => on_stars[index],
            ReadySetup::Raid => far[dice.below(far.len())],
            ReadySetup::Guard => match index {
                0 => stars[0].at,
                1 => home.square(dice.below(4) as u8),
                _ => outside[dice.below(outside.len())],
            },
        };
        let ships = (1..).zip(self.classes()).enumerate();
        ships
            .map(|(index, (no, &(offence, defence)))| {
                let class = Class { offence, defence };
                Order::Place { no, class, at: place(index) }
            })
            .collect()
    }
}

/// Returns two random squares of a quadrant.
pub(crate) fn two_squares(quadrant: Quadrant, dice: &mut Dice) -> [Square; 2] {
    let mut cells = [0, 1, 2, 3];
    dice.shuffle(&mut cells);
    [quadrant.square(cells[0]), quadrant.square(cells[1])]
}
