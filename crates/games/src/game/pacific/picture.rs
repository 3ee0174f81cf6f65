//! The board as a picture, in the style of a sea chart, turned for the reader's side.
//!
//! The figure of the rules on hunting submarines: an area of four squares, and the ring of twelve around it (3.6).

use super::fleet::{Area, Ship, Square, Submarine, in_friendly_waters};
use super::marks::{
    self, HEARD, INK, MOVED, OLD, PAPER, STROKE, cross, draw_search, is_taken, losses, moves, ship_at,
    shown_contacts,
};
use super::view::{Notice, View, known_submarines, recent_attacks};
use crate::game::Seat;
use crate::game::arrows::{Arrows, End, Obstacle};
use crate::game::picture::{Anchor, Bounds, Colour, Picture, Point};

const CELL: f64 = 40.0;
const LEFT: f64 = 30.0;
const TOP: f64 = 30.0;
const SIDE: f64 = 16.0 * CELL;
const WIDTH: u32 = 700;
/// Distance from the middle of a square at which two submarines that share it are drawn.
const SHARED: f64 = 9.0;

/// The colours of the light and dark squares of a side's waters. They differ because a cruiser moves along
/// one colour.
pub(super) fn waters(side: Seat) -> (Colour, Colour) {
    match side {
        Seat::First => (Colour::hex(0xe9f3f9), Colour::hex(0xcbe0ec)),
        Seat::Second => (Colour::hex(0xe9efe3), Colour::hex(0xcddac6)),
    }
}

/// Whether a square is a dark one: A1 is, as on a chess board.
fn is_dark(at: Square) -> bool {
    (at.file() + at.rank()).is_multiple_of(2)
}

/// The water of a square.
pub(super) fn water(at: Square) -> Colour {
    let side = if in_friendly_waters(Seat::First, at) { Seat::First } else { Seat::Second };
    let (light, dark) = waters(side);
    if is_dark(at) { dark } else { light }
}

/// A picture in progress, and the view that it shows.
struct Chart<'a> {
    picture: Picture,
    view: &'a View,
}

pub fn draw(view: &View) -> Picture {
    let signs = marks::legend_signs(view);
    let height = TOP + SIDE + 38.0 + marks::legend_height(&signs);
    let mut chart = Chart { picture: Picture::new(WIDTH, height as u32, PAPER), view };
    chart.sea();
    for notice in &view.news {
        chart.squares_of_move(notice);
    }
    for notice in recent_attacks(view) {
        if let Notice::Asw { side, area, contact, .. } | Notice::Sonar { side, area, contact, .. } = notice {
            chart.sounding(*side, *area, *contact);
        }
    }
    // Arrows pass over the hulls of submarines, but under their numbers and under old contacts. Submarines are drawn
    // before ships, so that a ship above one stays legible.
    for (side, submarine) in known_submarines(view) {
        let centre = chart.submarine_centre(side, submarine.at);
        marks::draw_submarine(&mut chart.picture, centre, side);
    }
    chart.arrows();
    for (round, at) in shown_contacts(view) {
        chart.old_contact(round, at);
    }
    for (side, submarine) in known_submarines(view) {
        chart.submarine_number(side, submarine);
    }
    for (side, fleet) in view.ships.iter() {
        for ship in fleet {
            let centre = chart.ship_centre(ship);
            marks::draw_ship(&mut chart.picture, centre, side, ship.kind);
        }
    }
    for at in losses(view) {
        chart.loss(at);
    }
    marks::draw_legend(&mut chart.picture, TOP + SIDE + 58.0, &signs, view);
    chart.picture
}

