//! The legal moves, and their effects.

use serde::{Deserialize, Serialize};

use super::order::Order;
use super::pieces::{Board, PieceKind, Spot, Stack};
use super::{Array, Options};
use crate::game::{Outcome, Reason, Seat};

/// The last turn. A pass has no squares (N-PASS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    pub side: Seat,
    pub from: Option<Spot>,
    pub to: Option<Spot>,
    pub stacked: bool,
}

/// A match of Quantum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) options: Options,
    pub(super) board: Board,
    /// The number of turns played, including passes.
    pub(super) turn: u32,
    /// `None` once the match is over.
    pub(super) to_move: Option<Seat>,
    /// Turns in a row without a stacking move.
    pub(super) quiet: u32,
    pub(super) last: Option<Last>,
    pub(super) outcome: Option<Outcome>,
}

impl State {
    pub(super) fn new(options: &Options) -> State {
        State {
            board: set_up(&options.array),
            options: options.clone(),
            turn: 0,
            to_move: Some(Seat::First),
            quiet: 0,
            last: None,
            outcome: None,
        }
    }

    /// Whether `quiet` has reached the limit, which counts turns of each side (N-STALL).
    pub(super) fn is_stale(&self) -> bool {
        self.quiet >= 2 * self.options.quiet_limit
    }
}

/// Places the array on each side's own ranks, the second side's mirrored along the files (N-ARRAY).
fn set_up(array: &Array) -> Board {
    let mut board = Board::EMPTY;
    for spot in Spot::all() {
        if let Some(kind) = array.piece(spot.rank(), spot.file()) {
            let mirrored = Spot::new(spot.file(), 7 - spot.rank()).expect("the mirror lies on the board");
            board[spot] = Some(Stack { side: Seat::First, kind, height: 1 });
            board[mirrored] = Some(Stack { side: Seat::Second, kind, height: 1 });
        }
    }
    board
}

/// The reason why a move is illegal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IllegalMove {
    NoStack,
    NotYours,
    Tower(u8),
    Stays,
    WrongDirection(PieceKind),
    TooFar { height: u8, distance: u8 },
    Passes(Spot),
    OntoOwn,
    OntoTower(u8),
}

impl IllegalMove {
    /// Explains to the player who wrote `order` why it is illegal.
    pub(super) fn explain(self, order: Order) -> String {
        let Order { from, to, .. } = order;
        match self {
            IllegalMove::NoStack => format!("There is nothing on {from} to move."),
            IllegalMove::NotYours => format!("The stack on {from} belongs to your opponent."),
            IllegalMove::Tower(height) => {
                format!("The stack on {from} is {height} high: from 6 it is a tower and never moves.")
            }
            IllegalMove::Stays => {
                format!("This leaves the stack on {from} where it is; a turn is a move to another square.")
            }
            IllegalMove::WrongDirection(kind) => format!(
                "On {from} stands a {}, which moves {}; {to} is not in line with it.",
                kind.word(),
                match kind {
                    PieceKind::Square => "along its rank or file",
                    PieceKind::Circle => "along the diagonals",
                    PieceKind::Queen => "along its rank, its file or the diagonals",
                }
            ),
            IllegalMove::TooFar { height: 1, distance } => {
                format!("The single piece on {from} moves one square; {to} is {distance} away.")
            }
            IllegalMove::TooFar { height, distance } => {
                format!(
                    "The stack on {from} is {height} high and moves up to {height} squares; {to} is {distance} away."
                )
            }
            IllegalMove::Passes(spot) => {
                format!(
                    "A stack on {spot} is in the way from {from} to {to}; the squares passed over must be empty."
                )
            }
            IllegalMove::OntoOwn => {
                format!("Your own stack stands on {to}; a move ends on an empty square or on an enemy stack.")
            }
            IllegalMove::OntoTower(height) => {
                format!("The stack on {to} is {height} high: a tower, and nothing lands on a tower.")
            }
        }
    }
}

/// Checks whether `side` may make the move (clauses 2.1 to 2.3).
///
/// # Errors
/// [`IllegalMove`] if the move is illegal.
pub(super) fn may_move(board: &Board, side: Seat, jump: bool, order: Order) -> Result<(), IllegalMove> {
    let Order { from, to, .. } = order;
    let stack = board[from].ok_or(IllegalMove::NoStack)?;
    if stack.side != side {
        return Err(IllegalMove::NotYours);
    }
    if stack.is_tower() {
        return Err(IllegalMove::Tower(stack.height));
    }
    let files = to.file() as i8 - from.file() as i8;
    let ranks = to.rank() as i8 - from.rank() as i8;
    let distance = from.king_steps(to);
    if distance == 0 {
        return Err(IllegalMove::Stays);
    }
    let direction = (files.signum(), ranks.signum());
    let in_line = files == 0 || ranks == 0 || files.abs() == ranks.abs();
    if !in_line || !stack.kind.directions().contains(&direction) {
        return Err(IllegalMove::WrongDirection(stack.kind));
    }
    let beyond_reach = distance > stack.height;
    if beyond_reach && !(distance == 2 && jump && jumps(board, from, stack, direction)) {
        return Err(IllegalMove::TooFar { height: stack.height, distance });
    }
    if !beyond_reach {
        for n in 1..distance as i8 {
            let passed = from.step(direction.0 * n, direction.1 * n).expect("it lies between two squares");
            if board[passed].is_some() {
                return Err(IllegalMove::Passes(passed));
            }
        }
    }
    match board[to] {
        Some(target) if target.side == side => Err(IllegalMove::OntoOwn),
        Some(target) if target.is_tower() => Err(IllegalMove::OntoTower(target.height)),
        _ => Ok(()),
    }
}

