//! Checks whether the orders of a turn, or of the casualties, may stand together (clauses 3.0 to 3.5).
//!
//! The check sees only the seat's view. `rules` carries out the orders.

use std::fmt::Display;

use super::Casualties;
use super::combat::{Class, Ship};
use super::galaxy::{Quadrant, Square};
use super::order::Order;
use super::view::{KnownStar, View};
use crate::game::{Fault, Numbered};

/// Joins items as `1, 2 and 5`, with `word` before the last.
pub(super) fn list<T: Display>(items: impl IntoIterator<Item = T>, word: &str) -> String {
    let mut items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    match (items.pop(), items.is_empty()) {
        (None, _) => String::new(),
        (Some(last), true) => last,
        (Some(last), false) => format!("{} {word} {last}", items.join(", ")),
    }
}

/// The fault of an order for another phase. `now` says what is open instead.
pub(super) fn out_of_phase(line: usize, order: &Order, now: &str) -> Fault {
    let what = match order {
        Order::Star { .. } => "Stars are placed",
        Order::Place { .. } => "Ships are placed",
        Order::Ready(_) => "A ready setup is filed",
        Order::Build { .. } => "Ships are built",
        Order::Move { .. } | Order::Hold { .. } | Order::HoldAll => "Ships move or hold",
        Order::Capture { .. } => "Stars are captured",
        Order::Losses { .. } => "A standing list of losses is filed",
        Order::Lose { .. } => "Losses are named by quadrant",
    };
    let when = match order {
        Order::Star { .. } | Order::Place { .. } | Order::Ready(_) => "in the setup",
        Order::Lose { .. } => "after combat, when you are asked",
        _ => "in a turn",
    };
    Fault::on(line, format!("{what} {when}; {now}."))
}

/// Returns every fault of a turn's filing, in the order of clause 3.0: builds, ships' orders, the rest.
pub(super) fn turn_faults(view: &View, orders: &[Numbered<Order>]) -> Vec<Fault> {
    let mut check = FilingCheck::new(view);
    for &Numbered { line, ref order } in orders {
        if let Order::Build { class, at } = *order {
            let built = check.build(line, class, at);
            check.faults.extend(built.err());
        }
    }
    for &Numbered { line, ref order } in orders {
        let ordered = match *order {
            Order::Move { no, from, to } => check.movement(line, no, from, to),
            Order::Hold { no } => check.ship(line, no).map(|_| check.ordered.push((no, line))),
            _ => Ok(()),
        };
        check.faults.extend(ordered.err());
    }
    for &Numbered { line, ref order } in orders {
        let read = match order {
            Order::Capture { at } => check.capture(line, *at),
            Order::Losses { ships } => check.losses(line, ships),
            Order::Star { .. } | Order::Place { .. } | Order::Ready(_) | Order::Lose { .. } => {
                let now = "this is a turn";
                Err(out_of_phase(line, order, now).with_example(check.some_move()))
            }
            Order::Build { .. } | Order::Move { .. } | Order::Hold { .. } | Order::HoldAll => Ok(()),
        };
        check.faults.extend(read.err());
    }
    check.faults
}

/// The check of a turn's filing: the effects of the legal lines so far.
struct FilingCheck<'a> {
    view: &'a View,
    stock: u16,
    highest: u16,
    /// The seat's living ships, including those built in this filing.
    ships: Vec<Ship>,
    /// Ships that have an order, and its line.
    ordered: Vec<(u16, usize)>,
    moving: Vec<u16>,
    captures: Vec<(Square, usize)>,
    losses: Option<usize>,
    faults: Vec<Fault>,
}

/// Returns an order that the seat could give this turn; if possible, of the kind that `line` begins like.
pub(super) fn turn_example(view: &View, line: &str) -> Order {
    let check = FilingCheck::new(view);
    let mut words = line.split_whitespace();
    let verb = words.next().unwrap_or_default().to_ascii_uppercase();
    let number = words.next().and_then(|word| word.trim_matches(['#', ':', ',']).parse::<u16>().ok());
    let alike = match verb.as_str() {
        "BUILD" => check.some_build(),
        "CAPTURE" => check.some_capture().map(|at| Order::Capture { at }),
        "LOSSES" if view.context.options.casualties == Casualties::Standing => {
            Some(Order::Losses { ships: check.ships.iter().map(|ship| ship.no).take(3).collect() })
        }
        "HOLD" => Some(Order::HoldAll),
        _ => None,
    };
    let ship = check.ships.iter().find(|ship| Some(ship.no) == number);
    alike.unwrap_or_else(|| match ship {
        Some(ship) => check.some_move_of(ship),
        None => check.some_move(),
    })
}

