//! The board of Quantum as a picture, turned for the side that reads.

use super::board::last_move;
use super::pieces::{PieceKind, Spot, Stack};
use super::view::View;
use crate::game::Seat;
use crate::game::picture::{Anchor, Colour, Picture, Point};

const CELL: f64 = 78.0;
const LEFT: f64 = 38.0;
const TOP: f64 = 36.0;
const SIDE: f64 = 8.0 * CELL;
const WIDTH: u32 = 700;
const HEIGHT: u32 = 788;

/// The radius of a piece.
const RADIUS: f64 = 24.0;

const PAPER: Colour = Colour::hex(0xfbf8f1);
const INK: Colour = Colour::hex(0x2f2b26);
const LIGHT: Colour = Colour::hex(0xefe6d2);
const DARK: Colour = Colour::hex(0xd3c2a0);
/// The last move.
const MARK: Colour = Colour::hex(0xc2500a);
const TOWER: Colour = Colour::hex(0xf0b429);
const TOWER_EDGE: Colour = Colour::hex(0x6b4c05);

/// The colours of a side's pieces: face, edge and label.
fn colours(side: Seat) -> (Colour, Colour, Colour) {
    match side {
        Seat::First => (Colour::hex(0xfffdf7), INK, INK),
        Seat::Second => (Colour::hex(0x34506e), Colour::hex(0x0f1c2a), Colour::hex(0xffffff)),
    }
}

/// The middle of a square, as `reader` sees it.
fn centre(spot: Spot, reader: Seat) -> Point {
    let at = spot.turned_for(reader);
    (LEFT + CELL * (f64::from(at.file()) + 0.5), TOP + CELL * (7.5 - f64::from(at.rank())))
}

pub(super) fn draw(view: &View) -> Picture {
    let mut picture = Picture::new(WIDTH, HEIGHT, PAPER);
    squares(&mut picture, view.viewer);
    for (spot, _) in view.stacks.stacks().filter(|(_, stack)| stack.is_tower()) {
        let (x, y) = centre(spot, view.viewer);
        tower(&mut picture, x, y, CELL - 8.0);
    }
    if let Some((from, to)) = last_move(view.last) {
        let (from, to) = (centre(from, view.viewer), centre(to, view.viewer));
        for (x, y) in [from, to] {
            let (edge, width) = (CELL / 2.0 - 2.5, 5.0);
            picture.frame(x - edge, y - edge, 2.0 * edge, 2.0 * edge, MARK, width);
        }
        picture.arrow(from, to, RADIUS + 5.0, MARK, 6.0);
    }
    for (spot, stack) in view.stacks.stacks() {
        let (x, y) = centre(spot, view.viewer);
        draw_stack(&mut picture, x, y, RADIUS, stack);
    }
    legend(&mut picture, view);
    picture
}

fn squares(picture: &mut Picture, reader: Seat) {
    picture.rect(LEFT - 3.0, TOP - 3.0, SIDE + 6.0, SIDE + 6.0, INK);
    picture.rect(LEFT, TOP, SIDE, SIDE, LIGHT);
    for spot in Spot::all().filter(|spot| (spot.file() + spot.rank()) % 2 == 0) {
        let (x, y) = centre(spot, reader);
        picture.rect(x - CELL / 2.0, y - CELL / 2.0, CELL, CELL, DARK);
    }
    for spot in Spot::all().filter(|spot| spot.file() == spot.rank()) {
        let (x, y) = centre(spot, reader);
        let file = char::from(b'A' + spot.file()).to_string();
        let rank = (spot.rank() + 1).to_string();
        for edge in [TOP - 19.0, TOP + SIDE + 20.0] {
            picture.text(x, edge, 21.0, Anchor::Middle, INK, &file);
        }
        for edge in [LEFT - 20.0, LEFT + SIDE + 20.0] {
            picture.text(edge, y, 21.0, Anchor::Middle, INK, &rank);
        }
    }
}

/// The ground of a tower, a frame in two colours that also shows in print.
fn tower(picture: &mut Picture, x: f64, y: f64, side: f64) {
    picture.rect(x - side / 2.0, y - side / 2.0, side, side, TOWER);
    picture.frame(x - side / 2.0, y - side / 2.0, side, side, TOWER_EDGE, 3.0);
}

/// Draws a stack whose pieces lie around `x`, `y`, one above the other.
fn draw_stack(picture: &mut Picture, x: f64, y: f64, radius: f64, stack: Stack) {
    let (face, edge, label) = colours(stack.side);
    let above = f64::from(stack.height - 1);
    // The highest stacks lie closer, so that they stay within their square.
    let lift = if above > 0.0 { (18.0 / above).min(4.0) } else { 0.0 };
    let mut top = y;
    for piece in 0..stack.height {
        top = y + lift * (above / 2.0 - f64::from(piece));
        match stack.kind {
            PieceKind::Square => {
                let r = radius * 0.92;
                picture.polygon(
                    &[(x - r, top - r), (x + r, top - r), (x + r, top + r), (x - r, top + r)],
                    face,
                    edge,
                    2.0,
                );
            }
            PieceKind::Circle => picture.circle(x, top, radius * 1.06, face, edge),
            PieceKind::Queen => picture.polygon(&plus(x, top, radius * 1.14, radius * 0.52), face, edge, 2.0),
        }
    }
    if stack.height > 1 {
        picture.text(x, top, 26.0, Anchor::Middle, label, &stack.height.to_string());
    }
}

/// A plus sign whose arms have the length `arm` and the width `2 * half_width`.
fn plus(x: f64, y: f64, arm: f64, half_width: f64) -> Vec<Point> {
    let quarter = [(half_width, -arm), (half_width, -half_width), (arm, -half_width)];
    let turns = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
    let turned =
        turns.into_iter().flat_map(|(c, s)| quarter.map(|(px, py)| (px * c - py * s, px * s + py * c)));
    turned.map(|(px, py)| (x + px, y + py)).collect()
}

fn legend(picture: &mut Picture, view: &View) {
    let y = TOP + SIDE + 62.0;
    for (x, side, words) in [(LEFT + 14.0, Seat::First, "South"), (LEFT + 330.0, Seat::Second, "North")] {
        for (kind, place) in PieceKind::ALL.into_iter().zip(0_u8..) {
            draw_stack(picture, x + 34.0 * f64::from(place), y, 13.0, Stack { side, kind, height: 1 });
        }
        let you = view.to_move.is_some() && side == view.viewer;
        let words = if you { format!("{words}: you") } else { words.to_owned() };
        picture.text(x + 92.0, y, 20.0, Anchor::Start, INK, &words);
    }
    let y = y + 40.0;
    tower(picture, LEFT + 14.0, y, 24.0);
    picture.text(LEFT + 38.0, y, 20.0, Anchor::Start, INK, "tower: never moves");
    picture.frame(LEFT + 319.0, y - 11.0, 22.0, 22.0, MARK, 4.0);
    picture.text(LEFT + 354.0, y, 20.0, Anchor::Start, INK, "last move");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::sight::assert_told_apart;

    #[test]
    fn its_colours_are_told_apart_by_every_eye_and_in_print() {
        let (south, north) = (colours(Seat::First), colours(Seat::Second));
        assert_told_apart(40.0, &[(south.0, north.0), (south.0, south.2), (north.0, north.2)]);
        assert_told_apart(20.0, &[(north.0, DARK), (MARK, LIGHT), (MARK, DARK), (TOWER_EDGE, TOWER)]);
        assert_told_apart(6.0, &[(LIGHT, DARK), (south.0, LIGHT)]);
    }
}
