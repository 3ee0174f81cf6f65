//! The board of Quad as text and as a picture.

use std::fmt::Write as _;

use super::point::{Point, Quad};
use super::view::View;
use crate::game::picture::{Anchor, Colour, Picture, tenths};
use crate::game::{Board, BySeat, Seat};

pub(super) fn draw(view: &View) -> Board {
    Board { text: text(view), picture: picture(view) }
}

/// A piece on a point.
#[derive(Clone, Copy)]
enum Piece {
    Marble(Seat),
    Star(Seat),
}

fn pieces(view: &View) -> impl Iterator<Item = (Point, Piece)> {
    Seat::BOTH.into_iter().flat_map(|seat| {
        let marbles = view.marbles[seat].iter().map(move |&point| (point, Piece::Marble(seat)));
        marbles.chain(view.stars[seat].iter().map(move |&point| (point, Piece::Star(seat))))
    })
}

/// Whether the piece on `point` was played in the last turn.
fn is_new(view: &View, point: Point) -> bool {
    view.last.as_ref().is_some_and(|last| last.marble == point || last.stars.contains(&point))
}

/// The points at which each side could complete a quad, if the match shows them and still runs.
fn threats(view: &View) -> Option<&BySeat<Vec<Point>>> {
    view.threats.as_ref().filter(|_| view.to_move.is_some())
}

fn threatens(view: &View, seat: Seat, point: Point) -> bool {
    threats(view).is_some_and(|threats| threats[seat].contains(&point))
}

fn text(view: &View) -> String {
    let files = "     A  B  C  D  E  F  G  H  I  J  K\n";
    let mut rows = vec![vec![' '; 33]; 11];
    for point in Point::all() {
        let foe = threatens(view, view.viewer.other(), point);
        let mark = if foe {
            '!'
        } else if threatens(view, view.viewer, point) {
            '+'
        } else {
            '.'
        };
        rows[usize::from(point.rank())][3 * usize::from(point.file()) + 1] = mark;
    }
    for (point, piece) in pieces(view) {
        let cell = &mut rows[usize::from(point.rank())][3 * usize::from(point.file())..][..3];
        cell[1] = match piece {
            Piece::Marble(Seat::First) => 'B',
            Piece::Marble(Seat::Second) => 'W',
            Piece::Star(Seat::First) => 'b',
            Piece::Star(Seat::Second) => 'w',
        };
        if view.quads.iter().flatten().any(|&corner| corner == point) {
            (cell[0], cell[2]) = ('[', ']');
        } else if is_new(view, point) {
            (cell[0], cell[2]) = ('(', ')');
        }
    }
    let mut text = files.to_owned();
    for (rank, row) in rows.iter().enumerate().rev() {
        let row: String = row.iter().collect();
        writeln!(text, " {:>2} {row} {}", rank + 1, rank + 1).expect("writing to a String cannot fail");
    }
    text.push_str(files);
    text.push_str("\nB W  marbles of Black and White; b w  stars\n");
    if view.last.is_some() {
        text.push_str("( )  played in the last turn\n");
    }
    for quad in &view.quads {
        let [a, b, c, d] = quad;
        writeln!(text, "[ ]  the quad {a} {b} {c} {d}").expect("writing to a String cannot fail");
    }
    if threats(view).is_some() {
        text.push_str("!    your opponent could complete a quad here\n+    you could complete a quad here\n");
    }
    text
}

const STEP: f64 = 52.0;
const EDGE: f64 = 60.0;

const INK: Colour = Colour::hex(0x3c3a36);
const GRID: Colour = Colour::hex(0xb3a68c);
const MARK: Colour = Colour::hex(0xd9731a);
const QUAD: Colour = Colour::hex(0xb3261e);
const FOE: Colour = Colour::hex(0xc22f2f);
const OWN: Colour = Colour::hex(0x2f7d4f);

/// The colours of a side's pieces: face and edge.
fn colours(seat: Seat) -> (Colour, Colour) {
    match seat {
        Seat::First => (Colour::hex(0x2f2f33), Colour::hex(0x0f0f12)),
        Seat::Second => (Colour::hex(0xffffff), Colour::hex(0x4d4a44)),
    }
}

fn place(point: Point) -> (f64, f64) {
    (EDGE + STEP * f64::from(point.file()), EDGE + STEP * f64::from(10 - point.rank()))
}

