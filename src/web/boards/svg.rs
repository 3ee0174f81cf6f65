//! Writes shapes as short SVG inside HTML.
//!
//! Round line ends, round joins and centred text are inherited from the drawing.

use std::fmt::{self, Display, Write as _};

use super::marks::tenths;
use crate::game::picture::{Anchor, Colour, Picture, Point, Shape, Stroke};

/// A length in tenths of a pixel, written as short as possible.
pub struct Length(pub i32);

impl Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, whole, tenth) = (if self.0 < 0 { "-" } else { "" }, self.0.abs() / 10, self.0.abs() % 10);
        match (whole, tenth) {
            (whole, 0) => write!(f, "{}{whole}", if whole == 0 { "" } else { sign }),
            (0, tenth) => write!(f, "{sign}.{tenth}"),
            (whole, tenth) => write!(f, "{sign}{whole}.{tenth}"),
        }
    }
}

fn length(value: f64) -> Length {
    Length(tenths(value))
}

/// A colour, in three digits where these are enough.
pub struct Hex(pub Colour);

impl Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Colour { red, green, blue } = self.0;
        match [red, green, blue].iter().all(|part| part / 16 == part % 16) {
            true => write!(f, "#{:x}{:x}{:x}", red % 16, green % 16, blue % 16),
            false => write!(f, "{}", self.0),
        }
    }
}

/// A picture as the contents of one drawing, without symbols.
pub fn fragment(picture: &Picture) -> String {
    let mut out = String::new();
    add(&mut out, &picture.shapes, (0.0, 0.0));
    out
}

/// Writes a symbol with this name.
pub fn symbol(out: &mut String, name: &str, shapes: &[Shape], origin: Point) {
    let mut inner = String::new();
    add(&mut inner, shapes, origin);
    // A symbol of one element needs no group.
    let is_one = inner.matches('<').count() == 1;
    match inner.split_once(' ').filter(|_| is_one) {
        Some((tag, rest)) => write!(out, "{tag} id={name} {rest}").expect("a String"),
        None => write!(out, "<g id={name}>{inner}</g>").expect("a String"),
    }
}

/// Writes shapes relative to `origin`. Neighbours that differ only in place share an element.
pub fn add(out: &mut String, shapes: &[Shape], origin: Point) {
    for run in shapes.chunk_by(joins) {
        match run {
            [only] => add_one(out, only, origin),
            several => add_path(out, several, origin),
        }
    }
}

fn joins(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Rect { fill: one, .. }, Shape::Rect { fill: other, .. }) => one == other,
        (Shape::Line { stroke: one, .. }, Shape::Line { stroke: other, .. }) => one == other,
        _ => false,
    }
}

/// Writes rectangles of one colour, or lines of one stroke, as one path.
fn add_path(out: &mut String, shapes: &[Shape], origin: Point) {
    let mut path = String::new();
    for shape in shapes {
        match shape {
            Shape::Rect { x, y, width, height, .. } => {
                let (right, left) = (length(*width), length(-width));
                write!(path, "M{}h{right}v{}h{left}z", pair((*x, *y), origin), length(*height))
            }
            Shape::Line { from, to, .. } => {
                write!(path, "M{}L{}", pair(*from, origin), pair(*to, origin))
            }
            Shape::Frame { .. } | Shape::Circle { .. } | Shape::Polygon { .. } | Shape::Text { .. } => Ok(()),
        }
        .expect("a String");
    }
    match &shapes[0] {
        Shape::Line { stroke, .. } => write!(out, "<path{} d=\"{path}\"/>", Edge(*stroke)),
        Shape::Rect { fill, .. } => write!(out, "<path fill={} d=\"{path}\"/>", Hex(*fill)),
        Shape::Frame { .. } | Shape::Circle { .. } | Shape::Polygon { .. } | Shape::Text { .. } => Ok(()),
    }
    .expect("a String");
}

fn add_one(out: &mut String, shape: &Shape, origin: Point) {
    match shape {
        Shape::Rect { x, y, width, height, fill } => {
            let place = attributes(["x", "y"], (*x, *y), origin);
            write!(
                out,
                "<rect{place} width={} height={} fill={} />",
                length(*width),
                length(*height),
                Hex(*fill)
            )
        }
        Shape::Frame { x, y, width, height, stroke } => {
            let place = attributes(["x", "y"], (*x, *y), origin);
            let (width, height) = (length(*width), length(*height));
            write!(out, "<rect{place} width={width} height={height} fill=none{} />", Edge(*stroke))
        }
        Shape::Circle { centre, radius, fill, stroke } if stroke.colour == *fill => {
            let place = attributes(["cx", "cy"], *centre, origin);
            write!(out, "<circle{place} r={} fill={} />", length(radius + stroke.width / 2.0), Hex(*fill))
        }
        Shape::Circle { centre, radius, fill, stroke } => {
            let place = attributes(["cx", "cy"], *centre, origin);
            write!(out, "<circle{place} r={} fill={}{} />", length(*radius), Hex(*fill), Edge(*stroke))
        }
        Shape::Line { from, to, stroke } => {
            write!(out, "<path{} d=\"M{}L{}\"/>", Edge(*stroke), pair(*from, origin), pair(*to, origin))
        }
        Shape::Polygon { points, fill, stroke } => add_polygon(out, points, *fill, *stroke, origin),
        Shape::Text { x, baseline, size, anchor, fill, text } => {
            let place = attributes(["x", "y"], (*x, *baseline), origin);
            let anchor = match anchor {
                Anchor::Start => " text-anchor=start",
                Anchor::Middle => "",
                Anchor::End => " text-anchor=end",
            };
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            write!(out, "<text{place} font-size={}{anchor} fill={}>{text}</text>", length(*size), Hex(*fill))
        }
    }
    .expect("a String");
}

fn add_polygon(
    out: &mut String,
    points: &[Point],
    fill: Option<Colour>,
    stroke: Stroke,
    origin: Point,
) -> fmt::Result {
    out.write_str("<path fill=")?;
    match fill {
        Some(fill) => write!(out, "{}", Hex(fill))?,
        None => out.write_str("none")?,
    }
    write!(out, "{} d=\"", Edge(stroke))?;
    for (no, point) in points.iter().enumerate() {
        write!(out, "{}{}", if no == 0 { 'M' } else { 'L' }, pair(*point, origin))?;
    }
    out.write_str("z\"/>")
}

/// The attributes of an outline.
struct Edge(Stroke);

impl Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " stroke={} stroke-width={}", Hex(self.0.colour), length(self.0.width))
    }
}

fn pair(point: Point, origin: Point) -> String {
    let (x, y) = (length(point.0 - origin.0), length(point.1 - origin.1));
    // A minus parts two numbers by itself.
    let gap = if y.0 < 0 { "" } else { " " };
    format!("{x}{gap}{y}")
}

/// Two coordinates as attributes, without those that are 0.
fn attributes(names: [&str; 2], point: Point, origin: Point) -> String {
    let mut out = String::new();
    for (name, value) in names.into_iter().zip([point.0 - origin.0, point.1 - origin.1]) {
        let value = length(value);
        if value.0 != 0 {
            write!(out, " {name}={value}").expect("a String");
        }
    }
    out
}