impl Chart<'_> {
    /// The top left corner of a square, as the reader sees it.
    fn corner(&self, at: Square) -> Point {
        let at = at.turned_for(self.view.seen_from());
        (LEFT + f64::from(at.file()) * CELL, TOP + f64::from(15 - at.rank()) * CELL)
    }

    fn centre(&self, at: Square) -> Point {
        let (x, y) = self.corner(at);
        (x + CELL / 2.0, y + CELL / 2.0)
    }

    /// The sea and a chart's border: a scale of light and dark, with coordinates.
    fn sea(&mut self) {
        let near = self.view.seen_from();
        for (side, top) in [(near, TOP + SIDE / 2.0), (near.other(), TOP)] {
            self.picture.rect(LEFT, top, SIDE, SIDE / 2.0, waters(side).0);
        }
        for at in Square::all().filter(|at| is_dark(*at)) {
            let (x, y) = self.corner(at);
            self.picture.rect(x, y, CELL, CELL, water(at));
        }
        self.picture.rect(LEFT, TOP + SIDE / 2.0 - 2.5, SIDE, 5.0, INK);
        self.picture.frame(LEFT - 1.0, TOP - 1.0, SIDE + 2.0, SIDE + 2.0, INK, 2.0);
        for at in Square::all().filter(|at| at.file() == at.rank()) {
            let (x, y) = self.centre(at);
            let file = char::from(b'A' + at.file()).to_string();
            let rank = (at.rank() + 1).to_string();
            for edge in [TOP - 15.0, TOP + SIDE + 16.0] {
                self.picture.text(x, edge, 19.0, Anchor::Middle, INK, &file);
            }
            for edge in [LEFT - 16.0, LEFT + SIDE + 16.0] {
                self.picture.text(edge, y, 19.0, Anchor::Middle, INK, &rank);
            }
        }
    }

    fn squares_of_move(&mut self, notice: &Notice) {
        let Notice::Move { from, to, squadron_to, .. } = notice else { return };
        for at in [Some(*from), Some(*to), *squadron_to].into_iter().flatten() {
            let (x, y) = self.corner(at);
            self.picture.rect(x, y, CELL, CELL, MOVED);
        }
    }

    /// A searched area, and the ring around it if the viewer heard a submarine there.
    fn sounding(&mut self, side: Seat, area: Area, contact: bool) {
        if contact && self.view.hears(side) {
            for at in Square::all().filter(|at| area.distance(*at) == 1) {
                let (x, y) = self.corner(at);
                self.picture.rect(x + 2.0, y + 2.0, CELL - 4.0, CELL - 4.0, HEARD);
            }
        }
        let squares: Vec<Point> =
            Square::all().filter(|at| area.distance(*at) == 0).map(|at| self.corner(at)).collect();
        let left = squares.iter().fold(f64::MAX, |least, (x, _)| least.min(*x));
        let top = squares.iter().fold(f64::MAX, |least, (_, y)| least.min(*y));
        let area = Bounds::new((left, top), 2.0 * CELL, 2.0 * CELL);
        draw_search(&mut self.picture, area, side, side == self.view.seen_from());
    }

    /// Draws the square where a submarine of the other side was noticed in an earlier round.
    fn old_contact(&mut self, round: u32, at: Square) {
        let (x, y) = self.corner(at);
        self.picture.frame(x + 4.0, y + 4.0, CELL - 8.0, CELL - 8.0, OLD, 1.5);
        self.picture.rect(x + 6.0, y + 11.0, CELL - 12.0, CELL - 22.0, water(at));
        let label = format!("t{round}");
        let size = if label.len() > 3 { 14.0 } else { 17.0 };
        self.picture.text(x + CELL / 2.0, y + CELL / 2.0, size, Anchor::Middle, OLD, &label);
    }

    /// The path of each ship that moved, up to the edge of the ship.
    fn arrows(&mut self) {
        let mut obstacles: Vec<Obstacle> = Vec::new();
        for ship in self.view.ships.iter().flat_map(|(_, fleet)| fleet) {
            obstacles.push(Obstacle::Rectangle(marks::bounds(self.ship_centre(ship), ship.kind)));
        }
        for (side, submarine) in known_submarines(self.view) {
            let centre = self.submarine_centre(side, submarine.at);
            obstacles.push(Obstacle::Rectangle(marks::submarine_label(centre)));
        }
        for at in losses(self.view) {
            let (x, y, arm) = self.cross_place(at);
            obstacles.push(Obstacle::Rectangle(Bounds::around((x, y), arm + 2.0, arm + 2.0)));
        }
        for (side, from, to) in moves(self.view) {
            let mut arrows = Arrows::new(marks::paint(side).edge, STROKE, obstacles.clone());
            let from = self.end(from);
            let to = self.end(to);
            arrows.draw(&mut self.picture, &[from], &to);
        }
    }

    /// The outline of the ship on a square, with the label of a submarine below it, or its middle if there is none.
    fn end(&self, at: Square) -> End {
        let Some(ship) = ship_at(self.view, at) else {
            // A submarine that moved in open water, which only a replay shows.
            let is_below = known_submarines(self.view).any(|(_, submarine)| submarine.at == at);
            let around = Bounds::around(self.centre(at), 17.0, 13.0);
            return if is_below { End::Outline(vec![around]) } else { End::Point(self.centre(at)) };
        };
        let mut parts = vec![marks::bounds(self.ship_centre(ship), ship.kind)];
        for (side, submarine) in known_submarines(self.view).filter(|(_, below)| below.at == at) {
            parts.push(marks::submarine_label(self.submarine_centre(side, submarine.at)));
        }
        End::Outline(parts)
    }

    /// The middle of a ship, moved aside if a submarine is below it.
    fn ship_centre(&self, ship: &Ship) -> Point {
        let (x, y) = self.centre(ship.at);
        let is_above = known_submarines(self.view).any(|(_, submarine)| submarine.at == ship.at);
        (x, if is_above { y - 7.0 } else { y })
    }

    fn is_shared(&self, side: Seat, at: Square) -> bool {
        known_submarines(self.view).any(|(of, other)| of != side && other.at == at)
    }

    fn submarine_centre(&self, side: Seat, at: Square) -> Point {
        let (x, y) = self.centre(at);
        let y = if ship_at(self.view, at).is_some() { y + 12.0 } else { y };
        let x = match side {
            _ if !self.is_shared(side, at) => x,
            Seat::First => x - SHARED,
            Seat::Second => x + SHARED,
        };
        (x, y)
    }

    fn submarine_number(&mut self, side: Seat, submarine: Submarine) {
        let centre = self.submarine_centre(side, submarine.at);
        let size = if self.is_shared(side, submarine.at) { 12.0 } else { 14.0 };
        marks::draw_submarine_number(&mut self.picture, centre, side, &format!("U{}", submarine.no), size);
    }

    /// The middle and the arms of the cross where something was sunk: whole on open water, in the corner beside a ship.
    fn cross_place(&self, at: Square) -> (f64, f64, f64) {
        let (x, y) = self.centre(at);
        if is_taken(self.view, at) { (x + 15.0, y - 15.0, 4.0) } else { (x, y, 12.0) }
    }

    fn loss(&mut self, at: Square) {
        let (x, y, arm) = self.cross_place(at);
        cross(&mut self.picture, x, y, arm);
    }
}

