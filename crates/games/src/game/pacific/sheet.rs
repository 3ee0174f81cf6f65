//! The sea as data for the page that composes orders.

use super::State;
use super::check::{can_dive, can_fire};
use super::fleet::{Area, Chart, Class, REACH, Ship, Square, in_friendly_waters, reaches};
use super::order::ReadySetup;
use super::setup::{ABROAD, PURCHASE, SUBMARINES, basic_fleet};
use super::view::{Notice, ToMove, View, old_contacts};
use crate::game::sheet::{
    Field, Grid, LineKind, MarkWeight, Measure, Piece, SheetBody, Tally, Walk, look, side_letter,
};
use crate::game::{Game as _, Phase, Seat};

const GRID: Grid = Grid::of_ranks(16, 16);

fn cell(at: Square) -> usize {
    GRID.cell(at.file(), at.rank())
}

/// Implements [`crate::game::Game::sheet`].
pub(super) fn sheet(view: &View) -> Option<SheetBody> {
    let own_turn = if view.viewer == Seat::First { ToMove::First } else { ToMove::Second };
    let mut body = match view.phase? {
        Phase::Setup => setup(view),
        Phase::Surface if view.to_move == Some(own_turn) => surface(view),
        Phase::Submarines if !view.own_submarines().is_empty() => submarines(view),
        Phase::Surface | Phase::Submarines | Phase::Turn | Phase::Casualties | Phase::Move => return None,
    };
    for side in Seat::BOTH {
        body.zones.push((side_letter(side), waters(side)));
        body.name(ship_look(side), format!("{}'s ship", State::RULEBOOK.sides[side]));
    }
    mark_news(view, &mut body);
    Some(body)
}

fn waters(side: Seat) -> Walk {
    GRID.walk(Square::all().filter(|at| in_friendly_waters(side, *at)).map(cell))
}

/// The look of the ships of a side.
fn ship_look(side: Seat) -> String {
    look(if side == Seat::First { 'D' } else { 'd' }, side)
}

fn mark_fleet(body: &mut SheetBody, side: Seat, ships: &[Ship]) {
    for ship in ships {
        body.mark(ship_look(side), ship.class().letter().to_string(), MarkWeight::Board, cell(ship.at));
    }
}

fn mark_news(view: &View, body: &mut SheetBody) {
    for notice in &view.news {
        if let Notice::Move { side, to, .. } = notice {
            body.mark(look('.', *side), "moved here", MarkWeight::Plain, cell(*to));
        }
    }
    let sign = look('?', view.viewer.other());
    for (round, at) in old_contacts(view) {
        body.mark(&*sign, format!("turn {round}"), MarkWeight::Memory, cell(at));
        body.name(&*sign, "submarine noticed near");
    }
}

fn setup(view: &View) -> SheetBody {
    let own = waters(view.viewer);
    let viewer = view.viewer;
    let mut body = SheetBody::new(GRID, "A ready setup needs one line. Or place every ship.");
    let ready = ReadySetup::ALL.iter().map(ToString::to_string).collect();
    let ready = LineKind::new("Ready setup", "SETUP {1}", vec![Field::Choice("", ready)]);
    body.add(LineKind { alone: true, ..ready });
    let put = |kind: LineKind, keys, text: &str| LineKind {
        mark: Some(ship_look(viewer) + text),
        ..kind.unique(keys)
    };
    let fields = vec![Field::Cell("carrier", own.clone()), Field::Beside("squadron", own.clone())];
    let escorted = LineKind::new("Carrier with squadron", "CARRIER {1} SQUADRON {2}", fields);
    let escorted = body.add(put(escorted, &["c{1}", "c{2}"], "V"));
    let alone = LineKind::new("Carrier alone", "CARRIER {1}", vec![Field::Cell("carrier", own.clone())]);
    let alone = body.add(put(alone, &["c{1}"], "V"));
    let least = |class: Class| basic_fleet(class, &view.options) as u16;
    let most = |class: Class| least(class) + (PURCHASE / class.points()) as u16;
    let count =
        |label, kinds: &[u8], class| Tally::new(label, kinds, Measure::Lines, least(class), most(class));
    body.tallies.push(count("Carriers", &[escorted, alone], Class::Carrier));
    body.tallies.push(count("Squadrons", &[escorted], Class::Squadron));
    let mut prices =
        vec![(escorted, price(Class::Carrier) + price(Class::Squadron)), (alone, price(Class::Carrier))];
    for (label, plural, form, class) in [
        ("Battleship", "Battleships", "BATTLESHIP {1}", Class::Battleship),
        ("Cruiser", "Cruisers", "CRUISER {1}", Class::Cruiser),
        ("Destroyer", "Destroyers", "DESTROYER {1}", Class::Destroyer),
    ] {
        let kind = LineKind::new(label, form, vec![Field::Cell("at", own.clone())]);
        let kind = body.add(put(kind, &["c{1}"], &class.letter().to_string()));
        body.tallies.push(count(plural, &[kind], class));
        prices.push((kind, price(class)));
    }
    let basic: u16 = Class::ALL.into_iter().map(|class| least(class) * price(class)).sum();
    let points = Tally::new("Points", &[], Measure::Sum, 0, basic + PURCHASE as u16);
    body.tallies.push(Tally { kinds: prices, ..points });
    if view.options.submarines {
        let anywhere = GRID.walk(Square::all().map(cell));
        let kind = LineKind::new("Submarine", "SUBMARINE {1}", vec![Field::Cell("at", anywhere)]);
        let kind = body.add(LineKind { mark: Some(look('u', viewer) + "U"), ..kind.unique(&["u{1}"]) });
        let all = SUBMARINES as u16;
        body.tallies.push(Tally::new("Submarines", &[kind], Measure::Lines, all, all));
        let abroad = Tally::new("Submarines outside your waters", &[kind], Measure::Lines, 0, ABROAD as u16);
        body.tallies.push(Tally { cells: Some(waters(viewer.other())), ..abroad });
    }
    body
}

