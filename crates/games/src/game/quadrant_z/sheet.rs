//! The galaxy as data for the page that composes orders.

use super::Casualties;
use super::check::{takeable, yards};
use super::galaxy::{Quadrant, Sector, Square};
use super::order::ReadySetup;
use super::setup::{FLEET, HOME_STARS, NEUTRAL_STARS};
use super::view::View;
use crate::game::sheet::{
    Field, Grid, LineKind, MarkWeight, Measure, Piece, SheetBody, Tally, Walk, look, side_letter,
};
use crate::game::{Game as _, Phase, Seat};

const GRID: Grid = Grid::of_blocks(10, 10, 2);

fn cell(at: Square) -> usize {
    usize::from(at.row()) * 10 + usize::from(at.column())
}

/// Implements [`crate::game::Game::sheet`].
pub(super) fn sheet(view: &View) -> Option<SheetBody> {
    let mut body = match view.context.phase? {
        Phase::Setup => setup(view),
        Phase::Turn => turn(view),
        Phase::Casualties if view.context.fighting.is_empty() => return None,
        Phase::Casualties => casualties(view),
        Phase::Surface | Phase::Submarines | Phase::Move => return None,
    };
    for side in Seat::BOTH {
        body.zones.push((side_letter(side), sector(view, Sector::Home(side))));
    }
    mark_stars(view, &mut body);
    mark_enemies(view, &mut body);
    Some(body)
}

fn sector(view: &View, wanted: Sector) -> Walk {
    let layout = view.context.options.layout;
    GRID.walk(Square::all().filter(|at| layout.sector(at.quadrant()) == wanted).map(cell))
}

fn mark_stars(view: &View, body: &mut SheetBody) {
    for star in &view.stars {
        let look = match star.captured_by {
            Some(Seat::First) => "oa",
            Some(Seat::Second) => "vb",
            None if star.base => "Hn",
            None => "*n",
        };
        body.mark(look, star.value.to_string(), MarkWeight::Board, cell(star.at));
    }
    if view.stars.is_empty() {
        return;
    }
    let sides = super::State::RULEBOOK.sides;
    body.name("*n", "star to take");
    body.name("Hn", "your home base");
    body.name("oa", format!("taken by {}", sides.first));
    body.name("vb", format!("taken by {}", sides.second));
}

/// Marks the enemy ships in the news of this turn and of earlier ones.
fn mark_enemies(view: &View, body: &mut SheetBody) {
    let enemy = view.context.viewer.other();
    let ship = look('x', enemy);
    let sign = look('?', enemy);
    for intruder in &view.intruders {
        body.mark(&*ship, format!("size {}", intruder.size), MarkWeight::Plain, cell(intruder.at));
    }
    for entered in &view.entries {
        body.mark(&*sign, "?", MarkWeight::Plain, cell(entered.square(0)));
        body.name(&*sign, "the enemy came here");
    }
    if let Some(memory) = &view.memory {
        for past in memory.intruders.iter().filter(|past| past.turn < view.turn) {
            let text = format!("size {} in turn {}", past.news.size, past.turn);
            body.mark(&*ship, text, MarkWeight::Memory, cell(past.news.at));
        }
    }
}

fn setup(view: &View) -> SheetBody {
    let viewer = view.context.viewer;
    let home = sector(view, Sector::Home(viewer));
    let neutral = sector(view, Sector::Neutral);
    let mut body = SheetBody::new(GRID, "A ready setup needs one line. Or place every star and ship.");
    let ready = ReadySetup::ALL.iter().map(ToString::to_string).collect();
    let ready = LineKind::new("Ready setup", "SETUP {1}", vec![Field::Choice("", ready)]);
    body.add(LineKind { alone: true, ..ready });
    let values =
        |most: u16| Field::Choice("value", (1..=most).rev().map(|value| value.to_string()).collect());
    let home_quadrant = GRID.walk(Quadrant::home(viewer).squares().map(cell));
    let base =
        LineKind::new("Home base", "STAR {2} {1} BASE", vec![values(3), Field::Cell("at", home_quadrant)]);
    let base = body.add(LineKind { mark: Some("Hn{1}".to_owned()), ..base.unique(&["c{2}", "B"]) });
    let star = |label, most, cells: &Walk| {
        let fields = vec![values(most), Field::Cell("at", cells.clone())];
        LineKind {
            mark: Some("*n{1}".to_owned()),
            ..LineKind::new(label, "STAR {2} {1}", fields).unique(&["c{2}"])
        }
    };
    let own_star = body.add(star("Home star", 3, &home));
    let neutral_star = body.add(star("Neutral star", 2, &neutral));
    let points = |label| Field::Number(label, 0, FLEET, 1);
    let fields = vec![points("offence"), points("defence"), Field::Cell("at", home)];
    let ship = LineKind::new("Ship", "SHIP {+} {1}/{2} {3}", fields);
    let ship = body.add(LineKind { mark: Some(look('B', viewer) + "{1}/{2}"), ..ship });
    let stars = [base, own_star];
    let in_each = Tally::new("Neutral stars in a quadrant", &[neutral_star], Measure::Lines, 1, 2);
    let of_home = Tally::new("Home stars in a quadrant", &stars, Measure::Lines, 0, 2);
    body.tallies = vec![
        Tally::new("Home base", &[base], Measure::Lines, 1, 1),
        Tally::new("Home stars, total", &stars, Measure::Sum, HOME_STARS, HOME_STARS),
        Tally::new("Stars of value 3", &stars, Measure::LinesOf(3), 0, 2),
        Tally { each_block: true, ..of_home },
        Tally::new("Neutral stars, total", &[neutral_star], Measure::Sum, NEUTRAL_STARS, NEUTRAL_STARS),
        Tally { each_block: true, cells: Some(neutral), ..in_each },
        Tally::new("Points for ships", &[ship], Measure::Sum, 1, FLEET),
    ];
    body
}

