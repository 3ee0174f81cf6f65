//! The shapes of ships in the picture, seen from above, the bow to the right: one outline for each class.

use super::fleet::{Class, ShipKind};
use crate::game::Seat;
use crate::game::picture::{Anchor, Colour, Picture, Point};

pub(super) const PAPER: Colour = Colour::hex(0xfbf7ec);

/// The colours of a side. South's ships are dark and North's light, which also shows in print.
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

/// A sample in the legend.
pub(super) struct Hull {
    pub kind: ShipKind,
    pub words: &'static str,
}

pub(super) const FLYING: [Hull; 3] = [
    Hull { kind: ShipKind::Carrier { no: 1 }, words: "carrier" },
    Hull { kind: ShipKind::Squadron { no: 1, launched: false, leapt: false }, words: "squadron" },
    Hull { kind: ShipKind::Squadron { no: 1, launched: true, leapt: false }, words: "in the air" },
];
pub(super) const FIGHTING: [Hull; 3] = [
    Hull { kind: ShipKind::Battleship, words: "battleship" },
    Hull { kind: ShipKind::Cruiser, words: "cruiser" },
    Hull { kind: ShipKind::Destroyer, words: "destroyer" },
];

/// Outlines around the middle of a square.
const DECK: [Point; 6] =
    [(-18.5, -14.0), (12.0, -14.0), (18.5, -8.0), (18.5, 14.0), (-12.0, 14.0), (-18.5, 8.0)];
const BATTLESHIP: [Point; 8] = [
    (-18.5, -6.0),
    (-12.0, -13.5),
    (12.0, -13.5),
    (18.5, -6.0),
    (18.5, 6.0),
    (12.0, 13.5),
    (-12.0, 13.5),
    (-18.5, 6.0),
];
const CRUISER: [Point; 5] = [(-17.0, -12.0), (5.0, -12.0), (19.0, 0.0), (5.0, 12.0), (-17.0, 12.0)];
const DESTROYER: [Point; 6] =
    [(-19.0, -11.5), (3.0, -11.5), (19.0, 0.0), (3.0, 11.5), (-19.0, 11.5), (-11.0, 0.0)];
const PLANE: [Point; 10] = [
    (0.0, -17.0),
    (5.0, -9.0),
    (18.0, 3.0),
    (18.0, 10.0),
    (5.0, 8.5),
    (0.0, 15.0),
    (-5.0, 8.5),
    (-18.0, 10.0),
    (-18.0, 3.0),
    (-5.0, -9.0),
];
const SUBMARINE: [Point; 12] = [
    (-18.0, 0.0),
    (-12.0, -8.0),
    (-5.0, -8.0),
    (-5.0, -13.0),
    (5.0, -13.0),
    (5.0, -8.0),
    (12.0, -8.0),
    (18.0, 0.0),
    (12.0, 8.0),
    (4.0, 9.0),
    (-4.0, 9.0),
    (-12.0, 8.0),
];

/// An outline moved from the origin to `x`, `y`.
fn moved(outline: &[Point], (x, y): Point) -> Vec<Point> {
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
        picture.circle(x, y, 18.0, PAPER, edge);
    }
    picture.polygon(&moved(outline, (x, y)), fill, edge, 2.0);
    if kind.class() == Class::Carrier {
        picture.rect(x - 13.0, y + 8.0, 27.0, 2.0, ink);
    }
    let (dx, dy, size) = match kind.class() {
        Class::Carrier => (0.0, -2.5, 17.0),
        Class::Squadron => (0.0, 1.0, 14.0),
        Class::Battleship => (0.0, 0.0, 20.0),
        Class::Cruiser => (-2.0, 0.0, 20.0),
        Class::Destroyer => (0.0, 0.0, 19.0),
    };
    let no = kind.no().map(|no| no.to_string()).unwrap_or_default();
    let label = format!("{}{no}", kind.class().letter());
    picture.text(x + dx, y + dy, size, Anchor::Middle, ink, &label);
}

pub(super) fn draw_submarine(picture: &mut Picture, (x, y): Point, side: Seat, label: &str) {
    let Paint { fill, edge, ink } = paint(side);
    picture.polygon(&moved(&SUBMARINE, (x, y)), fill, edge, 2.0);
    picture.text(x, y + 0.5, 14.0, Anchor::Middle, ink, label);
}
