//! The board of Quad as a picture, turned for the reader's side.

use super::board::{Piece, has_threat, is_new, pieces, threatens, threats};
use super::point::{Point, Points, Quad, SQUARES};
use super::view::View;
use crate::game::Seat;
use crate::game::picture::{self, Anchor, Colour, Picture, legend_places, spikes};

const STEP: f64 = 58.0;
const EDGE: f64 = 60.0;
const WIDTH: u32 = 700;
const RADIUS: f64 = 23.0;

const PAPER: Colour = Colour::hex(0xfbf8f1);
const WOOD: Colour = Colour::hex(0xe9d8b4);
const INK: Colour = Colour::hex(0x2f2b26);
const GRID: Colour = Colour::hex(0x8f7b55);
/// The colour that marks the last turn.
pub(super) const MARK: Colour = Colour::hex(0xc2500a);
/// The colour of a complete quad.
const QUAD: Colour = Colour::hex(0xb3261e);
/// The colours of a quad that the opponent could complete, and of one that the reader could.
const FOE: Colour = Colour::hex(0xb8420b);
const OWN: Colour = Colour::hex(0x14508c);
const BLACK: Colour = Colour::hex(0x26262a);
const WHITE: Colour = Colour::hex(0xffffff);

/// The colours of a side's pieces: face and edge.
fn colours(seat: Seat) -> (Colour, Colour) {
    match seat {
        Seat::First => (BLACK, Colour::hex(0x050506)),
        Seat::Second => (WHITE, INK),
    }
}

fn place(point: Point, reader: Seat) -> picture::Point {
    let at = point.turned_for(reader);
    (EDGE + STEP * f64::from(at.file()), EDGE + STEP * f64::from(10 - at.rank()))
}

pub(super) fn draw(view: &View) -> Picture {
    let signs = signs(view);
    let height = LEGEND_TOP + 26.0 + signs.len().div_ceil(COLUMNS.len()) as f64 * ROW;
    let mut picture = Picture::new(WIDTH, height as u32, PAPER);
    grid(&mut picture, view.viewer);
    let outlines: Vec<_> = [view.viewer.other(), view.viewer]
        .into_iter()
        .flat_map(|seat| threatened_squares(view, seat))
        .collect();
    if outlines.len() <= MAX_OUTLINES {
        for (quad, colour) in outlines {
            picture.outline(&quad, colour, 3.0);
        }
    }
    for quad in &view.quads {
        picture.outline(&around(*quad).map(|point| place(point, view.viewer)), QUAD, 8.0);
    }
    for point in Point::all() {
        let (x, y) = place(point, view.viewer);
        match [view.viewer.other(), view.viewer].map(|seat| threatens(view, seat, point)) {
            [true, true] => threat_of_both(&mut picture, x, y),
            [true, false] => threat_of_foe(&mut picture, x, y),
            [false, true] => threat_of_reader(&mut picture, x, y),
            [false, false] => {}
        }
    }
    for (point, piece) in pieces(view) {
        let (x, y) = place(point, view.viewer);
        if is_new(view, point) {
            picture.circle(x, y, RADIUS + 5.0, MARK, MARK);
        }
        draw_piece(&mut picture, x, y, RADIUS, piece);
    }
    legend(&mut picture, view, &signs);
    picture
}

fn grid(picture: &mut Picture, reader: Seat) {
    let end = EDGE + 10.0 * STEP;
    picture.rect(EDGE - 27.0, EDGE - 27.0, end - EDGE + 54.0, end - EDGE + 54.0, WOOD);
    picture.frame(EDGE - 27.0, EDGE - 27.0, end - EDGE + 54.0, end - EDGE + 54.0, INK, 2.0);
    for place in 0..11_u8 {
        let at = EDGE + STEP * f64::from(place);
        // The corners are not points, so the outermost lines end before them.
        let (from, to) = if place == 0 || place == 10 { (1.0, 9.0) } else { (0.0, 10.0) };
        let from = EDGE + STEP * from;
        let to = EDGE + STEP * to;
        picture.line((at, from), (at, to), GRID, 1.5);
        picture.line((from, at), (to, at), GRID, 1.5);
        let (file, rank) = match reader {
            Seat::First => (place, 11 - place),
            Seat::Second => (10 - place, place + 1),
        };
        let file = char::from(b'A' + file).to_string();
        for y in [16.0, end + 45.0] {
            picture.text(at, y, 20.0, Anchor::Middle, INK, &file);
        }
        for x in [15.0, end + 45.0] {
            picture.text(x, at, 20.0, Anchor::Middle, INK, &rank.to_string());
        }
    }
}

/// Maximum squares that are drawn whole. The lines of more would tangle, so beyond that only their points are
/// marked.
const MAX_OUTLINES: usize = 4;

/// The corners and the colour of each whole square that a side could complete with its next marble.
fn threatened_squares(view: &View, seat: Seat) -> Vec<([picture::Point; 4], Colour)> {
    let Some(threats) = threats(view) else { return Vec::new() };
    let colour = if seat == view.viewer { OWN } else { FOE };
    let mut found = Vec::new();
    for &point in &threats[seat] {
        let mut marbles: Points = view.marbles[seat].iter().collect();
        marbles.insert(point);
        for quad in SQUARES.quads(marbles, point) {
            found.push((around(quad).map(|corner| place(corner, view.viewer)), colour));
        }
    }
    found
}

fn threat_of_foe(picture: &mut Picture, x: f64, y: f64) {
    picture.circle(x, y, 18.0, Colour::hex(0xfbe0cf), FOE);
    picture.text(x, y, 24.0, Anchor::Middle, FOE, "!");
}

