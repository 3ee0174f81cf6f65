//! The view of a seat of Quantum, which hides nothing.
//!
//! The board of Quantum as text.

use std::fmt::Write as _;

use serde::Serialize;

use super::order::Order;
use super::pieces::{Board, Spot, Stack};
use super::rules::{self, Last, State, may_move};
use crate::game::{BySeat, Fault, Game, Numbered, Sealed, Seat};

/// The JSON of clause 4. `state` and `view` are the same except for the viewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    pub turn: u32,
    pub to_move: Option<Seat>,
    pub stacks: Board,
    pub towers: BySeat<u8>,
    pub quiet: u32,
    pub last: Option<Last>,
    /// Whether single pieces may jump (clause 2.3).
    #[serde(skip)]
    pub(crate) jump: bool,
    /// Turns of each side in a row without stacking that end the match (N-STALL).
    #[serde(skip)]
    pub(crate) quiet_limit: u32,
    /// The seat whose view it is.
    #[serde(skip)]
    pub(super) viewer: Seat,
}

impl View {
    pub(super) fn new(state: &State, viewer: Seat) -> View {
        View {
            turn: state.turn,
            to_move: state.to_move,
            stacks: state.board.clone(),
            towers: state.board.towers(),
            quiet: state.quiet,
            last: state.last,
            jump: state.options.jump.is_on(),
            quiet_limit: state.options.quiet_limit,
            viewer,
        }
    }

    /// Returns every legal move of the side to move.
    pub fn moves(&self) -> Vec<Order> {
        self.to_move.map_or_else(Vec::new, |side| rules::moves(&self.stacks, side, self.jump))
    }

    /// Checks that a filing is one legal move (clause 2). Lines are checked one by one; the filing as a whole
    /// counts everything that was written.
    pub(super) fn check(&self, orders: &[Numbered<Order>]) -> Result<Sealed<Order>, Vec<Fault>> {
        if self.to_move != Some(self.viewer) {
            return Err(vec![Fault::whole("It is not your turn to move.")]);
        }
        let mut faults = Vec::new();
        for Numbered { line, order } in orders {
            if let Some(reason) = self.kind_fault(*order) {
                faults.push(self.with_example(Fault::on(*line, reason), Some(*order)));
                continue;
            }
            if let Err(why) = may_move(&self.stacks, self.viewer, self.jump, *order) {
                faults.push(self.with_example(Fault::on(*line, why.explain(*order)), Some(*order)));
            }
        }
        match orders {
            [] => faults.push(
                self.with_example(Fault::missing("There is no move here, and a turn is one move."), None),
            ),
            [_] => {}
            _ => faults.push(self.with_example(
                Fault::whole(format!("There are {} moves here, and a turn is one move.", orders.len())),
                None,
            )),
        }
        if faults.is_empty() {
            Ok(Sealed::new(
                orders.iter().map(|Numbered { order, .. }| Order::new(order.from, order.to)).collect(),
            ))
        } else {
            Err(faults)
        }
    }

    /// Returns the fault of the letter of a kind before a move, if it is wrong.
    fn kind_fault(&self, order: Order) -> Option<String> {
        let stack = self.stacks[order.from]?;
        let kind = order.kind?;
        let is_wrong = stack.side == self.viewer && stack.kind != kind;
        let there = stack.kind.word();
        let written = kind.word();
        is_wrong.then(|| format!("The stack on {} is a {there}, not a {written}.", order.from))
    }

    /// Returns a legal move; if possible, one from a square that `line` names.
    pub(super) fn example(&self, line: &str) -> Option<String> {
        let moves = self.moves();
        let words = || line.split(|c: char| !c.is_ascii_alphanumeric());
        let is_named = |order: &&Order| words().any(|word| Spot::parse(word) == Some(order.from));
        moves.iter().find(is_named).or(moves.first()).map(Order::to_string)
    }

    /// Adds a legal move to a fault; if possible, one of the stack that was meant.
    fn with_example(&self, fault: Fault, meant: Option<Order>) -> Fault {
        let moves = self.moves();
        let like = |order: &&Order| meant.is_some_and(|meant| meant.from == order.from);
        match moves.iter().find(like).or(moves.first()) {
            Some(order) => fault.with_example(order),
            None => fault,
        }
    }
}

