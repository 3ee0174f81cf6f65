//! The symbols of the picture, on the board and in its legend. One side's are dark and the other's light, so that they
//! also differ in print; no two symbols differ by colour alone.

use super::colours::{FAINT, GROUND, INK};
use super::square_map::Mark;
use crate::game::Seat;
use crate::game::picture::{Anchor, Bounds, Colour, Picture, spikes};

pub(super) const OWN: Colour = Colour::hex(0x14508c);
pub(super) const ENEMY: Colour = Colour::hex(0xb8420b);
pub(super) const MOVED: Colour = Colour::hex(0x3a7abd);
const OWN_INK: Colour = Colour::hex(0x0a2b4c);
pub(super) const ENEMY_FILL: Colour = Colour::hex(0xfff1e6);
const ENEMY_INK: Colour = Colour::hex(0x3d1a05);
const GOLD: Colour = Colour::hex(0xf5c52e);
const GOLD_EDGE: Colour = Colour::hex(0x6b5006);
const BATTLE: Colour = Colour::hex(0xffd23f);
const WHITE: Colour = Colour::hex(0xffffff);

pub(super) fn free_star(picture: &mut Picture, x: f64, y: f64, value: &str) {
    picture.polygon(&spikes(5, x, y, 17.0, 9.5), GOLD, GOLD_EDGE, 1.5);
    picture.text(x, y + 1.0, 17.0, Anchor::Middle, INK, value);
}

/// How a side is drawn: the viewer's dark, the enemy's light; in a replay, each side as in every view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Dark,
    Light,
}

impl Look {
    /// How `side` is drawn where `dark` is the dark one.
    pub fn of(side: Seat, dark: Seat) -> Look {
        if side == dark { Look::Dark } else { Look::Light }
    }
}

/// Draws a star that a side has captured.
pub(super) fn captured_star(picture: &mut Picture, x: f64, y: f64, look: Look, value: &str) {
    match look {
        Look::Dark => {
            picture.circle(x, y, 12.0, OWN, OWN);
            picture.text(x, y, 17.0, Anchor::Middle, WHITE, value);
        }
        Look::Light => {
            let edges = [(x, y - 15.0), (x + 15.0, y), (x, y + 15.0), (x - 15.0, y)];
            picture.polygon(&edges, ENEMY_FILL, ENEMY, 2.5);
            picture.text(x, y, 17.0, Anchor::Middle, ENEMY_INK, value);
        }
    }
}

/// Draws the disc behind the star of a home base.
pub(super) fn base(picture: &mut Picture, x: f64, y: f64) {
    picture.circle(x, y, 16.0, INK, INK);
}

/// Draws the ring behind a star that was captured in this turn.
pub(super) fn ring(picture: &mut Picture, x: f64, y: f64) {
    picture.circle(x, y, 17.0, BATTLE, INK);
}

/// The height of a label, and of a plate.
pub(super) const HEIGHT: f64 = 20.0;
/// The width of a label.
pub(super) const LABEL: f64 = 27.0;
/// The width of a plate. An arrowhead fits between those of two squares side by side.
pub(super) const PLATE: f64 = 50.0;

/// The height of the line below a ghost that shows its turn.
pub(super) const GHOST_TURN: f64 = 13.0;

/// The number of a ship, or how many ships there are.
pub(super) fn label(picture: &mut Picture, at: Bounds, look: Look, label: &str) {
    let (x, y) = at.middle();
    let ink = match look {
        Look::Dark => {
            picture.rect(at.left, at.top, LABEL, HEIGHT, OWN);
            WHITE
        }
        Look::Light => {
            picture.rect(at.left, at.top, LABEL, HEIGHT, ENEMY_FILL);
            picture.frame(at.left + 1.0, at.top + 1.0, LABEL - 2.0, HEIGHT - 2.0, ENEMY, 2.0);
            ENEMY_INK
        }
    };
    let size = if label.chars().count() > 2 { 13.0 } else { 19.0 };
    picture.text(x, y, size, Anchor::Middle, ink, label);
}

