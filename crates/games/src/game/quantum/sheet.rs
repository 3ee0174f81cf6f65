//! The board of Quantum as data for the page that composes moves.

use std::collections::BTreeSet;

use super::State;
use super::order::Order;
use super::pieces::{PieceKind, Spot, Stack};
use super::rules::{board_after_move, moves};
use super::view::{View, last_move};
use crate::game::Game as _;
use crate::game::condition::MAX_CONDITIONS;
use crate::game::sheet::{Field, Grid, LineKind, MarkWeight, Measure, Piece, SheetBody, Tally, Walk, look};

const GRID: Grid = Grid::of_ranks(8, 8);

fn cell(spot: Spot) -> usize {
    GRID.cell(spot.file(), spot.rank())
}

/// Implements [`crate::game::Game::sheet`].
pub(super) fn sheet(view: &View) -> Option<SheetBody> {
    let mover = view.to_move?;
    let is_due = mover == view.viewer;
    let mut body = if is_due { turn() } else { conditions() };
    let dark = Spot::all().filter(|spot| (spot.file() + spot.rank()) % 2 == 0);
    body.zones.push(('c', GRID.walk(dark.map(cell))));
    let own = moves(&view.stacks, view.viewer, view.jump);
    let expected = if is_due { Vec::new() } else { moves(&view.stacks, mover, view.jump) };
    let opened = moves_made_possible(view, &own, &expected);
    for (spot, stack) in view.stacks.stacks() {
        let targets: Vec<Walk> = if stack.side != view.viewer {
            vec![targets(&expected, spot)]
        } else if is_due {
            vec![targets(&own, spot)]
        } else {
            vec![targets(&own, spot), targets(&opened, spot)]
        };
        let (shape, name) = shape_and_name(stack);
        let look = look(shape, stack.side);
        body.name(&*look, format!("{}'s {name}", State::RULEBOOK.sides[stack.side]));
        let text = if stack.height > 1 { stack.height.to_string() } else { String::new() };
        if targets.iter().all(Walk::is_empty) {
            body.mark(look, text, MarkWeight::Board, cell(spot));
        } else {
            let group = u8::from(stack.side != view.viewer);
            body.pieces.push(Piece { at: cell(spot), text, look, group, targets, ..Piece::default() });
        }
    }
    if let Some((from, to)) = last_move(view.last) {
        body.mark(".n", "came from here", MarkWeight::Plain, cell(from));
        body.mark(".n", "moved here", MarkWeight::Plain, cell(to));
        body.name(".n", "last move");
    }
    Some(body)
}

/// Returns the moves of the viewer that only one of the expected moves makes possible, such as to take back.
fn moves_made_possible(view: &View, own: &[Order], expected: &[Order]) -> Vec<Order> {
    let now: BTreeSet<&Order> = own.iter().collect();
    let mut opened = BTreeSet::new();
    for order in expected {
        let (after, _) = board_after_move(&view.stacks, *order);
        opened.extend(moves(&after, view.viewer, view.jump).into_iter().filter(|order| !now.contains(order)));
    }
    opened.into_iter().collect()
}

fn targets(moves: &[Order], from: Spot) -> Walk {
    let of_stack = moves.iter().filter(|order| order.from == from);
    GRID.walk_from(cell(from), of_stack.map(|order| cell(order.to)))
}

fn shape_and_name(stack: Stack) -> (char, &'static str) {
    match stack.kind {
        _ if stack.is_tower() => ('T', "tower"),
        PieceKind::Square => ('R', "square"),
        PieceKind::Circle => ('O', "circle"),
        PieceKind::Queen => ('Q', "queen"),
    }
}

fn turn() -> SheetBody {
    let mut body = SheetBody::new(GRID, "One move.");
    let fields = vec![Field::Piece(0), Field::Target(0)];
    let kind = body.add(LineKind::new("Move", "{1@} {2}", fields).unique(&["1"]));
    body.tallies.push(Tally::new("Orders", &[kind], Measure::Lines, 1, 1));
    body
}

/// Answers to the opponent's next move: those of today's board, and those that only the expected move makes possible.
fn conditions() -> SheetBody {
    let hint = "It is your opponent's move. Send answers ahead: the first that fits is played.";
    let mut body = SheetBody::new(GRID, hint);
    let mut kinds = Vec::new();
    for (label, set) in [("If … then …", 0), ("If … then what it opens", 1)] {
        let fields = vec![Field::Piece(1), Field::Target(0), Field::Piece(0), Field::Target(set)];
        let kind = LineKind::new(label, "IF {1@} {2} THEN {3@} {4}", fields);
        kinds.push(body.add(kind.unique(&["i{1@}{2}"])));
    }
    body.tallies.push(Tally::new("Conditions", &kinds, Measure::Lines, 0, MAX_CONDITIONS as u16));
    body
}
