//! The board as a picture, in the style of a sea chart.

use super::fleet::{Area, Class, ShipKind, Square};
use super::shown::{known_submarines, recent_attacks};
use super::view::{Notice, View};
use crate::game::Seat;
use crate::game::picture::{Anchor, Colour, Picture, Point};

const CELL: f64 = 40.0;
const LEFT: f64 = 30.0;
/// How far from the middle of a square two submarines are drawn that share it.
const SHARED: f64 = 9.0;
const TOP: f64 = 30.0;
const WIDTH: u32 = 700;
const HEIGHT: u32 = 786;
const SIDE: f64 = 16.0 * CELL;

const PAPER: Colour = Colour::hex(0xf6f1e4);
const INK: Colour = Colour::hex(0x2b3a42);
const GRID: Colour = Colour::hex(0xb9cfda);
const SOUTH_WATER: Colour = Colour::hex(0xe1eef4);
const NORTH_WATER: Colour = Colour::hex(0xd3e4ed);
const MOVED: Colour = Colour::hex(0xf7e08a);
const SUNK: Colour = Colour::hex(0xc62828);
const SEARCHED: Colour = Colour::hex(0x0f766e);
const SEARCHED_BY_FOE: Colour = Colour::hex(0x7c3aed);
const HEARD: Colour = Colour::hex(0xf6d08d);
const WAY: Colour = Colour::hex(0x8a6d00);

/// The colour of a side's ships.
fn colour(side: Seat) -> Colour {
    match side {
        Seat::First => Colour::hex(0x174a7c),
        Seat::Second => Colour::hex(0xa8321f),
    }
}

/// The colour of a side's submarines.
fn deep_colour(side: Seat) -> Colour {
    match side {
        Seat::First => Colour::hex(0x0b2740),
        Seat::Second => Colour::hex(0x571509),
    }
}

/// The top left corner of a square.
fn corner(at: Square) -> Point {
    (LEFT + f64::from(at.file()) * CELL, TOP + f64::from(15 - at.rank()) * CELL)
}

fn centre(at: Square) -> Point {
    let (x, y) = corner(at);
    (x + CELL / 2.0, y + CELL / 2.0)
}

pub fn draw(view: &View) -> Picture {
    let mut picture = Picture::new(WIDTH, HEIGHT, PAPER);
    water(&mut picture);
    for notice in &view.news {
        squares_of_move(&mut picture, notice);
    }
    for notice in recent_attacks(view) {
        if let Notice::Asw { side, area, contact, .. } | Notice::Sonar { side, area, contact, .. } = notice {
            sounding(&mut picture, *side == view.viewer, *area, *contact);
        }
    }
    for (side, fleet) in view.ships.iter() {
        for ship in fleet {
            let (x, y) = centre(ship.at);
            let over_submarine = known_submarines(view).any(|(_, submarine)| submarine.at == ship.at);
            let y = if over_submarine { y - 6.0 } else { y };
            draw_ship(&mut picture, (x, y), side, ship.kind);
        }
    }
    for (side, submarine) in known_submarines(view) {
        let under_ship = view.ships.iter().any(|(_, fleet)| fleet.iter().any(|ship| ship.at == submarine.at));
        let (x, y) = centre(submarine.at);
        let y = if under_ship { y + 11.0 } else { y };
        let is_shared = known_submarines(view).any(|(of, other)| of != side && other.at == submarine.at);
        let x = match side {
            _ if !is_shared => x,
            Seat::First => x - SHARED,
            Seat::Second => x + SHARED,
        };
        draw_submarine(&mut picture, (x, y), side, &format!("U{}", submarine.no));
    }
    for notice in &view.news {
        arrows_and_crosses(&mut picture, notice);
    }
    legend(&mut picture, view);
    picture
}

/// The sea, its grid, and a chart's border: a scale of light and dark, with coordinates.
fn water(picture: &mut Picture) {
    picture.rect(LEFT, TOP, SIDE, SIDE / 2.0, NORTH_WATER);
    picture.rect(LEFT, TOP + SIDE / 2.0, SIDE, SIDE / 2.0, SOUTH_WATER);
    for i in 0..=16_u8 {
        let at = f64::from(i) * CELL;
        let width = if i == 8 { 1.8 } else { 1.0 };
        picture.line((LEFT + at, TOP), (LEFT + at, TOP + SIDE), GRID, width);
        picture.line(
            (LEFT, TOP + at),
            (LEFT + SIDE, TOP + at),
            if i == 8 { Colour::hex(0x6f93a6) } else { GRID },
            width,
        );
    }
    picture.frame(LEFT - 7.0, TOP - 7.0, SIDE + 14.0, SIDE + 14.0, INK, 1.0);
    picture.frame(LEFT, TOP, SIDE, SIDE, INK, 1.0);
    for i in 0..16_u8 {
        let at = f64::from(i) * CELL;
        let file = char::from(b'A' + i).to_string();
        let rank = (16 - i).to_string();
        if i % 2 == 0 {
            picture.rect(LEFT + at, TOP - 5.0, CELL, 3.0, INK);
            picture.rect(LEFT + at, TOP + SIDE + 2.0, CELL, 3.0, INK);
            picture.rect(LEFT - 5.0, TOP + at, 3.0, CELL, INK);
            picture.rect(LEFT + SIDE + 2.0, TOP + at, 3.0, CELL, INK);
        }
        let middle = at + CELL / 2.0;
        for y in [TOP - 15.0, TOP + SIDE + 16.0] {
            picture.text(LEFT + middle, y, 13.0, Anchor::Middle, INK, &file);
        }
        for x in [LEFT - 17.0, LEFT + SIDE + 18.0] {
            picture.text(x, TOP + middle, 13.0, Anchor::Middle, INK, &rank);
        }
    }
}

