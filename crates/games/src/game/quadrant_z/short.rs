//! Short forms of orders, which letters may have: several ships, stars or a whole quadrant on one line. They
//! are written out from the seat's view. Records hold only the long forms.

use super::check::list;
use super::combat::Ship;
use super::galaxy::{Quadrant, Square};
use super::order::{self, Order};
use super::view::View;
use crate::game::{Fault, Line, Phase};

/// A line in a short form.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Short {
    /// `SHIPS 1 3 4 TO B2`, `SHIP 1 B2`.
    Move { ships: Vec<u16>, to: Square },
    /// `SHIPS 1 3 HOLD`.
    Hold { ships: Vec<u16> },
    /// `ALL IN A TO B2`: the ships in the quadrant that have no order of their own.
    AllIn { from: Quadrant, to: Square },
    /// `CAPTURE A1 B4`.
    Captures(Vec<Square>),
    /// `REST HOLD`.
    RestHolds,
}

impl Short {
    fn parse(line: &str) -> Option<Short> {
        let line = line.to_ascii_uppercase().replace("->", " TO ");
        let words = order::words(&line);
        let words: Vec<&str> = words.into_iter().filter(|word| *word != "AND").collect();
        match words[..] {
            ["REST", "HOLD" | "HOLDS"] => Some(Short::RestHolds),
            ["ALL", "IN", from, "TO", to] => {
                Some(Short::AllIn { from: Quadrant::parse(from)?, to: Square::parse(to)? })
            }
            ["CAPTURE", ref at @ ..] if at.len() > 1 => {
                Some(Short::Captures(at.iter().map(|at| Square::parse(at)).collect::<Option<_>>()?))
            }
            ["SHIP" | "SHIPS", ref rest @ ..] => {
                let count = rest.iter().take_while(|word| order::number(word).is_ok()).count();
                let ships: Vec<u16> =
                    rest[..count].iter().filter_map(|word| order::number(word).ok()).collect();
                match rest[count..] {
                    _ if ships.is_empty() => None,
                    ["HOLD" | "HOLDS" | "STAY"] => Some(Short::Hold { ships }),
                    ["TO", to] | [to] => Some(Short::Move { ships, to: Square::parse(to)? }),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the orders of a line that itself names all its ships and squares.
    fn orders(self) -> Vec<Order> {
        match self {
            Short::Move { ships, to } => {
                ships.into_iter().map(|no| Order::Move { no, from: None, to }).collect()
            }
            Short::Hold { ships } => ships.into_iter().map(|no| Order::Hold { no }).collect(),
            Short::Captures(at) => at.into_iter().map(|at| Order::Capture { at }).collect(),
            Short::RestHolds => vec![Order::HoldAll],
            Short::AllIn { .. } => Vec::new(),
        }
    }
}

/// Implements [`crate::game::Game::write_out`].
pub(super) fn write_out(view: &View, lines: &[Line]) -> (Vec<Line>, Vec<Fault>) {
    let mut out = Vec::with_capacity(lines.len());
    let mut faults = Vec::new();
    if view.context.phase != Some(Phase::Turn) {
        return (lines.to_vec(), faults);
    }
    let mut ordered = Vec::new();
    let mut whole = Vec::new();
    for line in lines {
        if let Ok(orders) = order::parse(&line.text) {
            note_ships(&orders, &mut ordered);
            out.push(line.clone());
            continue;
        }
        match Short::parse(&line.text) {
            None => out.push(line.clone()),
            Some(Short::AllIn { from, to }) => whole.push((line.no, from, to)),
            Some(short) => {
                let orders = short.orders();
                note_ships(&orders, &mut ordered);
                out.extend(orders.iter().map(|order| Line { no: line.no, text: order.to_string() }));
            }
        }
    }
    for (no, from, to) in whole {
        match all_in(view, from, to, &ordered) {
            Err(reason) => faults.push(Fault::on(no, reason)),
            Ok(orders) => {
                note_ships(&orders, &mut ordered);
                out.extend(orders.iter().map(|order| Line { no, text: order.to_string() }));
            }
        }
    }
    (out, faults)
}

fn note_ships(orders: &[Order], ordered: &mut Vec<u16>) {
    ordered.extend(orders.iter().filter_map(|order| match order {
        Order::Move { no, .. } | Order::Hold { no } => Some(*no),
        _ => None,
    }));
}

/// Returns the moves of all ships in a quadrant that have no order yet, or the reason why they cannot all
/// move.
fn all_in(view: &View, from: Quadrant, to: Square, ordered: &[u16]) -> Result<Vec<Order>, String> {
    let is_free = |ship: &&Ship| ship.at.quadrant() == from && !ordered.contains(&ship.no);
    // A ship that is there already has nothing to do.
    let ships: Vec<&Ship> = view.ships.iter().filter(is_free).filter(|ship| ship.at != to).collect();
    if ships.is_empty() {
        return Err(format!("You have no ship in {from} without an order of its own that could go to {to}."));
    }
    let stuck: Vec<u16> = ships.iter().filter(|ship| !ship.at.reaches(to)).map(|ship| ship.no).collect();
    match stuck[..] {
        [] => Ok(ships.iter().map(|ship| Order::Move { no: ship.no, from: None, to }).collect()),
        [only] => Err(format!("Ship {only} cannot go from {from} to {to}, so this line moves none.")),
        _ => {
            let stuck = list(stuck, "and");
            Err(format!("Ships {stuck} cannot go from {from} to {to}, so this line moves none."))
        }
    }
}
