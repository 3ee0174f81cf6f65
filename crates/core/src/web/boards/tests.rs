use resvg::usvg;
use tiny_skia::{Pixmap, Transform};

use super::dark::dark_colours;
use super::*;
use crate::game::Seat;
use crate::game::any::{GameKind, OwnPart};
use crate::game::picture::{Anchor, Colour, Shape};
use crate::game::record::{Record, Replayed};
use crate::report::svg as svg_document;
use fogpost_testing::sight::Eye;

const PAPER: Colour = Colour::hex(0xffffff);
const BLUE: Colour = Colour::hex(0x14508c);

/// A picture with a ground, and a disc with a letter at these places.
fn picture(places: &[(f64, f64)]) -> Picture {
    let mut picture = Picture::new(200, 100, PAPER);
    for (x, y) in places {
        picture.circle(*x, *y, 8.0, BLUE, PAPER);
        picture.text(*x, *y, 10.0, Anchor::Middle, PAPER, "<");
    }
    picture
}

#[test]
fn equal_marks_are_drawn_once_and_what_never_changes_lies_below_all_steps() {
    let steps = vec![
        vec![picture(&[(20.0, 20.0), (50.0, 20.0)]), picture(&[(20.0, 20.0)])],
        vec![picture(&[(20.0, 20.0), (80.0, 20.0)]), picture(&[(20.0, 20.0)])],
    ];
    let boards = draw(steps, 0);
    assert_eq!(boards.symbols.matches("<circle").count(), 1, "{}", boards.symbols);
    assert!(boards.symbols.contains("&lt;") && !boards.symbols.contains("><<"), "{}", boards.symbols);
    for step in &boards.steps {
        // The base, and the disc that only the first view shows.
        assert_eq!(step.matches("<use").count(), 2, "{step}");
        assert_eq!(step.matches("class=f").count(), 1, "{step}");
    }
    assert_eq!((boards.width, boards.height), (200, 100));
}

#[test]
fn a_mark_that_another_may_cover_does_not_move_below_it() {
    let mut covered = picture(&[(20.0, 20.0)]);
    covered.shapes.insert(1, Shape::Rect { x: 0.0, y: 0.0, width: 40.0, height: 40.0, fill: BLUE });
    let steps = vec![vec![covered], vec![picture(&[(20.0, 20.0)])]];
    let boards = draw(steps, 0);
    let (rect, disc) = (boards.steps[0].find("<rect"), boards.steps[0].rfind("<circle"));
    assert!(rect.is_some() && rect < disc, "{}", boards.steps[0]);
}

#[test]
fn a_view_that_is_not_the_visible_one_is_hidden_without_styles() {
    let steps = vec![vec![picture(&[(20.0, 20.0)]), picture(&[(50.0, 20.0)]), picture(&[(80.0, 20.0)])]];
    let step = &draw(steps, 2).steps[0];
    for (class, is_hidden) in [("f", true), ("s", true), ("t", false)] {
        assert_eq!(step.contains(&format!("<g class={class} display=none>")), is_hidden, "{step}");
        assert!(step.contains(&format!("<g class={class}")), "{step}");
    }
}

/// Pairs of a ground and a sign on it, in their colours on a light page.
type Pairs = &'static [(u32, u32)];

