//! The arrows of the picture, which show the moves of the viewer's ships in this turn or, to the readers of a replay, of
//! both sides'.

use super::galaxy::{Quadrant, Square};
use super::layout::{heading_strip, label_place, plate_place, star_place};
use super::square_map::SquareMap;
use super::symbols::{self, Look};
use crate::game::Seat;
use crate::game::arrows::{Arrows, End, Obstacle};
use crate::game::picture::{Colour, Picture};

pub(super) const STROKE: f64 = 3.5;

/// The radius of the largest sign of a star, and of a ring around it.
const STAR: f64 = 17.5;

/// Draws an arrow for each move of a side. Moves from one quadrant to one square are bundled.
pub(super) fn draw(picture: &mut Picture, map: &SquareMap<'_>, side: Seat) {
    let mut bundles: Vec<(Quadrant, Square, Vec<Square>)> = Vec::new();
    for (from, to) in map.moves(side) {
        let quadrant = from.quadrant();
        match bundles.iter_mut().find(|(of, goal, _)| (*of, *goal) == (quadrant, to)) {
            Some((_, _, origins)) => origins.push(from),
            None => bundles.push((quadrant, to, vec![from])),
        }
    }
    let mut arrows = Arrows::new(colour(Look::of(side, map.view.dark_side())), STROKE, obstacles(map));
    for (_, to, origins) in bundles {
        let origins: Vec<End> = origins.into_iter().map(|from| end(map, from)).collect();
        arrows.draw(picture, &origins, &end(map, to));
    }
}

/// The colour of a side's arrows.
pub(super) fn colour(look: Look) -> Colour {
    match look {
        Look::Dark => symbols::MOVED,
        Look::Light => symbols::ENEMY,
    }
}

fn obstacles(map: &SquareMap<'_>) -> Vec<Obstacle> {
    let mut obstacles: Vec<Obstacle> =
        Quadrant::all().map(|of| Obstacle::Bridge(heading_strip(of))).collect();
    for square in Square::all() {
        if map.at(square).star.is_some() {
            obstacles.push(Obstacle::Disc { centre: star_place(square), radius: STAR });
        }
        if let End::Outline(parts) = end(map, square) {
            obstacles.extend(parts.into_iter().map(Obstacle::Rectangle));
        }
    }
    obstacles
}

/// The outline of the boxes on a square, or the empty place of a box if there is none.
fn end(map: &SquareMap<'_>, square: Square) -> End {
    let contents = map.at(square);
    let mut parts = Vec::new();
    if !contents.ships.is_empty() || !contents.enemies.is_empty() {
        parts.push(label_place(square));
    }
    if !contents.ships.is_empty() || contents.enemy.is_some() {
        parts.push(plate_place(square));
    } else if map.ghost(square).is_some() {
        let mut ghost = plate_place(square);
        ghost.bottom += symbols::GHOST_TURN;
        parts.push(ghost);
    }
    if parts.is_empty() { End::Point(plate_place(square).middle()) } else { End::Outline(parts) }
}
