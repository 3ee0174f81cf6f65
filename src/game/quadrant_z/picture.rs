//! The board as a picture. Unexplored quadrants are shaded.

use super::galaxy::{Quadrant, Sector, Square};
use super::square_map::{Contents, Mark, SquareMap};
use super::view::KnownStar;
use crate::game::picture::{Anchor, Colour, Picture, Point, tenths};

const SQUARE: f64 = 60.0;
const DISC: f64 = 14.0;
const MARGIN: f64 = 20.0;
const LEGEND_TOP: f64 = 2.0 * MARGIN + 10.0 * SQUARE;
const WIDTH: u32 = 640;
const HEIGHT: u32 = 742;

const GROUND: Colour = Colour::hex(0xfbfaf7);
const INK: Colour = Colour::hex(0x22262b);
const FAINT: Colour = Colour::hex(0x8a8f96);
const OWN: Colour = Colour::hex(0x1f5fa8);
const ENEMY: Colour = Colour::hex(0xb3382c);
const OWN_EDGE: Colour = Colour::hex(0x123f73);
const ENEMY_EDGE: Colour = Colour::hex(0x7c221a);
const GOLD: Colour = Colour::hex(0xf2c230);
const GOLD_EDGE: Colour = Colour::hex(0x8a6a0c);
const NEUTRAL_FOG: Colour = Colour::hex(0xd9d6ce);
const WHITE: Colour = Colour::hex(0xffffff);

pub(super) fn draw(map: &SquareMap<'_>) -> Picture {
    let mut picture = Picture::new(WIDTH, HEIGHT, GROUND);
    for quadrant in Quadrant::all() {
        ground(&mut picture, map, quadrant);
    }
    for square in Square::all() {
        let (x, y) = corner(square);
        contents(&mut picture, map, square, x, y);
    }
    for quadrant in Quadrant::all() {
        let (x, y) = corner(quadrant.square(0));
        if let Some(mark) = map.mark(quadrant) {
            picture.frame(x + 2.0, y + 2.0, 2.0 * SQUARE - 4.0, 2.0 * SQUARE - 4.0, mark_colour(mark), 2.5);
            draw_mark(&mut picture, mark, x + SQUARE + 2.0, y + 11.0);
        }
        letter(&mut picture, quadrant, x, y);
    }
    legend(&mut picture);
    picture
}

/// The top left corner of a square.
fn corner(square: Square) -> Point {
    (MARGIN + f64::from(square.column()) * SQUARE, MARGIN + f64::from(square.row()) * SQUARE)
}

fn ground(picture: &mut Picture, map: &SquareMap<'_>, quadrant: Quadrant) {
    let own = Sector::Home(map.view.context.viewer);
    let fill = match (map.sector(quadrant), map.is_charted(quadrant)) {
        (sector, true) if sector == own => Colour::hex(0xdfebf8),
        (sector, false) if sector == own => Colour::hex(0xc6d6e8),
        (Sector::Home(_), true) => Colour::hex(0xfae3df),
        (Sector::Home(_), false) => Colour::hex(0xe6c5bf),
        (Sector::Neutral, true) => Colour::hex(0xf4f2ec),
        (Sector::Neutral, false) => NEUTRAL_FOG,
    };
    let (x, y) = corner(quadrant.square(0));
    picture.rect(x, y, 2.0 * SQUARE, 2.0 * SQUARE, fill);
    picture.line((x + SQUARE, y), (x + SQUARE, y + 2.0 * SQUARE), Colour::hex(0xb9bcc0), 1.0);
    picture.line((x, y + SQUARE), (x + 2.0 * SQUARE, y + SQUARE), Colour::hex(0xb9bcc0), 1.0);
    picture.frame(x, y, 2.0 * SQUARE, 2.0 * SQUARE, Colour::hex(0x5b6168), 2.0);
}