fn squares_of_move(picture: &mut Picture, notice: &Notice) {
    let Notice::Move { from, to, squadron_to, .. } = notice else { return };
    for at in [Some(*from), Some(*to), *squadron_to].into_iter().flatten() {
        let (x, y) = corner(at);
        picture.rect(x + 1.0, y + 1.0, CELL - 2.0, CELL - 2.0, MOVED);
    }
}

/// A searched area, and the ring around it if a submarine was heard there.
fn sounding(picture: &mut Picture, own: bool, area: Area, contact: bool) {
    let ring: Vec<Square> = Square::all().filter(|at| area.distance(*at) == 1).collect();
    for at in ring.iter().filter(|_| contact && own) {
        let (x, y) = corner(*at);
        picture.rect(x, y, CELL, CELL, HEARD);
    }
    let (x, y) = corner(area.corner());
    let stroke = if own { SEARCHED } else { SEARCHED_BY_FOE };
    picture.frame(x + 3.0, y - CELL + 3.0, 2.0 * CELL - 6.0, 2.0 * CELL - 6.0, stroke, 2.5);
}

/// A carrier's deck, a squadron's plane and a submarine, around the centre of a square.
const DECK: [Point; 5] = [(-18.0, -11.0), (13.0, -11.0), (18.0, -6.0), (18.0, 11.0), (-18.0, 11.0)];
const PLANE: [Point; 10] = [
    (0.0, -17.0),
    (4.0, -9.0),
    (18.0, 4.0),
    (18.0, 10.0),
    (4.0, 8.0),
    (0.0, 15.0),
    (-4.0, 8.0),
    (-18.0, 10.0),
    (-18.0, 4.0),
    (-4.0, -9.0),
];
const SUBMARINE: [Point; 10] = [
    (-15.0, 0.0),
    (-11.0, -6.5),
    (-3.0, -6.5),
    (-3.0, -10.0),
    (4.0, -10.0),
    (4.0, -6.5),
    (11.0, -6.5),
    (15.0, 0.0),
    (11.0, 6.5),
    (-11.0, 6.5),
];

/// The outline of a battleship, cruiser or destroyer around the centre of a square.
fn hull(length: f64, beam: f64) -> [Point; 6] {
    let (l, b) = (length / 2.0, beam / 2.0);
    [(-l, 0.0), (-l + 6.0, -b), (l - 9.0, -b), (l, 0.0), (l - 9.0, b), (-l + 6.0, b)]
}

/// An outline moved from the origin to `x`, `y`.
fn moved(outline: &[Point], (x, y): Point) -> Vec<Point> {
    outline.iter().map(|(dx, dy)| (x + dx, y + dy)).collect()
}

fn draw_ship(picture: &mut Picture, (x, y): Point, side: Seat, kind: ShipKind) {
    let fill = colour(side);
    let mut ink = PAPER;
    match kind {
        ShipKind::Carrier { .. } => {
            picture.polygon(&moved(&DECK, (x, y)), fill, PAPER, 1.0);
            picture.line((x - 15.0, y + 8.0), (x + 15.0, y + 8.0), PAPER, 1.0);
        }
        // Filled in the air, in outline while it escorts its carrier.
        ShipKind::Squadron { launched: true, .. } => {
            picture.polygon(&moved(&PLANE, (x, y)), fill, fill, 1.6);
        }
        ShipKind::Squadron { launched: false, .. } => {
            picture.polygon(&moved(&PLANE, (x, y)), Colour::hex(0xffffff), fill, 1.6);
            ink = fill;
        }
        ShipKind::Battleship => picture.polygon(&moved(&hull(38.0, 22.0), (x, y)), fill, PAPER, 1.0),
        ShipKind::Cruiser => picture.polygon(&moved(&hull(35.0, 19.0), (x, y)), fill, PAPER, 1.0),
        ShipKind::Destroyer => picture.polygon(&moved(&hull(32.0, 17.0), (x, y)), fill, PAPER, 1.0),
    }
    label_ship(picture, (x, y), kind, ink);
}

