//! The marks that appear both on the board and in its legend.
//!
//! The shapes of ships in the picture, seen from above with the bow to the right: one outline for each class.
//!
//! The legend of the picture: every sign that appears on the board, and no others.

use super::fleet::{Class, Ship, ShipKind, Square};
use super::rules::State;
use super::view::{Notice, View, known_submarines, old_contacts, recent_attacks};
use crate::game::picture::{Anchor, Bounds, Colour, Picture, Point, legend_places};
use crate::game::{Game, Seat};

pub(super) const PAPER: Colour = Colour::hex(0xfbf7ec);

/// The colours of a side. South's ships are dark and North's light, so that they also differ in print.
pub(super) struct Paint {
    pub fill: Colour,
    pub edge: Colour,
    pub ink: Colour,
}

pub(super) fn paint(side: Seat) -> Paint {
    match side {
        Seat::First => Paint { fill: Colour::hex(0x174a7c), edge: Colour::hex(0x0a2b4c), ink: PAPER },
        Seat::Second => {
            Paint { fill: Colour::hex(0xffe9d9), edge: Colour::hex(0xa83c00), ink: Colour::hex(0x5e2200) }
        }
    }
}

/// Half the room that a ship takes around the middle of its square. The gap between two neighbours is twice the
/// rest.
const HALF_WIDTH: f64 = 17.5;
const HALF_HEIGHT: f64 = 14.0;

/// Outlines around the middle of a square.
const DECK: [Point; 6] =
    [(-16.5, -13.0), (11.0, -13.0), (16.5, -7.0), (16.5, 13.0), (-11.0, 13.0), (-16.5, 7.0)];
const BATTLESHIP: [Point; 8] = [
    (-16.5, -6.0),
    (-11.0, -12.5),
    (11.0, -12.5),
    (16.5, -6.0),
    (16.5, 6.0),
    (11.0, 12.5),
    (-11.0, 12.5),
    (-16.5, 6.0),
];
const CRUISER: [Point; 5] = [(-15.5, -11.5), (4.0, -11.5), (16.5, 0.0), (4.0, 11.5), (-15.5, 11.5)];
const DESTROYER: [Point; 6] =
    [(-16.5, -11.0), (4.0, -11.0), (16.5, 0.0), (4.0, 11.0), (-16.5, 11.0), (-10.0, 0.0)];
const PLANE: [Point; 10] = [
    (0.0, -16.0),
    (5.0, -9.0),
    (16.5, 3.0),
    (16.5, 9.0),
    (5.0, 8.0),
    (0.0, 13.5),
    (-5.0, 8.0),
    (-16.5, 9.0),
    (-16.5, 3.0),
    (-5.0, -9.0),
];
const SUBMARINE: [Point; 12] = [
    (-16.5, 0.0),
    (-11.0, -8.0),
    (-5.0, -8.0),
    (-5.0, -13.0),
    (5.0, -13.0),
    (5.0, -8.0),
    (11.0, -8.0),
    (16.5, 0.0),
    (11.0, 8.0),
    (4.0, 9.0),
    (-4.0, 9.0),
    (-11.0, 8.0),
];

/// The room that a ship around `centre` takes.
pub(super) fn bounds(centre: Point, kind: ShipKind) -> Bounds {
    match kind {
        ShipKind::Squadron { .. } => Bounds::around(centre, HALF_WIDTH, HALF_WIDTH),
        ShipKind::Carrier { .. } | ShipKind::Battleship | ShipKind::Cruiser | ShipKind::Destroyer => {
            Bounds::around(centre, HALF_WIDTH, HALF_HEIGHT)
        }
    }
}

/// The room of the label of a submarine around `centre`.
pub(super) fn submarine_label(centre: Point) -> Bounds {
    Bounds::around(centre, 11.0, 7.0)
}

/// An outline moved from the origin to `x`, `y`.
fn move_outline(outline: &[Point], (x, y): Point) -> Vec<Point> {
    outline.iter().map(|(dx, dy)| (x + dx, y + dy)).collect()
}

