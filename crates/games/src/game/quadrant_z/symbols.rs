//! The symbols of the picture, on the board and in its legend. One side's are dark and the other's light, so that they
//! also differ in print; no two symbols differ by colour alone.
//!
//! The colours of the picture.
//!
//! The layout of the picture: quadrants under their headings, squares, and the room for stars and ships on a square.
//!
//! The arrows of the picture, which show the moves of the viewer's ships in this turn or, to the readers of a replay, of
//! both sides'.

use super::galaxy::{Quadrant, Sector, Square};
use super::square_map::{Mark, SquareMap};
use crate::game::Seat;
use crate::game::arrows::{Arrows, End, Obstacle};
use crate::game::picture::{Anchor, Bounds, Colour, Picture, Point, spikes};

pub(super) const GROUND: Colour = Colour::hex(0xfdfcf8);
pub(super) const INK: Colour = Colour::hex(0x22262b);
pub(super) const FAINT: Colour = Colour::hex(0x626870);

/// The colours of a kind of sector: explored and unexplored ground, the question mark on the latter, the
/// heading, and its letter.
pub(super) struct Tint {
    pub explored: Colour,
    pub fog: Colour,
    pub mark: Colour,
    pub heading: Colour,
    pub letter: Colour,
}

pub(super) const OWN_TINT: Tint = Tint {
    explored: Colour::hex(0xdceaf8),
    fog: Colour::hex(0xb3cae2),
    mark: Colour::hex(0x8fafd0),
    heading: Colour::hex(0x14508c),
    letter: Colour::hex(0xffffff),
};
pub(super) const NEUTRAL_TINT: Tint = Tint {
    explored: Colour::hex(0xf7f5ef),
    fog: Colour::hex(0xd6d3ca),
    mark: Colour::hex(0xb8b4a9),
    heading: Colour::hex(0x666c73),
    letter: Colour::hex(0xffffff),
};
pub(super) const ENEMY_TINT: Tint = Tint {
    explored: Colour::hex(0xfdebdf),
    fog: Colour::hex(0xe8c6b0),
    mark: Colour::hex(0xcfa285),
    heading: Colour::hex(0xf2bd98),
    letter: Colour::hex(0x3d1a05),
};

/// The colours of a sector on a board on which this side is dark.
pub(super) fn tint(sector: Sector, dark: Seat) -> &'static Tint {
    match sector {
        Sector::Home(seat) if seat == dark => &OWN_TINT,
        Sector::Home(_) => &ENEMY_TINT,
        Sector::Neutral => &NEUTRAL_TINT,
    }
}

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

/// The side of a square.
pub(super) const CELL: f64 = 66.0;
/// The room for an arrowhead above and below the ships on a square.
const MARGIN: f64 = 13.0;
/// The heading of a quadrant.
pub(super) const HEADING: f64 = 26.0;
pub(super) const LEFT: f64 = 10.0;
pub(super) const TOP: f64 = 14.0;

/// The top left corner of a quadrant, with its heading.
pub(super) fn corner(quadrant: Quadrant) -> Point {
    let column = f64::from(quadrant.column());
    let row = f64::from(quadrant.row());
    (LEFT + column * 2.0 * CELL, TOP + row * (HEADING + 2.0 * CELL))
}

/// The strip of a quadrant's heading.
pub(super) fn heading_strip(quadrant: Quadrant) -> Bounds {
    Bounds::new(corner(quadrant), 2.0 * CELL, HEADING)
}

/// The top left corner of a square.
pub(super) fn square_corner(square: Square) -> Point {
    let (x, y) = corner(square.quadrant());
    let column = f64::from(square.cell() % 2);
    let row = f64::from(square.cell() / 2);
    (x + column * CELL, y + HEADING + row * CELL)
}

/// The middle of the star on a square. Stars are on the right, ships on the left; the lower and the right edge of a
/// square are left for arrows.
pub(super) fn star_place(square: Square) -> Point {
    let (x, y) = square_corner(square);
    (x + 48.0, y + 18.0)
}

/// The room for the label of the viewer's ships on a square.
pub(super) fn label_place(square: Square) -> Bounds {
    let (x, y) = square_corner(square);
    Bounds::new((x + 3.0, y + MARGIN), LABEL, HEIGHT)
}

/// The room for a plate on a square.
pub(super) fn plate_place(square: Square) -> Bounds {
    let (x, y) = square_corner(square);
    Bounds::new((x + 3.0, y + MARGIN + HEIGHT), PLATE, HEIGHT)
}

pub(super) const ARROW_STROKE: f64 = 3.5;

/// The radius of the largest sign of a star, and of a ring around it.
const STAR: f64 = 17.5;

/// Draws an arrow for each move of a side. Moves from one quadrant to one square are bundled.
pub(super) fn draw_arrows(picture: &mut Picture, map: &SquareMap<'_>, side: Seat) {
    let mut bundles: Vec<(Quadrant, Square, Vec<Square>)> = Vec::new();
    for (from, to) in map.moves(side) {
        let quadrant = from.quadrant();
        match bundles.iter_mut().find(|(of, goal, _)| (*of, *goal) == (quadrant, to)) {
            Some((_, _, origins)) => origins.push(from),
            None => bundles.push((quadrant, to, vec![from])),
        }
    }
    let mut arrows =
        Arrows::new(arrow_colour(Look::of(side, map.view.dark_side())), ARROW_STROKE, obstacles(map));
    for (_, to, origins) in bundles {
        let origins: Vec<End> = origins.into_iter().map(|from| end(map, from)).collect();
        arrows.draw(picture, &origins, &end(map, to));
    }
}

/// The colour of a side's arrows.
pub(super) fn arrow_colour(look: Look) -> Colour {
    match look {
        Look::Dark => MOVED,
        Look::Light => ENEMY,
    }
}

fn obstacles(map: &SquareMap<'_>) -> Vec<Obstacle> {
    let mut obstacles: Vec<Obstacle> =
        Quadrant::all().map(|of| Obstacle::Bridge(heading_strip(of))).collect();
    for square in Square::all() {
        if map.at(square).star.is_some() {
            obstacles.push(Obstacle::Disc { centre: star_place(square), radius: STAR });
        }
        if let End::Outline(parts) = end(map, square) {
            obstacles.extend(parts.into_iter().map(Obstacle::Rectangle));
        }
    }
    obstacles
}

/// The outline of the boxes on a square, or the empty place of a box if there is none.
fn end(map: &SquareMap<'_>, square: Square) -> End {
    let contents = map.at(square);
    let mut parts = Vec::new();
    if !contents.ships.is_empty() || !contents.enemies.is_empty() {
        parts.push(label_place(square));
    }
    if !contents.ships.is_empty() || contents.enemy.is_some() {
        parts.push(plate_place(square));
    } else if map.ghost(square).is_some() {
        let mut ghost = plate_place(square);
        ghost.bottom += GHOST_TURN;
        parts.push(ghost);
    }
    if parts.is_empty() { End::Point(plate_place(square).middle()) } else { End::Outline(parts) }
}
