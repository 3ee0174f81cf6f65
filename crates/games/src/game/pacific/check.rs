//! Checks whether the orders of a seat may stand.
//!
//! The view holds only the number of enemy submarines, so no refusal can depend on where they are.
//!
//! Data for templates in addition to the view's JSON: attacks on submarines so far, the score, and sample
//! orders.

use serde_json::{Value, json};

use super::fleet::{Area, Chart, Class, REACH, Ship, ShipKind, Square, points, reaches};
use super::order::{Order, SubmarineOrder};
use super::rules::{submarine_goes, torpedo_reaches};
use super::setup::{SetupFleet, sample_setup};
use super::view::View;
use super::{Leap, Torpedo};
use crate::game::{Fault, Numbered, Phase, Sealed};

/// Implements [`crate::game::Game::check`].
pub fn check(view: &View, orders: &[Numbered<Order>]) -> Result<Sealed<Order>, Vec<Fault>> {
    let orders: Vec<Numbered<Order>> = orders.iter().map(|order| with_square(view, order)).collect();
    let faults = match view.phase {
        Some(Phase::Setup) => setup(view, &orders),
        Some(Phase::Surface) => surface(view, &orders),
        Some(Phase::Submarines) => submarines(view, &orders),
        Some(Phase::Turn | Phase::Casualties | Phase::Move) | None => {
            vec![Fault::whole("The match is over; nothing can be ordered.")]
        }
    };
    if faults.is_empty() {
        Ok(Sealed::new(orders.into_iter().map(|numbered| numbered.order).collect()))
    } else {
        Err(faults)
    }
}

/// Replaces the number of the viewer's own ship with its square, by which an adjudication identifies ships.
fn with_square(view: &View, numbered: &Numbered<Order>) -> Numbered<Order> {
    let Order::Numbered { class, no, to } = numbered.order else { return numbered.clone() };
    let is_meant = |ship: &&Ship| ship.class() == class && ship.kind.no() == Some(no);
    let order = match view.own_ships().iter().find(is_meant) {
        Some(ship) => Order::Move { class: Some(class), from: ship.at, to },
        None => numbered.order.clone(),
    };
    Numbered { line: numbered.line, order }
}

/// Returns an order of the open phase for somebody whose line could not be read.
pub fn example(view: &View, line: &str) -> Option<String> {
    let words: Vec<String> = line.split_whitespace().map(str::to_ascii_uppercase).collect();
    let first = words.first().map(String::as_str).unwrap_or_default();
    let is_alike = |order: &&Order| match order {
        Order::Carrier { .. } => first.starts_with("CARRIER") || first.starts_with("SQUADRON"),
        Order::Ships { class, .. } => first.to_ascii_lowercase().starts_with(class.name()),
        Order::Submarines(_) => first.starts_with("SUBMARINE"),
        Order::Ready(_) => first == "SETUP",
        Order::Move { class, .. } => class.is_some_and(|class| first.starts_with(class.letter())),
        Order::Asw(_) => first == "ASW",
        Order::Submarine(SubmarineOrder::Fire { .. }) => words.iter().any(|word| word == "FIRE"),
        Order::Submarine(SubmarineOrder::Sonar { .. }) => words.iter().any(|word| word == "SONAR"),
        Order::Submarine(SubmarineOrder::Pass) => words.iter().any(|word| word == "PASS"),
        Order::Submarine(SubmarineOrder::Move { .. }) | Order::Numbered { .. } => false,
    };
    let examples = examples(view);
    let found = examples.iter().find(is_alike).or(examples.first());
    found.map(Order::to_string)
}

/// The reason why a line is at fault, and an example of a valid one.
type LineFault = (String, Option<String>);

fn setup(view: &View, orders: &[Numbered<Order>]) -> Vec<Fault> {
    let mut fleet = SetupFleet::new(view.viewer, &view.options);
    let mut faults: Vec<Fault> = Vec::new();
    for Numbered { line, order } in orders {
        if let Err(reason) = fleet.add(order) {
            faults.push(Fault { example: like_line(view, order), ..Fault::on(*line, reason) });
        }
    }
    // Lines that accompany a ready setup are not a whole setup, so do not check their totals.
    if !orders.iter().any(|numbered| matches!(numbered.order, Order::Ready(_))) {
        faults.extend(fleet.totals().into_iter().map(Fault::whole));
    }
    faults
}