/// Draws a ship around `x`, `y`, with the letter of its class, and the number of a carrier or squadron.
pub(super) fn draw_ship(picture: &mut Picture, (x, y): Point, side: Seat, kind: ShipKind) {
    let Paint { fill, edge, ink } = paint(side);
    let outline: &[Point] = match kind.class() {
        Class::Carrier => &DECK,
        Class::Squadron => &PLANE,
        Class::Battleship => &BATTLESHIP,
        Class::Cruiser => &CRUISER,
        Class::Destroyer => &DESTROYER,
    };
    if let ShipKind::Squadron { launched: true, .. } = kind {
        picture.circle(x, y, 16.5, PAPER, edge);
    }
    picture.polygon(&move_outline(outline, (x, y)), fill, edge, 2.0);
    if kind.class() == Class::Carrier {
        picture.rect(x - 12.0, y + 7.5, 25.0, 2.0, ink);
    }
    let (dx, dy, size) = match kind.class() {
        Class::Carrier => (0.0, -2.5, 16.0),
        Class::Squadron => (0.0, 1.5, 13.0),
        Class::Battleship => (0.0, 0.0, 19.0),
        Class::Cruiser => (-3.0, 0.0, 19.0),
        Class::Destroyer => (-0.5, 0.0, 18.0),
    };
    let no = kind.no().map(|no| no.to_string()).unwrap_or_default();
    let label = format!("{}{no}", kind.class().letter());
    picture.text(x + dx, y + dy, size, Anchor::Middle, ink, &label);
}

/// Draws the hull of a submarine around `x`, `y`.
pub(super) fn draw_submarine(picture: &mut Picture, (x, y): Point, side: Seat) {
    let Paint { fill, edge, .. } = paint(side);
    picture.polygon(&move_outline(&SUBMARINE, (x, y)), fill, edge, 2.0);
}

/// Draws the number of a submarine on a ground that covers arrows; `size` is that of the number.
pub(super) fn draw_submarine_number(
    picture: &mut Picture,
    (x, y): Point,
    side: Seat,
    label: &str,
    size: f64,
) {
    let Paint { fill, ink, .. } = paint(side);
    let half = 0.72 * size;
    picture.rect(x - half, y - 6.0, 2.0 * half, 12.0, fill);
    picture.text(x, y + 0.5, size, Anchor::Middle, ink, label);
}

/// The width of an arrow's line. Its head fits between two ships, or beside the corner of one.
pub(super) const STROKE: f64 = 3.5;

pub(super) const INK: Colour = Colour::hex(0x22303a);
pub(super) const MOVED: Colour = Colour::hex(0xf6dd7c);
const SUNK: Colour = Colour::hex(0x111111);
pub(super) const HEARD: Colour = Colour::hex(0xf3b562);
pub(super) const OLD: Colour = Colour::hex(0x5c6b75);

/// The colour of a side's searches.
fn search_colour(side: Seat) -> Colour {
    match side {
        Seat::First => Colour::hex(0x0b5fa5),
        Seat::Second => Colour::hex(0xa83c00),
    }
}

/// The old contacts on the board, the latest on each square. Omits those on squares that are taken or where
/// something was sunk, because other signs would cover them.
pub(super) fn shown_contacts(view: &View) -> Vec<(u32, Square)> {
    let mut shown: Vec<(u32, Square)> = Vec::new();
    for (round, at) in old_contacts(view) {
        let is_free = !is_taken(view, at) && losses(view).all(|lost| lost != at);
        if is_free && shown.iter().all(|(_, other)| *other != at) {
            shown.push((round, at));
        }
    }
    shown
}

/// Whether a ship, or a submarine that the viewer knows of, is on a square.
pub(super) fn is_taken(view: &View, at: Square) -> bool {
    ship_at(view, at).is_some() || known_submarines(view).any(|(_, submarine)| submarine.at == at)
}

pub(super) fn ship_at(view: &View, at: Square) -> Option<&Ship> {
    view.ships.iter().flat_map(|(_, fleet)| fleet).find(|ship| ship.at == at)
}