/// The size of a side's ships, or their offence and defence.
pub(super) fn plate(picture: &mut Picture, at: Bounds, look: Look, text: &str) {
    let Bounds { left, top, right, bottom } = at;
    let (x, y) = at.middle();
    let ink = match look {
        Look::Dark => {
            picture.rect(left, top, PLATE, HEIGHT, OWN);
            picture.rect(left + 2.0, top + 2.0, PLATE - 4.0, HEIGHT - 4.0, WHITE);
            OWN_INK
        }
        Look::Light => {
            let points = [
                (left + 1.0, y),
                (left + 7.0, top + 1.0),
                (right - 7.0, top + 1.0),
                (right - 1.0, y),
                (right - 7.0, bottom - 1.0),
                (left + 7.0, bottom - 1.0),
            ];
            picture.polygon(&points, ENEMY_FILL, ENEMY, 2.5);
            ENEMY_INK
        }
    };
    let size = match text.chars().count() {
        ..=3 => 19.0,
        4 => 17.0,
        5 => 14.0,
        _ => 11.0,
    };
    picture.text(x, y, size, Anchor::Middle, ink, text);
}

/// The size of enemy ships that were seen in an earlier turn, and that turn below it. Its ground covers arrows, which
/// would cross the text.
pub(super) fn ghost(picture: &mut Picture, at: Bounds, ground: Colour, size: u16, turn: u16) {
    let (x, y) = at.middle();
    picture.rect(at.left, at.top, PLATE, HEIGHT + GHOST_TURN - 2.0, ground);
    picture.frame(at.left + 1.0, at.top + 1.0, PLATE - 2.0, HEIGHT - 2.0, FAINT, 1.0);
    picture.text(x, y, 19.0, Anchor::Middle, FAINT, &size.to_string());
    picture.text(x, at.bottom + 7.0, 13.0, Anchor::Middle, FAINT, &format!("turn {turn}"));
}

/// Draws a cross where ships were lost.
pub(super) fn wreck(picture: &mut Picture, x: f64, y: f64) {
    for (colour, width) in [(WHITE, 6.0), (INK, 3.0)] {
        picture.line((x - 4.5, y - 4.5), (x + 4.5, y + 4.5), colour, width);
        picture.line((x - 4.5, y + 4.5), (x + 4.5, y - 4.5), colour, width);
    }
}

/// Draws a mark; `enemy` is how the viewer's enemy is drawn.
pub(super) fn draw_mark(picture: &mut Picture, mark: Mark, enemy: Look, x: f64, y: f64) {
    match mark {
        Mark::Battle(_) => {
            picture.polygon(&spikes(8, x, y, 12.0, 7.5), BATTLE, INK, 1.0);
            swords(picture, x, y, INK);
        }
        Mark::Met => {
            picture.circle(x, y, 10.0, WHITE, INK);
            picture.polygon(&[(x - 7.0, y), (x - 1.5, y - 5.0), (x - 1.5, y + 5.0)], OWN, OWN, 1.0);
            picture.polygon(&[(x + 7.0, y), (x + 1.5, y - 5.0), (x + 1.5, y + 5.0)], ENEMY_FILL, ENEMY, 1.5);
        }
        Mark::Entered => {
            let (fill, edge) = if enemy == Look::Dark { (WHITE, OWN) } else { (ENEMY_FILL, ENEMY) };
            picture.circle(x, y, 10.0, fill, edge);
            chevron(picture, x, y, edge);
        }
    }
}

/// A mark of an earlier turn, without colour.
pub(super) fn draw_past_mark(picture: &mut Picture, mark: Mark, x: f64, y: f64) {
    picture.circle(x, y, 9.5, GROUND, FAINT);
    match mark {
        Mark::Battle(_) => swords(picture, x, y, FAINT),
        Mark::Met => {
            picture.polygon(&[(x - 6.5, y), (x - 1.5, y - 4.5), (x - 1.5, y + 4.5)], FAINT, FAINT, 1.0);
            picture.polygon(&[(x + 6.5, y), (x + 1.5, y - 4.5), (x + 1.5, y + 4.5)], FAINT, FAINT, 1.0);
        }
        Mark::Entered => chevron(picture, x, y, FAINT),
    }
}

fn swords(picture: &mut Picture, x: f64, y: f64, colour: Colour) {
    picture.line((x - 4.0, y - 4.0), (x + 4.0, y + 4.0), colour, 2.5);
    picture.line((x - 4.0, y + 4.0), (x + 4.0, y - 4.0), colour, 2.5);
}

fn chevron(picture: &mut Picture, x: f64, y: f64, colour: Colour) {
    picture.polygon(&[(x - 3.0, y - 5.5), (x + 6.0, y), (x - 3.0, y + 5.5)], colour, colour, 1.0);
}
