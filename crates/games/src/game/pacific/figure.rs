//! The figure of the rules on hunting submarines: an area of four squares, and the ring of twelve around it (3.6).

use super::fleet::{Area, Square};
use super::hulls::PAPER;
use super::marks::{HEARD, INK, draw_search};
use super::picture::water;
use crate::game::Seat;
use crate::game::picture::{Anchor, Bounds, Picture, Point};

const CELL: f64 = 46.0;
const LEFT: f64 = 36.0;
const TOP: f64 = 10.0;
/// The first file and rank shown, and how many of each: I to N, 5 to 10.
const FIRST: (u8, u8) = (8, 4);
const SHOWN: u8 = 6;

/// The top left corner of a square.
fn corner(at: Square) -> Point {
    let (file, rank) = (at.file() - FIRST.0, FIRST.1 + SHOWN - 1 - at.rank());
    (LEFT + f64::from(file) * CELL, TOP + f64::from(rank) * CELL)
}

pub fn draw() -> Picture {
    let side = f64::from(SHOWN) * CELL;
    let mut picture = Picture::new((LEFT + side + TOP) as u32, (TOP + side + 32.0) as u32, PAPER);
    let area = Square::parse("K7").and_then(Area::new).expect("an area of the board");
    let is_shown = |at: &Square| {
        (FIRST.0..FIRST.0 + SHOWN).contains(&at.file()) && (FIRST.1..FIRST.1 + SHOWN).contains(&at.rank())
    };
    for at in Square::all().filter(is_shown) {
        let (x, y) = corner(at);
        picture.rect(x, y, CELL, CELL, water(at));
        if area.distance(at) == 1 {
            picture.rect(x + 2.0, y + 2.0, CELL - 4.0, CELL - 4.0, HEARD);
            picture.text(x + CELL / 2.0, y + CELL / 2.0, 22.0, Anchor::Middle, INK, "?");
        }
        if at.file() == FIRST.0 {
            let rank = (at.rank() + 1).to_string();
            picture.text(LEFT / 2.0, y + CELL / 2.0, 19.0, Anchor::Middle, INK, &rank);
        }
        if at.rank() == FIRST.1 {
            let file = char::from(b'A' + at.file()).to_string();
            picture.text(x + CELL / 2.0, TOP + side + 17.0, 19.0, Anchor::Middle, INK, &file);
        }
    }
    picture.frame(LEFT - 1.0, TOP - 1.0, side + 2.0, side + 2.0, INK, 2.0);
    let (left, bottom) = corner(area.corner());
    draw_search(&mut picture, Bounds::new((left, bottom - CELL), 2.0 * CELL, 2.0 * CELL), Seat::First, true);
    picture
}
