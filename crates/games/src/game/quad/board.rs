//! The board of Quad as text.

use std::fmt::Write as _;

use super::point::Point;
use super::view::{State, View};
use crate::game::{BySeat, Game, Seat};

/// A piece on a point.
#[derive(Clone, Copy)]
pub(super) enum Piece {
    Marble(Seat),
    Star(Seat),
}

pub(super) fn pieces(view: &View) -> impl Iterator<Item = (Point, Piece)> {
    Seat::BOTH.into_iter().flat_map(|seat| {
        let marbles = view.marbles[seat].iter().map(move |&point| (point, Piece::Marble(seat)));
        marbles.chain(view.stars[seat].iter().map(move |&point| (point, Piece::Star(seat))))
    })
}

/// Whether the piece on `point` was played in the last turn.
pub(super) fn is_new(view: &View, point: Point) -> bool {
    view.last.as_ref().is_some_and(|last| last.marble == point || last.stars.contains(&point))
}

/// The points at which each side could complete a quad, if the match shows them and still runs.
pub(super) fn threats(view: &View) -> Option<&BySeat<Vec<Point>>> {
    view.threats.as_ref().filter(|_| view.to_move.is_some())
}

pub(super) fn threatens(view: &View, seat: Seat, point: Point) -> bool {
    threats(view).is_some_and(|threats| threats[seat].contains(&point))
}

/// The three columns of a point on the board as the reader sees it.
fn cell(rows: &mut [Vec<char>], reader: Seat, point: Point) -> &mut [char] {
    let at = point.turned_for(reader);
    &mut rows[usize::from(at.rank())][3 * usize::from(at.file())..][..3]
}

/// Lists each side's pieces, and the quads.
pub(super) fn name_of(view: &View) -> String {
    let quads = view.quads.iter().map(|quad| format!(" A quad on{}.", listed(quad))).collect::<String>();
    format!("{} {}{quads}", side_line(view, Seat::First), side_line(view, Seat::Second))
}

fn listed(points: &[Point]) -> String {
    points.iter().map(|point| format!(" {point}")).collect::<String>()
}

fn side_line(view: &View, seat: Seat) -> String {
    let stars = listed(&view.stars[seat]);
    let stars = if stars.is_empty() { stars } else { format!("; stars on{stars}") };
    let marbles = listed(&view.marbles[seat]);
    let marbles = if marbles.is_empty() { " no marbles".to_owned() } else { format!(" marbles on{marbles}") };
    format!("{}:{marbles}{stars}.", State::RULEBOOK.sides[seat])
}

pub(super) fn text(view: &View) -> String {
    let files = match view.viewer {
        Seat::First => "     A  B  C  D  E  F  G  H  I  J  K\n",
        Seat::Second => "     K  J  I  H  G  F  E  D  C  B  A\n",
    };
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
        cell(&mut rows, view.viewer, point)[1] = mark;
    }
    for (point, piece) in pieces(view) {
        let cell = cell(&mut rows, view.viewer, point);
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
    for (place, row) in rows.iter().enumerate().rev() {
        let row: String = row.iter().collect();
        let rank = match view.viewer {
            Seat::First => place + 1,
            Seat::Second => 11 - place,
        };
        writeln!(text, " {rank:>2} {row} {rank}").expect("writing to a String cannot fail");
    }
    text.push_str(files);
    let has_stars = view.stars.iter().any(|(_, stars)| !stars.is_empty());
    text.push_str("\nB W  marbles of Black and White");
    text.push_str(if has_stars { "; b w  stars\n" } else { "\n" });
    if view.last.is_some() {
        text.push_str("( )  played in the last turn\n");
    }
    for quad in &view.quads {
        let [a, b, c, d] = quad;
        writeln!(text, "[ ]  the quad {a} {b} {c} {d}").expect("writing to a String cannot fail");
    }
    if has_threat(view, view.viewer.other()) {
        text.push_str("!    your opponent could complete a quad here\n");
    }
    if has_threat(view, view.viewer) {
        text.push_str("+    you could complete a quad here\n");
    }
    text
}

/// Whether a side could complete a quad, as far as the view shows it.
pub(super) fn has_threat(view: &View, seat: Seat) -> bool {
    threats(view).is_some_and(|threats| !threats[seat].is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::super::picture::MARK;
    use crate::game::any::AnyState;
    use crate::game::picture::Shape;
    use crate::game::record::lines;
    use crate::game::{BySeat, Game, Seat};

    /// The state after these turns of both sides.
    fn after(turns: &[&str]) -> AnyState {
        let mut state = AnyState::from(State::start(&Default::default()));
        for turn in turns {
            let side = state.due().expect("the match runs").seats[0];
            let mut filed = BySeat::new(None, None);
            filed[side] = Some(state.seal(side, &lines(turn)).expect("legal"));
            state.adjudicate(&filed);
        }
        state
    }

    /// Counts the discs in the mark's colour, including the one in the legend.
    fn rings(state: &AnyState, viewer: Seat) -> usize {
        let is_ring = |shape: &&Shape| matches!(shape, Shape::Circle { fill, .. } if *fill == MARK);
        state.board(viewer).picture.shapes.iter().filter(is_ring).count()
    }

    #[test]
    fn the_pieces_of_the_last_turn_are_marked_and_no_others() {
        assert!(!after(&[]).board(Seat::First).text.contains("( )"));
        let state = after(&["C4* E6", "D4* H8* F6"]);
        for viewer in Seat::BOTH {
            let text = state.board(viewer).text;
            let board = text.split("\n\n").next().expect("the board");
            assert_eq!(["(w)", "(W)", "(b)", "(B)"].map(|mark| board.matches(mark).count()), [2, 1, 0, 0]);
            assert!(text.contains("( )  played in the last turn"), "{text}");
            assert_eq!(rings(&state, viewer), 3 + 1);
        }
    }
}