const FIGURE_CELL: f64 = 46.0;
const FIGURE_LEFT: f64 = 36.0;
const FIGURE_TOP: f64 = 10.0;
/// The first file and rank shown, and how many of each: I to N, 5 to 10.
const FIRST: (u8, u8) = (8, 4);
const SHOWN: u8 = 6;

/// The top left corner of a square.
fn corner(at: Square) -> Point {
    let file = at.file() - FIRST.0;
    let rank = FIRST.1 + SHOWN - 1 - at.rank();
    (FIGURE_LEFT + f64::from(file) * FIGURE_CELL, FIGURE_TOP + f64::from(rank) * FIGURE_CELL)
}

pub fn figure() -> Picture {
    let side = f64::from(SHOWN) * FIGURE_CELL;
    let mut picture =
        Picture::new((FIGURE_LEFT + side + FIGURE_TOP) as u32, (FIGURE_TOP + side + 32.0) as u32, PAPER);
    let area = Square::parse("K7").and_then(Area::new).expect("an area of the board");
    let is_shown = |at: &Square| {
        (FIRST.0..FIRST.0 + SHOWN).contains(&at.file()) && (FIRST.1..FIRST.1 + SHOWN).contains(&at.rank())
    };
    for at in Square::all().filter(is_shown) {
        let (x, y) = corner(at);
        picture.rect(x, y, FIGURE_CELL, FIGURE_CELL, water(at));
        if area.distance(at) == 1 {
            picture.rect(x + 2.0, y + 2.0, FIGURE_CELL - 4.0, FIGURE_CELL - 4.0, HEARD);
            picture.text(x + FIGURE_CELL / 2.0, y + FIGURE_CELL / 2.0, 22.0, Anchor::Middle, INK, "?");
        }
        if at.file() == FIRST.0 {
            let rank = (at.rank() + 1).to_string();
            picture.text(FIGURE_LEFT / 2.0, y + FIGURE_CELL / 2.0, 19.0, Anchor::Middle, INK, &rank);
        }
        if at.rank() == FIRST.1 {
            let file = char::from(b'A' + at.file()).to_string();
            picture.text(x + FIGURE_CELL / 2.0, FIGURE_TOP + side + 17.0, 19.0, Anchor::Middle, INK, &file);
        }
    }
    picture.frame(FIGURE_LEFT - 1.0, FIGURE_TOP - 1.0, side + 2.0, side + 2.0, INK, 2.0);
    let (left, bottom) = corner(area.corner());
    draw_search(
        &mut picture,
        Bounds::new((left, bottom - FIGURE_CELL), 2.0 * FIGURE_CELL, 2.0 * FIGURE_CELL),
        Seat::First,
        true,
    );
    picture
}

#[cfg(test)]
mod tests {
    use super::*;
    use fogpost_testing::sight::assert_told_apart;

    #[test]
    fn its_colours_are_told_apart_by_every_eye_and_in_print() {
        let south = marks::paint(Seat::First);
        let north = marks::paint(Seat::Second);
        let waters_south = waters(Seat::First);
        let waters_north = waters(Seat::Second);
        assert_told_apart(
            40.0,
            &[(south.fill, north.fill), (south.fill, south.ink), (north.fill, north.ink)],
        );
        assert_told_apart(25.0, &[(south.fill, waters_north.1), (north.edge, waters_south.1)]);
        assert_told_apart(
            5.0,
            &[waters_south, waters_north, (MOVED, waters_south.0), (HEARD, waters_north.0)],
        );
    }
}