/// Both signs, at a point where either side could complete a quad.
fn threat_of_both(picture: &mut Picture, x: f64, y: f64) {
    picture.circle(x, y, 18.0, Colour::hex(0xfbe0cf), FOE);
    picture.text(x - 7.0, y, 22.0, Anchor::Middle, FOE, "!");
    picture.text(x + 5.0, y, 20.0, Anchor::Middle, OWN, "+");
}

fn threat_of_reader(picture: &mut Picture, x: f64, y: f64) {
    picture.circle(x, y, 12.0, Colour::hex(0xdbe8f6), OWN);
    picture.text(x, y, 22.0, Anchor::Middle, OWN, "+");
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
            let shine = match seat {
                Seat::First => Colour::hex(0x85858d),
                Seat::Second => Colour::hex(0xdcd6c8),
            };
            let aside = match seat {
                Seat::First => -0.34 * radius,
                Seat::Second => 0.34 * radius,
            };
            picture.circle(x + aside, y + aside, radius * 0.15, shine, shine);
        }
        Piece::Star(seat) => {
            let (face, edge) = colours(seat);
            picture.polygon(&spikes(5, x, y + 0.06 * radius, radius * 1.1, radius * 0.52), face, edge, 2.0);
        }
    }
}

const LEGEND_TOP: f64 = EDGE + 10.0 * STEP + 88.0;
const ROW: f64 = 40.0;

/// A sign of the board.
#[derive(Clone, Copy)]
enum Sign {
    LastTurn,
    Quad,
    ThreatOfFoe,
    ThreatOfReader,
}

/// The signs of this board other than its pieces.
fn signs(view: &View) -> Vec<Sign> {
    let all = [
        (view.last.is_some(), Sign::LastTurn),
        (!view.quads.is_empty(), Sign::Quad),
        (has_threat(view, view.viewer.other()), Sign::ThreatOfFoe),
        (has_threat(view, view.viewer), Sign::ThreatOfReader),
    ];
    all.into_iter().filter(|(is_shown, _)| *is_shown).map(|(_, sign)| sign).collect()
}

/// The pieces that each side has left, then the other signs.
fn legend(picture: &mut Picture, view: &View, signs: &[Sign]) {
    let y = LEGEND_TOP;
    for (x, seat, words) in [(COLUMNS[0], Seat::First, "Black"), (COLUMNS[1], Seat::Second, "White")] {
        let left = view.left[seat];
        for (x, piece, left) in
            [(x, Piece::Marble(seat), left.marbles), (x + 66.0, Piece::Star(seat), left.stars)]
        {
            draw_piece(picture, x, y, 13.0, piece);
            picture.text(x + 20.0, y, 20.0, Anchor::Start, INK, &left.to_string());
        }
        let you = if view.to_move.is_some() && seat == view.viewer { " (you)" } else { "" };
        picture.text(x + 112.0, y, 20.0, Anchor::Start, INK, &format!("left to {words}{you}"));
    }
    for (sign, (x, y)) in signs.iter().zip(legend_places(&COLUMNS, y + ROW, ROW)) {
        let start = picture.shapes.len();
        let words = match sign {
            Sign::LastTurn => {
                picture.circle(x, y, 13.0, MARK, MARK);
                picture.circle(x, y, 8.0, WOOD, WOOD);
                "last turn"
            }
            Sign::Quad => {
                picture.outline(
                    &[(x - 12.0, y - 12.0), (x + 12.0, y - 12.0), (x + 12.0, y + 12.0), (x - 12.0, y + 12.0)],
                    QUAD,
                    5.0,
                );
                "a quad"
            }
            Sign::ThreatOfFoe => {
                threat_of_foe(picture, x, y);
                "a quad for your opponent"
            }
            Sign::ThreatOfReader => {
                threat_of_reader(picture, x, y);
                "a quad for you"
            }
        };
        picture.text(x + 30.0, y, 20.0, Anchor::Start, INK, words);
        picture.sign((x, y), start);
    }
}

/// The x coordinates of the middles of the legend's samples.
const COLUMNS: [f64; 2] = [47.0, 370.0];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::any::AnyState;
    use crate::game::picture::Shape;
    use crate::game::quad::State;
    use crate::game::record::lines;
    use crate::game::{BySeat, Game, Options};
    use fogpost_testing::sight::assert_told_apart;

    #[test]
    fn a_threatened_square_is_drawn_whole() {
        let mut options = super::super::Options::default();
        options.set("trainer", "on").expect("an option");
        let mut state = AnyState::Quad(State::start(&options));
        for (seat, marble) in [
            (Seat::First, "E5"),
            (Seat::Second, "B8"),
            (Seat::First, "E7"),
            (Seat::Second, "B9"),
            (Seat::First, "G5"),
        ] {
            let mut filed = BySeat::new(None, None);
            filed[seat] = Some(state.seal(seat, &lines(&format!("MARBLE {marble}"))).expect("a legal turn"));
            state.adjudicate(&filed);
        }
        for (reader, colour) in [(Seat::First, OWN), (Seat::Second, FOE)] {
            let picture = state.board(reader).picture;
            let is_square = |shape: &&Shape| {
                matches!(shape, Shape::Polygon { points, fill: None, stroke }
                    if points.len() == 4 && stroke.colour == colour)
            };
            assert_eq!(picture.shapes.iter().filter(is_square).count(), 1, "E5, E7, G5 and G7");
        }
    }

    #[test]
    fn its_colours_are_told_apart_by_every_eye_and_in_print() {
        assert_told_apart(40.0, &[(BLACK, WHITE), (BLACK, WOOD), (QUAD, WOOD), (FOE, WOOD), (OWN, WOOD)]);
        assert_told_apart(10.0, &[(WHITE, WOOD), (FOE, OWN), (MARK, BLACK), (MARK, WOOD)]);
    }
}