/// Returns the line of the same kind from a legal setup.
fn like_line(view: &View, order: &Order) -> Option<String> {
    let alike = |sample: &Order| match (sample, order) {
        (Order::Ships { class, .. }, Order::Ships { class: wanted, .. }) => class == wanted,
        _ => std::mem::discriminant(sample) == std::mem::discriminant(order),
    };
    sample_setup(view.viewer, &view.options).into_iter().find(alike).map(|order| order.to_string())
}

fn surface(view: &View, orders: &[Numbered<Order>]) -> Vec<Fault> {
    let of_this_phase =
        |order: &Order| matches!(order, Order::Move { .. } | Order::Numbered { .. } | Order::Asw(_));
    let mut faults = one_order(orders, of_this_phase, |order| surface_fault(view, order));
    if orders.is_empty() {
        let fault = Fault::missing("There is no order here; a ship must move, or attack submarines.");
        faults.push(Fault { example: some_move(view), ..fault });
    }
    faults
}

fn submarines(view: &View, orders: &[Numbered<Order>]) -> Vec<Fault> {
    let of_this_phase = |order: &Order| matches!(order, Order::Submarine(_));
    one_order(orders, of_this_phase, |order| submarine_fault(view, order))
}

/// Returns the fault of each line, and the fault of more than one order.
fn one_order(
    orders: &[Numbered<Order>],
    of_this_phase: impl Fn(&Order) -> bool,
    fault: impl Fn(&Order) -> Option<LineFault>,
) -> Vec<Fault> {
    let found = orders.iter().filter_map(|numbered| Some((numbered.line, fault(&numbered.order)?)));
    let mut faults: Vec<Fault> =
        found.map(|(line, (reason, example))| Fault { example, ..Fault::on(line, reason) }).collect();
    if orders.iter().filter(|numbered| of_this_phase(&numbered.order)).count() > 1 {
        faults.push(Fault::whole("There is more than one order, and only one is allowed in a turn."));
    }
    faults
}

fn surface_fault(view: &View, order: &Order) -> Option<LineFault> {
    match order {
        Order::Move { class, from, to } => move_fault(view, *class, *from, *to),
        Order::Numbered { class, no, .. } => {
            let name = class.name();
            let letter = class.letter();
            Some((format!("You have no {name} {letter}{no} afloat."), some_move(view)))
        }
        Order::Asw(area) => asw_fault(view, *area),
        Order::Carrier { .. } | Order::Ships { .. } | Order::Submarines(_) | Order::Ready(_) => {
            let reason = "The fleets have been set up, and this is a surface turn. A ship that moves is named by its \
                          square, or a carrier or squadron by its number, without the word for its class.";
            Some((reason.to_owned(), some_move(view)))
        }
        Order::Submarine(_) => {
            Some(("Submarines are not due now; this is a surface turn.".to_owned(), some_move(view)))
        }
    }
}

/// Returns a legal move of the viewer, as an example.
fn some_move(view: &View) -> Option<String> {
    let chart = Chart::new(&view.ships, view.options.squadron_leap);
    let moves =
        view.own_ships().iter().filter_map(|ship| Some((ship, chart.first_target(view.viewer, ship)?)));
    moves.map(|(ship, to)| move_order(ship, to)).next()
}

fn move_order(ship: &Ship, to: Square) -> String {
    Order::Move { class: Some(ship.class()), from: ship.at, to }.to_string()
}

fn move_fault(view: &View, class: Option<Class>, from: Square, to: Square) -> Option<LineFault> {
    let side = view.viewer;
    let chart = Chart::new(&view.ships, view.options.squadron_leap);
    let Some(ship) = chart.ship(side, from) else {
        let reason = match chart.ship(side.other(), from) {
            Some(enemy) => format!("The {} on {from} is the other side's.", enemy.class().name()),
            None => format!("There is no ship on {from}."),
        };
        return Some((reason, some_move(view)));
    };
    let example =
        || chart.first_target(side, ship).map(|to| move_order(ship, to)).or_else(|| some_move(view));
    if let Some(class) = class.filter(|class| *class != ship.class()) {
        let reason = format!("The ship on {from} is a {}, not a {}.", ship.class().name(), class.name());
        return Some((reason, example()));
    }
    (!chart.allows(side, ship, to)).then(|| (why_not(view, &chart, ship, to), example()))
}