/// The moves of this turn, as far as the view tells: the side, and the squares.
pub(super) fn moves(view: &View) -> impl Iterator<Item = (Seat, Square, Square)> {
    let moved = view.news.iter().filter_map(|notice| match *notice {
        Notice::Move { side, from, to, .. } => Some((side, from, to)),
        Notice::SquadronLost { .. }
        | Notice::Torpedo { .. }
        | Notice::Asw { .. }
        | Notice::Sonar { .. }
        | Notice::Pass { .. } => None,
    });
    moved.chain(view.readers.iter().flat_map(|readers| &readers.moved).copied())
}

/// The squares on which something was sunk, as far as the view tells.
pub(super) fn losses(view: &View) -> impl Iterator<Item = Square> {
    let below = view.readers.iter().flat_map(|readers| &readers.sunk);
    view.news.iter().filter_map(lost_at).chain(below.copied())
}

/// The square on which something was sunk.
fn lost_at(notice: &Notice) -> Option<Square> {
    match *notice {
        Notice::Move { to, sunk: Some(_), .. } => Some(to),
        Notice::SquadronLost { at, .. } | Notice::Torpedo { at, .. } => Some(at),
        Notice::Move { sunk: None, .. } | Notice::Asw { .. } | Notice::Sonar { .. } | Notice::Pass { .. } => {
            None
        }
    }
}

/// The frame of a searched area, a double one if the side is not the one from which the board is seen.
pub(super) fn draw_search(picture: &mut Picture, area: Bounds, side: Seat, is_near: bool) {
    let Bounds { left, top, .. } = area.grown(if is_near { -3.0 } else { -7.0 });
    let width = area.right - area.left - 2.0 * (left - area.left);
    picture.frame(left, top, width, width, search_colour(side), 3.0);
    if !is_near {
        picture.frame(left + 6.0, top + 6.0, width - 12.0, width - 12.0, search_colour(side), 1.5);
    }
}

pub(super) fn cross(picture: &mut Picture, x: f64, y: f64, arm: f64) {
    for (colour, width) in [(PAPER, 7.0), (SUNK, 4.0)] {
        for slope in [-1.0, 1.0] {
            picture.line((x - arm, y - arm * slope), (x + arm, y + arm * slope), colour, width);
        }
    }
}

/// The x coordinates of the samples' middles.
const COLUMNS: [f64; 3] = [50.0, 260.0, 475.0];
const ROW: f64 = 40.0;

/// A sign of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Ship(ShipKind, &'static str),
    Side(Seat),
    Submarine,
    Moved,
    Searched(Seat),
    Heard,
    Sunk,
    OldContact(u32),
}

/// A sample of each kind of ship.
const KINDS: [Sign; 6] = [
    Sign::Ship(ShipKind::Carrier { no: 1 }, "carrier"),
    Sign::Ship(ShipKind::Squadron { no: 1, launched: false, leapt: false }, "squadron"),
    Sign::Ship(ShipKind::Squadron { no: 1, launched: true, leapt: false }, "in the air"),
    Sign::Ship(ShipKind::Battleship, "battleship"),
    Sign::Ship(ShipKind::Cruiser, "cruiser"),
    Sign::Ship(ShipKind::Destroyer, "destroyer"),
];

/// Whether two ships look alike but for their numbers.
fn is_alike(one: ShipKind, other: ShipKind) -> bool {
    one.class() == other.class() && is_aloft(one) == is_aloft(other)
}

fn is_aloft(kind: ShipKind) -> bool {
    matches!(kind, ShipKind::Squadron { launched: true, .. })
}

/// The signs of this board, each kind once.
pub(super) fn legend_signs(view: &View) -> Vec<Sign> {
    let afloat = |kind: ShipKind| {
        let mut ships = view.ships.iter().flat_map(|(_, fleet)| fleet);
        ships.any(|ship| is_alike(ship.kind, kind))
    };
    let mut signs: Vec<Sign> =
        KINDS.into_iter().filter(|sign| matches!(sign, Sign::Ship(kind, _) if afloat(*kind))).collect();
    signs.extend(known_submarines(view).next().map(|_| Sign::Submarine));
    signs.extend(Seat::BOTH.map(Sign::Side));
    if moves(view).next().is_some() {
        signs.push(Sign::Moved);
    }
    signs.extend(losses(view).next().map(|_| Sign::Sunk));
    let attacks = || recent_attacks(view).filter_map(attack);
    for side in [view.seen_from(), view.seen_from().other()] {
        signs.extend(attacks().find(|(of, _)| *of == side).map(|_| Sign::Searched(side)));
    }
    if attacks().any(|(side, contact)| view.hears(side) && contact) {
        signs.push(Sign::Heard);
    }
    signs.extend(shown_contacts(view).first().map(|(round, _)| Sign::OldContact(*round)));
    signs
}

