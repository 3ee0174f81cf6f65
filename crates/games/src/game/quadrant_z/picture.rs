//! The board as a picture: quadrants under a heading with their news, squares with their star and ships.
//!
//! Figure 1 of the rules: the lettered quadrants, with the numbers of their squares (clause 1.1).

use super::combat::Ship;
use super::galaxy::{Quadrant, Square};
use super::square_map::{Mark, PastMark, SquareMap};
use super::symbols::{
    CELL, FAINT, GROUND, HEADING, Look, NEUTRAL_TINT, TOP, corner, label_place, plate_place, square_corner,
    star_place, tint,
};
use super::view::KnownStar;
use super::{legend, symbols};
use crate::game::picture::{Anchor, Colour, Picture, Point};
use crate::game::{Phase, Seat};

const WIDTH: u32 = 680;
const LEGEND_TOP: f64 = TOP + 5.0 * (HEADING + 2.0 * CELL) + 30.0;

const GRID: Colour = Colour::hex(0xaeb3b8);
const EDGE: Colour = Colour::hex(0x3a3f45);

pub(super) fn draw(map: &SquareMap<'_>) -> Picture {
    let signs = legend::signs(map);
    let height = LEGEND_TOP + legend::height(&signs);
    let mut picture = Picture::new(WIDTH, height as u32, GROUND);
    for quadrant in Quadrant::all() {
        ground(&mut picture, map, quadrant);
    }
    for quadrant in Quadrant::all() {
        let (x, y) = corner(quadrant);
        picture.frame(x, y, 2.0 * CELL, HEADING + 2.0 * CELL, EDGE, 2.0);
    }
    for side in Seat::BOTH {
        symbols::draw_arrows(&mut picture, map, side);
    }
    // Arrows pass under headings, so that no line crosses their words.
    for quadrant in Quadrant::all() {
        heading(&mut picture, map, quadrant);
    }
    for square in Square::all() {
        contents(&mut picture, map, square);
    }
    legend::draw(&mut picture, LEGEND_TOP, &signs, map.view);
    picture
}

fn ground(picture: &mut Picture, map: &SquareMap<'_>, quadrant: Quadrant) {
    let tint = tint(map.sector(quadrant), map.view.dark_side());
    let (x, y) = corner(quadrant);
    let is_charted = map.is_charted(quadrant);
    let side = 2.0 * CELL;
    let y = y + HEADING;
    let fill = if is_charted { tint.explored } else { tint.fog };
    // The ground ends where the frame of the quadrant begins, so that neither covers the other.
    picture.rect(x + 1.0, y + 1.0, side - 2.0, side - 2.0, fill);
    picture.line((x + CELL, y + 1.5), (x + CELL, y + side - 1.5), GRID, 1.0);
    picture.line((x + 1.5, y + CELL), (x + side - 1.5, y + CELL), GRID, 1.0);
    if !is_charted {
        for square in quadrant.squares().filter(|square| map.at(*square).is_empty()) {
            let (x, y) = square_corner(square);
            picture.text(x + CELL / 2.0, y + CELL / 2.0, 34.0, Anchor::Middle, tint.mark, "?");
        }
    }
}

/// The quadrant's letter, and its news or, without colours, the memory of it.
fn heading(picture: &mut Picture, map: &SquareMap<'_>, quadrant: Quadrant) {
    let tint = tint(map.sector(quadrant), map.view.dark_side());
    let (x, y) = corner(quadrant);
    picture.rect(x, y, 2.0 * CELL, HEADING, tint.heading);
    picture.frame(x, y, 2.0 * CELL, HEADING, EDGE, 2.0);
    let y = y + HEADING / 2.0;
    picture.text(x + 14.0, y, 20.0, Anchor::Middle, tint.letter, &quadrant.to_string());
    let words = match (map.mark(quadrant), map.past_mark(quadrant)) {
        (Some(mark), _) => {
            symbols::draw_mark(picture, mark, look(map, map.view.context.viewer.other()), x + 41.0, y);
            match mark {
                Mark::Battle(_) if map.view.is_open() => "battle".to_owned(),
                Mark::Battle(enemy) => format!("vs {}/{}", enemy.offence, enemy.defence),
                Mark::Met => "both".to_owned(),
                Mark::Entered => "entered".to_owned(),
            }
        }
        (None, Some(PastMark { mark, turn })) => {
            symbols::draw_past_mark(picture, mark, x + 41.0, y);
            format!("turn {turn}")
        }
        (None, None) => return,
    };
    let size = if words.chars().count() > 8 { 14.0 } else { 17.0 };
    picture.text(x + 56.0, y, size, Anchor::Start, tint.letter, &words);
}