/// Returns an order for every capture by ships that are on a star now.
pub(super) fn captures(view: &View) -> Vec<Order> {
    let mut check = FilingCheck::new(view);
    while let Some(at) = check.some_capture() {
        check.captures.push((at, 0));
    }
    let mut captured: Vec<Square> = check.captures.iter().map(|(at, _)| *at).collect();
    captured.sort_unstable();
    captured.into_iter().map(|at| Order::Capture { at }).collect()
}

/// Returns the squares where the seat can build.
pub(super) fn yards(view: &View) -> Vec<Square> {
    let mut check = FilingCheck::new(view);
    let mut can_build = |at: &Square| {
        check.stock = view.stock;
        check.build(0, Class { offence: 1, defence: 0 }, *at).is_ok()
    };
    Quadrant::home(view.context.viewer).squares().filter(|at| can_build(at)).collect()
}

/// Returns the stars that the seat can capture this turn with the ships that stand there, and with what its whole stock
/// could build beside them.
pub(super) fn takeable(view: &View) -> Vec<KnownStar> {
    let home = Quadrant::home(view.context.viewer);
    let now = FilingCheck::new(view);
    let is_takeable = |star: &&KnownStar| {
        if star.at.quadrant() != home {
            return now.capture_fault(star.at).is_none();
        }
        let mut check = FilingCheck::new(view);
        // Where nothing can be built, the ships alone decide.
        let _ = check.build(0, Class { offence: view.stock, defence: 0 }, star.at);
        check.capture_fault(star.at).is_none()
    };
    view.stars.iter().filter(is_takeable).copied().collect()
}

impl<'a> FilingCheck<'a> {
    fn new(view: &'a View) -> FilingCheck<'a> {
        FilingCheck {
            view,
            stock: view.stock,
            highest: view.context.highest,
            ships: view.ships.clone(),
            ordered: Vec::new(),
            moving: Vec::new(),
            captures: Vec::new(),
            losses: None,
            faults: Vec::new(),
        }
    }
}

impl FilingCheck<'_> {
    fn star(&self, at: Square) -> Option<&KnownStar> {
        self.view.stars.iter().find(|star| star.at == at)
    }

    /// Checks an order to build a ship (clause 3.1).
    fn build(&mut self, line: usize, class: Class, at: Square) -> Result<(), Fault> {
        let home = Quadrant::home(self.view.context.viewer);
        let free = |at: Square| self.star(at).is_some_and(|star| star.captured_by.is_none());
        let yard = Some(at)
            .filter(|at| at.quadrant() == home && free(*at))
            .or_else(|| home.squares().find(|&at| free(at)));
        let cost = class.size();
        let fits =
            if (1..=self.stock).contains(&cost) { class } else { Class { offence: self.stock, defence: 0 } };
        let example = |fault: Fault| match yard {
            Some(at) if fits.size() > 0 => fault.with_example(Order::Build { class: fits, at }),
            _ => fault,
        };
        let reason = if at.quadrant() != home {
            format!(
                "{at} is not in {home}, your home quadrant; ships are built there, at stars not captured."
            )
        } else if !free(at) {
            match self.star(at) {
                Some(_) => {
                    format!("The star at {at} has been captured; no ship can be built there any more.")
                }
                None => format!("There is no star at {at}; ships are built where one stands."),
            }
        } else if cost == 0 {
            format!("A ship {class} would have neither offence nor defence; it needs at least one point.")
        } else if cost > self.stock {
            format!("A ship {class} costs {cost}; your stock holds {} when this line is reached.", self.stock)
        } else {
            self.stock -= cost;
            self.highest += 1;
            self.ships.push(Ship { no: self.highest, class, at });
            return Ok(());
        };
        Err(example(Fault::on(line, reason)))
    }

    fn no_ship(&self, no: u16) -> String {
        let own = list(self.ships.iter().map(|ship| ship.no), "and");
        let have = if self.ships.len() == 1 { "ship is" } else { "ships are" };
        format!("You have no ship {no}; your {have} {own}.")
    }

    /// Returns a living ship of the seat that has no order yet.
    fn ship(&self, line: usize, no: u16) -> Result<Ship, Fault> {
        let Some(ship) = self.ships.iter().find(|ship| ship.no == no) else {
            return Err(Fault::on(line, self.no_ship(no)).with_example(self.some_move()));
        };
        if let Some((_, other)) = self.ordered.iter().find(|(ordered, _)| *ordered == no) {
            return Err(Fault::on(
                line,
                format!("Ship {no} already has an order in line {other}; it can have only one."),
            )
            .with_example(self.some_move()));
        }
        Ok(*ship)
    }

