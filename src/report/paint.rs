//! From a board's SVG to a PNG, with the one font that the program brings along.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;

/// A subset of DejaVu Sans; its licence lies beside it.
const FONT: &[u8] = include_bytes!("fonts/DejaVuSans-subset.ttf");

/// Pictures are drawn this much larger than the SVG says, so that they stay sharp on dense screens.
const SCALE: f32 = 1.25;

/// The picture as a PNG; `None` if `svg` is no SVG of a size that can be drawn.
pub fn png(svg: &str) -> Option<Vec<u8>> {
    static FONTS: OnceLock<Arc<usvg::fontdb::Database>> = OnceLock::new();
    let fontdb = FONTS.get_or_init(|| {
        let mut fonts = usvg::fontdb::Database::new();
        fonts.load_font_data(FONT.to_vec());
        Arc::new(fonts)
    });
    let options = usvg::Options {
        font_family: "DejaVu Sans".to_owned(),
        fontdb: Arc::clone(fontdb),
        ..Default::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).ok()?;
    let size = tree.size().to_int_size().scale_by(SCALE)?;
    let mut pixmap = Pixmap::new(size.width(), size.height())?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixmap.as_mut());
    pixmap.encode_png().ok()
}
