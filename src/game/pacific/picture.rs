//! The board as a picture, in the style of a sea chart, turned for the side that reads.

use super::fleet::{Area, Ship, Square};
use super::hulls::{self, Hull, PAPER};
use super::shown::{known_submarines, old_contacts, recent_attacks};
use super::view::{Notice, View};
use crate::game::Seat;
use crate::game::picture::{Anchor, Colour, Picture, Point};

const CELL: f64 = 40.0;
const LEFT: f64 = 30.0;
const TOP: f64 = 30.0;
const SIDE: f64 = 16.0 * CELL;
const WIDTH: u32 = 700;
/// Distance from the middle of a square at which two submarines that share it are drawn.
const SHARED: f64 = 9.0;

pub(super) const INK: Colour = Colour::hex(0x22303a);
const MOVED: Colour = Colour::hex(0xf6dd7c);
const SUNK: Colour = Colour::hex(0x111111);
const SEARCHED: Colour = Colour::hex(0x0b5fa5);
const SEARCHED_BY_FOE: Colour = Colour::hex(0xa83c00);
const HEARD: Colour = Colour::hex(0xf3b562);
const OLD: Colour = Colour::hex(0x5c6b75);

/// The light and the dark squares of a side's waters, which a cruiser tells apart.
pub(super) fn waters(side: Seat) -> (Colour, Colour) {
    match side {
        Seat::First => (Colour::hex(0xe9f3f9), Colour::hex(0xcbe0ec)),
        Seat::Second => (Colour::hex(0xe9efe3), Colour::hex(0xcddac6)),
    }
}

/// A picture in progress, and the view that it shows.
struct Chart<'a> {
    picture: Picture,
    view: &'a View,
}

pub fn draw(view: &View) -> Picture {
    let height = if view.options.submarines { 912 } else { 838 };
    let mut chart = Chart { picture: Picture::new(WIDTH, height, PAPER), view };
    chart.sea();
    for notice in &view.news {
        chart.squares_of_move(notice);
    }
    for notice in recent_attacks(view) {
        if let Notice::Asw { side, area, contact, .. } | Notice::Sonar { side, area, contact, .. } = notice {
            chart.sounding(*side == view.viewer, *area, *contact);
        }
    }
    for (round, at) in old_contacts(view) {
        chart.old_contact(round, at);
    }
    for notice in &view.news {
        chart.arrow(notice);
    }
    // Submarines come first, so that a ship above one stays legible.
    for (side, submarine) in known_submarines(view) {
        chart.submarine(side, submarine.at, submarine.no);
    }
    for (side, fleet) in view.ships.iter() {
        for ship in fleet {
            chart.ship(side, ship);
        }
    }
    for notice in &view.news {
        chart.losses(notice);
    }
    chart.legend();
    chart.picture
}