fn turn(view: &View) -> SheetBody {
    let mut body = SheetBody::new(GRID, "Ships without an order stay.");
    body.empty = Some("HOLD");
    for ship in &view.ships {
        body.pieces.push(Piece {
            id: ship.no.to_string(),
            at: cell(ship.at),
            text: ship.class.to_string(),
            look: look('B', view.context.viewer),
            weight: ship.class.offence,
            targets: vec![
                GRID.walk_from(cell(ship.at), Square::all().filter(|&to| ship.at.reaches(to)).map(cell)),
            ],
            ..Piece::default()
        });
    }
    let yards = yards(view);
    if !yards.is_empty() {
        let points = |label| Field::Number(label, 0, view.stock, 1);
        let at = Field::Cell("at", GRID.walk(yards.into_iter().map(cell)));
        let build =
            LineKind::new("Build", "BUILD {1}/{2} AT {3}", vec![points("offence"), points("defence"), at]);
        let build = body.add(LineKind { puts: Some((0, 2)), ..build });
        body.tallies.push(Tally::new("Stock spent", &[build], Measure::Sum, 0, view.stock));
    }
    let step = LineKind::new("Move", "SHIP {1} {1@} TO {2}", vec![Field::Piece(0), Field::Target(0)]);
    body.add(LineKind { leaves: true, ..step.unique(&["s{1}"]) });
    let stars = takeable(view);
    if !stars.is_empty() {
        let at = |wanted: Option<u16>| {
            let stars = stars.iter().filter(|star| wanted.is_none_or(|value| star.value == value));
            GRID.walk(stars.map(|star| cell(star.at)))
        };
        let mut values: Vec<u16> = stars.iter().map(|star| star.value).collect();
        values.sort_unstable();
        values.dedup();
        let capture = LineKind::new("Capture", "CAPTURE {1}", vec![Field::Cell("star", at(None))]);
        let needs = values.into_iter().map(|value| (at(Some(value)), value)).collect();
        body.add(LineKind { needs, ..capture.unique(&["c{1}"]) });
    }
    if view.context.options.casualties == Casualties::Standing {
        let ships = view.ships.iter().map(|ship| ship.no.to_string()).collect();
        let losses = LineKind::new("Losses", "LOSSES {1}", vec![Field::Sequence("first to last", ships)]);
        body.add(losses.unique(&["L"]));
        body.add(LineKind::new("No list of losses", "LOSSES NONE", Vec::new()).unique(&["L"]));
    }
    body
}

/// The ships that fought, by quadrant (`Z-CASUALTIES`, option `ask`).
fn casualties(view: &View) -> SheetBody {
    let mut body = SheetBody::new(
        GRID,
        "Name the ships that are lost first; without an order, the fewest points are lost.",
    );
    body.empty = Some("HOLD");
    for (quadrant, ships) in &view.context.fighting {
        let numbers = ships.iter().map(ToString::to_string).collect();
        let fields = vec![Field::Sequence("first to last", numbers)];
        let mut kind =
            LineKind::new(format!("Losses in {quadrant}"), format!("LOSE {quadrant} {{1}}"), fields);
        kind.keys.push(format!("L{quadrant}").into());
        body.add(kind);
    }
    for at in Square::all() {
        let there = view.ships.iter().filter(|ship| ship.at == at).map(|ship| ship.no.to_string());
        let numbers = there.collect::<Vec<_>>().join(" ");
        if !numbers.is_empty() {
            body.mark(look('B', view.context.viewer), numbers, MarkWeight::Plain, cell(at));
        }
    }
    body
}
