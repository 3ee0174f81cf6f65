//! The one font that the program brings along: the outlines of its letters, at a size of 1.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, MetadataProvider};
use tiny_skia::{Path, PathBuilder, Transform};

/// A subset of DejaVu Sans; its licence lies beside it.
const FONT: &[u8] = include_bytes!("fonts/DejaVuSans-subset.ttf");

/// A letter's outline, upwards from the baseline, and how far the next one stands from it.
struct Glyph {
    outline: Option<Path>,
    advance: f32,
}

fn glyph(c: char) -> Option<&'static Glyph> {
    static GLYPHS: OnceLock<BTreeMap<char, Glyph>> = OnceLock::new();
    GLYPHS.get_or_init(read).get(&c)
}

fn read() -> BTreeMap<char, Glyph> {
    let font = FontRef::new(FONT).expect("the font is compiled in");
    let (size, nowhere) = (Size::unscaled(), LocationRef::default());
    let unit = 1.0 / f32::from(font.metrics(size, nowhere).units_per_em);
    let (advances, outlines) = (font.glyph_metrics(size, nowhere), font.outline_glyphs());
    let mut glyphs = BTreeMap::new();
    for (code, id) in font.charmap().mappings() {
        let Some(c) = char::from_u32(code) else { continue };
        let mut pen = Pen(PathBuilder::new());
        let drawn = outlines.get(id).map(|glyph| glyph.draw(DrawSettings::unhinted(size, nowhere), &mut pen));
        let outline = drawn.and_then(Result::ok).and_then(|_| pen.0.finish());
        let outline = outline.and_then(|path| path.transform(Transform::from_scale(unit, unit)));
        let advance = unit * advances.advance_width(id).unwrap_or_default();
        glyphs.insert(c, Glyph { outline, advance });
    }
    glyphs
}

struct Pen(PathBuilder);

impl OutlinePen for Pen {
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

/// A line of text from the origin to the right; `None` when nothing of it is to be seen.
pub fn outlines(text: &str) -> Option<Path> {
    let mut path = PathBuilder::new();
    let mut x = 0.0;
    for glyph in text.chars().filter_map(glyph) {
        let moved =
            glyph.outline.clone().and_then(|outline| outline.transform(Transform::from_translate(x, 0.0)));
        moved.iter().for_each(|outline| path.push_path(outline));
        x += glyph.advance;
    }
    path.finish()
}

/// How far a line of text reaches.
pub fn width(text: &str) -> f32 {
    text.chars().filter_map(glyph).map(|glyph| glyph.advance).sum()
}
