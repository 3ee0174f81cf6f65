//! The board of Quantum as text and as a picture.

use std::fmt::Write as _;

use super::pieces::Spot;
use super::pieces::{PieceKind, Stack};
use super::state::Last;
use super::view::View;
use crate::game::picture::{Anchor, Colour, Picture, Point};
use crate::game::{Board, Seat};

pub(super) fn draw(view: &View) -> Board {
    Board { text: text(view), picture: picture(view) }
}

/// The spots that the last move went from and to.
fn last_move(last: Option<Last>) -> Option<(Spot, Spot)> {
    last.and_then(|last| last.from.zip(last.to))
}

/// A stack as text, such as `S3`: the kind, in lower case for Second, and the height if above 1.
fn name(stack: Stack) -> String {
    let letter = match stack.side {
        Seat::First => stack.kind.letter(),
        Seat::Second => stack.kind.letter().to_ascii_lowercase(),
    };
    if stack.height == 1 { letter.to_string() } else { format!("{letter}{}", stack.height) }
}

fn text(view: &View) -> String {
    let last = last_move(view.last);
    let files = "     A     B     C     D     E     F     G     H\n";
    let mut text = files.to_owned();
    for rank in (0..8).rev() {
        let mut row = format!(" {}  ", rank + 1);
        for spot in (0..8).filter_map(|file| Spot::new(file, rank)) {
            let cell = match view.stacks[spot] {
                Some(stack) if stack.is_tower() => format!("[{}]", name(stack)),
                Some(stack) => format!(" {}", name(stack)),
                None if last.is_some_and(|(from, _)| from == spot) => "( )".to_owned(),
                None => " .".to_owned(),
            };
            let mark = if last.is_some_and(|(_, to)| to == spot) { "<" } else { "" };
            write!(row, "{:6}", cell + mark).expect("writing to a String cannot fail");
        }
        writeln!(text, "{}{}", row, rank + 1).expect("writing to a String cannot fail");
    }
    text.push_str(files);
    text.push_str(
        "\nS C Q  square, circle and queen of South; s c q of North.\n\
         A stack of three is S3, a tower of six [S6].\n",
    );
    if last.is_some() {
        text.push_str("The last move went from ( ) to <.\n");
    }
    text
}

const CELL: f64 = 70.0;
const LEFT: f64 = 40.0;
const TOP: f64 = 36.0;
/// The vertical distance between two pieces of a stack.
const LIFT: f64 = 3.0;

const INK: Colour = Colour::hex(0x3c3a36);
const MARK: Colour = Colour::hex(0xc8641e);
const GOLD: Colour = Colour::hex(0xe3b23c);

/// The colours of a side's pieces: face, edge and label.
fn colours(side: Seat) -> (Colour, Colour, Colour) {
    match side {
        Seat::First => (Colour::hex(0xfffaf0), Colour::hex(0x5c5344), Colour::hex(0x2b2620)),
        Seat::Second => (Colour::hex(0x3f5873), Colour::hex(0x16222f), Colour::hex(0xffffff)),
    }
}

fn corner(spot: Spot) -> Point {
    (LEFT + CELL * f64::from(spot.file()), TOP + CELL * f64::from(7 - spot.rank()))
}

fn picture(view: &View) -> Picture {
    let mut picture = Picture::new(640, 676, Colour::hex(0xf7f4ee));
    for spot in Spot::all() {
        let (x, y) = corner(spot);
        let dark = (spot.file() + spot.rank()) % 2 == 0;
        picture.rect(x, y, CELL, CELL, if dark { Colour::hex(0xd8cdb8) } else { Colour::hex(0xe9e1d1) });
    }
    for place in 0..8u8 {
        let at = CELL * (f64::from(place) + 0.5);
        let file = char::from(b'A' + place).to_string();
        picture.text(LEFT + at, TOP - 18.0, 17.0, Anchor::Middle, INK, &file);
        picture.text(LEFT + at, TOP + 8.0 * CELL + 18.0, 17.0, Anchor::Middle, INK, &file);
        let rank = (8 - place).to_string();
        picture.text(LEFT - 18.0, TOP + at, 17.0, Anchor::Middle, INK, &rank);
        picture.text(LEFT + 8.0 * CELL + 18.0, TOP + at, 17.0, Anchor::Middle, INK, &rank);
    }
    for (spot, _) in view.stacks.stacks().filter(|(_, stack)| stack.is_tower()) {
        let (x, y) = corner(spot);
        picture.rect(x + 4.0, y + 4.0, CELL - 8.0, CELL - 8.0, GOLD);
    }
    if let Some((from, to)) = last_move(view.last) {
        for spot in [from, to] {
            let (x, y) = corner(spot);
            picture.frame(x + 2.0, y + 2.0, CELL - 4.0, CELL - 4.0, MARK, 4.0);
        }
        let (x, y) = corner(from);
        picture.circle(x + CELL / 2.0, y + CELL / 2.0, 7.0, MARK, MARK);
    }
    for (spot, stack) in view.stacks.stacks() {
        let (x, y) = corner(spot);
        // A taller stack starts lower, so that it is centred on its square.
        let foot = y + CELL / 2.0 + LIFT * f64::from(stack.height - 1) / 2.0;
        draw_stack(&mut picture, x + CELL / 2.0, foot, 19.0, stack);
    }
    legend(&mut picture);
    picture
}

/// Draws a stack whose lowest piece is centred at `x`, `foot`.
fn draw_stack(picture: &mut Picture, x: f64, foot: f64, radius: f64, stack: Stack) {
    let (face, edge, label) = colours(stack.side);
    let mut y = foot;
    for piece in 0..stack.height {
        y = foot - LIFT * f64::from(piece);
        match stack.kind {
            PieceKind::Square => {
                let r = radius * 0.94;
                picture.polygon(
                    &[(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
                    face,
                    edge,
                    1.5,
                );
            }
            PieceKind::Circle => picture.circle(x, y, radius * 1.06, face, edge),
            PieceKind::Queen => picture.polygon(&plus(x, y, radius * 1.15, radius * 0.5), face, edge, 1.5),
        }
    }
    if stack.height > 1 {
        picture.text(x, y, 18.0, Anchor::Middle, label, &stack.height.to_string());
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

fn legend(picture: &mut Picture) {
    let y = 652.0;
    let mut x = 54.0;
    for (side, words) in [(Seat::First, "South"), (Seat::Second, "North")] {
        for kind in PieceKind::ALL {
            draw_stack(picture, x, y, 11.0, Stack { side, kind, height: 1 });
            x += 30.0;
        }
        picture.text(x - 8.0, y, 15.0, Anchor::Start, INK, words);
        x += 72.0;
    }
    picture.rect(x, y - 11.0, 22.0, 22.0, GOLD);
    picture.text(x + 30.0, y, 15.0, Anchor::Start, INK, "tower");
    x += 100.0;
    picture.frame(x + 2.0, y - 9.0, 18.0, 18.0, MARK, 4.0);
    picture.text(x + 30.0, y, 15.0, Anchor::Start, INK, "last move");
}
