//! The board of Quad as data for the page that composes turns.

use super::State;
use super::board::{Piece, is_new, pieces};
use super::point::Point;
use super::view::View;
use crate::game::condition::MAX_CONDITIONS;
use crate::game::sheet::{Field, Grid, LineKind, MarkWeight, Measure, SheetBody, Tally, Walk, look};
use crate::game::{Game as _, Seat};

const GRID: Grid = Grid::of_ranks(11, 11);

fn cell(point: Point) -> usize {
    GRID.cell(point.file(), point.rank())
}

/// Implements [`crate::game::Game::sheet`].
pub(super) fn sheet(view: &View) -> Option<SheetBody> {
    let mover = view.to_move?;
    let free = GRID.walk(view.empty().into_iter().map(cell));
    let mut body = if mover == view.viewer { turn(view, mover, free) } else { conditions(free) };
    let points: Vec<usize> = Point::all().map(cell).collect();
    body.zones.push(('x', GRID.walk((0..121).filter(|at| !points.contains(at)))));
    for (point, piece) in pieces(view) {
        let (shape, side, name) = match piece {
            Piece::Marble(side) => ('O', side, "marble"),
            Piece::Star(side) => ('S', side, "star"),
        };
        body.mark(look(shape, side), "", MarkWeight::Board, cell(point));
        body.name(look(shape, side), format!("{}'s {name}", State::RULEBOOK.sides[side]));
    }
    for (point, _) in pieces(view).filter(|(point, _)| is_new(view, *point)) {
        body.mark(".n", "last turn", MarkWeight::Plain, cell(point));
        body.name(".n", "last turn");
    }
    Some(body)
}

/// A turn: stars, then one marble; or SWAP (clauses 2.1, 2.5).
fn turn(view: &View, side: Seat, free: Walk) -> SheetBody {
    let stars = view.stars_now();
    let hint = if stars > 0 {
        "One marble; before it, as many stars as you like."
    } else {
        "One marble on an empty point."
    };
    let mut body = SheetBody::new(GRID, hint);
    let marble = LineKind::new("Marble", "MARBLE {1}", vec![Field::Cell("at", free.clone())]);
    // The marble ends the turn, so its line is the last.
    let marble = LineKind { mark: Some(look('O', side)), rank: Some(9), ..marble.unique(&["c{1}", "M"]) };
    let marble = body.add(marble);
    let mut enders = vec![marble];
    if stars > 0 {
        let star = LineKind::new("Star", "STAR {1}", vec![Field::Cell("at", free)]).unique(&["c{1}"]);
        let star = body.add(LineKind { mark: Some(look('S', side)), ..star });
        body.tallies.push(Tally::new("Stars", &[star], Measure::Lines, 0, stars as u16));
    }
    if view.may_swap() {
        enders.push(body.add(LineKind { alone: true, ..LineKind::new("Swap", "SWAP", Vec::new()) }));
    }
    body.tallies.insert(0, Tally::new("Marble", &enders, Measure::Lines, 1, 1));
    body
}

/// Answers to the opponent's next marble.
fn conditions(free: Walk) -> SheetBody {
    let mut body = SheetBody::new(
        GRID,
        "It is your opponent's turn. Send answers ahead: the first that fits is played.",
    );
    let fields = vec![Field::Cell("their marble", free.clone()), Field::Cell("your marble", free)];
    let kind = body.add(LineKind::new("If … then …", "IF {1} THEN {2}", fields).unique(&["i{1}"]));
    body.tallies.push(Tally::new("Conditions", &[kind], Measure::Lines, 0, MAX_CONDITIONS as u16));
    body
}
