//! The marks that appear both on the board and in its legend.

use super::fleet::{Ship, Square};
use super::hulls::PAPER;
use super::shown::{known_submarines, old_contacts};
use super::view::{Notice, View};
use crate::game::Seat;
use crate::game::picture::{Bounds, Colour, Picture};

/// The width of an arrow's line. Its head fits between two ships, or beside the corner of one.
pub(super) const STROKE: f64 = 3.5;

pub(super) const INK: Colour = Colour::hex(0x22303a);
pub(super) const MOVED: Colour = Colour::hex(0xf6dd7c);
const SUNK: Colour = Colour::hex(0x111111);
pub(super) const HEARD: Colour = Colour::hex(0xf3b562);
pub(super) const OLD: Colour = Colour::hex(0x5c6b75);

/// The colour of a side's searches.
fn search_colour(side: Seat) -> Colour {
    match side {
        Seat::First => Colour::hex(0x0b5fa5),
        Seat::Second => Colour::hex(0xa83c00),
    }
}

/// The old contacts on the board, the latest on each square. Omits those on squares that are taken or where
/// something was sunk, because other signs would cover them.
pub(super) fn shown_contacts(view: &View) -> Vec<(u32, Square)> {
    let mut shown: Vec<(u32, Square)> = Vec::new();
    for (round, at) in old_contacts(view) {
        let is_free = !is_taken(view, at) && losses(view).all(|lost| lost != at);
        if is_free && shown.iter().all(|(_, other)| *other != at) {
            shown.push((round, at));
        }
    }
    shown
}

/// Whether a ship, or a submarine that the viewer knows of, is on a square.
pub(super) fn is_taken(view: &View, at: Square) -> bool {
    ship_at(view, at).is_some() || known_submarines(view).any(|(_, submarine)| submarine.at == at)
}

pub(super) fn ship_at(view: &View, at: Square) -> Option<&Ship> {
    view.ships.iter().flat_map(|(_, fleet)| fleet).find(|ship| ship.at == at)
}

/// The moves of this turn, as far as the view tells: the side, and the squares.
pub(super) fn moves(view: &View) -> impl Iterator<Item = (Seat, Square, Square)> {
    let moved = view.news.iter().filter_map(|notice| match *notice {
        Notice::Move { side, from, to, .. } => Some((side, from, to)),
        Notice::SquadronLost { .. }
        | Notice::Torpedo { .. }
        | Notice::Asw { .. }
        | Notice::Sonar { .. }
        | Notice::Pass { .. } => None,
    });
    moved.chain(view.readers.iter().flat_map(|readers| &readers.moved).copied())
}

/// The squares on which something was sunk, as far as the view tells.
pub(super) fn losses(view: &View) -> impl Iterator<Item = Square> {
    let below = view.readers.iter().flat_map(|readers| &readers.sunk);
    view.news.iter().filter_map(lost_at).chain(below.copied())
}

/// The square on which something was sunk.
fn lost_at(notice: &Notice) -> Option<Square> {
    match *notice {
        Notice::Move { to, sunk: Some(_), .. } => Some(to),
        Notice::SquadronLost { at, .. } | Notice::Torpedo { at, .. } => Some(at),
        Notice::Move { sunk: None, .. } | Notice::Asw { .. } | Notice::Sonar { .. } | Notice::Pass { .. } => {
            None
        }
    }
}

/// The frame of a searched area, a double one if the side is not the one from which the board is seen.
pub(super) fn draw_search(picture: &mut Picture, area: Bounds, side: Seat, is_near: bool) {
    let Bounds { left, top, .. } = area.grown(if is_near { -3.0 } else { -7.0 });
    let width = area.right - area.left - 2.0 * (left - area.left);
    picture.frame(left, top, width, width, search_colour(side), 3.0);
    if !is_near {
        picture.frame(left + 6.0, top + 6.0, width - 12.0, width - 12.0, search_colour(side), 1.5);
    }
}

pub(super) fn cross(picture: &mut Picture, x: f64, y: f64, arm: f64) {
    for (colour, width) in [(PAPER, 7.0), (SUNK, 4.0)] {
        for slope in [-1.0, 1.0] {
            picture.line((x - arm, y - arm * slope), (x + arm, y + arm * slope), colour, width);
        }
    }
}
