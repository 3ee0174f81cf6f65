//! Renders a picture as pixels of a palette.
//!
//! A board has few colours and many equal shapes, so each pixel is an index into a palette from the start,
//! and equal shapes are smoothed once: tiny-skia computes how much of each pixel a shape covers, and the
//! result is stamped wherever the shape occurs, in this picture and in later ones. This takes less than a third of
//! the time of drawing in full colours and reducing them afterwards.
//!
//! The compiled-in font: outlines and widths of text at size 1.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tiny_skia::{FillRule, LineCap, LineJoin, Mask, Path, PathBuilder, Rect, Transform};
use ttf_parser::cmap::Subtable;
use ttf_parser::{Face, OutlineBuilder};

use super::palette::{FULL, Palette};
use crate::game::picture::{Anchor, Colour, Picture, Point, Shape, Stroke};

/// The picture as indices into its palette, row by row.
pub struct Bitmap {
    pub width: usize,
    pub height: usize,
    pub palette: Palette,
    pub pixels: Vec<u8>,
}

/// The style of edges.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edges {
    /// With pixels between the two colours.
    Smooth,
    /// Without such pixels, which makes a smaller file.
    Hard,
}

/// Renders `picture` at `scale` times its size. `None` if that has no pixels, or more than [`MAX_PIXELS`].
///
/// A shape that covers nothing, such as a blank text or a circle without a radius, is left out.
pub fn render(picture: &Picture, scale: u16, edges: Edges) -> Option<Bitmap> {
    let pixels = |length: u32| usize::try_from(length).ok()?.checked_mul(usize::from(scale));
    let width = pixels(picture.width)?;
    let height = pixels(picture.height)?;
    let count = width.checked_mul(height).filter(|count| (1..=MAX_PIXELS).contains(count))?;
    let bitmap = Bitmap { width, height, palette: Palette::default(), pixels: vec![0; count] };
    let mut canvas = Canvas { bitmap, scale: f32::from(scale), edges };
    for shape in &picture.shapes {
        canvas.draw(shape);
    }
    Some(canvas.bitmap)
}

/// Maximum pixels of a picture: several times as many as a board has, and far too few to exhaust memory.
const MAX_PIXELS: usize = 1 << 25;

/// Fractions of a pixel to which positions are rounded, so that shapes that look equal have equal stamps.
const SUBPIXELS: f32 = 8.0;

/// The pixels of a picture that is being rendered.
struct Canvas {
    bitmap: Bitmap,
    scale: f32,
    edges: Edges,
}

/// Small stamps of earlier pictures: letters, pieces and signs, which all boards of a game have in common.
static STAMPS: Mutex<BTreeMap<(Edges, Figure), Arc<Stamp>>> = Mutex::new(BTreeMap::new());

/// Maximum stamps that are kept, and maximum runs of each: 16 MB at most. Most stamps have fewer than 200 runs.
const MAX_STAMPS: usize = 1_000;
const MAX_RUNS: usize = 1_000;

/// A figure that is smoothed once. All lengths are in fractions of a pixel; positions count from a whole
/// pixel.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Figure {
    Disc { x: i32, y: i32, radius: i32 },
    Glyph { size: i32, glyph: char },
    Filled { points: Vec<(i32, i32)> },
    Stroked { points: Vec<(i32, i32)>, width: i32, closed: bool },
}

/// Points that count from the pixel in `column` and `row`.
struct Placed {
    points: Vec<(i32, i32)>,
    column: i32,
    row: i32,
}

/// The coverage of the pixels around a whole pixel by a figure.
struct Stamp {
    runs: Vec<Run>,
}

