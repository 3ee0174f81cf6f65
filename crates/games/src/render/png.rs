//! Renders a picture as a PNG with a palette of at most 256 colours.

use std::sync::{Mutex, PoisonError};

use flate2::{Compress, Compression, FlushCompress, Status};

use super::raster::{self, Bitmap, Edges};
use crate::game::picture::Picture;

/// The factor by which pictures are enlarged, so that they stay sharp on dense screens.
const SCALE: u16 = 2;

/// Maximum PNGs, of 20 to 60 kB each, in a [`PictureCache`]. A few suffice, because equal pictures come in
/// quick succession.
const CACHE_SIZE: usize = 16;

/// A cache that draws equal pictures once: both sides' boards in games that hide nothing, and the first
/// boards of matches. Threads can share it.
#[derive(Debug, Default)]
pub struct PictureCache {
    /// The most recently used one is the last.
    drawn: Mutex<Vec<(Picture, Vec<u8>)>>,
}

impl PictureCache {
    /// Returns the result of [`png`] for `picture`, from the cache if possible.
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
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let at = drawn.iter().position(|(known, _)| known == picture)?;
        drawn[at..].rotate_left(1);
        drawn.last().map(|(_, png)| png.clone())
    }
}

/// The size, in bytes, above which a board is drawn with hard edges.
const BOUND_BYTES: usize = 60_000;

/// Renders `picture` as a PNG. Equal pictures give equal bytes. Returns `None` if the picture has no pixels,
/// or too many.
///
/// The few crowded boards that would exceed [`BOUND_BYTES`] get hard edges, which make a smaller file.
pub fn png(picture: &Picture) -> Option<Vec<u8>> {
    let smooth = encode(&raster::render(picture, SCALE, Edges::Smooth)?)?;
    if smooth.len() <= BOUND_BYTES {
        return Some(smooth);
    }
    encode(&raster::render(picture, SCALE, Edges::Hard)?)
}

fn encode(bitmap: &Bitmap) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, bitmap.width as u32, bitmap.height as u32);
    encoder.set_color(png::ColorType::Indexed);
    let colours = bitmap.palette.colours().iter();
    encoder
        .set_palette(colours.flat_map(|colour| [colour.red, colour.green, colour.blue]).collect::<Vec<_>>());
    // The encoder of the crate clears a large buffer for each small step: it takes twice as long.
    encoder.write_header().ok()?.write_chunk(png::chunk::IDAT, &compressed(bitmap)?).ok()?;
    Some(bytes)
}

/// The rows of a picture as the data of a PNG (RFC 2083, 4.1.3, 6.4): each byte less the one above it, which leaves little
/// but zeros and halves the file.
fn compressed(bitmap: &Bitmap) -> Option<Vec<u8>> {
    const UP: u8 = 2;
    let mut rows = Vec::with_capacity(bitmap.pixels.len() + bitmap.height);
    let mut above = &vec![0; bitmap.width][..];
    for row in bitmap.pixels.chunks(bitmap.width) {
        rows.push(UP);
        rows.extend(row.iter().zip(above).map(|(pixel, above)| pixel.wrapping_sub(*above)));
        above = row;
    }
    // Level 3 takes four fifths of the time for 3 % more bytes; level 5 takes half as long again for 7 % fewer.
    let mut compress = Compress::new(Compression::new(4), true);
    // Enough for every board. flate2 clears the whole capacity first, so one for any rows would take longer.
    let mut data = Vec::with_capacity(rows.len() / 16);
    loop {
        let rest = &rows[compress.total_in() as usize..];
        if compress.compress_vec(rest, &mut data, FlushCompress::Finish).ok()? == Status::StreamEnd {
            return Some(data);
        }
        data.reserve(rows.len() / 16 + 64);
    }
}

#[cfg(test)]
mod tests {
    use tiny_skia::Pixmap;

    use super::*;
    use crate::game::Seat;
    use crate::game::any::{Choices, GameKind};
    use crate::game::picture::Colour;
    use fogpost_testing::random::dice;

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
    fn a_full_cache_forgets_the_picture_that_nobody_asked_for_longest() {
        let page = |width: u32| Picture { width, height: 1, shapes: Vec::new(), signs: Vec::new() };
        let cache = PictureCache::default();
        for width in 1..=CACHE_SIZE as u32 {
            assert!(cache.png(&page(width)).is_some());
        }
        assert!(cache.find(&page(1)).is_some());
        assert!(cache.png(&page(CACHE_SIZE as u32 + 1)).is_some());
        assert!(cache.find(&page(1)).is_some());
        assert!(cache.find(&page(2)).is_none());
    }

    #[test]
    fn a_picture_without_pixels_has_no_png() {
        assert_eq!(png(&Picture { width: 0, height: 8, shapes: Vec::new(), signs: Vec::new() }), None);
    }

    #[test]
    fn a_png_has_the_colours_of_its_picture() {
        let mut picture = Picture::new(32, 32, Colour::hex(0xfaf0e6));
        picture.rect(4.0, 4.0, 8.0, 8.0, Colour::hex(0x070809));
        let decoded = Pixmap::decode_png(&png(&picture).expect("it has pixels")).expect("a PNG");
        assert_eq!((decoded.width(), decoded.height()), (64, 64), "twice the shown size");
        for (x, y, expected) in [(0, 0, [0xfa, 0xf0, 0xe6]), (8, 23, [7, 8, 9]), (24, 8, [0xfa, 0xf0, 0xe6])]
        {
            let pixel = decoded.pixel(x, y).expect("inside the picture");
            assert_eq!([pixel.red(), pixel.green(), pixel.blue()], expected, "{x}, {y}");
        }
    }

    #[test]
    fn a_picture_that_would_be_too_large_gets_hard_edges() {
        let mut dice = dice(5);
        let mut picture = Picture::new(680, 900, Colour::hex(0xfdfcf8));
        for _ in 0..1_200 {
            let x = f64::from(dice(680));
            let y = f64::from(dice(900));
            picture.circle(x, y, 9.3, Colour::hex(0xf5c52e), Colour::hex(0x6b5006));
        }
        let [smooth, hard] = [Edges::Smooth, Edges::Hard].map(|edges| {
            encode(&raster::render(&picture, SCALE, edges).expect("it has pixels")).expect("a PNG")
        });
        assert!(smooth.len() > BOUND_BYTES && hard.len() < smooth.len(), "{} {}", smooth.len(), hard.len());
        assert_eq!(png(&picture), Some(hard));
    }
}