/// The side that made an attack on submarines, and whether it had contact.
fn attack(notice: &Notice) -> Option<(Seat, bool)> {
    match *notice {
        Notice::Asw { side, contact, .. } | Notice::Sonar { side, contact, .. } => Some((side, contact)),
        Notice::Torpedo { .. } | Notice::Move { .. } | Notice::SquadronLost { .. } | Notice::Pass { .. } => {
            None
        }
    }
}

/// The height of the legend.
pub(super) fn legend_height(signs: &[Sign]) -> f64 {
    signs.len().div_ceil(COLUMNS.len()) as f64 * ROW
}

pub(super) fn draw_legend(picture: &mut Picture, top: f64, signs: &[Sign], view: &View) {
    for (sign, (x, y)) in signs.iter().zip(legend_places(&COLUMNS, top, ROW)) {
        let start = picture.shapes.len();
        sample(picture, *sign, x, y, view);
        picture.text(x + 28.0, y, 18.0, Anchor::Start, INK, &words(*sign, view));
        picture.sign((x, y), start);
    }
}

fn name(side: Seat) -> &'static str {
    State::RULEBOOK.sides[side]
}

fn words(sign: Sign, view: &View) -> String {
    match sign {
        Sign::Ship(_, words) => words.into(),
        Sign::Side(side) => {
            let you = view.phase.is_some() && side == view.viewer && view.readers.is_none();
            if you { format!("{}: you", name(side)) } else { name(side).into() }
        }
        Sign::Submarine => "submarine".into(),
        Sign::Moved => "moved".into(),
        Sign::Sunk => "sunk".into(),
        Sign::Searched(side) if view.readers.is_some() => format!("{} searched", name(side)),
        Sign::Searched(side) if side == view.viewer => "you searched".into(),
        Sign::Searched(_) => "they searched".into(),
        Sign::Heard => "heard near here".into(),
        Sign::OldContact(round) => format!("noticed, turn {round}"),
    }
}

fn sample(picture: &mut Picture, sign: Sign, x: f64, y: f64, view: &View) {
    let near = view.seen_from();
    let square = |side: f64| Bounds::around((x, y), side / 2.0, side / 2.0);
    match sign {
        Sign::Ship(kind, _) => draw_ship(picture, (x, y), near, kind),
        Sign::Side(side) => {
            let paint = paint(side);
            picture.rect(x - 12.0, y - 12.0, 24.0, 24.0, paint.fill);
            picture.frame(x - 12.0, y - 12.0, 24.0, 24.0, paint.edge, 2.5);
        }
        Sign::Submarine => {
            draw_submarine(picture, (x, y), near);
            draw_submarine_number(picture, (x, y), near, "U1", 14.0);
        }
        Sign::Moved => {
            picture.rect(x - 17.0, y - 12.0, 34.0, 24.0, MOVED);
            picture.arrow((x - 14.0, y), (x + 14.0, y), paint(near).edge, STROKE);
        }
        Sign::Sunk => cross(picture, x, y, 11.0),
        Sign::Searched(side) => {
            let is_near = side == near;
            draw_search(picture, square(if is_near { 30.0 } else { 38.0 }), side, is_near);
        }
        Sign::Heard => picture.rect(x - 12.0, y - 12.0, 24.0, 24.0, HEARD),
        Sign::OldContact(round) => {
            picture.frame(x - 16.0, y - 16.0, 32.0, 32.0, OLD, 1.5);
            let label = format!("t{round}");
            let size = if label.len() > 3 { 14.0 } else { 17.0 };
            picture.text(x, y, size, Anchor::Middle, OLD, &label);
        }
    }
}