fn picture(view: &View) -> Picture {
    let height = if threats(view).is_some() { 712 } else { 684 };
    let mut picture = Picture::new(640, height, Colour::hex(0xf3ecdc));
    grid(&mut picture);
    for quad in &view.quads {
        picture.outline(&around(*quad).map(place), QUAD, 6.0);
    }
    for point in Point::all() {
        let (x, y) = place(point);
        // If both sides could complete a quad here, the opponent's mark is a ring around the viewer's.
        if threatens(view, view.viewer.other(), point) {
            picture.circle(x, y, 12.0, Colour::hex(0xf6d5cf), FOE);
        }
        if threatens(view, view.viewer, point) {
            picture.circle(x, y, 7.0, Colour::hex(0xbfe3cb), OWN);
        }
    }
    for (point, piece) in pieces(view) {
        let (x, y) = place(point);
        if is_new(view, point) {
            picture.circle(x, y, 24.5, MARK, MARK);
        }
        draw_piece(&mut picture, x, y, 20.0, piece);
    }
    legend(&mut picture, view);
    picture
}

fn grid(picture: &mut Picture) {
    for place in 0..11u8 {
        let at = EDGE + STEP * f64::from(place);
        // The corners are not points, so the outermost lines end before them.
        let (from, to) = if place == 0 || place == 10 { (1.0, 9.0) } else { (0.0, 10.0) };
        let (from, to) = (EDGE + STEP * from, EDGE + STEP * to);
        picture.line((at, from), (at, to), GRID, 1.5);
        picture.line((from, at), (to, at), GRID, 1.5);
        let file = char::from(b'A' + place).to_string();
        picture.text(at, 20.0, 16.0, Anchor::Middle, INK, &file);
        picture.text(at, 620.0, 16.0, Anchor::Middle, INK, &file);
        let rank = (11 - place).to_string();
        picture.text(20.0, at, 16.0, Anchor::Middle, INK, &rank);
        picture.text(620.0, at, 16.0, Anchor::Middle, INK, &rank);
    }
}

/// The corners of a quad in the order of its outline.
fn around([a, b, c, d]: Quad) -> Quad {
    // Corners are sorted by rank, then by file, so the first and the last are opposite at any tilt.
    [a, b, d, c]
}

fn draw_piece(picture: &mut Picture, x: f64, y: f64, radius: f64, piece: Piece) {
    match piece {
        Piece::Marble(seat) => {
            let (face, edge) = colours(seat);
            picture.circle(x, y, radius, face, edge);
            if seat == Seat::First {
                picture.circle(
                    x - radius * 0.35,
                    y - radius * 0.35,
                    radius * 0.16,
                    Colour::hex(0x8d8d95),
                    Colour::hex(0x8d8d95),
                );
            } else {
                picture.circle(
                    x + radius * 0.3,
                    y + radius * 0.3,
                    radius * 0.2,
                    Colour::hex(0xdcd6c8),
                    Colour::hex(0xdcd6c8),
                );
            }
        }
        Piece::Star(seat) => {
            let (face, edge) = colours(seat);
            picture.polygon(&star(x, y, radius * 1.05), face, edge, 1.5);
        }
    }
}

/// A star with five points, the first of which points up.
fn star(x: f64, y: f64, outer: f64) -> Vec<(f64, f64)> {
    let mut points = Vec::with_capacity(10);
    for step in 0..10_u8 {
        let angle = std::f64::consts::PI * (f64::from(step) / 5.0 - 0.5);
        let radius = if step.is_multiple_of(2) { outer } else { outer * 0.45 };
        points.push((tenths(x + radius * angle.cos()), tenths(y + radius * angle.sin())));
    }
    points
}

fn legend(picture: &mut Picture, view: &View) {
    let y = 658.0;
    let mut x = 50.0;
    for (seat, words) in [(Seat::First, "Black"), (Seat::Second, "White")] {
        draw_piece(picture, x, y, 11.0, Piece::Marble(seat));
        draw_piece(picture, x + 28.0, y, 11.0, Piece::Star(seat));
        let left = view.left[seat];
        let words = format!("{words}: {} and {} left", left.marbles, left.stars);
        picture.text(x + 48.0, y, 15.0, Anchor::Start, INK, &words);
        x += 225.0;
    }
    picture.circle(x, y, 12.0, MARK, MARK);
    picture.circle(x, y, 8.0, Colour::hex(0xf3ecdc), Colour::hex(0xf3ecdc));
    picture.text(x + 20.0, y, 15.0, Anchor::Start, INK, "last turn");
    if threats(view).is_some() {
        let y = y + 28.0;
        picture.circle(50.0, y, 10.0, Colour::hex(0xf6d5cf), FOE);
        picture.text(68.0, y, 15.0, Anchor::Start, INK, "your opponent could complete a quad");
        picture.circle(390.0, y, 7.0, Colour::hex(0xbfe3cb), OWN);
        picture.text(408.0, y, 15.0, Anchor::Start, INK, "you could");
    }
}