/// The squares that the last move went from and to.
pub(super) fn last_move(last: Option<Last>) -> Option<(Spot, Spot)> {
    last.and_then(|last| last.from.zip(last.to))
}

/// A stack as text, such as `S3`: the kind, in lower case for Second, and the height if above 1.
fn name(stack: Stack) -> String {
    let letter = match stack.side {
        Seat::First => stack.kind.letter(),
        Seat::Second => stack.kind.letter().to_ascii_lowercase(),
    };
    if stack.height == 1 { letter.to_string() } else { format!("{letter}{}", stack.height) }
}

/// The letters of the files, as the reader sees them.
fn files(view: &View) -> String {
    let letters = match view.viewer {
        Seat::First => "A     B     C     D     E     F     G     H",
        Seat::Second => "H     G     F     E     D     C     B     A",
    };
    format!("     {letters}\n")
}

/// Counts each side's stacks, names those of several pieces, the highest first, and says where the last move went.
pub(super) fn board_name(view: &View) -> String {
    let captured = if view.last.is_some_and(|last| last.stacked) { ", and captured" } else { "" };
    let last =
        last_move(view.last).map(|(from, to)| format!(" The last move went from {from} to {to}{captured}."));
    format!("{} {}{}", side_line(view, Seat::First), side_line(view, Seat::Second), last.unwrap_or_default())
}

fn side_line(view: &View, side: Seat) -> String {
    let own: Vec<_> = view.stacks.stacks().filter(|(_, stack)| stack.side == side).collect();
    let mut heights: Vec<_> =
        own.iter().map(|(_, stack)| stack.height).filter(|height| *height > 1).collect();
    heights.sort_unstable_by(|one, other| other.cmp(one));
    heights.dedup();
    let of_height = |height: u8| {
        let places = own.iter().filter(|(_, stack)| stack.height == height);
        format!(", {height} high on{}", places.map(|(at, _)| format!(" {at}")).collect::<String>())
    };
    let high: String = heights.into_iter().map(of_height).collect();
    let count = match own.len() {
        1 => "1 stack".to_owned(),
        count => format!("{count} stacks"),
    };
    format!("{}: {count}{high}.", State::RULEBOOK.sides[side])
}

pub(super) fn board_text(view: &View) -> String {
    let last = last_move(view.last);
    let mut text = files(view);
    for row in (0..8).rev() {
        let spots: Vec<Spot> = (0..8).filter_map(|column| Spot::new(column, row)).collect();
        let spots = spots.into_iter().map(|spot| spot.turned_for(view.viewer));
        let mut cells = String::new();
        let mut rank = 0;
        for spot in spots {
            rank = spot.rank() + 1;
            let cell = match view.stacks[spot] {
                Some(stack) if stack.is_tower() => format!("[{}]", name(stack)),
                Some(stack) => format!(" {}", name(stack)),
                None if last.is_some_and(|(from, _)| from == spot) => "( )".to_owned(),
                None => " .".to_owned(),
            };
            let mark = if last.is_some_and(|(_, to)| to == spot) { "<" } else { "" };
            write!(cells, "{:6}", cell + mark).expect("writing to a String cannot fail");
        }
        // Without the dash, spam filters take the first rows for a Bitcoin address that is spelled out.
        writeln!(text, " {rank}- {cells}{rank}").expect("writing to a String cannot fail");
    }
    text.push_str(&files(view));
    text.push_str("\nS C Q  square, circle and queen of South; s c q of North.\n");
    let stacks = || view.stacks.stacks().map(|(_, stack)| stack);
    let stack = stacks().find(|stack| stack.height > 1 && !stack.is_tower());
    let stack = stack.map(|stack| format!("a stack of {} is {}", stack.height, name(stack)));
    let tower = stacks().find(|stack| stack.is_tower());
    let tower = tower.map(|tower| format!("a tower of {} is [{}]", tower.height, name(tower)));
    let shown: Vec<String> = stack.into_iter().chain(tower).collect();
    if !shown.is_empty() {
        let mut sentence = shown.join(", ");
        sentence.replace_range(..1, "A");
        writeln!(text, "{sentence}.").expect("writing to a String cannot fail");
    }
    if last.is_some() {
        text.push_str("The last move went from ( ) to <.\n");
    }
    text
}
