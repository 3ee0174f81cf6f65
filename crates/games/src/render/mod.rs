//! Renders the picture of a board: as pixels for letters, and as SVG.

mod font;
#[cfg(test)]
mod overlaps;
mod palette;
mod png;
mod raster;
mod svg;
#[cfg(test)]
mod tests;

pub use font::width as text_width;
pub use png::{PictureCache, png};
pub use svg::svg;