/// Whether a single piece has a single piece of its own colour next to it to jump over (clause 2.3).
fn jumps(board: &Board, from: Spot, stack: Stack, direction: (i8, i8)) -> bool {
    let beside = from.step(direction.0, direction.1).and_then(|spot| board[spot]);
    stack.height == 1 && beside.is_some_and(|over| over.side == stack.side && over.height == 1)
}

/// Calls `found` with each move of `side`, square by square, until `found` returns `true`. Returns whether it
/// did.
fn any_move(board: &Board, side: Seat, jump: bool, mut found: impl FnMut(Order) -> bool) -> bool {
    let lands = |spot: Spot| board[spot].is_none_or(|target| target.side != side && !target.is_tower());
    for (from, stack) in board.stacks().filter(|(_, stack)| stack.side == side && !stack.is_tower()) {
        for &direction in stack.kind.directions() {
            let (files, ranks) = direction;
            let mut spot = from;
            for _ in 0..stack.height {
                let Some(to) = spot.step(files, ranks) else { break };
                if lands(to) && found(Order::new(from, to)) {
                    return true;
                }
                if board[to].is_some() {
                    break;
                }
                spot = to;
            }
            if jump && jumps(board, from, stack, direction) {
                let beyond = from.step(2 * files, 2 * ranks).filter(|&to| lands(to));
                if beyond.is_some_and(|to| found(Order::new(from, to))) {
                    return true;
                }
            }
        }
    }
    false
}

/// Returns every legal move of `side`, ordered by starting square.
pub(super) fn moves(board: &Board, side: Seat, jump: bool) -> Vec<Order> {
    let mut moves = Vec::with_capacity(64);
    any_move(board, side, jump, |order| {
        moves.push(order);
        false
    });
    moves
}

/// Whether `side` has a legal move (N-PASS).
pub(super) fn can_move(board: &Board, side: Seat, jump: bool) -> bool {
    any_move(board, side, jump, |_| true)
}

/// Returns the board after a legal move, and whether the move stacked.
pub(super) fn board_after_move(board: &Board, order: Order) -> (Board, bool) {
    let mut next = board.clone();
    let stack = next[order.from].take().expect("a legal move starts from a stack");
    let below = next[order.to].map_or(0, |target| target.height);
    next[order.to] = Some(Stack { height: stack.height + below, ..stack });
    (next, below > 0)
}

impl State {
    /// Returns the state after a legal move of `side`.
    pub(super) fn after(&self, side: Seat, order: Order) -> State {
        let (board, stacked) = board_after_move(&self.board, order);
        let mut next = State { board, ..self.clone() };
        next.end_turn(Last { side, from: Some(order.from), to: Some(order.to), stacked });
        next
    }

    /// Returns the state after a pass of `side`, which has no move (N-PASS).
    pub(super) fn after_pass(&self, side: Seat) -> State {
        let mut next = self.clone();
        next.end_turn(Last { side, from: None, to: None, stacked: false });
        next
    }

    fn end_turn(&mut self, last: Last) {
        self.turn += 1;
        self.quiet = if last.stacked { 0 } else { self.quiet + 1 };
        self.last = Some(last);
        self.outcome = self.ended();
        self.to_move = self.outcome.is_none().then(|| last.side.other());
    }

    /// Whether nothing more can be stacked: neither side can move, or one has no stack that could move or be
    /// stacked upon (N-STALL).
    fn is_stalled(&self) -> bool {
        let jump = self.options.jump.is_on();
        let low = |side| self.board.stacks().any(|(_, stack)| stack.side == side && !stack.is_tower());
        Seat::BOTH.into_iter().any(|side| !low(side))
            || !Seat::BOTH.into_iter().any(|side| can_move(&self.board, side, jump))
    }

    /// Returns how the match ended, if it did, in the order of clause 3.0: three towers, a stall, the limit.
    fn ended(&self) -> Option<Outcome> {
        let towers = self.board.towers();
        if let Some(winner) = Seat::BOTH.into_iter().find(|&seat| towers[seat] >= 3) {
            return Some(Outcome { winner: Some(winner), reason: Reason::ThreeTowers });
        }
        if !self.is_stale() && !self.is_stalled() {
            return None;
        }
        let winner = Seat::BOTH.into_iter().find(|&seat| towers[seat] > towers[seat.other()]);
        let reason = if winner.is_some() { Reason::MoreTowers } else { Reason::DrawnOnTowers };
        Some(Outcome { winner, reason })
    }
}
