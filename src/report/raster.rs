//! Renders a picture as pixels.
//!
//! Most of a board is rectangles and lines along an axis, and most pixels of those are covered completely, so these
//! are filled row by row without building a path. tiny-skia draws everything else.

use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Rect, Transform,
};

use super::font;
use crate::game::picture::{Anchor, Colour, Picture, Point, Shape, Stroke};

/// Renders `picture` at `scale` times its size. Returns `None` if that makes no pixels, or more than fit in memory.
///
/// A shape that covers nothing, such as a blank text or a circle without a radius, is left out.
pub fn render(picture: &Picture, scale: f32) -> Option<Pixmap> {
    let pixels = |length: u32| (length as f32 * scale).round() as u32;
    let pixmap = Pixmap::new(pixels(picture.width), pixels(picture.height))?;
    let mut canvas = Canvas { pixmap, transform: Transform::from_scale(scale, scale) };
    for shape in &picture.shapes {
        canvas.draw(shape);
    }
    Some(canvas.pixmap)
}

/// The pixels of a picture that is being rendered.
struct Canvas {
    pixmap: Pixmap,
    /// From the picture's lengths to pixels.
    transform: Transform,
}

/// A rectangle in the picture's lengths.
#[derive(Clone, Copy)]
struct Area {
    x: f32,
    y: f32,
    width: f32,
    height: f32,
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { x, y, width, height, fill } => {
                self.fill_area(area(*x, *y, *width, *height), *fill);
            }
            Shape::Frame { x, y, width, height, stroke } => {
                self.frame(area(*x, *y, *width, *height), *stroke);
            }
            Shape::Circle { centre, radius, fill, stroke } => {
                self.circle(*centre, *radius as f32, *fill, *stroke);
            }
            Shape::Line { from, to, stroke } => self.line(*from, *to, *stroke),
            Shape::Polygon { points, fill, stroke } => self.polygon(points, *fill, *stroke),
            Shape::Text { x, baseline, size, anchor, fill, text } => {
                if let Some(path) = text_path(*x as f32, *baseline as f32, *size as f32, *anchor, text) {
                    self.fill_path(&path, *fill);
                }
            }
        }
    }

    fn frame(&mut self, frame: Area, stroke: Stroke) {
        let Area { x, y, width, height } = frame;
        let half = stroke.width as f32 / 2.0;
        for edge in [
            Area { x, y, width, height: 0.0 },
            Area { x, y: y + height, width, height: 0.0 },
            Area { x, y, width: 0.0, height },
            Area { x: x + width, y, width: 0.0, height },
        ] {
            self.fill_area(edge.grown(half), stroke.colour);
        }
    }

    /// A disc in the colour of the stroke and a smaller one on it make the circle, so that no stroke is computed.
    fn circle(&mut self, (x, y): Point, radius: f32, fill: Colour, stroke: Stroke) {
        let half = stroke.width as f32 / 2.0;
        for (radius, colour) in [(radius + half, stroke.colour), (radius - half, fill)] {
            if let Some(disc) = PathBuilder::from_circle(x as f32, y as f32, radius) {
                self.fill_path(&disc, colour);
            }
        }
    }

    /// A line along an axis gets square ends rather than round ones; at the widths of a board's grid the difference is
    /// invisible.
    fn line(&mut self, (x1, y1): Point, (x2, y2): Point, stroke: Stroke) {
        let (x1, y1, x2, y2) = (x1 as f32, y1 as f32, x2 as f32, y2 as f32);
        if x1 == x2 || y1 == y2 {
            let line = Area { x: x1.min(x2), y: y1.min(y2), width: (x1 - x2).abs(), height: (y1 - y2).abs() };
            self.fill_area(line.grown(stroke.width as f32 / 2.0), stroke.colour);
            return;
        }
        let mut path = PathBuilder::new();
        path.move_to(x1, y1);
        path.line_to(x2, y2);
        if let Some(path) = path.finish() {
            self.stroke_path(&path, stroke);
        }
    }

    fn polygon(&mut self, points: &[Point], fill: Option<Colour>, stroke: Stroke) {
        let Some(path) = polygon_path(points) else { return };
        if let Some(fill) = fill {
            self.fill_path(&path, fill);
        }
        self.stroke_path(&path, stroke);
    }

    fn fill_path(&mut self, path: &Path, colour: Colour) {
        self.pixmap.fill_path(path, &paint(colour), FillRule::Winding, self.transform, None);
    }

    fn stroke_path(&mut self, path: &Path, stroke: Stroke) {
        let style = tiny_skia::Stroke {
            width: stroke.width as f32,
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..tiny_skia::Stroke::default()
        };
        self.pixmap.stroke_path(path, &paint(stroke.colour), &style, self.transform, None);
    }

    /// Fills a rectangle, blending the pixels that it covers in part.
    fn fill_area(&mut self, area: Area, colour: Colour) {
        let Some(rect) = Rect::from_xywh(area.x, area.y, area.width, area.height) else { return };
        let Some(rect) = rect.transform(self.transform) else { return };
        let columns = coverage(rect.left(), rect.right(), self.pixmap.width());
        let first_whole = columns.iter().position(|span| span.covered >= 1.0).unwrap_or(columns.len());
        let (left_edge, rest) = columns.split_at(first_whole);
        let whole = rest.iter().take_while(|span| span.covered >= 1.0).count();
        let (inner, right_edge) = rest.split_at(whole);
        let width = self.pixmap.width() as usize;
        for row in coverage(rect.top(), rect.bottom(), self.pixmap.height()) {
            let pixels = &mut self.pixmap.pixels_mut()[row.at * width..][..width];
            for column in left_edge.iter().chain(right_edge) {
                let pixel = &mut pixels[column.at];
                *pixel = blend(*pixel, colour, column.covered * row.covered);
            }
            let Some(first) = inner.first() else { continue };
            let inner = &mut pixels[first.at..][..inner.len()];
            if row.covered >= 1.0 {
                inner.fill(blend(inner[0], colour, 1.0));
            } else {
                for pixel in inner {
                    *pixel = blend(*pixel, colour, row.covered);
                }
            }
        }
    }
}