fn contents(picture: &mut Picture, map: &SquareMap<'_>, square: Square) {
    let contents = map.at(square);
    let (x, y) = square_corner(square);
    // Later, the legend explains the numbers, which would be lost among stars and ships.
    if map.view.context.phase == Some(Phase::Setup) {
        picture.text(x + 10.0, y + 13.0, 17.0, Anchor::Middle, FAINT, &(square.cell() + 1).to_string());
    }
    if let Some(known) = contents.star {
        star(picture, map, known, star_place(square));
    }
    let viewer = map.view.context.viewer;
    let place = plate_place(square);
    if let Some(label) = label(&contents.ships) {
        symbols::label(picture, label_place(square), look(map, viewer), &label);
        if contents.enemy.is_none() {
            let (offence, defence) = contents.ships.iter().fold((0, 0), |(offence, defence), ship| {
                (offence + ship.class.offence, defence + ship.class.defence)
            });
            symbols::plate(picture, place, look(map, viewer), &format!("{offence}/{defence}"));
        }
    } else if let Some(label) = label(&contents.enemies) {
        symbols::label(picture, label_place(square), look(map, viewer.other()), &label);
    }
    if map.losses().contains(&square) {
        symbols::wreck(picture, x + 59.0, y + 44.0);
    }
    if let Some(enemy) = contents.enemy {
        symbols::plate(picture, place, look(map, viewer.other()), &enemy.to_string());
    } else if let Some((size, turn)) = map.ghost(square).filter(|_| contents.ships.is_empty()) {
        let tint = tint(map.sector(square.quadrant()), map.view.dark_side());
        let ground = if map.is_charted(square.quadrant()) { tint.explored } else { tint.fog };
        symbols::ghost(picture, place, ground, size, turn);
    }
}

fn look(map: &SquareMap<'_>, side: Seat) -> Look {
    Look::of(side, map.view.dark_side())
}

/// The number of a ship on a square, or how many there are.
fn label(ships: &[&Ship]) -> Option<String> {
    match ships[..] {
        [] => None,
        [ship] => Some(ship.no.to_string()),
        _ => Some(format!("×{}", ships.len())),
    }
}

/// A star that can be captured, or the badge of one that was.
fn star(picture: &mut Picture, map: &SquareMap<'_>, star: &KnownStar, (x, y): Point) {
    let value = star.value.to_string();
    if map.was_captured_now(star.at) {
        symbols::ring(picture, x, y);
    } else if star.base {
        symbols::base(picture, x, y);
    }
    match star.captured_by {
        None => symbols::free_star(picture, x, y, &value),
        Some(by) => symbols::captured_star(picture, x, y, look(map, by), &value),
    }
}

/// The side of a square, and the height of a quadrant's heading.
const FIGURE_CELL: f64 = 34.0;
const FIGURE_HEADING: f64 = 24.0;
const MARGIN: f64 = 8.0;
const FIGURE_EDGE: Colour = Colour::hex(0x3a3f45);
const FIGURE_GRID: Colour = Colour::hex(0xaeb3b8);

