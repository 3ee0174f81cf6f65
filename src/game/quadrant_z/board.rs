//! The board as text.
//!
//! Each quadrant is a box of two by two squares. A square takes two lines: its star, then the ships on it.

use std::fmt::{self, Write as _};

use super::galaxy::{Quadrant, Sector};
use super::picture;
use super::square_map::{Contents, Mark, SquareMap};
use super::view::View;
use crate::game::Board;

/// See [`crate::game::Game::board`].
pub fn board(view: &View) -> Board {
    let map = SquareMap::new(view);
    Board { text: text(&map), picture: picture::draw(&map) }
}

/// The columns of a square, including the space between squares.
const WIDTH: usize = 6;

const LEGEND: &str = "
3* star   [2] home base   3+ captured by you   3- by the enemy
Below it: 1,2 your ships   x4 four of them   !5 enemies of size 5
=A= your home sector   ~Y~ the enemy's   M? not explored
";

fn text(map: &SquareMap<'_>) -> String {
    let mut text = String::new();
    let quadrants: Vec<Quadrant> = Quadrant::all().collect();
    for row in quadrants.chunks(5) {
        for &quadrant in row {
            text.push('+');
            text.push_str(&heading(map, quadrant));
        }
        text.push_str("+\n");
        for cells in [[0, 1], [2, 3]] {
            push_square_lines(&mut text, map, row, cells);
        }
    }
    for _ in 0..5 {
        push(&mut text, format_args!("+{:-<1$}", "", 2 * WIDTH));
    }
    text.push_str("+\n");
    text.push_str(LEGEND);
    text
}

/// The two lines of one row of squares, across a row of quadrants.
fn push_square_lines(text: &mut String, map: &SquareMap<'_>, row: &[Quadrant], cells: [u8; 2]) {
    for line in [SquareLine::Star, SquareLine::Ships] {
        for &quadrant in row {
            text.push('|');
            for cell in cells {
                let contents = map.at(quadrant.square(cell));
                let content = match line {
                    SquareLine::Star => star(map, contents),
                    SquareLine::Ships => ships(contents),
                };
                push(text, format_args!(" {:<1$}", content, WIDTH - 1));
            }
        }
        text.push_str("|\n");
    }
}

/// One of the two lines of a square.
#[derive(Clone, Copy)]
enum SquareLine {
    Star,
    Ships,
}

fn push(text: &mut String, arguments: fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("writing to a String cannot fail");
}

/// The upper edge of a quadrant's box: its sector, its letter, and what the viewer was told about it.
fn heading(map: &SquareMap<'_>, quadrant: Quadrant) -> String {
    let line = match map.sector(quadrant) {
        Sector::Home(seat) if seat == map.view.context.viewer => '=',
        Sector::Home(_) => '~',
        Sector::Neutral => '-',
    };
    let fog = if map.is_charted(quadrant) { line } else { '?' };
    let mark = match map.mark(quadrant) {
        Some(Mark::Battle(_)) => " battle ",
        Some(Mark::Met) => " both ",
        Some(Mark::Entered) => " entered ",
        None => "",
    };
    let mut heading = format!("{line}{quadrant}{fog}{mark}");
    while heading.len() < 2 * WIDTH {
        heading.push(line);
    }
    heading
}

fn star(map: &SquareMap<'_>, contents: &Contents<'_>) -> String {
    let Some(star) = contents.star else { return ".".into() };
    let value = if star.base { format!("[{}]", star.value) } else { star.value.to_string() };
    match star.captured_by {
        None if star.base => value,
        None => value + "*",
        Some(by) if by == map.view.context.viewer => value + "+",
        Some(_) => value + "-",
    }
}

/// The numbers of the viewer's ships, or how many there are if the numbers do not fit; then the total size of
/// the enemy's.
fn ships(contents: &Contents<'_>) -> String {
    let enemy = contents.enemy.map(|enemy| format!("!{}", enemy.size())).unwrap_or_default();
    let room = WIDTH - 1 - enemy.len().min(WIDTH - 1);
    let numbers: Vec<String> = contents.ships.iter().map(|ship| ship.no.to_string()).collect();
    let mut own = numbers.join(",");
    if own.len() > room {
        own = format!("x{}", contents.ships.len());
    }
    own + &enemy
}
