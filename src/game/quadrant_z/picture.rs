//! The board as a picture. Quadrants that are not explored lie in shadow.

use super::board::{Chart, Contents, Mark};
use super::galaxy::{Quadrant, Sector, Square};
use super::view::KnownStar;
use crate::game::square::{Anchor, Svg};

/// Pixels.
const SQUARE: f64 = 60.0;
const DISC: f64 = 14.0;
const MARGIN: f64 = 20.0;
const LEGEND_TOP: f64 = 2.0 * MARGIN + 10.0 * SQUARE;
const WIDTH: u32 = 640;
const HEIGHT: u32 = 742;

const GROUND: &str = "#fbfaf7";
const INK: &str = "#22262b";
const FAINT: &str = "#8a8f96";
const OWN: &str = "#1f5fa8";
const ENEMY: &str = "#b3382c";
const OWN_EDGE: &str = "#123f73";
const ENEMY_EDGE: &str = "#7c221a";
const GOLD: &str = "#f2c230";
const GOLD_EDGE: &str = "#8a6a0c";
const NEUTRAL_FOG: &str = "#d9d6ce";
const WHITE: &str = "#ffffff";

pub(super) fn draw(chart: &Chart<'_>) -> String {
    let mut svg = Svg::new(WIDTH, HEIGHT, GROUND);
    for quadrant in Quadrant::all() {
        ground(&mut svg, chart, quadrant);
    }
    for square in Square::all() {
        let (x, y) = corner(square);
        contents(&mut svg, chart, square, x, y);
    }
    for quadrant in Quadrant::all() {
        let (x, y) = corner(quadrant.square(0));
        if let Some(mark) = chart.mark(quadrant) {
            svg.frame(x + 2.0, y + 2.0, 2.0 * SQUARE - 4.0, 2.0 * SQUARE - 4.0, mark_colour(mark), 2.5);
            draw_mark(&mut svg, mark, x + SQUARE + 2.0, y + 11.0);
        }
        letter(&mut svg, quadrant, x, y);
    }
    legend(&mut svg);
    svg.finish()
}

/// The top left corner of a square.
fn corner(square: Square) -> (f64, f64) {
    (MARGIN + f64::from(square.column()) * SQUARE, MARGIN + f64::from(square.row()) * SQUARE)
}

fn ground(svg: &mut Svg, chart: &Chart<'_>, quadrant: Quadrant) {
    let own = Sector::Home(chart.view.desk.viewer);
    let fill = match (chart.sector(quadrant), chart.is_charted(quadrant)) {
        (sector, true) if sector == own => "#dfebf8",
        (sector, false) if sector == own => "#c6d6e8",
        (Sector::Home(_), true) => "#fae3df",
        (Sector::Home(_), false) => "#e6c5bf",
        (Sector::Neutral, true) => "#f4f2ec",
        (Sector::Neutral, false) => NEUTRAL_FOG,
    };
    let (x, y) = corner(quadrant.square(0));
    svg.rect(x, y, 2.0 * SQUARE, 2.0 * SQUARE, fill);
    svg.line((x + SQUARE, y), (x + SQUARE, y + 2.0 * SQUARE), "#b9bcc0", 1.0);
    svg.line((x, y + SQUARE), (x + 2.0 * SQUARE, y + SQUARE), "#b9bcc0", 1.0);
    svg.frame(x, y, 2.0 * SQUARE, 2.0 * SQUARE, "#5b6168", 2.0);
}

/// The quadrant's letter, at the corner of its first square.
fn letter(svg: &mut Svg, quadrant: Quadrant, x: f64, y: f64) {
    svg.rect(x, y, 19.0, 19.0, "#5b6168");
    svg.text(x + 9.5, y + 9.5, 14.0, Anchor::Middle, WHITE, &quadrant.to_string());
}

fn contents(svg: &mut Svg, chart: &Chart<'_>, square: Square, x: f64, y: f64) {
    let contents = chart.at(square);
    let number_y = if square.cell() < 2 { y + 25.0 } else { y + 10.0 }; // the upper ones below letter and mark
    svg.text(x + 8.0, number_y, 10.0, Anchor::Middle, FAINT, &(square.cell() + 1).to_string());
    if let Some(known) = contents.star {
        star(svg, chart, known, x + 38.0, y + 15.5);
    }
    let lines = ship_lines(contents);
    let top = y + SQUARE - 3.0 - 14.0 * lines.len() as f64;
    for ((text, colour), row) in lines.iter().zip(0_u8..) {
        chip(svg, x + 3.0, top + 14.0 * f64::from(row), colour, text);
    }
}