pub fn figure() -> Picture {
    let side = 2.0 * FIGURE_CELL;
    let tint = NEUTRAL_TINT;
    let width = 2.0 * MARGIN + 5.0 * side;
    let height = 2.0 * MARGIN + 5.0 * (FIGURE_HEADING + side);
    let mut picture = Picture::new(width as u32, height as u32, GROUND);
    for quadrant in Quadrant::all() {
        let x = MARGIN + f64::from(quadrant.column()) * side;
        let y = MARGIN + f64::from(quadrant.row()) * (FIGURE_HEADING + side);
        let top = y + FIGURE_HEADING;
        picture.rect(x, y, side, FIGURE_HEADING, tint.heading);
        picture.text(
            x + FIGURE_CELL,
            y + FIGURE_HEADING / 2.0,
            18.0,
            Anchor::Middle,
            tint.letter,
            &quadrant.to_string(),
        );
        picture.rect(x, top, side, side, tint.explored);
        picture.line((x + FIGURE_CELL, top), (x + FIGURE_CELL, top + side), FIGURE_GRID, 1.0);
        picture.line((x, top + FIGURE_CELL), (x + side, top + FIGURE_CELL), FIGURE_GRID, 1.0);
        for square in quadrant.squares() {
            let column = f64::from(square.cell() % 2);
            let row = f64::from(square.cell() / 2);
            let x = x + (column + 0.5) * FIGURE_CELL;
            let y = top + (row + 0.5) * FIGURE_CELL;
            picture.text(x, y, 15.0, Anchor::Middle, FAINT, &(square.cell() + 1).to_string());
        }
        picture.frame(x, y, side, FIGURE_HEADING + side, FIGURE_EDGE, 2.0);
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::super::view::{Deeds, Movement};
    use super::super::{Options, State};
    use super::*;
    use crate::game::Game;
    use crate::game::picture::Shape;
    use crate::game::quadrant_z::combat::Class;
    use crate::game::quadrant_z::symbols::{ENEMY_TINT, NEUTRAL_TINT, OWN_TINT};
    use fogpost_testing::sight::{Eye, assert_told_apart};

    fn at(text: &str) -> Square {
        Square::parse(text).expect("a square")
    }

    #[test]
    fn every_move_from_the_middle_has_an_arrow_between_the_boxes_at_its_ends() {
        let from = at("M1");
        let reached: Vec<Square> = Square::all().filter(|to| from.reaches(*to)).collect();
        assert_eq!(reached.len(), 18, "two squares beside it, and four quadrants");
        for to in reached {
            let mut view = State::start(&Options::default()).view(Seat::First);
            view.context.phase = Some(Phase::Turn);
            let class = Class { offence: 1, defence: 0 };
            view.ships = [(1, from), (2, to)].map(|(no, at)| Ship { no, class, at }).to_vec();
            let moved = vec![Movement { no: 2, from, to }];
            view.did = Some(Box::new(Deeds { moved, ..Deeds::default() }));
            let picture = draw(&SquareMap::new(&view));
            let is_head = |shape: &&Shape| {
                matches!(shape, Shape::Polygon { points, fill: Some(fill), .. }
                    if points.len() == 3 && *fill == symbols::MOVED)
            };
            // The legend shows another one.
            assert_eq!(picture.shapes.iter().filter(is_head).count(), 2, "{from} to {to}");
        }
    }

    #[test]
    fn its_colours_are_told_apart_by_every_eye_and_in_print() {
        for tint in [OWN_TINT, NEUTRAL_TINT, ENEMY_TINT] {
            assert_told_apart(40.0, &[(tint.heading, tint.letter)]);
            assert_told_apart(9.0, &[(tint.explored, tint.fog)]);
            assert_told_apart(8.0, &[(tint.fog, tint.mark)]);
        }
        assert_told_apart(30.0, &[(OWN_TINT.heading, ENEMY_TINT.heading)]);
        assert_told_apart(10.0, &[(OWN_TINT.heading, NEUTRAL_TINT.heading)]);
        // In print, headings distinguish the sectors.
        for eye in [Eye::Usual, Eye::Deuteranope, Eye::Protanope] {
            for (one, other) in [(OWN_TINT, NEUTRAL_TINT), (NEUTRAL_TINT, ENEMY_TINT), (OWN_TINT, ENEMY_TINT)]
            {
                assert!(eye.contrast(one.explored, other.explored) > 4.0, "{eye:?}");
                assert!(eye.contrast(one.fog, other.fog) > 8.0, "{eye:?}");
            }
        }
        assert_told_apart(40.0, &[(symbols::OWN, symbols::ENEMY_FILL)]);
        for ground in [OWN_TINT.explored, NEUTRAL_TINT.explored, ENEMY_TINT.explored] {
            assert_told_apart(30.0, &[(symbols::MOVED, ground), (symbols::ENEMY, ground), (FAINT, ground)]);
        }
    }
}