/// The quadrant's letter, at the corner of its first square.
fn letter(picture: &mut Picture, quadrant: Quadrant, x: f64, y: f64) {
    picture.rect(x, y, 19.0, 19.0, Colour::hex(0x5b6168));
    picture.text(x + 9.5, y + 9.5, 14.0, Anchor::Middle, WHITE, &quadrant.to_string());
}

fn contents(picture: &mut Picture, map: &SquareMap<'_>, square: Square, x: f64, y: f64) {
    let contents = map.at(square);
    // In the upper squares, the quadrant's letter and mark take the top.
    let number_y = if square.cell() < 2 { y + 25.0 } else { y + 10.0 };
    picture.text(x + 8.0, number_y, 10.0, Anchor::Middle, FAINT, &(square.cell() + 1).to_string());
    if let Some(known) = contents.star {
        star(picture, map, known, x + 38.0, y + 15.5);
    }
    let lines = ship_lines(contents);
    let top = y + SQUARE - 3.0 - 14.0 * lines.len() as f64;
    for ((text, colour), row) in lines.iter().zip(0_u8..) {
        chip(picture, x + 3.0, top + 14.0 * f64::from(row), *colour, text);
    }
}

/// At most two lines: the viewer's ships one by one if there is room, enemy ships by their total size.
fn ship_lines(contents: &Contents<'_>) -> Vec<(String, Colour)> {
    let room = if contents.enemy > 0 { 1 } else { 2 };
    let count = contents.ships.len();
    let alone = if count > room { room - 1 } else { count };
    let mut lines: Vec<(String, Colour)> =
        contents.ships[..alone].iter().map(|ship| (format!("{}: {}", ship.no, ship.class), OWN)).collect();
    if count > alone {
        let more = if alone > 0 { "+" } else { "" };
        lines.push((format!("{more}{} ships", count - alone), OWN));
    }
    if contents.enemy > 0 {
        lines.push((format!("size {}", contents.enemy), ENEMY));
    }
    lines
}

fn chip(picture: &mut Picture, x: f64, y: f64, colour: Colour, text: &str) {
    picture.rect(x, y, SQUARE - 6.0, 13.0, colour);
    picture.text(x + SQUARE / 2.0 - 3.0, y + 6.5, 10.5, Anchor::Middle, WHITE, text);
}

/// A star with its value; on a dark disc if it is a home base, on a white one if it was captured this turn.
fn star(picture: &mut Picture, map: &SquareMap<'_>, star: &KnownStar, x: f64, y: f64) {
    let (fill, edge, ink) = match star.captured_by {
        None => (GOLD, GOLD_EDGE, INK),
        Some(by) if by == map.view.context.viewer => (OWN, OWN_EDGE, WHITE),
        Some(_) => (ENEMY, ENEMY_EDGE, WHITE),
    };
    if star.base {
        picture.circle(x, y, DISC, INK, INK);
    } else if map.was_captured_now(star.at) {
        picture.circle(x, y, DISC, WHITE, edge);
    }
    picture.polygon(&spikes(5, x, y, 12.5, 7.0), fill, edge, 1.0);
    picture.text(x, y + 0.5, 11.0, Anchor::Middle, ink, &star.value.to_string());
}

/// A figure with `count` spikes, the first of which points up.
fn spikes(count: u8, x: f64, y: f64, outer: f64, inner: f64) -> Vec<Point> {
    let mut points = Vec::with_capacity(2 * usize::from(count));
    for step in 0..2 * count {
        let angle = std::f64::consts::PI * f64::from(step) / f64::from(count);
        let radius = if step.is_multiple_of(2) { outer } else { inner };
        points.push((tenths(x + radius * angle.sin()), tenths(y - radius * angle.cos())));
    }
    points
}

fn mark_colour(mark: Mark) -> Colour {
    match mark {
        Mark::Battle => Colour::hex(0xe0761a),
        Mark::Met => Colour::hex(0x8a3b08),
        Mark::Entered => ENEMY,
    }
}