fn price(class: Class) -> u16 {
    class.points() as u16
}

fn surface(view: &View) -> SheetBody {
    let viewer = view.viewer;
    let mut body = SheetBody::new(GRID, "One move, or one attack on submarines.");
    let chart = Chart::new(&view.ships, view.options.squadron_leap);
    mark_fleet(&mut body, viewer.other(), &view.ships[viewer.other()]);
    for ship in view.own_ships() {
        let mut targets = Vec::new();
        chart.each_target(viewer, ship, |to| targets.push(cell(to)));
        if targets.is_empty() {
            mark_fleet(&mut body, viewer, std::slice::from_ref(ship));
            continue;
        }
        let letter = ship.class().letter();
        body.pieces.push(Piece {
            id: ship.kind.no().map_or_else(|| letter.to_string(), |no| format!("{letter}{no}")),
            at: cell(ship.at),
            text: letter.to_string(),
            look: ship_look(viewer),
            targets: vec![GRID.walk_from(cell(ship.at), targets)],
            ..Piece::default()
        });
    }
    for submarine in view.own_submarines() {
        let text = format!("U{}", submarine.no);
        body.mark(look('u', viewer), text, MarkWeight::Board, cell(submarine.at));
    }
    let mut kinds = Vec::new();
    if !body.pieces.is_empty() {
        let step = LineKind::new("Move", "{1@}-{2}", vec![Field::Piece(0), Field::Target(0)]);
        kinds.push(body.add(step.unique(&["1"])));
    }
    if view.options.submarines {
        let areas = Area::all().filter(|area| reaches(view.own_ships(), *area));
        let areas = GRID.walk(areas.map(|area| cell(area.corner())));
        let attack = LineKind::new("Attack submarines", "ASW {1}", vec![Field::Area("2 × 2 area", areas)]);
        kinds.push(body.add(attack.unique(&["1"])));
    } else {
        body.hint = "One move.";
    }
    body.tallies.push(Tally::new("Orders", &kinds, Measure::Lines, 1, 1));
    body
}

fn submarines(view: &View) -> SheetBody {
    let viewer = view.viewer;
    let mut body = SheetBody::new(GRID, "One order, or none.");
    body.empty = Some("SUBS PASS");
    for side in Seat::BOTH {
        mark_fleet(&mut body, side, &view.ships[side]);
    }
    let enemies = &view.ships[viewer.other()];
    for submarine in view.own_submarines() {
        let no = submarine.no;
        let from = submarine.at;
        let walk = |cells: &mut dyn Iterator<Item = Square>| GRID.walk_from(cell(from), cells.map(cell));
        let mut shots = enemies.iter().map(|ship| ship.at).filter(|at| can_fire(view, from, *at));
        let mut areas = Area::all().filter(|area| area.distance(from) <= REACH).map(Area::corner);
        body.pieces.push(Piece {
            id: format!("U{no}"),
            at: cell(from),
            text: format!("U{no}"),
            look: look('u', viewer),
            targets: vec![
                walk(&mut Square::all().filter(|to| can_dive(view, from, *to))),
                walk(&mut shots),
                walk(&mut areas),
            ],
            ..Piece::default()
        });
    }
    let mut kinds = Vec::new();
    for (set, label, form) in
        [(0, "Move", "{1} {1@} {2}"), (1, "Fire", "{1} FIRE {2}"), (2, "Sonar", "{1} SONAR {2}")]
    {
        if body.pieces.iter().any(|piece| !piece.targets[usize::from(set)].is_empty()) {
            let target = if set == 2 { Field::TargetArea(set) } else { Field::Target(set) };
            kinds.push(body.add(LineKind::new(label, form, vec![Field::Piece(0), target]).unique(&["1"])));
        }
    }
    kinds.push(body.add(LineKind::new("Pass", "SUBS PASS", Vec::new()).unique(&["1"])));
    body.tallies.push(Tally::new("Orders", &kinds, Measure::Lines, 0, 1));
    body
}