/// Writes a ship's class on it, and the number of a carrier or squadron.
fn label_ship(picture: &mut Picture, (x, y): Point, kind: ShipKind, ink: Colour) {
    // A hull's bow points right, so its widest part lies left of the centre.
    let (x, label) = match kind.no() {
        Some(no) => (x, format!("{}{no}", kind.class().letter())),
        None => (x - 1.5, kind.class().letter().to_string()),
    };
    // The line along a carrier's deck takes its lower part.
    let y = if kind.class() == Class::Carrier { y - 1.5 } else { y + 0.5 };
    let size = if kind.class() == Class::Destroyer { 13.0 } else { 14.0 };
    picture.text(x, y, size, Anchor::Middle, ink, &label);
}

fn draw_submarine(picture: &mut Picture, (x, y): Point, side: Seat, label: &str) {
    picture.polygon(&moved(&SUBMARINE, (x, y)), deep_colour(side), PAPER, 1.0);
    picture.text(x, y, 10.5, Anchor::Middle, PAPER, label);
}

fn arrows_and_crosses(picture: &mut Picture, notice: &Notice) {
    match notice {
        Notice::Move { from, to, sunk, .. } => {
            arrow(picture, *from, *to);
            if sunk.is_some() {
                let (x, y) = corner(*to);
                picture.frame(x + 2.0, y + 2.0, CELL - 4.0, CELL - 4.0, SUNK, 3.0);
            }
        }
        Notice::SquadronLost { at, .. } | Notice::Torpedo { at, .. } => {
            let (x, y) = centre(*at);
            for slope in [-1.0, 1.0] {
                picture.line((x - 12.0, y - 12.0 * slope), (x + 12.0, y + 12.0 * slope), SUNK, 4.0);
            }
        }
        Notice::Asw { .. } | Notice::Sonar { .. } | Notice::Pass { .. } => {}
    }
}

/// An arrow from the middle of a square to the edge of the ship that moved.
fn arrow(picture: &mut Picture, from: Square, to: Square) {
    let ((x1, y1), (x2, y2)) = (centre(from), centre(to));
    let length = (x2 - x1).hypot(y2 - y1);
    if length == 0.0 {
        return;
    }
    let (dx, dy) = ((x2 - x1) / length, (y2 - y1) / length);
    let tip = (x2 - dx * 19.0, y2 - dy * 19.0);
    let back = (tip.0 - dx * 9.0, tip.1 - dy * 9.0);
    picture.line((x1, y1), back, WAY, 2.5);
    picture.polygon(
        &[tip, (back.0 - dy * 5.0, back.1 + dx * 5.0), (back.0 + dy * 5.0, back.1 - dx * 5.0)],
        WAY,
        WAY,
        1.0,
    );
}

fn legend(picture: &mut Picture, view: &View) {
    let (first, second) = (TOP + SIDE + 46.0, TOP + SIDE + 82.0);
    let samples = [
        (ShipKind::Carrier { no: 1 }, "carrier"),
        (ShipKind::Squadron { no: 1, launched: false, leapt: false }, "squadron"),
        (ShipKind::Squadron { no: 1, launched: true, leapt: false }, "in the air"),
        (ShipKind::Battleship, "battleship"),
        (ShipKind::Cruiser, "cruiser"),
        (ShipKind::Destroyer, "destroyer"),
    ];
    for (i, (kind, words)) in (0_u8..).zip(samples) {
        let x = LEFT + 20.0 + f64::from(i) * 108.0;
        draw_ship(picture, (x, first), view.viewer, kind);
        picture.text(x + 23.0, first, 12.0, Anchor::Start, INK, words);
    }
    for (x, side, words) in [(LEFT, Seat::First, "South"), (LEFT + 92.0, Seat::Second, "North")] {
        let you = view.phase.is_some() && side == view.viewer;
        let words = if you { format!("{words}: you") } else { words.to_owned() };
        picture.rect(x + 2.0, second - 7.0, 14.0, 14.0, colour(side));
        picture.text(x + 22.0, second, 12.0, Anchor::Start, INK, &words);
    }
    if !view.options.submarines {
        return;
    }
    draw_submarine(picture, (LEFT + 194.0, second), view.viewer, "U1");
    picture.text(LEFT + 213.0, second, 12.0, Anchor::Start, INK, "submarine");
    for (x, stroke, words) in
        [(284.0, SEARCHED, "searched by you"), (414.0, SEARCHED_BY_FOE, "by the other side")]
    {
        picture.frame(LEFT + x, second - 7.0, 14.0, 14.0, stroke, 2.5);
        picture.text(LEFT + x + 21.0, second, 12.0, Anchor::Start, INK, words);
    }
    picture.rect(LEFT + 552.0, second - 8.0, 16.0, 16.0, HEARD);
    picture.text(LEFT + 573.0, second, 12.0, Anchor::Start, INK, "heard here");
}
