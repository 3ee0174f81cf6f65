//! Whether a setup may stand (clause 2).

use super::check::{list, out_of_phase};
use super::galaxy::{Quadrant, Sector, Square};
use super::order::{Class, Order};
use super::view::View;
use crate::game::{Fault, Numbered, Seat};

/// Points for stars of the home sector, for stars of the neutral sector, and for ships.
const HOME_STARS: u16 = 15;
const NEUTRAL_STARS: u16 = 30;
const FLEET: u16 = 15;
/// The highest number that an owner gives to a ship.
const HIGHEST_NUMBER: u16 = 99;

/// Every fault of a setup.
pub fn faults(view: &View, orders: &[Numbered<Order>]) -> Vec<Fault> {
    let mut plan = Plan { view, seat: view.desk.viewer, stars: Vec::new(), ships: Vec::new() };
    let mut faults = Vec::new();
    for &Numbered { line, ref order } in orders {
        let taken = match *order {
            Order::Star { at, value, base } => plan.star(line, at, value, base),
            Order::Place { no, class, at } => plan.ship(line, no, class, at),
            Order::Move { no, to, .. } => {
                let home = Quadrant::home(plan.seat).square(0);
                Err(Fault::on(
                    line,
                    format!("Ship {no} cannot go to {to}: the match has not begun, ships are placed now."),
                )
                .with_example(Order::Place {
                    no,
                    class: Class { offence: 3, defence: 2 },
                    at: home,
                }))
            }
            _ => Err(out_of_phase(line, order, "stars and ships are placed now")
                .with_example(format_args!("STAR {} 3 BASE", Quadrant::home(plan.seat).square(0)))),
        };
        faults.extend(taken.err());
    }
    faults.extend(plan.star_totals());
    faults.extend(plan.fleet_total());
    faults
}