/// Pixels of a row that are covered to the same degree. Row and column count from the whole pixel.
#[derive(Clone, Copy)]
struct Run {
    row: i32,
    from: i32,
    length: i32,
    covered: u8,
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
                self.circle(*centre, *radius, *fill, *stroke);
            }
            Shape::Line { from, to, stroke } => self.line(*from, *to, *stroke),
            Shape::Polygon { points, fill, stroke } => self.polygon(points, *fill, *stroke),
            Shape::Text { x, baseline, size, anchor, fill, text } => {
                self.text((*x, *baseline), *size, *anchor, *fill, text);
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

    /// Draws a disc in the colour of the stroke and a smaller one on it, which is cheaper than a stroke.
    fn circle(&mut self, (x, y): Point, radius: f64, fill: Colour, stroke: Stroke) {
        let half = stroke.width / 2.0;
        let discs = [(radius + half, stroke.colour), (radius - half, fill)];
        let discs = if fill == stroke.colour { &discs[..1] } else { &discs };
        for &(radius, colour) in discs {
            let (column, x) = self.split(x);
            let (row, y) = self.split(y);
            let radius = self.parts(radius);
            self.stamp(Figure::Disc { x, y, radius }, column, row, colour);
        }
    }

    /// Draws a line. Along an axis its ends are square, not round: invisible at the widths of a board's grid.
    fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        if from.0 == to.0 || from.1 == to.1 {
            let line = area(from.0.min(to.0), from.1.min(to.1), (from.0 - to.0).abs(), (from.1 - to.1).abs());
            self.fill_area(line.grown(stroke.width as f32 / 2.0), stroke.colour);
            return;
        }
        self.outline(&[from, to], stroke, false);
    }

    fn polygon(&mut self, points: &[Point], fill: Option<Colour>, stroke: Stroke) {
        if let Some(fill) = fill
            && let Some(Placed { points, column, row }) = self.placed(points)
        {
            self.stamp(Figure::Filled { points }, column, row, fill);
        }
        self.outline(points, stroke, true);
    }

    fn outline(&mut self, points: &[Point], stroke: Stroke, closed: bool) {
        let Some(Placed { points, column, row }) = self.placed(points) else { return };
        let width = self.parts(stroke.width);
        self.stamp(Figure::Stroked { points, width, closed }, column, row, stroke.colour);
    }

    fn text(&mut self, (x, baseline): Point, size: f64, anchor: Anchor, fill: Colour, text: &str) {
        let width = size * f64::from(text_width(text));
        let mut left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        // At whole pixels, equal characters have equal pixels, which are drawn once and compress well.
        let row = self.whole(baseline);
        let size_in_parts = self.parts(size);
        for glyph in text.chars() {
            let figure = Figure::Glyph { size: size_in_parts, glyph };
            self.stamp(figure, self.whole(left), row, fill);
            left += size * f64::from(advance_of(glyph));
        }
    }

    /// Converts a length of the picture to fractions of a pixel.
    fn parts(&self, length: f64) -> i32 {
        (length as f32 * self.scale * SUBPIXELS).round() as i32
    }

    /// The pixel edge nearest to a position.
    fn whole(&self, position: f64) -> i32 {
        (position as f32 * self.scale).round() as i32
    }

    /// Splits a position into a whole pixel and the fractions of a pixel beyond it.
    fn split(&self, position: f64) -> (i32, i32) {
        let parts = self.parts(position);
        let whole = SUBPIXELS as i32;
        (parts.div_euclid(whole), parts.rem_euclid(whole))
    }

    /// Returns `None` if there are no points.
    fn placed(&self, points: &[Point]) -> Option<Placed> {
        let (x, y) = *points.first()?;
        let (column, _) = self.split(x);
        let (row, _) = self.split(y);
        let whole = SUBPIXELS as i32;
        let points = points
            .iter()
            .map(|(x, y)| (self.parts(*x) - column * whole, self.parts(*y) - row * whole))
            .collect();
        Some(Placed { points, column, row })
    }

    /// Paints a figure whose positions count from the pixel in `column` and `row`.
    fn stamp(&mut self, figure: Figure, column: i32, row: i32, colour: Colour) {
        let Some(stamp) = stamp_of(figure, self.edges) else { return };
        let colour = self.bitmap.palette.index(colour);
        let width = self.bitmap.width as i32;
        for run in &stamp.runs {
            let Some(pixels) = self.bitmap.row(row + run.row) else { continue };
            let from = (column + run.from).clamp(0, width);
            let to = (column + run.from + run.length).clamp(0, width);
            let pixels = &mut self.bitmap.pixels[pixels..][from as usize..to as usize];
            self.bitmap.palette.paint(pixels, colour, run.covered);
        }
    }

    /// Fills a rectangle, and mixes the colours of pixels that it covers in part.
    fn fill_area(&mut self, area: Area, colour: Colour) {
        let columns = self.coverage(area.x, area.x + area.width, self.bitmap.width);
        let rows = self.coverage(area.y, area.y + area.height, self.bitmap.height);
        let colour = self.bitmap.palette.index(colour);
        for row in rows {
            let start = row.from * self.bitmap.width;
            for (y, column) in (0..row.length).flat_map(|y| columns.iter().map(move |column| (y, column))) {
                let from = start + y * self.bitmap.width + column.from;
                let covered = u16::from(row.covered) * u16::from(column.covered) / u16::from(FULL);
                let pixels = &mut self.bitmap.pixels[from..from + column.length];
                self.bitmap.palette.paint(pixels, colour, covered as u8);
            }
        }
    }

    /// Returns the rows or columns between two positions. Those at both ends may be covered in part.
    fn coverage(&self, from: f32, to: f32, end: usize) -> Vec<Span> {
        let from = (from * self.scale).max(0.0);
        let to = (to * self.scale).min(end as f32);
        if from >= to {
            return Vec::new();
        }
        let first = from.ceil();
        let last = to.floor();
        if first > last {
            return vec![part_of_pixel(last, to - from)];
        }
        let mut spans = Vec::with_capacity(3);
        if from < first {
            spans.push(part_of_pixel(first - 1.0, first - from));
        }
        spans.push(Span { from: first as usize, length: (last - first) as usize, covered: FULL });
        if last < to {
            spans.push(part_of_pixel(last, to - last));
        }
        spans
    }
}