/// Explains in plain sentences why `ship` may not go to `to`.
fn why_not(view: &View, chart: &Chart<'_>, ship: &Ship, to: Square) -> String {
    let from = ship.at;
    let name = ship.class().name();
    let escort = match ship.kind {
        ShipKind::Carrier { no } => chart.escort(view.viewer, no),
        ShipKind::Squadron { .. } | ShipKind::Battleship | ShipKind::Cruiser | ShipKind::Destroyer => None,
    };
    let files = from.file().abs_diff(to.file());
    let ranks = from.rank().abs_diff(to.rank());
    let straight = files == 0 || ranks == 0;
    let diagonal = files == ranks;
    let leap = files * ranks == 2;
    if from == to {
        return format!("The {name} is on {from} already.");
    }
    if let Some(own) = chart.ship(view.viewer, to).filter(|_| escort != Some(to)) {
        return format!("Your own {} is on {to}.", own.class().name());
    }
    match ship.kind {
        ShipKind::Carrier { .. } if from.king_steps(to) == 1 => format!(
            "Its squadron on {} is not launched and would go along by the same step; the square it would come to \
             is not free, or not on the board.",
            escort.unwrap_or(from)
        ),
        ShipKind::Carrier { .. } => {
            format!("A carrier goes one square, like a king; {to} is farther from {from}.")
        }
        ShipKind::Destroyer => {
            format!("A destroyer leaps like a knight; from {from} to {to} is not such a leap.")
        }
        ShipKind::Cruiser if straight && from.king_steps(to) == 1 => {
            "A cruiser goes sideways only to an empty square, and sinks nothing that way.".to_owned()
        }
        ShipKind::Cruiser if !diagonal => format!(
            "A cruiser goes diagonally, like a bishop, or one square sideways; from {from} to {to} is neither."
        ),
        ShipKind::Battleship if !straight => {
            format!("A battleship goes straight, like a rook; from {from} to {to} is not straight.")
        }
        ShipKind::Squadron { leapt: true, .. } if leap && view.options.squadron_leap == Leap::Once => {
            "This squadron has made its one move like a knight.".to_owned()
        }
        ShipKind::Squadron { .. } if !straight && !diagonal => {
            format!("A squadron moves like a queen, or leaps like a knight; from {from} to {to} is neither.")
        }
        ShipKind::Squadron { .. } | ShipKind::Battleship | ShipKind::Cruiser => {
            format!("Another ship is in the way from {from} to {to}.")
        }
    }
}

fn asw_fault(view: &View, corner: Square) -> Option<LineFault> {
    if !view.options.submarines {
        return Some(("This match is played without submarines.".to_owned(), some_move(view)));
    }
    let reason = match Area::new(corner) {
        Some(area) if reaches(view.own_ships(), area) => return None,
        Some(_) => {
            format!(
                "No ship of yours other than a squadron is within {REACH} squares of the area at {corner}."
            )
        }
        None => over_the_edge(corner),
    };
    let reachable = Area::all().find(|area| reaches(view.own_ships(), *area));
    Some((reason, reachable.map(|area| Order::Asw(area.corner()).to_string())))
}

fn over_the_edge(corner: Square) -> String {
    format!(
        "The area at {corner} would reach over the edge; its south-west corner is one of A to O, 1 to 15."
    )
}