    /// Checks a move (clause 3.2).
    fn movement(&mut self, line: usize, no: u16, from: Option<Square>, to: Square) -> Result<(), Fault> {
        let ship = self.ship(line, no)?;
        let at = ship.at;
        if let Some(from) = from.filter(|&from| from != at) {
            let to = if at.reaches(to) { to } else { step_towards(at, to) };
            return Err(Fault::on(line, format!("Ship {no} is at {at}, not at {from}."))
                .with_example(Order::Move { no, from: Some(at), to }));
        }
        if !at.reaches(to) {
            let reason = if at == to {
                format!("Ship {no} is at {at} already; to stay, give it no order.")
            } else if at.quadrant() == to.quadrant() {
                let beside = list(at.quadrant().squares().filter(|&square| at.is_adjacent(square)), "and");
                format!(
                    "Ship {no} is at {at}; within {} it can go to {beside}, and {to} is diagonal.",
                    at.quadrant()
                )
            } else {
                let beside =
                    list(Quadrant::all().filter(|&quadrant| at.quadrant().is_beside(quadrant)), "or");
                format!(
                    "Ship {no} is in {}; it can go to a quadrant beside it ({beside}) or to a square beside its own, \
                     and {} is neither.",
                    at.quadrant(),
                    to.quadrant()
                )
            };
            return Err(Fault::on(line, reason).with_example(Order::Move {
                no,
                from: None,
                to: step_towards(at, to),
            }));
        }
        self.ordered.push((no, line));
        self.moving.push(no);
        Ok(())
    }

    /// Returns an example of a move, if possible of a ship that has no order.
    fn some_move(&self) -> Order {
        let free = |ship: &&Ship| self.ordered.iter().all(|(no, _)| *no != ship.no);
        match self.ships.iter().find(free) {
            Some(ship) => self.some_move_of(ship),
            None => Order::HoldAll,
        }
    }

    fn some_move_of(&self, ship: &Ship) -> Order {
        let goal = Quadrant::home(self.view.context.viewer.other()).square(ship.at.cell());
        Order::Move { no: ship.no, from: None, to: step_towards(ship.at, goal) }
    }

    /// Returns an example of a ship to build; `None` if nothing can be built.
    fn some_build(&self) -> Option<Order> {
        let home = Quadrant::home(self.view.context.viewer);
        let is_free = |at: &Square| self.star(*at).is_some_and(|star| star.captured_by.is_none());
        let at = home.squares().find(is_free)?;
        (self.stock > 0).then_some(Order::Build { class: Class { offence: self.stock, defence: 0 }, at })
    }

    /// Checks a capture: the conditions of clause 3.5 that apply at the time of filing.
    fn capture(&mut self, line: usize, at: Square) -> Result<(), Fault> {
        let example = |fault: Fault| match self.some_capture() {
            Some(at) => fault.with_example(Order::Capture { at }),
            None => fault,
        };
        if let Some((_, other)) = self.captures.iter().find(|(square, _)| *square == at) {
            return Err(example(Fault::on(line, format!("Line {other} captures {at} already."))));
        }
        match self.capture_fault(at) {
            Some(reason) => Err(example(Fault::on(line, reason))),
            None => {
                self.captures.push((at, line));
                Ok(())
            }
        }
    }

    /// Returns the reason why the orders read so far cannot capture the star at `at`, if there is one.
    fn capture_fault(&self, at: Square) -> Option<String> {
        let staying =
            || self.ships.iter().filter(move |ship| ship.at == at && !self.moving.contains(&ship.no));
        let offence: u32 = staying().map(|ship| u32::from(ship.class.offence)).sum();
        let Some(star) = self.star(at) else { return Some(format!("You know of no star at {at}.")) };
        if star.captured_by.is_some() {
            Some(format!("The star at {at} has been captured; it stays with whoever took it."))
        } else if star.base {
            Some(format!("{at} is your own home base; you cannot capture it."))
        } else if staying().next().is_none() {
            Some(format!(
                "No ship of yours stays at {at}; to capture, it must stand there and not move this turn."
            ))
        } else if offence < u32::from(star.value) {
            Some(format!(
                "The star at {at} has the value {}; your ships that stay there have an offence of {offence} together.",
                star.value
            ))
        } else {
            None
        }
    }