fn part_of_pixel(at: f32, covered: f32) -> Span {
    Span { from: at as usize, length: 1, covered: (covered * f32::from(FULL)).round() as u8 }
}

impl Bitmap {
    /// The index of a row's first pixel; `None` outside the picture.
    fn row(&self, y: i32) -> Option<usize> {
        usize::try_from(y).ok().filter(|y| *y < self.height).map(|y| y * self.width)
    }
}

/// Adjacent rows or columns of pixels that a rectangle covers to the same degree.
struct Span {
    from: usize,
    length: usize,
    covered: u8,
}

/// A rectangle in the picture's lengths.
#[derive(Clone, Copy)]
struct Area {
    x: f32,
    y: f32,
    width: f32,
    height: f32,
}

fn area(x: f64, y: f64, width: f64, height: f64) -> Area {
    Area { x: x as f32, y: y as f32, width: width as f32, height: height as f32 }
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

impl Figure {
    /// The outline in pixels, or `None` if the figure covers nothing.
    fn path(&self) -> Option<Path> {
        match self {
            Figure::Disc { x, y, radius } => {
                PathBuilder::from_circle(pixels(*x), pixels(*y), pixels(*radius))
            }
            Figure::Glyph { size, glyph } => {
                let size = pixels(*size);
                // A font's y axis points up, a picture's down.
                let place = Transform::from_scale(size, -size);
                outline_of(*glyph)?.clone().transform(place)
            }
            Figure::Filled { points } => polygon(points, true),
            Figure::Stroked { points, width, closed } => {
                let stroke = tiny_skia::Stroke {
                    width: pixels(*width),
                    line_cap: LineCap::Round,
                    line_join: LineJoin::Round,
                    ..tiny_skia::Stroke::default()
                };
                polygon(points, *closed)?.stroke(&stroke, 1.0)
            }
        }
    }
}

fn pixels(parts: i32) -> f32 {
    parts as f32 / SUBPIXELS
}

fn polygon(points: &[(i32, i32)], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (place, (x, y)) in points.iter().enumerate() {
        let x = *x as f32 / SUBPIXELS;
        let y = *y as f32 / SUBPIXELS;
        if place == 0 {
            path.move_to(x, y);
        } else {
            path.line_to(x, y);
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}

impl Stamp {
    fn of(path: &Path, edges: Edges) -> Option<Stamp> {
        let bounds: Rect = path.bounds();
        let left = bounds.left().floor();
        let top = bounds.top().floor();
        let width = bounds.right().ceil() - left;
        let height = bounds.bottom().ceil() - top;
        let mut mask = Mask::new(width as u32, height as u32)?;
        mask.fill_path(path, FillRule::Winding, true, Transform::from_translate(-left, -top));
        let mut runs = Vec::new();
        for (row, pixels) in (top as i32..).zip(mask.data().chunks(width as usize)) {
            let mut from = left as i32;
            for alike in pixels.chunk_by(|a, b| level(*a, edges) == level(*b, edges)) {
                let length = alike.len() as i32;
                let covered = level(alike[0], edges);
                if covered > 0 {
                    runs.push(Run { row, from, length, covered });
                }
                from += length;
            }
        }
        Some(Stamp { runs })
    }
}

/// The stamp of a figure, if it covers anything.
fn stamp_of(figure: Figure, edges: Edges) -> Option<Arc<Stamp>> {
    let key = (edges, figure);
    if let Some(known) = STAMPS.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Some(Arc::clone(known));
    }
    // Computing it takes long, so it happens without the lock.
    let stamp = Arc::new(Stamp::of(&key.1.path()?, edges)?);
    if stamp.runs.len() <= MAX_RUNS {
        let mut known = STAMPS.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_STAMPS {
            known.clear();
        }
        known.insert(key, Arc::clone(&stamp));
    }
    Some(stamp)
}

/// Converts a coverage of 0 to 255 to one of 0 to [`FULL`].
fn level(coverage: u8, edges: Edges) -> u8 {
    match edges {
        Edges::Smooth => ((u16::from(coverage) * u16::from(FULL) + 127) / 255) as u8,
        Edges::Hard if coverage >= 128 => FULL,
        Edges::Hard => 0,
    }
}

/// A subset of DejaVu Sans. Pictures must not depend on the fonts of the machine that draws them: the audit
/// compares them byte for byte. The licence is in the same folder.
const FONT: &[u8] = include_bytes!("fonts/DejaVuSans-subset.ttf");

struct Glyph {
    /// With the y axis pointing up from the baseline; `None` if the glyph is blank.
    outline: Option<Path>,
    /// The distance to the next glyph.
    advance: f32,
}

/// The glyph of a character, or `None` if the subset lacks it.
fn glyph(c: char) -> Option<&'static Glyph> {
    static GLYPHS: OnceLock<BTreeMap<char, Glyph>> = OnceLock::new();
    GLYPHS.get_or_init(read_glyphs).get(&c)
}

fn read_glyphs() -> BTreeMap<char, Glyph> {
    let font = Face::parse(FONT, 0).expect("the compiled-in font is valid");
    let unit = 1.0 / f32::from(font.units_per_em());
    let mut glyphs = BTreeMap::new();
    for subtable in font.tables().cmap.iter().flat_map(|cmap| cmap.subtables).filter(Subtable::is_unicode) {
        subtable.codepoints(|code| {
            let Some((c, id)) = char::from_u32(code).zip(subtable.glyph_index(code)) else { return };
            let mut pen = PathPen(PathBuilder::new());
            font.outline_glyph(id, &mut pen);
            let outline = pen.0.finish().and_then(|path| path.transform(Transform::from_scale(unit, unit)));
            let advance = unit * f32::from(font.glyph_hor_advance(id).unwrap_or_default());
            glyphs.insert(c, Glyph { outline, advance });
        });
    }
    glyphs
}

/// Collects the outline that ttf-parser draws as a tiny-skia path.
struct PathPen(PathBuilder);

impl OutlineBuilder for PathPen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }
    fn close(&mut self) {
        self.0.close();
    }
}

/// The outline of a character at size 1, the y axis pointing up from the baseline; `None` if it is blank.
pub fn outline_of(c: char) -> Option<&'static Path> {
    glyph(c)?.outline.as_ref()
}

/// The distance from a character to the next.
pub fn advance_of(c: char) -> f32 {
    glyph(c).map_or(0.0, |glyph| glyph.advance)
}

/// The width of a line of text.
pub fn text_width(text: &str) -> f32 {
    text.chars().map(advance_of).sum()
}