/// At most two lines: own ships one by one where there is room, enemy ships by their size.
fn ship_lines(contents: &Contents<'_>) -> Vec<(String, &'static str)> {
    let room = if contents.enemy > 0 { 1 } else { 2 };
    let count = contents.ships.len();
    let alone = if count > room { room - 1 } else { count };
    let mut lines: Vec<(String, &str)> =
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

fn chip(svg: &mut Svg, x: f64, y: f64, colour: &str, text: &str) {
    svg.rect(x, y, SQUARE - 6.0, 13.0, colour);
    svg.text(x + SQUARE / 2.0 - 3.0, y + 6.5, 10.5, Anchor::Middle, WHITE, text);
}

/// A star with its value; on a dark disc if it is a home base, on a white one if it was captured this turn.
fn star(svg: &mut Svg, chart: &Chart<'_>, star: &KnownStar, x: f64, y: f64) {
    let (fill, edge, ink) = match star.captured_by {
        None => (GOLD, GOLD_EDGE, INK),
        Some(by) if by == chart.view.desk.viewer => (OWN, OWN_EDGE, WHITE),
        Some(_) => (ENEMY, ENEMY_EDGE, WHITE),
    };
    if star.base {
        svg.circle(x, y, DISC, INK, INK);
    } else if chart.was_captured_now(star.at) {
        svg.circle(x, y, DISC, WHITE, edge);
    }
    svg.polygon(&spikes(5, x, y, 12.5, 7.0), fill, edge, 1.0);
    svg.text(x, y + 0.5, 11.0, Anchor::Middle, ink, &star.value.to_string());
}

/// A figure with `count` spikes, the first one up.
fn spikes(count: u8, x: f64, y: f64, outer: f64, inner: f64) -> Vec<(f64, f64)> {
    let point = |step: u8| {
        let angle = std::f64::consts::PI * f64::from(step) / f64::from(count);
        let radius = if step.is_multiple_of(2) { outer } else { inner };
        let round = |value: f64| (value * 10.0).round() / 10.0;
        (round(x + radius * angle.sin()), round(y - radius * angle.cos()))
    };
    (0..2 * count).map(point).collect()
}

fn mark_colour(mark: Mark) -> &'static str {
    match mark {
        Mark::Battle => "#e0761a",
        Mark::Met => "#8a3b08",
        Mark::Entered => ENEMY,
    }
}

fn draw_mark(svg: &mut Svg, mark: Mark, x: f64, y: f64) {
    match mark {
        Mark::Battle => {
            svg.polygon(&spikes(9, x, y, 11.0, 7.0), "#f28c28", "#8a3b08", 1.0);
            svg.line((x - 3.5, y - 3.5), (x + 3.5, y + 3.5), WHITE, 2.0);
            svg.line((x - 3.5, y + 3.5), (x + 3.5, y - 3.5), WHITE, 2.0);
        }
        Mark::Met => {
            svg.circle(x, y, 9.0, WHITE, mark_colour(mark));
            svg.polygon(&[(x - 6.0, y), (x - 1.0, y - 4.0), (x - 1.0, y + 4.0)], OWN, OWN, 1.0);
            svg.polygon(&[(x + 6.0, y), (x + 1.0, y - 4.0), (x + 1.0, y + 4.0)], ENEMY, ENEMY, 1.0);
        }
        Mark::Entered => {
            svg.circle(x, y, 9.0, WHITE, ENEMY);
            svg.polygon(&[(x - 3.0, y - 5.0), (x + 6.0, y), (x - 3.0, y + 5.0)], ENEMY, ENEMY, 1.0);
        }
    }
}

fn legend(svg: &mut Svg) {
    let mut sample = |column: u8, row: u8, text: &str, draw: &dyn Fn(&mut Svg, f64, f64)| {
        let x = MARGIN + 18.0 + f64::from(column) * 155.0;
        let y = LEGEND_TOP + f64::from(row) * 32.0;
        draw(svg, x, y);
        svg.text(x + 24.0, y, 12.0, Anchor::Start, INK, text);
    };
    let star = |fill: &'static str, edge: &'static str, disc: Option<&'static str>| {
        move |svg: &mut Svg, x: f64, y: f64| {
            if let Some(disc) = disc {
                svg.circle(x, y, DISC, disc, if disc == WHITE { edge } else { disc });
            }
            svg.polygon(&spikes(5, x, y, 12.5, 7.0), fill, edge, 1.0);
        }
    };
    let ships = |colour: &'static str, text: &'static str| {
        move |svg: &mut Svg, x: f64, y: f64| {
            svg.rect(x - 18.0, y - 6.5, 36.0, 13.0, colour);
            svg.text(x, y, 10.0, Anchor::Middle, WHITE, text);
        }
    };
    sample(0, 0, "star to capture", &star(GOLD, GOLD_EDGE, None));
    sample(1, 0, "captured by you", &star(OWN, OWN_EDGE, None));
    sample(2, 0, "by the enemy", &star(ENEMY, ENEMY_EDGE, None));
    sample(3, 0, "in this turn", &star(OWN, OWN_EDGE, Some(WHITE)));
    sample(0, 1, "home base", &star(GOLD, GOLD_EDGE, Some(INK)));
    sample(1, 1, "your ship 3", &ships(OWN, "3: 2/1"));
    sample(2, 1, "enemy ships", &ships(ENEMY, "size 4"));
    sample(3, 1, "not explored", &|svg, x, y| svg.rect(x - 12.0, y - 9.0, 24.0, 18.0, NEUTRAL_FOG));
    sample(0, 2, "battle", &|svg, x, y| draw_mark(svg, Mark::Battle, x, y));
    sample(1, 2, "both are there", &|svg, x, y| draw_mark(svg, Mark::Met, x, y));
    sample(2, 2, "enemy entered", &|svg, x, y| draw_mark(svg, Mark::Entered, x, y));
}