#[test]
fn the_dark_colours_are_told_apart_by_every_eye() {
    let dark = |game: GameKind, light: u32| {
        let light = Colour::hex(light);
        dark_colours(game).iter().find(|colour| colour.light == light).map_or(light, |colour| colour.dark)
    };
    let pairs: &[(GameKind, f64, Pairs)] = &[
        (GameKind::QuadrantZ, 7.0, &[(0xdceaf8, 0xb3cae2), (0xf7f5ef, 0xd6d3ca), (0xfdebdf, 0xe8c6b0)]),
        (GameKind::QuadrantZ, 30.0, &[(0xf5c52e, 0xdceaf8), (0xf5c52e, 0xf7f5ef), (0xf5c52e, 0xfdebdf)]),
        (GameKind::QuadrantZ, 30.0, &[(0xffffff, 0xdceaf8), (0xfff1e6, 0xfdebdf), (0x3a7abd, 0xf7f5ef)]),
        (GameKind::Pacific, 5.0, &[(0xe9f3f9, 0xcbe0ec), (0xe9efe3, 0xcddac6)]),
        (GameKind::Pacific, 25.0, &[(0x174a7c, 0xcbe0ec), (0x174a7c, 0xcddac6), (0xffe9d9, 0xcddac6)]),
        (GameKind::Pacific, 40.0, &[(0x174a7c, 0xfbf7ec), (0xffe9d9, 0x5e2200)]),
        (GameKind::Quantum, 6.0, &[(0xefe6d2, 0xd3c2a0), (0xfffdf7, 0xefe6d2)]),
        (GameKind::Quantum, 15.0, &[(0x34506e, 0xd3c2a0), (0x34506e, 0xefe6d2), (0xfffdf7, 0xd3c2a0)]),
        (GameKind::Quad, 30.0, &[(0x26262a, 0xe9d8b4), (0xffffff, 0xe9d8b4)]),
        (GameKind::Quad, 10.0, &[(0xb3261e, 0xe9d8b4), (0xc2500a, 0xe9d8b4), (0x14508c, 0xe9d8b4)]),
    ];
    for (game, least, pairs) in pairs {
        for (one, other) in *pairs {
            let (one, other) = if *other == 0xfbf7ec {
                (dark(*game, *one), Colour::hex(*other))
            } else {
                (dark(*game, *one), dark(*game, *other))
            };
            for eye in [Eye::Usual, Eye::Deuteranope, Eye::Protanope] {
                let contrast = eye.contrast(one, other);
                assert!(contrast >= *least, "{game}: {one} and {other}: {contrast:.0} for {eye:?}");
            }
        }
    }
}

const RECORDS: [&str; 4] = [
    include_str!("../../../../../src/cli/demo/records/quadrant-z.toml"),
    include_str!("../../../../../src/cli/demo/records/pacific.toml"),
    include_str!("../../../../../src/cli/demo/records/quantum.toml"),
    include_str!("../../../../../src/cli/demo/records/quad.toml"),
];

/// The pictures of a recorded match: both sides' and, if the game hides something, the whole.
fn pictures(record: &Record) -> Vec<Vec<Picture>> {
    let mut steps = Vec::new();
    record.replay(|step| {
        if let Replayed::Adjudicated(done) = step {
            let own = |seat| OwnPart { before: done.before, filed: done.filings[seat].as_ref() };
            if record.game.hides_something() {
                let seen = Seat::BOTH.map(|seat| done.state.replay_board(seat, done.memories, own(seat)));
                let open = done.state.open_board(Some((done.before, done.filings)));
                steps.push(seen.into_iter().chain([open]).map(|board| board.picture).collect());
            } else {
                let seen = Seat::BOTH.map(|seat| done.state.shown_board(seat, None, Some(own(seat))));
                steps.push(seen.map(|board| board.picture).into());
            }
        }
    });
    steps
}

/// The drawing of a step as a document in which only this view is visible.
fn document(boards: &Boards, step: usize, classes: &[&str]) -> String {
    let Boards { symbols, steps, width, height, .. } = boards;
    let mut inner = format!("<defs>{symbols}</defs>{}", steps[step]);
    for class in ["f", "s", "t", "fs", "ft", "st"] {
        let shown = if classes.contains(&class) { "<g>" } else { "<g display=none>" };
        for written in [format!("<g class={class}>"), format!("<g class={class} display=none>")] {
            inner = inner.replace(&written, shown);
        }
    }
    xml(&inner, (*width, *height))
}

