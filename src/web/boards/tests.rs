use super::dark::dark_colours;
use super::*;
use crate::game::any::GameKind;
use crate::game::picture::{Anchor, Colour, Shape};
use crate::game::sight::Eye;

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
    let steps = [
        vec![picture(&[(20.0, 20.0), (50.0, 20.0)]), picture(&[(20.0, 20.0)])],
        vec![picture(&[(20.0, 20.0), (80.0, 20.0)]), picture(&[(20.0, 20.0)])],
    ];
    let boards = draw(&steps, 0);
    assert_eq!(boards.symbols.matches("<circle").count(), 1, "{}", boards.symbols);
    assert!(boards.symbols.contains("&lt;") && !boards.symbols.contains("><<"), "{}", boards.symbols);
    for step in &boards.steps {
        // The base, and the disc that the first view alone shows.
        assert_eq!(step.matches("<use").count(), 2, "{step}");
        assert_eq!(step.matches("class=f").count(), 1, "{step}");
    }
    assert_eq!((boards.width, boards.height), (200, 100));
}

#[test]
fn a_mark_that_another_may_cover_does_not_move_below_it() {
    let mut covered = picture(&[(20.0, 20.0)]);
    covered.shapes.insert(1, Shape::Rect { x: 0.0, y: 0.0, width: 40.0, height: 40.0, fill: BLUE });
    let steps = [vec![covered], vec![picture(&[(20.0, 20.0)])]];
    let boards = draw(&steps, 0);
    let (rect, disc) = (boards.steps[0].find("<rect"), boards.steps[0].rfind("<circle"));
    assert!(rect.is_some() && rect < disc, "{}", boards.steps[0]);
}

#[test]
fn a_view_that_is_not_the_visible_one_is_hidden_without_styles() {
    let steps = [vec![picture(&[(20.0, 20.0)]), picture(&[(50.0, 20.0)]), picture(&[(80.0, 20.0)])]];
    let step = &draw(&steps, 2).steps[0];
    for (class, is_hidden) in [("f", true), ("s", true), ("t", false)] {
        assert_eq!(step.contains(&format!("<g class={class} display=none>")), is_hidden, "{step}");
        assert!(step.contains(&format!("<g class={class}")), "{step}");
    }
}

/// Grounds and what stands on them, in the colours of a dark page.
/// Pairs of light colours.
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
