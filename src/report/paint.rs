//! From a board's SVG to a PNG.
//!
//! The PNG has a palette of 256 colours. A board has few, and the shades at the edges of letters and pieces lie
//! between them: nothing of it is seen, and the letter is half as large and made in half the time. The pictures
//! painted last are remembered: where nothing is hidden both sides get the same.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tiny_skia::Pixmap;

use super::draw::draw;
use crate::letter::Digest;

/// Pictures are drawn this much larger than the SVG says, so that they stay sharp on dense screens.
const SCALE: f32 = 1.1;

/// So many pictures are remembered in each of two generations.
const REMEMBERED: usize = 64;

/// Pictures by their SVG. When the younger generation is full it becomes the older one, which is forgotten.
static PAINTED: Mutex<[BTreeMap<Digest, Arc<[u8]>>; 2]> = Mutex::new([BTreeMap::new(), BTreeMap::new()]);

/// The picture as a PNG; `None` if `svg` is none of ours.
pub fn png(svg: &str) -> Option<Vec<u8>> {
    let key = Digest::of(svg.as_bytes());
    let known = {
        let [young, old] = &*PAINTED.lock().unwrap_or_else(PoisonError::into_inner);
        young.get(&key).or_else(|| old.get(&key)).map(Arc::clone)
    };
    if let Some(known) = known {
        return Some(known.to_vec());
    }
    let png = paint(svg)?;
    let generations = &mut *PAINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if generations[0].len() >= REMEMBERED {
        generations[1] = std::mem::take(&mut generations[0]);
    }
    generations[0].insert(key, Arc::from(&png[..]));
    Some(png)
}

/// [`png`], painted anew.
pub fn paint(svg: &str) -> Option<Vec<u8>> {
    encode(&draw(svg, SCALE)?).ok()
}

type Rgb = [u8; 3];

/// The pixels, which are opaque, by a palette.
fn encode(pixmap: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let pixels: Vec<Rgb> =
        pixmap.pixels().iter().map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
    let (palette, place) = palette(&pixels);
    let places: Vec<u8> = pixels.iter().map(|&colour| place[shade(colour)]).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(palette.concat());
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_deflate_compression(png::DeflateCompression::Level(2));
    encoder.write_header()?.write_image_data(&places)?;
    Ok(bytes)
}

/// How many shades are told apart at first.
const SHADES: usize = 1 << 16;

/// Colours that hardly differ are one shade.
fn shade([red, green, blue]: Rgb) -> usize {
    usize::from(red >> 3) << 11 | usize::from(green >> 2) << 5 | usize::from(blue >> 3)
}

/// The commonest colours, at most 256, and for each shade the place of its own or the nearest of them.
fn palette(pixels: &[Rgb]) -> (Vec<Rgb>, Vec<u8>) {
    /// A shade is shown in the colour of its longest run: that of an area rather than of an edge.
    #[derive(Clone, Copy)]
    struct Found {
        pixels: usize,
        longest_run: usize,
        colour: Rgb,
    }
    let mut found: Vec<Found> = Vec::new();
    // For each shade the place in `found`, from 1.
    let mut places = vec![0_usize; SHADES];
    for run in pixels.chunk_by(|a, b| a == b) {
        let place = &mut places[shade(run[0])];
        if *place == 0 {
            found.push(Found { pixels: 0, longest_run: 0, colour: run[0] });
            *place = found.len();
        }
        let shade = &mut found[*place - 1];
        shade.pixels += run.len();
        if run.len() > shade.longest_run {
            (shade.longest_run, shade.colour) = (run.len(), run[0]);
        }
    }
    found.sort_by_key(|shade| Reverse(shade.pixels));
    let palette: Vec<Rgb> = found.iter().take(256).map(|shade| shade.colour).collect();
    let mut nearest = vec![0; SHADES];
    for Found { colour, .. } in found {
        let place = (0_u8..=255).zip(&palette).min_by_key(|(_, other)| distance(colour, **other));
        nearest[shade(colour)] = place.map_or(0, |(place, _)| place);
    }
    (palette, nearest)
}

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
    fn every_board_can_be_painted_and_is_the_same_the_second_time() {
        for kind in GameKind::ALL {
            let board = kind.start(&Choices::default()).board(Seat::First);
            let first = png(&board.svg).expect("a picture");
            assert_eq!(png(&board.svg), Some(first), "{kind}");
        }
    }

    #[test]
    fn what_is_none_of_ours_is_not_painted() {
        for svg in ["", "<svg>", "<svg width=\"8\" height=\"8\">\n<ellipse/>\n</svg>\n"] {
            assert_eq!(png(svg), None, "{svg}");
        }
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
        let again = Pixmap::decode_png(&encode(&pixmap).expect("written")).expect("a PNG");
        assert_eq!(again.data(), pixmap.data());
    }

    #[test]
    fn of_more_colours_than_a_palette_holds_each_comes_close() {
        let pixels: Vec<Rgb> =
            (0..64_u8).flat_map(|red| (0..64_u8).map(move |blue| [red * 4, 128, blue * 4])).collect();
        let (palette, places) = palette(&pixels);
        assert_eq!(palette.len(), 256);
        for colour in pixels {
            let nearest = palette.iter().map(|other| distance(colour, *other)).min().expect("some");
            let shown = palette[usize::from(places[shade(colour)])];
            // A shade is one of its colours: at most 7 off in red and blue.
            assert!(distance(colour, shown) <= 4 * (nearest + 7 * 7 + 7 * 7), "{colour:?} {shown:?}");
        }
    }
}
