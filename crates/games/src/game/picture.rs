//! The picture of a board as a value: shapes on a page.
//!
//! Games compose pictures from what a viewer may know. Other modules render them as SVG or pixels.

use std::fmt::{self, Display};
use std::ops::Range;

/// A page of shapes, drawn in order: later shapes cover earlier ones.
///
/// Lengths are in pixels; the origin is the top left corner.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub shapes: Vec<Shape>,
    /// The legend below the board.
    pub signs: Vec<LegendSign>,
}

/// A sign of the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendSign {
    /// The middle of its sample.
    pub at: Point,
    /// The indices of its shapes in the picture: the sample, then its text, which is aligned left.
    pub shapes: Range<usize>,
}

/// The x and y coordinates of a point.
pub type Point = (f64, f64);

/// An element of a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A filled rectangle.
    Rect { x: f64, y: f64, width: f64, height: f64, fill: Colour },
    /// The outline of a rectangle; the stroke is centred on its edges.
    Frame { x: f64, y: f64, width: f64, height: f64, stroke: Stroke },
    /// A disc; the stroke is centred on its edge.
    Circle { centre: Point, radius: f64, fill: Colour, stroke: Stroke },
    /// A straight line.
    Line { from: Point, to: Point, stroke: Stroke },
    /// A closed figure. Without a fill, only its outline is drawn.
    Polygon { points: Vec<Point>, fill: Option<Colour>, stroke: Stroke },
    /// One line of text. `x` is where `anchor` lies; `size` is the height of an em.
    Text { x: f64, baseline: f64, size: f64, anchor: Anchor, fill: Colour, text: String },
}

/// The line of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    pub colour: Colour,
    pub width: f64,
}

/// The part of a text that lies at its `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// An opaque colour, displayed as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

impl Colour {
    /// The colour written as `0xRRGGBB`.
    pub const fn hex(code: u32) -> Self {
        let [_, red, green, blue] = code.to_be_bytes();
        Colour { red, green, blue }
    }
}

impl From<Colour> for [u8; 3] {
    fn from(Colour { red, green, blue }: Colour) -> [u8; 3] {
        [red, green, blue]
    }
}

impl Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

/// The width of the line around every circle.
const CIRCLE_STROKE: f64 = 2.0;

/// The distance from the middle of a capital letter down to the baseline, in DejaVu Sans at size 1.
const MIDDLE_TO_BASELINE: f64 = 0.36;

impl Picture {
    /// An empty page on a ground of one colour.
    pub fn new(width: u32, height: u32, ground: Colour) -> Self {
        let mut picture = Picture { width, height, shapes: Vec::new(), signs: Vec::new() };
        picture.rect(0.0, 0.0, f64::from(width), f64::from(height), ground);
        picture
    }

    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, fill: Colour) {
        self.shapes.push(Shape::Rect { x, y, width, height, fill });
    }

    pub fn frame(&mut self, x: f64, y: f64, width: f64, height: f64, colour: Colour, stroke_width: f64) {
        let stroke = Stroke { colour, width: stroke_width };
        self.shapes.push(Shape::Frame { x, y, width, height, stroke });
    }

    pub fn circle(&mut self, x: f64, y: f64, radius: f64, fill: Colour, edge: Colour) {
        let stroke = Stroke { colour: edge, width: CIRCLE_STROKE };
        self.shapes.push(Shape::Circle { centre: (x, y), radius, fill, stroke });
    }

    pub fn line(&mut self, from: Point, to: Point, colour: Colour, stroke_width: f64) {
        let stroke = Stroke { colour, width: stroke_width };
        self.shapes.push(Shape::Line { from, to, stroke });
    }

    pub fn polygon(&mut self, points: &[Point], fill: Colour, edge: Colour, stroke_width: f64) {
        let stroke = Stroke { colour: edge, width: stroke_width };
        self.shapes.push(Shape::Polygon { points: points.to_vec(), fill: Some(fill), stroke });
    }

    /// A closed line through `points`.
    pub fn outline(&mut self, points: &[Point], colour: Colour, stroke_width: f64) {
        let stroke = Stroke { colour, width: stroke_width };
        self.shapes.push(Shape::Polygon { points: points.to_vec(), fill: None, stroke });
    }

    /// An arrow whose head ends at `to`. Nothing is drawn if the points are closer than the length of the
    /// head.
    pub fn arrow(&mut self, from: Point, to: Point, colour: Colour, stroke_width: f64) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let back = length - HEAD_LENGTH * stroke_width;
        if back <= 0.0 {
            return;
        }
        let dx = (to.0 - from.0) / length;
        let dy = (to.1 - from.1) / length;
        self.line(from, (tenths(from.0 + dx * back), tenths(from.1 + dy * back)), colour, stroke_width);
        self.polygon(&arrowhead(to, (dx, dy), stroke_width), colour, colour, 1.0);
    }

    /// Makes the shapes from index `start` on a sign of the legend, with its sample around `at`.
    pub fn sign(&mut self, at: Point, start: usize) {
        self.signs.push(LegendSign { at, shapes: start..self.shapes.len() });
    }

    /// One line of text whose capital letters are centred vertically on `y`.
    pub fn text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, fill: Colour, text: &str) {
        let baseline = tenths(y + size * MIDDLE_TO_BASELINE);
        self.shapes.push(Shape::Text { x, baseline, size, anchor, fill, text: text.to_owned() });
    }
}