    fn some_capture(&self) -> Option<Square> {
        let new = |at: &Square| self.captures.iter().all(|(square, _)| square != at);
        self.ships.iter().map(|ship| ship.at).find(|at| new(at) && self.capture_fault(*at).is_none())
    }

    /// Checks a standing list of losses (`Z-CASUALTIES`, option `standing`).
    fn losses(&mut self, line: usize, ships: &[u16]) -> Result<(), Fault> {
        if self.view.context.options.casualties == Casualties::Ask {
            let reason = "In this match you are asked after combat which ships go; no list is filed before.";
            return Err(Fault::on(line, reason).with_example(self.some_move()));
        }
        if let Some(other) = self.losses {
            return Err(Fault::on(
                line,
                format!("Line {other} already gives a list; there can be only one."),
            ));
        }
        let own: Vec<u16> = self.ships.iter().map(|ship| ship.no).collect();
        named_once(line, ships, &own, |no| self.no_ship(no))
            .map_err(|(fault, good)| fault.with_example(Order::Losses { ships: good }))?;
        self.losses = Some(line);
        Ok(())
    }
}

/// Returns an order that names a loss.
pub(super) fn casualties_example(view: &View) -> Option<Order> {
    let (quadrant, ships) = view.context.fighting.iter().find(|(_, ships)| ships.len() > 1)?;
    Some(Order::Lose { quadrant: *quadrant, ships: vec![ships[0]] })
}

/// Returns every fault of a filing of the phase `casualties`.
pub(super) fn casualties_faults(view: &View, orders: &[Numbered<Order>]) -> Vec<Fault> {
    let fighting = &view.context.fighting;
    let example = |fault: Fault| match casualties_example(view) {
        Some(order) => fault.with_example(order),
        None => fault,
    };
    let mut named: Vec<(Quadrant, usize)> = Vec::new();
    let mut faults = Vec::new();
    for &Numbered { line, ref order } in orders {
        let Order::Lose { quadrant, ref ships } = *order else {
            faults.push(example(out_of_phase(line, order, "now you are asked for your losses")));
            continue;
        };
        let Some((_, own)) = fighting.iter().find(|(fought, _)| *fought == quadrant) else {
            faults.push(example(Fault::on(line, format!("No ship of yours fought in {quadrant}."))));
            continue;
        };
        if let Some((_, other)) = named.iter().find(|(other, _)| *other == quadrant) {
            faults.push(Fault::on(line, format!("Line {other} names the losses in {quadrant} already.")));
            continue;
        }
        let stranger = |no| {
            format!("Ship {no} did not fight in {quadrant}; your ships that did are {}.", list(own, "and"))
        };
        match named_once(line, ships, own, stranger) {
            Ok(()) => named.push((quadrant, line)),
            Err((fault, good)) => {
                let ships = if good.is_empty() { vec![own[0]] } else { good };
                faults.push(fault.with_example(Order::Lose { quadrant, ships }));
            }
        }
    }
    faults
}

/// Checks that `ships` are all among `own`, each once. A fault lists the ships that pass, as an example.
fn named_once(
    line: usize,
    ships: &[u16],
    own: &[u16],
    stranger: impl FnOnce(u16) -> String,
) -> Result<(), (Fault, Vec<u16>)> {
    let mut good = Vec::new();
    let mut reason = None;
    let mut stranger = Some(stranger);
    for &no in ships {
        if good.contains(&no) {
            reason.get_or_insert_with(|| format!("Ship {no} is named twice."));
        } else if own.contains(&no) {
            good.push(no);
        } else if let Some(stranger) = stranger.take() {
            reason.get_or_insert_with(|| stranger(no));
        }
    }
    reason.map_or(Ok(()), |reason| Err((Fault::on(line, reason), good)))
}

/// Returns a square that a ship at `from` can go to, on its way to `to`.
fn step_towards(from: Square, to: Square) -> Square {
    let quadrant = if from.quadrant() == to.quadrant() {
        from.quadrant()
    } else {
        let beside = Quadrant::all().filter(|&quadrant| from.quadrant().is_beside(quadrant));
        beside
            .min_by_key(|quadrant| quadrant.distance(to.quadrant()))
            .expect("every quadrant has others beside it")
    };
    let mut squares = quadrant.squares().filter(|&square| from.reaches(square));
    let wanted = quadrant.square(to.cell());
    if from.reaches(wanted) { wanted } else { squares.next().expect("every square has others beside it") }
}
