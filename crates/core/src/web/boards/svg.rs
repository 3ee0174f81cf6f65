//! Writes shapes as short SVG inside HTML.
//!
//! Round line ends, round joins and centred text are inherited from the drawing.

use std::fmt::{self, Display, Write as _};

use super::marks::{arrow, tenths};
use crate::game::picture::{Anchor, Colour, HEAD_HALF_WIDTH, HEAD_LENGTH, Picture, Point, Shape, Stroke};

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

/// A colour, in three digits if these suffice.
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
pub fn symbol(out: &mut String, name: &str, inner: &str) {
    // One element needs no group.
    let is_one = inner.matches('<').count() == 1;
    match inner.split_once(' ').filter(|_| is_one) {
        Some((tag, rest)) => write!(out, "{tag} id={name} {rest}").expect("a String"),
        None => write!(out, "<g id={name}>{inner}</g>").expect("a String"),
    }
}

/// The length, in pixels, of the arrow's line below its head, which gives the head its direction.
const BELOW_HEAD: f64 = 3.0;

/// The name of the marker for the heads of arrows with this stroke.
struct Head(Stroke);

impl Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "h{}{}", &self.0.colour.to_string()[1..], tenths(self.0.width))
    }
}

/// Writes the markers for the heads of these arrows, each once.
pub fn add_markers<'a>(out: &mut String, symbols: impl Iterator<Item = &'a [Shape]>) {
    let mut written: Vec<Stroke> = Vec::new();
    for shapes in symbols {
        let (Some(_), Some(Shape::Line { stroke, .. })) = (arrow(shapes), shapes.first()) else { continue };
        if written.contains(stroke) {
            continue;
        }
        written.push(*stroke);
        let (colour, id) = (Hex(stroke.colour), Head(*stroke));
        let (along, aside) = (length(HEAD_LENGTH * stroke.width), length(HEAD_HALF_WIDTH * stroke.width));
        write!(
            out,
            "<marker id={id} markerUnits=userSpaceOnUse orient=auto overflow=visible refX={BELOW_HEAD}>\
             <path fill={colour} stroke={colour} stroke-linejoin=round d=\"M0-{aside}L{along} 0L0 {aside}z\"/></marker>"
        )
        .expect("a String");
    }
}

/// Writes shapes like [`add`], but the heads of arrows as uses of the markers that [`add_markers`] wrote.
pub fn add_with_markers(out: &mut String, shapes: &[Shape], origin: Point) {
    let mut plain = 0;
    let mut at = 0;
    while at < shapes.len() {
        let Some(count) = arrow(&shapes[at..]) else {
            at += 1;
            continue;
        };
        add(out, &shapes[plain..at], origin);
        add_arrow(out, &shapes[at..at + count], origin);
        at += count;
        plain = at;
    }
    add(out, &shapes[plain..], origin);
}

fn add_arrow(out: &mut String, shapes: &[Shape], origin: Point) {
    let (tails, head) = shapes.split_at(shapes.len() - 1);
    let [Shape::Polygon { points, .. }] = head else { return };
    let Some(Shape::Line { to, stroke, .. }) = tails.last() else { return };
    let (x, y) = (points[0].0 - to.0, points[0].1 - to.1);
    let part = BELOW_HEAD / x.hypot(y).max(1.0);
    let below_head = (to.0 + x * part, to.1 + y * part);
    let mut path = String::new();
    for tail in tails {
        let Shape::Line { from, to, .. } = tail else { continue };
        write!(path, "M{}", pair(*from, origin)).expect("a String");
        // A single line has the head's direction.
        if tails.len() > 1 {
            write!(path, "L{}", pair(*to, origin)).expect("a String");
        }
    }
    let (end, head) = (pair(below_head, origin), Head(*stroke));
    write!(out, "<path fill=none{} marker-end=url(#{head}) d=\"{path}L{end}\"/>", Edge(*stroke))
        .expect("a String");
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
    let look = match &shapes[0] {
        Shape::Line { stroke, .. } => Edge(*stroke).to_string(),
        Shape::Rect { fill, .. } => format!(" fill={}", Hex(*fill)),
        Shape::Frame { .. } | Shape::Circle { .. } | Shape::Polygon { .. } | Shape::Text { .. } => return,
    };
    write!(out, "<path{look} d=\"").expect("a String");
    for shape in shapes {
        if let Shape::Rect { x, y, width, height, .. } = shape {
            let (right, left) = (length(*width), length(-width));
            write!(out, "M{}h{right}v{}h{left}z", pair((*x, *y), origin), length(*height)).expect("a String");
        } else if let Shape::Line { from, to, .. } = shape {
            write!(out, "M{}L{}", pair(*from, origin), pair(*to, origin)).expect("a String");
        }
    }
    out.push_str("\"/>");
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
        Shape::Polygon { points, fill, stroke } => {
            let fill = fill.map_or_else(|| "none".to_owned(), |fill| Hex(fill).to_string());
            let places: Vec<String> = points.iter().map(|point| pair(*point, origin)).collect();
            write!(out, "<path fill={fill}{} d=\"M{}z\"/>", Edge(*stroke), places.join("L"))
        }
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

/// The attributes of an outline.
struct Edge(Stroke);

impl Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " stroke={} stroke-width={}", Hex(self.0.colour), length(self.0.width))
    }
}

fn pair(point: Point, origin: Point) -> String {
    let (x, y) = (length(point.0 - origin.0), length(point.1 - origin.1));
    // A minus sign alone separates two numbers.
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