fn submarine_fault(view: &View, order: &Order) -> Option<LineFault> {
    let order = match order {
        Order::Submarine(order) => order,
        Order::Carrier { .. } | Order::Ships { .. } | Order::Submarines(_) | Order::Ready(_) => {
            return Some(("The fleets have been set up; this is a submarine turn.".to_owned(), pass_line()));
        }
        Order::Move { .. } | Order::Numbered { .. } | Order::Asw(_) => {
            return Some((
                "Surface ships are not due now; this is a submarine turn.".to_owned(),
                pass_line(),
            ));
        }
    };
    let no = order.no()?;
    let Some(submarine) = view.own_submarines().iter().find(|submarine| submarine.no == no) else {
        let own: Vec<String> = view.own_submarines().iter().map(|own| format!("U{}", own.no)).collect();
        return Some((format!("You have no submarine U{no}; you have {}.", own.join(", ")), pass_line()));
    };
    let at = submarine.at;
    let (reason, example) = match *order {
        SubmarineOrder::Move { from: Some(from), .. } if from != at => {
            (format!("U{no} is on {at}, not on {from}."), some_dive(view, no, at))
        }
        SubmarineOrder::Move { to, .. } => (dive_fault(view, at, to)?, some_dive(view, no, at)),
        SubmarineOrder::Fire { at: target, .. } => (fire_fault(view, at, target)?, some_shot(view, no, at)),
        SubmarineOrder::Sonar { area, .. } => (sonar_fault(no, at, area)?, some_sonar(no, at)),
        SubmarineOrder::Pass => return None,
    };
    Some((reason, example.or_else(pass_line)))
}

fn pass_line() -> Option<String> {
    Some(SubmarineOrder::Pass.to_string())
}

/// Whether a submarine of the viewer on `from` may go to `to` (4.1).
pub(super) fn can_dive(view: &View, from: Square, to: Square) -> bool {
    submarine_goes(from, to) && view.own_submarines().iter().all(|own| own.at != to)
}

/// Whether a submarine of the viewer on `from` may fire at `target` (4.2).
pub(super) fn can_fire(view: &View, from: Square, target: Square) -> bool {
    fire_fault(view, from, target).is_none()
}

fn dive_fault(view: &View, from: Square, to: Square) -> Option<String> {
    if !submarine_goes(from, to) {
        Some(format!(
            "A submarine goes 1 to 3 squares in a straight line; from {from} to {to} is not such a move."
        ))
    } else {
        (!can_dive(view, from, to)).then(|| format!("Another submarine of yours is on {to}."))
    }
}

fn some_dive(view: &View, no: u16, from: Square) -> Option<String> {
    let to = Square::all().find(|to| can_dive(view, from, *to))?;
    Some(SubmarineOrder::Move { no, from: Some(from), to }.to_string())
}

fn fire_fault(view: &View, from: Square, target: Square) -> Option<String> {
    let enemy = view.ships[view.viewer.other()].iter().find(|ship| ship.at == target);
    let distance = from.king_steps(target);
    match enemy {
        None => Some(format!("There is no enemy ship on {target}.")),
        Some(ship) if ship.is_squadron() => {
            Some(format!("The ship on {target} is a squadron; torpedoes do not reach aircraft."))
        }
        Some(_) if !torpedo_reaches(view.options.torpedo, distance) => {
            let range = match view.options.torpedo {
                Torpedo::Exact => "exactly 2 squares",
                Torpedo::Within => "2 squares or fewer",
            };
            Some(format!("A torpedo hits at {range}; {target} is {distance} from {from}."))
        }
        Some(_) => None,
    }
}

fn some_shot(view: &View, no: u16, from: Square) -> Option<String> {
    let targets = view.ships[view.viewer.other()].iter().map(|ship| ship.at);
    let mut hits = targets.filter(|target| fire_fault(view, from, *target).is_none());
    hits.next().map(|at| SubmarineOrder::Fire { no, at }.to_string()).or_else(|| some_dive(view, no, from))
}

fn sonar_fault(no: u16, from: Square, corner: Square) -> Option<String> {
    match Area::new(corner) {
        None => Some(over_the_edge(corner)),
        Some(area) if area.distance(from) <= REACH => None,
        Some(_) => {
            Some(format!("U{no} is on {from}; the area at {corner} is more than {REACH} squares away."))
        }
    }
}

fn some_sonar(no: u16, from: Square) -> Option<String> {
    let near = Area::all().find(|area| area.distance(from) <= REACH)?;
    Some(SubmarineOrder::Sonar { no, area: near.corner() }.to_string())
}

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
        let no = submarine.no;
        let from = submarine.at;
        let goes = |to: &Square| submarine_goes(from, *to) && own.iter().all(|own| own.at != *to);
        orders.extend(Square::all().find(goes).map(|to| SubmarineOrder::Move { no, from: Some(from), to }));
        let area = Area::all().find(|area| area.distance(from) <= super::fleet::REACH);
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
