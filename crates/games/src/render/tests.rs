//! Checks that both renderers draw every kind of shape and agree with resvg.

use resvg::usvg;
use tiny_skia::{Pixmap, Transform};

use super::raster::{self, Bitmap, Edges};
use super::svg;
use crate::game::Seat;
use crate::game::any::{Choices, GameKind};
use crate::game::picture::{Anchor, Colour, Picture};

const GROUND: Colour = Colour::hex(0xffffff);
const RED: Colour = Colour::hex(0xd02010);
const BLUE: Colour = Colour::hex(0x1020d0);

/// One shape of each kind, side by side at intervals of 30 pixels.
fn every_shape() -> Picture {
    let mut picture = Picture::new(210, 30, GROUND);
    picture.rect(5.0, 5.0, 20.0, 20.0, RED);
    picture.frame(35.0, 5.0, 20.0, 20.0, RED, 12.0);
    picture.circle(75.0, 15.0, 10.0, RED, BLUE);
    picture.line((95.0, 15.0), (115.0, 15.0), RED, 2.5);
    picture.line((125.0, 5.0), (145.0, 25.0), RED, 4.0);
    picture.polygon(&[(155.0, 5.0), (175.0, 5.0), (165.0, 25.0)], RED, BLUE, 1.0);
    picture.text(195.0, 15.0, 20.0, Anchor::Middle, RED, "I");
    picture
}

fn pixel(bitmap: &Bitmap, x: usize, y: usize) -> Colour {
    bitmap.palette.colours()[usize::from(bitmap.pixels[y * bitmap.width + x])]
}

/// All colours of a picture, pixel by pixel.
fn colours(bitmap: &Bitmap) -> Vec<Colour> {
    (0..bitmap.height).flat_map(|y| (0..bitmap.width).map(move |x| pixel(bitmap, x, y))).collect()
}