impl Chart<'_> {
    /// The top left corner of a square, as the reader sees it.
    fn corner(&self, at: Square) -> Point {
        let at = at.turned_for(self.view.viewer);
        (LEFT + f64::from(at.file()) * CELL, TOP + f64::from(15 - at.rank()) * CELL)
    }

    fn centre(&self, at: Square) -> Point {
        let (x, y) = self.corner(at);
        (x + CELL / 2.0, y + CELL / 2.0)
    }

    /// The sea and a chart's border: a scale of light and dark, with coordinates.
    fn sea(&mut self) {
        for (side, top) in [(self.view.viewer, TOP + SIDE / 2.0), (self.view.viewer.other(), TOP)] {
            self.picture.rect(LEFT, top, SIDE, SIDE / 2.0, waters(side).0);
        }
        // A1 is dark, as on a chess board.
        for at in Square::all().filter(|at| (at.file() + at.rank()) % 2 == 0) {
            let side = if at.rank() < 8 { Seat::First } else { Seat::Second };
            let (x, y) = self.corner(at);
            self.picture.rect(x, y, CELL, CELL, waters(side).1);
        }
        self.picture.rect(LEFT, TOP + SIDE / 2.0 - 2.5, SIDE, 5.0, INK);
        self.picture.frame(LEFT - 1.0, TOP - 1.0, SIDE + 2.0, SIDE + 2.0, INK, 2.0);
        for at in Square::all().filter(|at| at.file() == at.rank()) {
            let (x, y) = self.centre(at);
            let (file, rank) = (char::from(b'A' + at.file()).to_string(), (at.rank() + 1).to_string());
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

    /// A searched area, and the ring around it if a submarine was heard there.
    fn sounding(&mut self, own: bool, area: Area, contact: bool) {
        if contact && own {
            for at in Square::all().filter(|at| area.distance(*at) == 1) {
                let (x, y) = self.corner(at);
                self.picture.rect(x + 2.0, y + 2.0, CELL - 4.0, CELL - 4.0, HEARD);
            }
        }
        let squares: Vec<Point> =
            Square::all().filter(|at| area.distance(*at) == 0).map(|at| self.corner(at)).collect();
        let left = squares.iter().fold(f64::MAX, |least, (x, _)| least.min(*x));
        let top = squares.iter().fold(f64::MAX, |least, (_, y)| least.min(*y));
        let (stroke, inset) = if own { (SEARCHED, 3.0) } else { (SEARCHED_BY_FOE, 7.0) };
        let side = 2.0 * (CELL - inset);
        self.picture.frame(left + inset, top + inset, side, side, stroke, 3.0);
        if !own {
            self.picture.frame(left + inset + 6.0, top + inset + 6.0, side - 12.0, side - 12.0, stroke, 1.5);
        }
    }

    /// Draws the square where a submarine of the other side was noticed in an earlier round.
    fn old_contact(&mut self, round: u32, at: Square) {
        let (x, y) = self.corner(at);
        self.picture.frame(x + 4.0, y + 4.0, CELL - 8.0, CELL - 8.0, OLD, 1.5);
        let label = format!("r{round}");
        let size = if label.len() > 3 { 14.0 } else { 17.0 };
        self.picture.text(x + CELL / 2.0, y + CELL / 2.0, size, Anchor::Middle, OLD, &label);
    }

    /// An arrow from the square that a ship left to the edge of the ship that moved.
    fn arrow(&mut self, notice: &Notice) {
        let Notice::Move { side, from, to, .. } = notice else { return };
        let (from, to) = (self.centre(*from), self.centre(*to));
        self.picture.arrow(from, to, 16.0, hulls::paint(*side).edge, 4.5);
    }

    fn ship(&mut self, side: Seat, ship: &Ship) {
        let (x, y) = self.centre(ship.at);
        let is_above = known_submarines(self.view).any(|(_, submarine)| submarine.at == ship.at);
        let y = if is_above { y - 7.0 } else { y };
        hulls::draw_ship(&mut self.picture, (x, y), side, ship.kind);
    }

    fn submarine(&mut self, side: Seat, at: Square, no: u16) {
        let is_under = self.view.ships.iter().any(|(_, fleet)| fleet.iter().any(|ship| ship.at == at));
        let is_shared = known_submarines(self.view).any(|(of, other)| of != side && other.at == at);
        let (x, y) = self.centre(at);
        let y = if is_under { y + 12.0 } else { y };
        let x = match side {
            _ if !is_shared => x,
            Seat::First => x - SHARED,
            Seat::Second => x + SHARED,
        };
        hulls::draw_submarine(&mut self.picture, (x, y), side, &format!("U{no}"));
    }

    fn losses(&mut self, notice: &Notice) {
        match notice {
            Notice::Move { to, sunk: Some(_), .. } => {
                let (x, y) = self.corner(*to);
                self.picture.frame(x + 1.5, y + 1.5, CELL - 3.0, CELL - 3.0, SUNK, 3.0);
            }
            Notice::SquadronLost { at, .. } | Notice::Torpedo { at, .. } => {
                let (x, y) = self.centre(*at);
                cross(&mut self.picture, x, y, 13.0);
            }
            Notice::Move { sunk: None, .. }
            | Notice::Asw { .. }
            | Notice::Sonar { .. }
            | Notice::Pass { .. } => {}
        }
    }

    fn legend(&mut self) {
        let viewer = self.view.viewer;
        let mut y = TOP + SIDE + 58.0;
        for row in [hulls::FLYING, hulls::FIGHTING] {
            for (hull, x) in row.into_iter().zip(COLUMNS) {
                let Hull { kind, words } = hull;
                hulls::draw_ship(&mut self.picture, (x, y), viewer, kind);
                self.words(x, y, words);
            }
            y += 40.0;
        }
        for ((side, words), x) in [(Seat::First, "South"), (Seat::Second, "North")].into_iter().zip(COLUMNS) {
            let you = self.view.phase.is_some() && side == viewer;
            let words = if you { format!("{words}: you") } else { words.to_owned() };
            let paint = hulls::paint(side);
            self.picture.rect(x - 12.0, y - 12.0, 24.0, 24.0, paint.fill);
            self.picture.frame(x - 12.0, y - 12.0, 24.0, 24.0, paint.edge, 2.5);
            self.words(x, y, &words);
        }
        if !self.view.options.submarines {
            cross(&mut self.picture, COLUMNS[2], y, 11.0);
            self.words(COLUMNS[2], y, "sunk");
            return;
        }
        hulls::draw_submarine(&mut self.picture, (COLUMNS[2], y), viewer, "U1");
        self.words(COLUMNS[2], y, "submarine");
        y += 38.0;
        let [x, foe, heard] = COLUMNS;
        self.picture.frame(x - 12.0, y - 12.0, 24.0, 24.0, SEARCHED, 3.0);
        self.words(x, y, "you searched");
        self.picture.frame(foe - 12.0, y - 12.0, 24.0, 24.0, SEARCHED_BY_FOE, 3.0);
        self.picture.frame(foe - 7.0, y - 7.0, 14.0, 14.0, SEARCHED_BY_FOE, 1.5);
        self.words(foe, y, "they searched");
        self.picture.rect(heard - 12.0, y - 12.0, 24.0, 24.0, HEARD);
        self.words(heard, y, "heard near here");
        y += 38.0;
        cross(&mut self.picture, x, y, 11.0);
        self.words(x, y, "sunk");
        self.picture.frame(foe - 14.0, y - 14.0, 28.0, 28.0, OLD, 1.5);
        self.picture.text(foe, y, 17.0, Anchor::Middle, OLD, "r3");
        self.words(foe, y, "a submarine was noticed in round 3");
    }

    fn words(&mut self, x: f64, y: f64, words: &str) {
        self.picture.text(x + 28.0, y, 19.0, Anchor::Start, INK, words);
    }
}

/// The middles of the samples in the legend.
const COLUMNS: [f64; 3] = [LEFT + 20.0, LEFT + 230.0, LEFT + 445.0];

fn cross(picture: &mut Picture, x: f64, y: f64, arm: f64) {
    for (colour, width) in [(PAPER, 7.0), (SUNK, 4.0)] {
        for slope in [-1.0, 1.0] {
            picture.line((x - arm, y - arm * slope), (x + arm, y + arm * slope), colour, width);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::sight::assert_told_apart;

    #[test]
    fn its_colours_are_told_apart_by_every_eye_and_in_print() {
        let (south, north) = (hulls::paint(Seat::First), hulls::paint(Seat::Second));
        let (waters_south, waters_north) = (waters(Seat::First), waters(Seat::Second));
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
