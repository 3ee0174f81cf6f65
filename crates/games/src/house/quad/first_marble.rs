//! The first marble under the option that lets the second side take it over (Q-FIRST): where to place it, and
//! whether to take it.
//!
//! The board has eight symmetries, so its 117 points are of 20 kinds.

use crate::game::Dice;
use crate::game::quad::Point;

/// The share of the points, in tenths of a percent, that the side with the first marble takes when the other
/// side moves next. Indexed by the distances of the marble from the middle file and the middle rank, the
/// greater first; the corner is not a point.
///
/// Measured by Average against itself, in 200 matches from each kind of point (95 %: at most ± 7):
/// `cargo bench --bench house -- first quad average 200 --swap on`.
const WORTH: [&[i32]; 6] = [
    &[965],
    &[960, 910],
    &[965, 955, 935],
    &[995, 905, 955, 830],
    &[950, 980, 865, 800, 640],
    &[945, 940, 890, 665, 105],
];
/// An even chance.
const EVEN: i32 = 500;
/// An opening point is at most this much further from even than the point nearest to even.
const MARGIN: i32 = 50;

/// Returns the worth of the first marble on this point to the side that has it.
fn worth(point: Point) -> i32 {
    let (files, ranks) = (point.file().abs_diff(5), point.rank().abs_diff(5));
    WORTH[usize::from(files.max(ranks))][usize::from(files.min(ranks))]
}

/// Whether to take over the first marble on this point rather than answer it.
pub(super) fn is_worth_taking(point: Point) -> bool {
    worth(point) > EVEN
}

/// Chooses where to place a first marble that may be taken over: where either choice is about as good.
pub(super) fn fair(dice: &mut Dice) -> Point {
    let from_even = |point: Point| (worth(point) - EVEN).abs();
    let nearest = Point::all().map(from_even).min().expect("the board has points");
    let points: Vec<Point> = Point::all().filter(|&point| from_even(point) <= nearest + MARGIN).collect();
    points[dice.below(points.len())]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The eight symmetric images of a point.
    fn images(point: Point) -> BTreeSet<u8> {
        let (file, rank) = (point.file(), point.rank());
        let turned = |(file, rank): (u8, u8)| (rank, 10 - file);
        let mut images = BTreeSet::new();
        for mut place in [(file, rank), (10 - file, rank)] {
            for _ in 0..4 {
                images.insert(place.1 * 11 + place.0);
                place = turned(place);
            }
        }
        images
    }

    #[test]
    fn each_of_the_20_kinds_has_a_worth_of_its_own_row_and_place() {
        let kinds: BTreeSet<BTreeSet<u8>> = Point::all().map(images).collect();
        assert_eq!(kinds.len(), 20);
        assert_eq!(WORTH.iter().map(|row| row.len()).sum::<usize>(), 20);
        for kind in kinds {
            let worths: BTreeSet<i32> = kind.iter().filter_map(|&at| Point::at(at)).map(worth).collect();
            assert_eq!(worths.len(), 1, "{kind:?}");
        }
    }

    #[test]
    fn the_house_opens_at_every_point_that_is_about_as_fair_as_the_fairest_and_at_no_other() {
        let drawn: BTreeSet<u8> = (0..2_000).map(|seed| fair(&mut Dice::new(seed)).index() as u8).collect();
        let from_even = |at: &u8| (worth(Point::at(*at).expect("a point")) - EVEN).abs();
        let worst = drawn.iter().map(from_even).max().expect("it opens somewhere");
        let others = Point::all().map(|point| point.index() as u8).filter(|at| !drawn.contains(at));
        let nearest_other = others.map(|at| from_even(&at)).min().expect("it does not open everywhere");
        assert!(worst < nearest_other, "{worst} {nearest_other}");
        let nearest = drawn.iter().map(from_even).min().expect("it opens somewhere");
        assert!(worst - nearest <= MARGIN);
        // Each point occurs with all its mirror images.
        assert!(
            drawn.iter().all(|&at| images(Point::at(at).expect("a point")).is_subset(&drawn)),
            "{drawn:?}"
        );
    }
}
