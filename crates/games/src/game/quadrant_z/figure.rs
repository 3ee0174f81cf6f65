//! Figure 1 of the rules: the lettered quadrants, with the numbers of their squares (clause 1.1).

use super::colours::{FAINT, GROUND, NEUTRAL_TINT};
use super::galaxy::Quadrant;
use crate::game::picture::{Anchor, Colour, Picture};

/// The side of a square, and the height of a quadrant's heading.
const CELL: f64 = 34.0;
const HEADING: f64 = 24.0;
const MARGIN: f64 = 8.0;
const EDGE: Colour = Colour::hex(0x3a3f45);
const GRID: Colour = Colour::hex(0xaeb3b8);

pub fn draw() -> Picture {
    let (side, tint) = (2.0 * CELL, NEUTRAL_TINT);
    let (width, height) = (2.0 * MARGIN + 5.0 * side, 2.0 * MARGIN + 5.0 * (HEADING + side));
    let mut picture = Picture::new(width as u32, height as u32, GROUND);
    for quadrant in Quadrant::all() {
        let x = MARGIN + f64::from(quadrant.column()) * side;
        let y = MARGIN + f64::from(quadrant.row()) * (HEADING + side);
        let top = y + HEADING;
        picture.rect(x, y, side, HEADING, tint.heading);
        picture.text(x + CELL, y + HEADING / 2.0, 18.0, Anchor::Middle, tint.letter, &quadrant.to_string());
        picture.rect(x, top, side, side, tint.explored);
        picture.line((x + CELL, top), (x + CELL, top + side), GRID, 1.0);
        picture.line((x, top + CELL), (x + side, top + CELL), GRID, 1.0);
        for square in quadrant.squares() {
            let (column, row) = (f64::from(square.cell() % 2), f64::from(square.cell() / 2));
            let (x, y) = (x + (column + 0.5) * CELL, top + (row + 0.5) * CELL);
            picture.text(x, y, 15.0, Anchor::Middle, FAINT, &(square.cell() + 1).to_string());
        }
        picture.frame(x, y, side, HEADING + side, EDGE, 2.0);
    }
    picture
}
