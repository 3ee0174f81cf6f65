//! The symbols of the picture, as they stand on the board and in its legend. What is the viewer's is dark and
//! what is the enemy's light, which also shows in print; no two differ by colour alone.

use super::colours::{FAINT, GROUND, INK};
use super::square_map::Mark;
use crate::game::picture::{Anchor, Colour, Picture, spikes};

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

pub(super) fn own_star(picture: &mut Picture, x: f64, y: f64, value: &str) {
    picture.circle(x, y, 12.0, OWN, OWN);
    picture.text(x, y, 17.0, Anchor::Middle, WHITE, value);
}

pub(super) fn enemy_star(picture: &mut Picture, x: f64, y: f64, value: &str) {
    picture.polygon(&[(x, y - 15.0), (x + 15.0, y), (x, y + 15.0), (x - 15.0, y)], ENEMY_FILL, ENEMY, 2.5);
    picture.text(x, y, 17.0, Anchor::Middle, ENEMY_INK, value);
}

/// Stands behind the star of a home base.
pub(super) fn base(picture: &mut Picture, x: f64, y: f64) {
    picture.circle(x, y, 16.0, INK, INK);
}

/// Stands behind a star that was captured in this turn.
pub(super) fn ring(picture: &mut Picture, x: f64, y: f64) {
    picture.circle(x, y, 17.0, BATTLE, INK);
}

/// The height of a label, and of a plate: on a phone of 360 pixels, the text in it has a size of 10.
pub(super) const HEIGHT: f64 = 22.0;

/// The number of the viewer's ship, or how many ships there are.
pub(super) fn label(picture: &mut Picture, (x, y): (f64, f64), label: &str) {
    picture.rect(x, y, 30.0, HEIGHT, OWN);
    let size = if label.chars().count() > 2 { 14.0 } else { 20.0 };
    picture.text(x + 15.0, y + HEIGHT / 2.0, size, Anchor::Middle, WHITE, label);
}

/// The subject of a plate.
#[derive(Clone, Copy)]
pub(super) enum Plate {
    /// The offence and defence of the viewer's ships.
    Own,
    /// The known enemy ships.
    Enemy,
    /// Enemy ships of an earlier turn.
    Ghost,
}

pub(super) fn plate(picture: &mut Picture, (x, y): (f64, f64), plate: Plate, text: &str) {
    let (width, height) = (60.0, HEIGHT);
    let ink = match plate {
        Plate::Own => {
            picture.rect(x, y, width, height, OWN);
            picture.rect(x + 2.0, y + 2.0, width - 4.0, height - 4.0, WHITE);
            OWN_INK
        }
        Plate::Enemy => {
            let (half, right) = (height / 2.0, x + width);
            let points = [
                (x + 1.0, y + half),
                (x + 8.0, y + 1.0),
                (right - 8.0, y + 1.0),
                (right - 1.0, y + half),
                (right - 8.0, y + height - 1.0),
                (x + 8.0, y + height - 1.0),
            ];
            picture.polygon(&points, ENEMY_FILL, ENEMY, 2.5);
            ENEMY_INK
        }
        Plate::Ghost => {
            picture.frame(x + 1.0, y + 1.0, width - 2.0, height - 2.0, FAINT, 1.0);
            FAINT
        }
    };
    let size = match text.chars().count() {
        ..=4 => 21.0,
        5 => 18.0,
        6 => 15.0,
        _ => 13.0,
    };
    picture.text(x + width / 2.0, y + height / 2.0, size, Anchor::Middle, ink, text);
}

pub(super) fn draw_mark(picture: &mut Picture, mark: Mark, x: f64, y: f64) {
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
            picture.circle(x, y, 10.0, ENEMY_FILL, ENEMY);
            chevron(picture, x, y, ENEMY);
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