/// The lines that can stand, so far.
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
        self.view.desk.options.layout.sector(quadrant)
    }

    fn home(&self) -> Sector {
        Sector::Home(self.seat)
    }

    fn home_letters(&self) -> String {
        list(self.view.desk.options.layout.home(self.seat).chars(), "and")
    }

    /// Clause 2.1, what one line can break.
    fn star(&mut self, line: usize, at: Square, value: u16, base: bool) -> Result<(), Fault> {
        let quadrant = at.quadrant();
        let sector = self.sector(quadrant);
        let home = Quadrant::home(self.seat);
        let fault = |reason: String| Err(Fault::on(line, reason));
        let most = match sector {
            Sector::Home(owner) if owner != self.seat => {
                return fault(format!("{at} is in your opponent's home sector; you place no stars there."))
                    .map_err(|fault| fault.with_example(self.another_star()));
            }
            Sector::Home(_) => 3,
            Sector::Neutral => 2,
        };
        let another = |fault: Fault| fault.with_example(self.another_star());
        if value == 0 || value > most {
            let kind = if most == 3 {
                "your home sector have the value 1, 2 or 3"
            } else {
                "the neutral sector have the value 1 or 2"
            };
            return Err(Fault::on(
                line,
                format!("A star of value {value} at {at} cannot be: stars of {kind}."),
            )
            .with_example(Order::Star { at, value: most.min(2), base: base && quadrant == home }));
        }
        if base && quadrant != home {
            return Err(Fault::on(
                line,
                format!("{at} cannot be your home base, which is in {home}, your home quadrant."),
            )
            .with_example(Order::Star { at, value, base: false }));
        }
        if let Some(other) = self.stars.iter().find(|star| star.at == at) {
            return fault(format!(
                "Line {} puts a star on {at} already; a square holds one star of yours.",
                other.line
            ))
            .map_err(another);
        }
        if self.stars.iter().filter(|star| star.at.quadrant() == quadrant).count() >= 2 {
            return fault(format!("You have two stars in {quadrant} already; a third at {at} is too many."))
                .map_err(another);
        }
        if value == 3 && self.stars.iter().filter(|star| star.value == 3).count() >= 2 {
            return Err(Fault::on(
                line,
                format!("You have two stars of value 3 already; the one at {at} is too many."),
            )
            .with_example(Order::Star { at, value: 2, base }));
        }
        if base && let Some(other) = self.stars.iter().find(|star| star.base) {
            let reason = format!("Line {} makes {} your home base; there is only one.", other.line, other.at);
            return Err(Fault::on(line, reason).with_example(Order::Star { at, value, base: false }));
        }
        self.stars.push(PlannedStar { line, at, value, base });
        Ok(())
    }

    /// A star that would do: where one is wanted first of all.
    fn another_star(&self) -> Order {
        let count =
            |quadrant: Quadrant| self.stars.iter().filter(|star| star.at.quadrant() == quadrant).count();
        let neutral = || self.view.desk.options.layout.neutral();
        let quadrant =
            neutral().find(|&quadrant| count(quadrant) == 0).or_else(|| neutral().find(|&q| count(q) < 2));
        let quadrant = quadrant.unwrap_or(Quadrant::home(self.seat));
        let free = quadrant.squares().find(|&at| self.stars.iter().all(|star| star.at != at));
        Order::Star { at: free.unwrap_or(quadrant.square(0)), value: 2, base: false }
    }

    /// Clauses 2.3 and 2.4, what one line can break.
    fn ship(&mut self, line: usize, no: u16, class: Class, at: Square) -> Result<(), Fault> {
        let free = (1..=HIGHEST_NUMBER)
            .find(|&no| self.ships.iter().all(|ship| ship.no != no))
            .unwrap_or(HIGHEST_NUMBER);
        if no == 0 || no > HIGHEST_NUMBER {
            return Err(Fault::on(
                line,
                format!("A ship cannot be number {no}; numbers are 1 to {HIGHEST_NUMBER}."),
            )
            .with_example(Order::Place { no: free, class, at }));
        }
        if class.size() == 0 {
            return Err(Fault::on(
                line,
                format!("Ship {no} has neither offence nor defence; it needs one point at least."),
            )
            .with_example(Order::Place { no, class: Class { offence: 1, defence: 0 }, at }));
        }
        if self.sector(at.quadrant()) != self.home() {
            let reason = format!(
                "Ship {no} cannot start at {at}; your ships start in your home sector: {}.",
                self.home_letters()
            );
            return Err(Fault::on(line, reason).with_example(Order::Place {
                no,
                class,
                at: Quadrant::home(self.seat).square(at.cell()),
            }));
        }
        if let Some(other) = self.ships.iter().find(|ship| ship.no == no) {
            return Err(Fault::on(
                line,
                format!("Line {} places a ship {no} already; each has its own number.", other.line),
            )
            .with_example(Order::Place { no: free, class, at }));
        }
        self.ships.push(PlannedShip { line, no, class });
        Ok(())
    }

    /// Clause 2.1, what only the whole can break.
    fn star_totals(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let total = |sector: Sector| -> u16 {
            self.stars
                .iter()
                .filter(|star| self.sector(star.at.quadrant()) == sector)
                .map(|star| star.value)
                .sum()
        };
        for (sector, name, wanted) in [
            (self.home(), "your home sector", HOME_STARS),
            (Sector::Neutral, "the neutral sector", NEUTRAL_STARS),
        ] {
            let total = total(sector);
            if total != wanted {
                let off = if total < wanted {
                    format!("{} too few", wanted - total)
                } else {
                    format!("{} too many", total - wanted)
                };
                faults.push(Fault::whole(format!(
                    "The stars in {name} that can stand have a total value of {total}; it must be {wanted}: {off}."
                )));
            }
        }
        let empty: Vec<Quadrant> = self
            .view
            .desk
            .options
            .layout
            .neutral()
            .filter(|&quadrant| self.stars.iter().all(|star| star.at.quadrant() != quadrant))
            .collect();
        if !empty.is_empty() {
            let reason = format!(
                "Every neutral quadrant needs one or two stars of yours; {} has none.",
                list(&empty, "nor")
            );
            let reason = if empty.len() == 1 {
                reason
            } else {
                reason.replace(" has none", " have none").replace(" nor ", " and ")
            };
            faults.push(Fault::whole(reason).with_example(self.another_star()));
        }
        if self.stars.iter().all(|star| !star.base) {
            let home = Quadrant::home(self.seat);
            let reason = format!("One star in {home}, your home quadrant, must be marked as your home base.");
            let star = self.stars.iter().find(|star| star.at.quadrant() == home);
            let (at, value) = star.map_or((home.square(0), 3), |star| (star.at, star.value));
            faults.push(Fault::whole(reason).with_example(Order::Star { at, value, base: true }));
        }
        faults
    }

    /// Clause 2.3, what only the whole can break.
    fn fleet_total(&self) -> Option<Fault> {
        let example = Order::Place {
            no: 1,
            class: Class { offence: 3, defence: 2 },
            at: Quadrant::home(self.seat).square(2),
        };
        if self.ships.is_empty() {
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
