//! The board of Quantum as a picture, turned for the reader's side.

use super::pieces::{PieceKind, Spot, Stack};
use super::view::{View, last_move};
use crate::game::Seat;
use crate::game::arrows::{Arrows, End, Obstacle};
use crate::game::picture::{Anchor, Bounds, Colour, Picture, Point, legend_places};

const CELL: f64 = 78.0;
const LEFT: f64 = 38.0;
const TOP: f64 = 36.0;
const SIDE: f64 = 8.0 * CELL;
const WIDTH: u32 = 700;
/// The width of an arrow's line. Its head fits between two stacks.
const STROKE: f64 = 5.0;

/// The radius of a piece.
const RADIUS: f64 = 24.0;

const PAPER: Colour = Colour::hex(0xfbf8f1);
const INK: Colour = Colour::hex(0x2f2b26);
const LIGHT: Colour = Colour::hex(0xefe6d2);
const DARK: Colour = Colour::hex(0xd3c2a0);
/// The colour that marks the last move.
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
    let signs = signs(view);
    let height = TOP + SIDE + 42.0 + signs.len().div_ceil(COLUMNS.len()) as f64 * ROW;
    let mut picture = Picture::new(WIDTH, height as u32, PAPER);
    squares(&mut picture, view.viewer);
    for (spot, _) in view.stacks.stacks().filter(|(_, stack)| stack.is_tower()) {
        let (x, y) = centre(spot, view.viewer);
        tower(&mut picture, x, y, CELL - 8.0);
    }
    if let Some((from, to)) = last_move(view.last) {
        for (x, y) in [centre(from, view.viewer), centre(to, view.viewer)] {
            let edge = CELL / 2.0 - 2.5;
            let width = 5.0;
            picture.frame(x - edge, y - edge, 2.0 * edge, 2.0 * edge, MARK, width);
        }
        arrow(&mut picture, view, from, to);
    }
    for (spot, stack) in view.stacks.stacks() {
        let (x, y) = centre(spot, view.viewer);
        draw_stack(&mut picture, x, y, RADIUS, stack);
    }
    legend(&mut picture, view, &signs);
    picture
}

