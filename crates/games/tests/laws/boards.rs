//! Laws of boards: they stay on the page, and are turned for their readers.

use fogpost_games::game::Seat;
use fogpost_games::game::any::{Choices, GameKind, Memories, OwnPart};
use fogpost_games::game::picture::{Picture, Shape};
use fogpost_games::game::record::{Record, Replayed};

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

#[test]
fn boards_in_a_replay_of_a_game_with_secrets_are_not_turned() {
    let kind = GameKind::Pacific;
    let (state, memories) = (kind.start(&Choices::default()), Memories::empty(kind));
    for seat in Seat::BOTH {
        let board = state.replay_board(seat, &memories, OwnPart { before: &state, filed: None });
        assert!(place_of(&board.picture, "1").1 > place_of(&board.picture, "8").1, "{seat}");
        assert!(board.text.starts_with("   A "), "{seat}: {}", board.text);
    }
}

const RECORDS: [&str; 2] = [
    include_str!("../../../../src/cli/demo/records/quadrant-z.toml"),
    include_str!("../../../../src/cli/demo/records/pacific.toml"),
];

/// A picture's shapes without its legend.
fn on_board(picture: &Picture) -> &[Shape] {
    &picture.shapes[..picture.signs.first().map_or(picture.shapes.len(), |sign| sign.shapes.start)]
}

/// The first side's pieces are dark in its letters as in a replay, so that nothing may differ.
#[test]
fn a_replay_shows_the_first_side_what_its_letters_showed() {
    for record in RECORDS {
        let record = Record::parse(record).expect("a record");
        record.replay(|step| {
            let Replayed::Adjudicated(done) = step else { return };
            let own = OwnPart { before: done.before, filed: done.filings.first.as_ref() };
            let letter = done.state.shown_board(Seat::First, Some(done.memories), Some(own));
            let replay = done.state.replay_board(Seat::First, done.memories, own);
            assert_eq!(
                on_board(&letter.picture),
                on_board(&replay.picture),
                "{} {}",
                record.game,
                done.number
            );
        });
    }
}

/// The heads of arrows in a picture without its legend.
fn arrows(picture: &Picture) -> usize {
    let lines = |shape: &&Shape| matches!(shape, Shape::Line { stroke, .. } if stroke.width == 3.5);
    on_board(picture).iter().filter(lines).count()
}

#[test]
fn the_open_board_shows_what_both_sides_did() {
    for record in RECORDS {
        let record = Record::parse(record).expect("a record");
        let (mut of_sides, mut open, mut crosses) = (0, 0, 0);
        record.replay(|step| {
            let Replayed::Adjudicated(done) = step else { return };
            let own = |seat| OwnPart { before: done.before, filed: done.filings[seat].as_ref() };
            let shown = |seat| arrows(&done.state.replay_board(seat, done.memories, own(seat)).picture);
            of_sides += shown(Seat::First).max(shown(Seat::Second));
            let board = done.state.open_board(Some((done.before, done.filings)));
            open += arrows(&board.picture);
            assert!(!board.text.to_lowercase().contains("you"), "{}", board.text);
            let words = board.picture.shapes.iter().filter_map(|shape| match shape {
                Shape::Text { text, .. } => Some(text.as_str()),
                _ => None,
            });
            crosses += words.filter(|text| ["sunk", "ships lost"].contains(text)).count();
        });
        assert!(open > of_sides, "{}: {open} arrows, {of_sides} of one side", record.game);
        assert!(crosses > 0, "{}: nothing was lost", record.game);
    }
}
