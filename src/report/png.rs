//! Renders a picture as a PNG with a palette of at most 256 colours.
//!
//! A board has few colours, and the shades between them, at the edges of pieces and letters, hardly differ. Against
//! full colour the palette halves the size of the letter and the time to make it, with no visible difference.

use std::cmp::Reverse;
use std::sync::{Mutex, PoisonError};

use tiny_skia::Pixmap;

use super::raster;
use crate::game::picture::Picture;

/// The factor by which pictures are enlarged, so that they stay sharp on dense screens.
const SCALE: f32 = 1.1;

/// Maximum PNGs in a [`PictureCache`]. Few are enough, because equal pictures come close together, and each takes some
/// 20 kB.
const CACHE_SIZE: usize = 16;

/// A cache that draws equal pictures once: both sides' boards where nothing is hidden, and the first boards of matches
/// that are opened together.
///
/// Make one for each ruling, or for each batch of rulings; it can be shared by threads.
#[derive(Debug, Default)]
pub struct PictureCache {
    /// The oldest first.
    drawn: Mutex<Vec<(Picture, Vec<u8>)>>,
}

impl PictureCache {
    /// Returns what [`png`] returns for `picture`, drawn now or before.
    pub fn png(&self, picture: &Picture) -> Option<Vec<u8>> {
        if let Some(png) = self.find(picture) {
            return Some(png);
        }
        // Drawing takes milliseconds, so it happens without the lock.
        let png = png(picture)?;
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        if drawn.len() >= CACHE_SIZE {
            drawn.remove(0);
        }
        drawn.push((picture.clone(), png.clone()));
        Some(png)
    }

    fn find(&self, picture: &Picture) -> Option<Vec<u8>> {
        let drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.iter().find(|(known, _)| known == picture).map(|(_, png)| png.clone())
    }
}

/// Renders `picture` as a PNG. Equal pictures give equal bytes. Returns `None` if the picture has no pixels, or more
/// than fit in memory.
pub fn png(picture: &Picture) -> Option<Vec<u8>> {
    encode(&raster::render(picture, SCALE)?).ok()
}

type Rgb = [u8; 3];

/// Encodes opaque pixels.
fn encode(pixmap: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let pixels: Vec<Rgb> =
        pixmap.pixels().iter().map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
    let palette = Palette::of(&pixels);
    let indices: Vec<u8> = pixels.iter().map(|&colour| palette.index(colour)).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(palette.colours.concat());
    // A filter predicts a pixel from its neighbours' values, which are only indices here.
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_deflate_compression(png::DeflateCompression::Level(2));
    encoder.write_header()?.write_image_data(&indices)?;
    Ok(bytes)
}

/// The number of distinct shades: 5 bits of red, 6 of green, 5 of blue.
const SHADES: usize = 1 << 16;

/// Returns the shade of a colour. All colours of one shade are shown as the same colour.
fn shade([red, green, blue]: Rgb) -> usize {
    usize::from(red >> 3) << 11 | usize::from(green >> 2) << 5 | usize::from(blue >> 3)
}

/// The colours of an image, reduced to at most 256.
struct Palette {
    colours: Vec<Rgb>,
    /// The index of the nearest colour, for each shade.
    nearest: Vec<u8>,
}

/// A shade that occurs in an image.
#[derive(Clone, Copy)]
struct FoundShade {
    pixels: usize,
    longest_run: usize,
    /// The colour of the longest run, which is that of an area rather than of an edge.
    colour: Rgb,
}

impl Palette {
    /// Keeps the shades with the most pixels.
    fn of(pixels: &[Rgb]) -> Palette {
        let mut found = found_shades(pixels);
        found.sort_by_key(|shade| Reverse(shade.pixels));
        let colours: Vec<Rgb> = found.iter().take(256).map(|shade| shade.colour).collect();
        let mut nearest = vec![0; SHADES];
        for FoundShade { colour, .. } in found {
            let index = (0_u8..=255).zip(&colours).min_by_key(|(_, other)| distance(colour, **other));
            nearest[shade(colour)] = index.map_or(0, |(index, _)| index);
        }
        Palette { colours, nearest }
    }