fn draw_mark(picture: &mut Picture, mark: Mark, x: f64, y: f64) {
    match mark {
        Mark::Battle => {
            picture.polygon(&spikes(9, x, y, 11.0, 7.0), Colour::hex(0xf28c28), Colour::hex(0x8a3b08), 1.0);
            picture.line((x - 3.5, y - 3.5), (x + 3.5, y + 3.5), WHITE, 2.0);
            picture.line((x - 3.5, y + 3.5), (x + 3.5, y - 3.5), WHITE, 2.0);
        }
        Mark::Met => {
            picture.circle(x, y, 9.0, WHITE, mark_colour(mark));
            picture.polygon(&[(x - 6.0, y), (x - 1.0, y - 4.0), (x - 1.0, y + 4.0)], OWN, OWN, 1.0);
            picture.polygon(&[(x + 6.0, y), (x + 1.0, y - 4.0), (x + 1.0, y + 4.0)], ENEMY, ENEMY, 1.0);
        }
        Mark::Entered => {
            picture.circle(x, y, 9.0, WHITE, ENEMY);
            picture.polygon(&[(x - 3.0, y - 5.0), (x + 6.0, y), (x - 3.0, y + 5.0)], ENEMY, ENEMY, 1.0);
        }
    }
}

/// The sample that a place in the legend shows.
enum Sample {
    /// A star, on a disc (fill and edge) if there is one.
    Star {
        fill: Colour,
        edge: Colour,
        disc: Option<(Colour, Colour)>,
    },
    Ships {
        colour: Colour,
        text: &'static str,
    },
    Fog,
    Mark(Mark),
}

/// The places of the legend, row by row, [`LEGEND_COLUMNS`] in each.
const LEGEND: [(Sample, &str); 11] = [
    (Sample::Star { fill: GOLD, edge: GOLD_EDGE, disc: None }, "star to capture"),
    (Sample::Star { fill: OWN, edge: OWN_EDGE, disc: None }, "captured by you"),
    (Sample::Star { fill: ENEMY, edge: ENEMY_EDGE, disc: None }, "by the enemy"),
    (Sample::Star { fill: OWN, edge: OWN_EDGE, disc: Some((WHITE, OWN_EDGE)) }, "in this turn"),
    (Sample::Star { fill: GOLD, edge: GOLD_EDGE, disc: Some((INK, INK)) }, "home base"),
    (Sample::Ships { colour: OWN, text: "3: 2/1" }, "your ship 3"),
    (Sample::Ships { colour: ENEMY, text: "size 4" }, "enemy ships"),
    (Sample::Fog, "not explored"),
    (Sample::Mark(Mark::Battle), "battle"),
    (Sample::Mark(Mark::Met), "both are there"),
    (Sample::Mark(Mark::Entered), "enemy entered"),
];

const LEGEND_COLUMNS: u8 = 4;

fn legend(picture: &mut Picture) {
    for (place, (sample, words)) in (0_u8..).zip(&LEGEND) {
        let x = MARGIN + 18.0 + f64::from(place % LEGEND_COLUMNS) * 155.0;
        let y = LEGEND_TOP + f64::from(place / LEGEND_COLUMNS) * 32.0;
        draw_sample(picture, sample, x, y);
        picture.text(x + 24.0, y, 12.0, Anchor::Start, INK, words);
    }
}

fn draw_sample(picture: &mut Picture, sample: &Sample, x: f64, y: f64) {
    match *sample {
        Sample::Star { fill, edge, disc } => {
            if let Some((disc, disc_edge)) = disc {
                picture.circle(x, y, DISC, disc, disc_edge);
            }
            picture.polygon(&spikes(5, x, y, 12.5, 7.0), fill, edge, 1.0);
        }
        Sample::Ships { colour, text } => {
            picture.rect(x - 18.0, y - 6.5, 36.0, 13.0, colour);
            picture.text(x, y, 10.0, Anchor::Middle, WHITE, text);
        }
        Sample::Fog => picture.rect(x - 12.0, y - 9.0, 24.0, 18.0, NEUTRAL_FOG),
        Sample::Mark(mark) => draw_mark(picture, mark, x, y),
    }
}