/// Draws the last move as an arrow up to the edge of the stack.
fn arrow(picture: &mut Picture, view: &View, from: Spot, to: Spot) {
    let bounds = |spot: Spot| {
        let stack = view.stacks[spot]?;
        Some(bounds(centre(spot, view.viewer), RADIUS, stack))
    };
    let obstacles = view.stacks.stacks().filter_map(|(spot, _)| bounds(spot)).map(Obstacle::Rectangle);
    let end = |spot: Spot| match bounds(spot) {
        Some(bounds) => End::Outline(vec![bounds]),
        None => End::Point(centre(spot, view.viewer)),
    };
    // Not the colour of the frames, whose edges the arrow crosses.
    Arrows::new(INK, STROKE, obstacles.collect()).draw(picture, &[end(from)], &end(to));
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

/// Vertical distance between the pieces of a stack. The highest ones lie closer, so that they stay within their square.
fn lift(stack: Stack) -> f64 {
    let above = f64::from(stack.height - 1);
    if above > 0.0 { (18.0 / above).min(4.0) } else { 0.0 }
}

/// The room that a stack around `centre` takes.
fn bounds(centre: Point, radius: f64, stack: Stack) -> Bounds {
    let reach = 1.0
        + radius
            * match stack.kind {
                PieceKind::Square => SQUARE,
                PieceKind::Circle => CIRCLE,
                PieceKind::Queen => QUEEN,
            };
    let above = lift(stack) * f64::from(stack.height - 1) / 2.0;
    Bounds::around(centre, reach, reach + above)
}

/// Half the width of each kind of piece, by the radius.
const SQUARE: f64 = 0.92;
const CIRCLE: f64 = 1.06;
const QUEEN: f64 = 1.14;

/// Draws a stack whose pieces lie around `x`, `y`, one above the other.
fn draw_stack(picture: &mut Picture, x: f64, y: f64, radius: f64, stack: Stack) {
    let (face, edge, label) = colours(stack.side);
    let above = f64::from(stack.height - 1);
    let lift = lift(stack);
    let mut top = y;
    for piece in 0..stack.height {
        top = y + lift * (above / 2.0 - f64::from(piece));
        match stack.kind {
            PieceKind::Square => {
                let r = radius * SQUARE;
                picture.polygon(
                    &[(x - r, top - r), (x + r, top - r), (x + r, top + r), (x - r, top + r)],
                    face,
                    edge,
                    2.0,
                );
            }
            PieceKind::Circle => picture.circle(x, top, radius * CIRCLE, face, edge),
            PieceKind::Queen => {
                picture.polygon(&plus(x, top, radius * QUEEN, radius * 0.52), face, edge, 2.0)
            }
        }
    }
    if stack.height > 1 {
        picture.text(x, top, 26.0 * radius / RADIUS, Anchor::Middle, label, &stack.height.to_string());
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

/// The x coordinates of the middles of the legend's samples.
const COLUMNS: [f64; 3] = [LEFT + 18.0, LEFT + 232.0, LEFT + 440.0];
const ROW: f64 = 42.0;

/// A sign of the board.
#[derive(Clone, Copy)]
enum Sign {
    Kind(PieceKind),
    Side(Seat),
    Stack(Stack),
    Tower,
    LastMove,
}

/// The signs of this board, each kind once.
fn signs(view: &View) -> Vec<Sign> {
    let stacks = || view.stacks.stacks().map(|(_, stack)| stack);
    let kinds = PieceKind::ALL.into_iter().filter(|kind| stacks().any(|stack| stack.kind == *kind));
    let mut signs: Vec<Sign> = kinds.map(Sign::Kind).collect();
    signs.extend(Seat::BOTH.map(Sign::Side));
    signs.extend(stacks().find(|stack| stack.height > 1 && !stack.is_tower()).map(Sign::Stack));
    if stacks().any(Stack::is_tower) {
        signs.push(Sign::Tower);
    }
    if last_move(view.last).is_some() {
        signs.push(Sign::LastMove);
    }
    signs
}

fn legend(picture: &mut Picture, view: &View, signs: &[Sign]) {
    for (sign, (x, y)) in signs.iter().zip(legend_places(&COLUMNS, TOP + SIDE + 64.0, ROW)) {
        let start = picture.shapes.len();
        let words = match *sign {
            Sign::Kind(kind) => {
                draw_stack(picture, x, y, 13.0, Stack { side: view.viewer, kind, height: 1 });
                match kind {
                    PieceKind::Square => "square".to_owned(),
                    PieceKind::Circle => "circle".to_owned(),
                    PieceKind::Queen => "queen".to_owned(),
                }
            }
            Sign::Side(side) => {
                let (face, edge, _) = colours(side);
                picture.rect(x - 13.0, y - 10.0, 26.0, 20.0, face);
                picture.frame(x - 13.0, y - 10.0, 26.0, 20.0, edge, 2.0);
                let name = match side {
                    Seat::First => "South",
                    Seat::Second => "North",
                };
                let you = view.to_move.is_some() && side == view.viewer;
                if you { format!("{name}: you") } else { name.to_owned() }
            }
            Sign::Stack(stack) => {
                draw_stack(picture, x, y, 15.0, stack);
                format!("stack of {}", stack.height)
            }
            Sign::Tower => {
                tower(picture, x, y, 26.0);
                "tower: stays".to_owned()
            }
            Sign::LastMove => {
                picture.frame(x - 12.0, y - 12.0, 24.0, 24.0, MARK, 4.0);
                "last move".to_owned()
            }
        };
        picture.text(x + 32.0, y, 19.0, Anchor::Start, INK, &words);
        picture.sign((x, y), start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fogpost_testing::sight::assert_told_apart;

    #[test]
    fn its_colours_are_told_apart_by_every_eye_and_in_print() {
        let south = colours(Seat::First);
        let north = colours(Seat::Second);
        assert_told_apart(40.0, &[(south.0, north.0), (south.0, south.2), (north.0, north.2)]);
        assert_told_apart(20.0, &[(north.0, DARK), (MARK, LIGHT), (MARK, DARK), (TOWER_EDGE, TOWER)]);
        assert_told_apart(6.0, &[(LIGHT, DARK), (south.0, LIGHT)]);
    }
}
