//! The one font that the program brings along: the outlines of its letters, at a size of 1.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use tiny_skia::{Path, PathBuilder, Transform};
use ttf_parser::{Face, OutlineBuilder};

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
    let face = Face::parse(FONT, 0).expect("the font is compiled in");
    let unit = 1.0 / f32::from(face.units_per_em());
    let mut glyphs = BTreeMap::new();
    for subtable in
        face.tables().cmap.into_iter().flat_map(|cmap| cmap.subtables).filter(|map| map.is_unicode())
    {
        subtable.codepoints(|code| {
            let Some((c, id)) = char::from_u32(code).zip(subtable.glyph_index(code)) else { return };
            let mut pen = Pen(PathBuilder::new());
            face.outline_glyph(id, &mut pen);
            let outline = pen.0.finish().and_then(|path| path.transform(Transform::from_scale(unit, unit)));
            let advance = unit * f32::from(face.glyph_hor_advance(id).unwrap_or_default());
            glyphs.insert(c, Glyph { outline, advance });
        });
    }
    glyphs
}

struct Pen(PathBuilder);

impl OutlineBuilder for Pen {
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