    fn index(&self, colour: Rgb) -> u8 {
        self.nearest[shade(colour)]
    }
}

/// The shades of an image in the order in which they first occur.
fn found_shades(pixels: &[Rgb]) -> Vec<FoundShade> {
    let mut found: Vec<FoundShade> = Vec::new();
    // For each shade, its index in `found` plus 1; 0 if it has not occurred.
    let mut places = vec![0_usize; SHADES];
    for run in pixels.chunk_by(|a, b| a == b) {
        let colour = run[0];
        let place = &mut places[shade(colour)];
        if *place == 0 {
            found.push(FoundShade { pixels: 0, longest_run: 0, colour });
            *place = found.len();
        }
        let shade = &mut found[*place - 1];
        shade.pixels += run.len();
        if run.len() > shade.longest_run {
            shade.longest_run = run.len();
            shade.colour = colour;
        }
    }
    found
}

/// The squared distance between two colours.
fn distance(a: Rgb, b: Rgb) -> u32 {
    a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use tiny_skia::{Color, Paint, Rect, Transform};

    use super::*;
    use crate::game::Seat;
    use crate::game::any::{Choices, GameKind};

    #[test]
    fn a_cached_png_equals_a_new_one() {
        let cache = PictureCache::default();
        for kind in GameKind::ALL {
            let picture = kind.start(&Choices::default()).board(Seat::First).picture;
            let new = png(&picture);
            assert!(new.is_some(), "{kind} has no picture");
            assert_eq!(cache.png(&picture), new, "{kind}");
            assert_eq!(cache.png(&picture), new, "{kind}, from the cache");
        }
    }

    #[test]
    fn a_full_cache_forgets_the_oldest_picture() {
        let page = |width: u32| Picture { width, height: 1, shapes: Vec::new() };
        let cache = PictureCache::default();
        for width in 1..=CACHE_SIZE as u32 + 1 {
            assert!(cache.png(&page(width)).is_some());
        }
        assert!(cache.find(&page(1)).is_none());
        assert!(cache.find(&page(2)).is_some());
    }

    #[test]
    fn a_picture_without_pixels_has_no_png() {
        assert_eq!(png(&Picture { width: 0, height: 8, shapes: Vec::new() }), None);
    }

    #[test]
    fn a_picture_of_few_colours_keeps_each_of_them() {
        let mut pixmap = Pixmap::new(64, 64).expect("a size");
        pixmap.fill(Color::from_rgba8(250, 240, 230, 255));
        let mut paint = Paint::default();
        paint.set_color_rgba8(7, 8, 9, 255);
        pixmap.fill_rect(
            Rect::from_xywh(8.0, 8.0, 16.0, 16.0).expect("a rectangle"),
            &paint,
            Transform::identity(),
            None,
        );
        let decoded = Pixmap::decode_png(&encode(&pixmap).expect("written")).expect("a PNG");
        assert_eq!(decoded.data(), pixmap.data());
    }

    #[test]
    fn each_of_many_colours_is_shown_as_a_near_one() {
        let pixels: Vec<Rgb> =
            (0..64_u8).flat_map(|red| (0..64_u8).map(move |blue| [red * 4, 128, blue * 4])).collect();
        let palette = Palette::of(&pixels);
        assert_eq!(palette.colours.len(), 256);
        for colour in pixels {
            let nearest = palette.colours.iter().map(|other| distance(colour, *other)).min().expect("some");
            let shown = palette.colours[usize::from(palette.index(colour))];
            // A shade stands for one of its colours, which is at most 7 off in red and in blue.
            assert!(distance(colour, shown) <= 4 * (nearest + 7 * 7 + 7 * 7), "{colour:?} {shown:?}");
        }
    }
}
