//! Laws of boards: they stay on the page, and are turned for their readers.

use fogpost_games::game::Seat;
use fogpost_games::game::any::{Choices, GameKind};
use fogpost_games::game::picture::{Picture, Shape};

#[test]
fn boards_keep_their_texts_on_the_page() {
    for kind in GameKind::ALL {
        let picture = kind.start(&Choices::default()).board(Seat::First).picture;
        for shape in &picture.shapes {
            if let Shape::Text { x, baseline, text, .. } = shape {
                let inside = (0.0..f64::from(picture.width)).contains(x)
                    && (0.0..f64::from(picture.height)).contains(baseline);
                assert!(inside, "{kind}: {text} at {x}, {baseline}");
            }
        }
    }
}

/// The first place of a text in a picture.
fn place_of(picture: &Picture, wanted: &str) -> (f64, f64) {
    let place = |shape: &Shape| match shape {
        Shape::Text { x, baseline, text, .. } if text == wanted => Some((*x, *baseline)),
        _ => None,
    };
    picture.shapes.iter().find_map(place).unwrap_or_else(|| panic!("no {wanted}"))
}

#[test]
fn boards_are_turned_for_the_side_that_reads() {
    for kind in [GameKind::Pacific, GameKind::Quantum, GameKind::Quad] {
        let state = kind.start(&Choices::default());
        for (seat, own, other) in
            [(Seat::First, ("A", "1"), ("H", "8")), (Seat::Second, ("H", "8"), ("A", "1"))]
        {
            let board = state.board(seat);
            let place = |text| place_of(&board.picture, text);
            assert!(place(own.1).1 > place(other.1).1, "{kind}, {seat}: its first rank lies below");
            assert!(place(own.0).0 < place(other.0).0, "{kind}, {seat}: the files from its left");
            let line = |rank: &str| {
                board.text.lines().position(|line| {
                    line.trim_start().strip_prefix(rank).is_some_and(|rest| rest.starts_with([' ', '-']))
                })
            };
            assert!(line(own.1) > line(other.1), "{kind}, {seat}: in text, too\n{}", board.text);
        }
    }
}