/// The length of an arrow's head, and half its width, as multiples of the line's width.
pub const HEAD_LENGTH: f64 = 3.2;
pub const HEAD_HALF_WIDTH: f64 = 1.76;

/// The head of an arrow: its tip, then the corners of its base. `along` is its direction, of length 1.
pub fn arrowhead(tip: Point, along: Point, stroke_width: f64) -> [Point; 3] {
    let corner = |aside: f64| {
        let back = HEAD_LENGTH * stroke_width;
        let aside = aside * stroke_width;
        (tenths(tip.0 - along.0 * back - along.1 * aside), tenths(tip.1 - along.1 * back + along.0 * aside))
    };
    [(tenths(tip.0), tenths(tip.1)), corner(HEAD_HALF_WIDTH), corner(-HEAD_HALF_WIDTH)]
}

/// An upright rectangle, such as the room that a sign takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Bounds {
    pub fn new((left, top): Point, width: f64, height: f64) -> Self {
        Bounds { left, top, right: left + width, bottom: top + height }
    }

    pub fn around((x, y): Point, half_width: f64, half_height: f64) -> Self {
        Bounds::new((x - half_width, y - half_height), 2.0 * half_width, 2.0 * half_height)
    }

    pub fn middle(self) -> Point {
        ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }

    pub fn contains(self, (x, y): Point) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    /// The rectangle with each side moved outwards by `margin`.
    pub fn grown(self, margin: f64) -> Self {
        Bounds {
            left: self.left - margin,
            top: self.top - margin,
            right: self.right + margin,
            bottom: self.bottom + margin,
        }
    }
}

/// The middles of a legend's samples: rows from the left, `row` pixels apart, the first one at `top`.
pub fn legend_places(columns: &[f64], top: f64, row: f64) -> impl Iterator<Item = Point> {
    std::iter::successors(Some(top), move |y| Some(y + row))
        .flat_map(move |y| columns.iter().map(move |x| (*x, y)))
}

/// A figure around `x`, `y` with `count` spikes; the first one points up.
pub fn spikes(count: u8, x: f64, y: f64, outer: f64, inner: f64) -> Vec<Point> {
    let mut points = Vec::with_capacity(2 * usize::from(count));
    for step in 0..2 * count {
        let angle = std::f64::consts::PI * f64::from(step) / f64::from(count);
        let radius = if step.is_multiple_of(2) { outer } else { inner };
        points.push((tenths(x + radius * angle.sin()), tenths(y - radius * angle.cos())));
    }
    points
}

/// Rounds a computed length to a tenth of a pixel, so that an SVG document need not spell out 15 digits.
pub fn tenths(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::Colour;

    #[test]
    fn a_colour_is_displayed_as_its_hex_code() {
        assert_eq!(Colour::hex(0x0b_27_40), Colour { red: 0x0b, green: 0x27, blue: 0x40 });
        assert_eq!(Colour::hex(0x0b_27_40).to_string(), "#0b2740");
    }
}
