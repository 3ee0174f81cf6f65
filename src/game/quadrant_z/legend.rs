//! The legend of the picture.

use super::colours::{FAINT, INK, tint};
use super::galaxy::Sector;
use super::square_map::Mark;
use super::symbols::{self, Plate};
use crate::game::Seat;
use crate::game::picture::{Anchor, Picture};

/// The middles of the samples.
const COLUMNS: [f64; 4] = [42.0, 208.0, 372.0, 540.0];
const ROW: f64 = 36.0;

pub(super) fn draw(picture: &mut Picture, top: f64, viewer: Seat) {
    let [a, b, c, d] = COLUMNS;
    let mut y = top;
    symbols::free_star(picture, a, y, "2");
    symbols::own_star(picture, b, y, "2");
    symbols::enemy_star(picture, c, y, "2");
    symbols::ring(picture, d, y);
    symbols::own_star(picture, d, y, "2");
    row(picture, y, ["star to take", "you took it", "they took it", "this turn"]);
    y += ROW;
    symbols::base(picture, a, y);
    symbols::free_star(picture, a, y, "3");
    symbols::label(picture, (b - 32.0, y - 11.0), "7");
    symbols::label(picture, (b, y - 11.0), "×4");
    symbols::draw_past_mark(picture, Mark::Entered, c, y);
    picture.arrow((d - 24.0, y), (d + 18.0, y), 0.0, symbols::MOVED, 5.0);
    row(picture, y, ["home base", "your ships", "entered", "you moved"]);
    y += ROW;
    symbols::plate(picture, (a - 30.0, y - 11.0), Plate::Enemy, "size 4");
    symbols::plate(picture, (b - 30.0, y - 11.0), Plate::Ghost, "4 t3");
    fog(picture, c, y, viewer);
    squares(picture, d, y);
    row(picture, y, ["the enemy", "in turn 3", "unexplored", "squares"]);
}

/// Unexplored ground of the viewer's sector, of the neutral one and of the enemy's.
fn fog(picture: &mut Picture, x: f64, y: f64, viewer: Seat) {
    let sectors = [Sector::Home(viewer), Sector::Neutral, Sector::Home(viewer.other())];
    for (sector, left) in sectors.into_iter().zip([x - 33.0, x - 11.0, x + 11.0]) {
        let tint = tint(sector, viewer);
        picture.rect(left, y - 12.0, 22.0, 24.0, tint.fog);
        picture.text(left + 11.0, y, 20.0, Anchor::Middle, tint.mark, "?");
    }
    picture.frame(x - 33.0, y - 12.0, 66.0, 24.0, INK, 1.0);
}

/// Draws the numbers of a quadrant's squares.
fn squares(picture: &mut Picture, x: f64, y: f64) {
    for (no, x, y) in
        [("1", x - 9.0, y - 9.0), ("2", x + 9.0, y - 9.0), ("3", x - 9.0, y + 9.0), ("4", x + 9.0, y + 9.0)]
    {
        picture.frame(x - 9.0, y - 9.0, 18.0, 18.0, FAINT, 1.0);
        picture.text(x, y, 15.0, Anchor::Middle, INK, no);
    }
}

fn row(picture: &mut Picture, y: f64, words: [&str; 4]) {
    for (words, x) in words.into_iter().zip(COLUMNS) {
        picture.text(x + 36.0, y, 16.0, Anchor::Start, INK, words);
    }
}
