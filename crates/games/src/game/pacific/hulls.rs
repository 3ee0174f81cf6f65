//! The shapes of ships in the picture, seen from above with the bow to the right: one outline for each class.

use super::fleet::{Class, ShipKind};
use crate::game::Seat;
use crate::game::picture::{Anchor, Bounds, Colour, Picture, Point};

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
    let (Paint { fill, ink, .. }, half) = (paint(side), 0.72 * size);
    picture.rect(x - half, y - 6.0, 2.0 * half, 12.0, fill);
    picture.text(x, y + 0.5, size, Anchor::Middle, ink, label);
}
