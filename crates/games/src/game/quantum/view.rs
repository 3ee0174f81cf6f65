//! The view of a seat of Quantum, which hides nothing.

use serde::Serialize;

use super::order::Order;
use super::pieces::{Board, Spot};
use super::rules::{self, may_move};
use super::state::{Last, State};
use crate::game::{BySeat, Fault, Numbered, Sealed, Seat};

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
        let (stack, kind) = (self.stacks[order.from]?, order.kind?);
        let is_wrong = stack.side == self.viewer && stack.kind != kind;
        let (there, written) = (stack.kind.word(), kind.word());
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