/// A drawing as a document of this size.
fn xml(inner: &str, (width, height): (u32, u32)) -> String {
    // XML requires quotes around all values.
    let mut quoted = String::new();
    for tag in inner.split_inclusive('>') {
        let (text, tag) = tag.split_at(tag.find('<').unwrap_or(tag.len()));
        quoted.push_str(text);
        let mut open = false;
        let mut before = ' ';
        for c in tag.chars() {
            let is_bare = before == '=' && c != '"';
            if is_bare || open && matches!(c, ' ' | '>') {
                quoted.push('"');
                open = is_bare;
            }
            quoted.push(c);
            before = c;
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"DejaVu Sans\" \
         text-anchor=\"middle\" stroke-linecap=\"round\" stroke-linejoin=\"round\">{quoted}</svg>"
    )
}

/// Renders a document of this size as red, green, blue and opacity.
fn pixels(document: &str, (width, height): (u32, u32)) -> Vec<u8> {
    let mut options = usvg::Options { font_family: "DejaVu Sans".to_owned(), ..usvg::Options::default() };
    options
        .fontdb_mut()
        .load_font_data(include_bytes!("../../../../games/src/render/fonts/DejaVuSans-subset.ttf").to_vec());
    let tree = usvg::Tree::from_str(document, &options).unwrap_or_else(|error| panic!("{error}: {document}"));
    let mut pixmap = Pixmap::new(width, height).expect("it has pixels");
    resvg::render(&tree, Transform::identity(), &mut pixmap.as_mut());
    pixmap.take()
}

/// Whether two colours differ visibly in red, green, blue or opacity.
fn differs((one, other): &(&[u8], &[u8])) -> bool {
    one.iter().zip(*other).any(|(a, b)| a.abs_diff(*b) > 64)
}

#[test]
fn signs_of_a_legend_look_different_on_a_dark_page() {
    const SIZE: (u32, u32) = (96, 56);
    for record in RECORDS {
        let record = Record::parse(record).expect("a record");
        let style = dark_style(record.game);
        let rules = style.split_once('{').expect("a condition").1.strip_suffix('}').expect("its end");
        let drawn = draw(pictures(&record), 0);
        let on_dark = |line: &LegendLine| {
            let sample = format!(
                "<rect width=96 height=56 fill=#14181a /><g transform=translate(48,28)>{}</g>",
                line.sample
            );
            pixels(&xml(&sample, SIZE).replacen('>', &format!("><style>{rules}</style>"), 1), SIZE)
        };
        let signs: Vec<_> = drawn.legend.iter().map(|line| (line, on_dark(line))).collect();
        for (no, (line, sign)) in signs.iter().enumerate() {
            for (other, other_sign) in signs[..no].iter().filter(|(other, _)| other.class == line.class) {
                let count = sign.chunks(4).zip(other_sign.chunks(4)).filter(differs).count();
                assert!(count >= 40, "{}: {} and {}: {count} pixels", record.game, line.words, other.words);
            }
        }
    }
}

/// Pixels in a thousand that may differ: the edges of arrows, whose heads are drawn as markers in the direction of the line.
const FEW: usize = 2;

#[test]
fn each_step_looks_like_the_pictures_that_it_was_made_of() {
    let views = |count: usize| match count {
        2 => vec![&["f"][..], &["s"]],
        _ => vec![&["f", "fs", "ft"][..], &["s", "fs", "st"], &["t", "ft", "st"]],
    };
    for record in RECORDS {
        let record = Record::parse(record).expect("a record");
        let steps = pictures(&record);
        let drawn = draw(steps.clone(), 0);
        for (no, line) in drawn.legend.iter().enumerate() {
            let again = drawn.legend[..no].iter().find(|other| {
                other.sample == line.sample && (other.class == line.class || other.class.is_none())
            });
            assert_eq!(again, None, "{}: {} twice", record.game, line.words);
        }
        let (boards, _) = legend::separate(steps.clone(), marks::Views { count: steps[0].len(), open: 0 });
        for step in (0..steps.len()).step_by(5) {
            for (view, classes) in views(steps[0].len()).into_iter().enumerate() {
                let board = &boards[step][view];
                let size = (board.width, board.height);
                let expected = pixels(&svg_document(board), size);
                let found = pixels(&document(&drawn, step, classes), size);
                let count = expected.chunks(4).zip(found.chunks(4)).filter(differs).count();
                assert!(
                    count * 1000 <= FEW * expected.len() / 4,
                    "{}, step {step}, view {view}: {count} pixels differ",
                    record.game
                );
            }
        }
    }
}
