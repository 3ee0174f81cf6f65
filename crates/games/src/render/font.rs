//! The compiled-in font: outlines and widths of text at size 1.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use tiny_skia::{Path, PathBuilder, Transform};
use ttf_parser::cmap::Subtable;
use ttf_parser::{Face, OutlineBuilder};

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
pub fn outline(c: char) -> Option<&'static Path> {
    glyph(c)?.outline.as_ref()
}

/// The distance from a character to the next.
pub fn advance(c: char) -> f32 {
    glyph(c).map_or(0.0, |glyph| glyph.advance)
}

/// The width of a line of text.
pub fn width(text: &str) -> f32 {
    text.chars().map(advance).sum()
}