#[test]
fn svg_has_one_element_for_each_shape() {
    let expected = [
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="210" height="30" viewBox="0 0 210 30" font-family="DejaVu Sans">"##,
        r##"<rect x="0" y="0" width="210" height="30" fill="#ffffff"/>"##,
        r##"<rect x="5" y="5" width="20" height="20" fill="#d02010"/>"##,
        r##"<rect x="35" y="5" width="20" height="20" fill="none" stroke="#d02010" stroke-width="12"/>"##,
        r##"<circle cx="75" cy="15" r="10" fill="#d02010" stroke="#1020d0" stroke-width="2"/>"##,
        r##"<line x1="95" y1="15" x2="115" y2="15" stroke="#d02010" stroke-width="2.5" stroke-linecap="round"/>"##,
        r##"<line x1="125" y1="5" x2="145" y2="25" stroke="#d02010" stroke-width="4" stroke-linecap="round"/>"##,
        r##"<polygon points="155,5 175,5 165,25" fill="#d02010" stroke="#1020d0" stroke-width="1" stroke-linejoin="round"/>"##,
        r##"<text x="195" y="22.2" font-size="20" text-anchor="middle" fill="#d02010">I</text>"##,
        "</svg>",
    ];
    assert_eq!(svg(&every_shape()).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn svg_draws_an_outline_without_a_fill() {
    let mut picture = Picture::new(8, 8, GROUND);
    picture.outline(&[(1.0, 1.0), (7.0, 1.0), (4.0, 7.0)], RED, 2.0);
    assert!(svg(&picture).contains(r##"<polygon points="1,1 7,1 4,7" fill="none" stroke="#d02010""##));
}

#[test]
fn svg_escapes_texts() {
    let mut picture = Picture::new(10, 10, GROUND);
    picture.text(1.0, 1.0, 8.0, Anchor::Start, RED, "<&>");
    assert!(svg(&picture).contains(">&lt;&amp;&gt;</text>"));
}

#[test]
fn pixels_show_every_shape() {
    let bitmap = raster::render(&every_shape(), 1, Edges::Smooth).expect("it has pixels");
    for (x, what) in [
        (15, "rectangle"),
        (75, "circle"),
        (105, "level line"),
        (135, "slanted line"),
        (165, "polygon"),
        (195, "text"),
    ] {
        assert_eq!(pixel(&bitmap, x, 15), RED, "the middle of the {what}");
    }
    assert_eq!(pixel(&bitmap, 45, 15), GROUND, "the middle of the frame");
    assert_eq!(pixel(&bitmap, 36, 15), RED, "the edge of the frame");
    let edge = pixel(&bitmap, 75, 5);
    assert!(edge.blue > edge.red, "the edge of the circle is {edge}");
}

#[test]
fn pixels_leave_out_shapes_that_cover_nothing() {
    let mut picture = every_shape();
    let drawn = raster::render(&picture, 1, Edges::Smooth).expect("it has pixels");
    picture.text(10.0, 10.0, 8.0, Anchor::End, RED, " ");
    picture.outline(&[], RED, 2.0);
    picture.rect(0.0, 0.0, -4.0, 4.0, RED);
    picture.rect(300.0, 0.0, 4.0, 4.0, RED);
    picture.rect(-20.0, -20.0, 10.0, 10.0, RED);
    picture.circle(-90.0, 15.0, 9.0, RED, RED);
    assert_eq!(colours(&raster::render(&picture, 1, Edges::Smooth).expect("it has pixels")), colours(&drawn));
}

#[test]
fn shapes_that_reach_beyond_the_page_are_cut_off() {
    let mut picture = Picture::new(10, 10, GROUND);
    picture.circle(0.0, 0.0, 5.0, RED, RED);
    picture.polygon(&[(8.0, 12.0), (14.0, 2.0), (14.0, 12.0)], BLUE, BLUE, 1.0);
    picture.rect(-4.0, 8.0, 7.0, 9.0, BLUE);
    let bitmap = raster::render(&picture, 2, Edges::Smooth).expect("it has pixels");
    let shown = |x, y| pixel(&bitmap, x, y);
    assert_eq!((shown(0, 0), shown(19, 19), shown(0, 19), shown(10, 10)), (RED, BLUE, BLUE, GROUND));
}

#[test]
fn a_picture_without_pixels_or_with_too_many_is_not_rendered() {
    for (width, height) in [(0, 8), (8, 0), (u32::MAX, u32::MAX), (100_000, 100_000)] {
        assert!(
            raster::render(
                &Picture { width, height, shapes: Vec::new(), signs: Vec::new() },
                2,
                Edges::Smooth
            )
            .is_none()
        );
    }
}

/// The side, in pixels, of the areas whose mean colours are compared. The renderers smooth edges differently,
/// and ours puts letters at whole pixels, so pixels differ but areas do not.
const AREA: usize = 20;

/// The mean colours of a picture's areas, row by row.
fn mean_colours(width: usize, height: usize, colour: impl Fn(usize, usize) -> [u8; 3]) -> Vec<[i32; 3]> {
    let mut means = Vec::new();
    for top in (0..height - AREA).step_by(AREA) {
        for left in (0..width - AREA).step_by(AREA) {
            let mut sum = [0; 3];
            for (x, y) in (0..AREA * AREA).map(|at| (left + at % AREA, top + at / AREA)) {
                sum.iter_mut().zip(colour(x, y)).for_each(|(sum, channel)| *sum += i32::from(channel));
            }
            means.push(sum.map(|sum| sum / (AREA * AREA) as i32));
        }
    }
    means
}

#[test]
fn pixels_agree_with_resvg() {
    let mut options = usvg::Options { font_family: "DejaVu Sans".to_owned(), ..usvg::Options::default() };
    options.fontdb_mut().load_font_data(include_bytes!("fonts/DejaVuSans-subset.ttf").to_vec());
    let boards = GameKind::ALL.iter().map(|kind| kind.start(&Choices::default()).board(Seat::First).picture);
    for picture in boards.chain([every_shape()]) {
        let tree = usvg::Tree::from_str(&svg(&picture), &options).expect("a whole SVG document");
        let drawn = raster::render(&picture, 2, Edges::Smooth).expect("it has pixels");
        let mut expected = Pixmap::new(drawn.width as u32, drawn.height as u32).expect("it has pixels");
        resvg::render(&tree, Transform::from_scale(2.0, 2.0), &mut expected.as_mut());
        let ours = mean_colours(drawn.width, drawn.height, |x, y| {
            let Colour { red, green, blue } = pixel(&drawn, x, y);
            [red, green, blue]
        });
        let theirs = mean_colours(drawn.width, drawn.height, |x, y| {
            let pixel = expected.pixels()[y * drawn.width + x];
            [pixel.red(), pixel.green(), pixel.blue()]
        });
        for (place, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            let differs = ours.iter().zip(theirs).any(|(ours, theirs)| ours.abs_diff(*theirs) > 16);
            assert!(
                !differs,
                "area {place} of a picture of {} shapes: {ours:?}, {theirs:?}",
                picture.shapes.len()
            );
        }
    }
}
