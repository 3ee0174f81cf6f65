//! The layout of the picture: quadrants under their headings, squares, and the room for stars and ships on a square.

use super::galaxy::{Quadrant, Square};
use super::symbols;
use crate::game::picture::{Bounds, Point};

/// The side of a square.
pub(super) const CELL: f64 = 66.0;
/// The room for an arrowhead above and below the ships on a square.
const MARGIN: f64 = 13.0;
/// The heading of a quadrant.
pub(super) const HEADING: f64 = 26.0;
pub(super) const LEFT: f64 = 10.0;
pub(super) const TOP: f64 = 14.0;

/// The top left corner of a quadrant, with its heading.
pub(super) fn corner(quadrant: Quadrant) -> Point {
    let (column, row) = (f64::from(quadrant.column()), f64::from(quadrant.row()));
    (LEFT + column * 2.0 * CELL, TOP + row * (HEADING + 2.0 * CELL))
}

/// The strip of a quadrant's heading.
pub(super) fn heading_strip(quadrant: Quadrant) -> Bounds {
    Bounds::new(corner(quadrant), 2.0 * CELL, HEADING)
}

/// The top left corner of a square.
pub(super) fn square_corner(square: Square) -> Point {
    let (x, y) = corner(square.quadrant());
    let (column, row) = (f64::from(square.cell() % 2), f64::from(square.cell() / 2));
    (x + column * CELL, y + HEADING + row * CELL)
}

/// The middle of the star on a square. Stars are on the right, ships on the left; the lower and the right edge of a
/// square are left for arrows.
pub(super) fn star_place(square: Square) -> Point {
    let (x, y) = square_corner(square);
    (x + 48.0, y + 18.0)
}

/// The room for the label of the viewer's ships on a square.
pub(super) fn label_place(square: Square) -> Bounds {
    let (x, y) = square_corner(square);
    Bounds::new((x + 3.0, y + MARGIN), symbols::LABEL, symbols::HEIGHT)
}

/// The room for a plate on a square.
pub(super) fn plate_place(square: Square) -> Bounds {
    let (x, y) = square_corner(square);
    Bounds::new((x + 3.0, y + MARGIN + symbols::HEIGHT), symbols::PLATE, symbols::HEIGHT)
}