impl Area {
    /// Returns the same rectangle, larger by `margin` on each side.
    fn grown(self, margin: f32) -> Area {
        Area {
            x: self.x - margin,
            y: self.y - margin,
            width: self.width + 2.0 * margin,
            height: self.height + 2.0 * margin,
        }
    }
}

fn area(x: f64, y: f64, width: f64, height: f64) -> Area {
    Area { x: x as f32, y: y as f32, width: width as f32, height: height as f32 }
}

/// A row or column of pixels, and the part of it (0 to 1) that a rectangle covers.
struct Span {
    at: usize,
    covered: f32,
}

/// The rows or columns between two positions, cut off at 0 and at `end`.
fn coverage(from: f32, to: f32, end: u32) -> Vec<Span> {
    let (from, to) = (from.max(0.0), to.min(end as f32));
    let span = |at: u32| {
        let covered = (at as f32 + 1.0).min(to) - (at as f32).max(from);
        Span { at: at as usize, covered }
    };
    (from as u32..to.ceil() as u32).map(span).collect()
}

/// Blends a colour over an opaque pixel, of which it covers the given part.
fn blend(under: PremultipliedColorU8, over: Colour, covered: f32) -> PremultipliedColorU8 {
    let Colour { red, green, blue } = over;
    let (red, green, blue) = if covered < 1.0 {
        (
            blend_channel(under.red(), red, covered),
            blend_channel(under.green(), green, covered),
            blend_channel(under.blue(), blue, covered),
        )
    } else {
        (red, green, blue)
    };
    PremultipliedColorU8::from_rgba(red, green, blue, 255).unwrap_or(under)
}

fn blend_channel(under: u8, over: u8, covered: f32) -> u8 {
    (f32::from(under) + (f32::from(over) - f32::from(under)) * covered).round() as u8
}

fn paint(colour: Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(colour.red, colour.green, colour.blue, 255);
    paint
}

fn polygon_path(points: &[Point]) -> Option<Path> {
    let (first, rest) = points.split_first()?;
    let mut path = PathBuilder::new();
    path.move_to(first.0 as f32, first.1 as f32);
    for (x, y) in rest {
        path.line_to(*x as f32, *y as f32);
    }
    path.close();
    path.finish()
}

/// The outlines of a line of text, or `None` if it is blank.
fn text_path(x: f32, baseline: f32, size: f32, anchor: Anchor, text: &str) -> Option<Path> {
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - size * font::width(text) / 2.0,
        Anchor::End => x - size * font::width(text),
    };
    // A font's y axis points up, a picture's down.
    font::outlines(text)?.transform(Transform::from_row(size, 0.0, 0.0, -size, left, baseline))
}
