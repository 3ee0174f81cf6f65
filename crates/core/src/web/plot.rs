//! The plot of a rating over a player's results.

use super::boards::dark::{DarkColour, all, dark_rules};
use crate::game::picture::{Anchor, Colour, Picture, Point, Shape, Stroke};

/// A rating after a result, in points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlotPoint {
    pub figure: i64,
    pub deviation: i64,
}

const WIDTH: u32 = 640;
const HEIGHT: u32 = 220;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 624.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 200.0;

const LINE: Colour = Colour::hex(0xe0dbcf);
const WORDS: Colour = Colour::hex(0x5b636a);
const BAND: Colour = Colour::hex(0xdbe9e5);
const RATING: Colour = Colour::hex(0x0d665c);

const DARK: &[DarkColour] =
    &[all(0xe0dbcf, 0x31383c), all(0x5b636a, 0x9aa3a8), all(0xdbe9e5, 0x1c3c38), all(0x0d665c, 0x74c9bb)];

/// Returns the styles of a plot on a dark screen.
pub fn dark_style() -> String {
    dark_rules(DARK)
}

/// Draws the ratings after each result, with the deviation as a band.
pub fn draw(points: &[PlotPoint]) -> Picture {
    let least =
        points.iter().map(|point| point.figure - point.deviation).min().unwrap_or(0).div_euclid(100) * 100;
    let most = points.iter().map(|point| point.figure + point.deviation).max().unwrap_or(0).div_euclid(100)
        * 100
        + 100;
    let x = |no: usize| LEFT + (RIGHT - LEFT) * no as f64 / (points.len().max(2) - 1) as f64;
    let y = |value: i64| BOTTOM - (BOTTOM - TOP) * (value - least) as f64 / (most - least) as f64;
    let mut picture = Picture { width: WIDTH, height: HEIGHT, shapes: Vec::new(), signs: Vec::new() };
    let upper = points.iter().enumerate().map(|(no, point)| (x(no), y(point.figure + point.deviation)));
    let lower = points.iter().enumerate().rev().map(|(no, point)| (x(no), y(point.figure - point.deviation)));
    let band: Vec<Point> = upper.chain(lower).collect();
    let edge = Stroke { colour: BAND, width: 0.0 };
    picture.shapes.push(Shape::Polygon { points: band, fill: Some(BAND), stroke: edge });
    let step = if most - least > 600 { 200 } else { 100 };
    for value in (least..=most).step_by(step) {
        picture.line((LEFT, y(value)), (RIGHT, y(value)), LINE, 1.0);
        picture.text(LEFT - 8.0, y(value), 12.0, Anchor::End, WORDS, &value.to_string());
    }
    let places: Vec<Point> = points.iter().enumerate().map(|(no, point)| (x(no), y(point.figure))).collect();
    for pair in places.windows(2) {
        picture.line(pair[0], pair[1], RATING, 2.0);
    }
    if let Some((x, y)) = places.last() {
        picture.circle(*x, *y, 3.5, RATING, RATING);
    }
    picture
}
