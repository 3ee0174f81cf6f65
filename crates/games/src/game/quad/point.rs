//! The 117 points of the board, sets of them, and the 1,173 squares that they form.

use std::fmt::{self, Display};
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize};

use crate::game::Seat;
use crate::game::square::Square;

type Grid = Square<11, 11>;

/// A point of the board: 11 × 11 without the four corners (clause 1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Point(Grid);

impl Point {
    fn new(square: Grid) -> Option<Point> {
        (!(is_at_edge(square.file()) && is_at_edge(square.rank()))).then_some(Point(square))
    }

    /// Returns every point, ordered by rank, then file.
    pub fn all() -> impl Iterator<Item = Point> {
        Grid::all().filter_map(Point::new)
    }

    /// Reads `k7` or `K7`; `None` for anything else and for the corners.
    pub fn parse(text: &str) -> Option<Point> {
        Point::new(Grid::parse(text)?)
    }

    /// The file, counted from 0.
    pub fn file(self) -> u8 {
        self.0.file()
    }

    /// The rank, counted from 0.
    pub fn rank(self) -> u8 {
        self.0.rank()
    }

    /// The point in the place of this one when the board is turned for a reader.
    pub(super) fn turned_for(self, reader: Seat) -> Point {
        Point(self.0.turned_for(reader))
    }

    /// The squared distance from the centre of the board.
    pub(crate) fn off_centre(self) -> u32 {
        let files = self.file().abs_diff(5);
        let ranks = self.rank().abs_diff(5);
        u32::from(files).pow(2) + u32::from(ranks).pow(2)
    }

    /// The index on the whole grid, corners included, from 0 to 120.
    pub(crate) fn index(self) -> usize {
        self.0.index()
    }

    /// Returns the point of this index; `None` for the corners and beyond the board.
    pub(crate) fn at(index: u8) -> Option<Point> {
        Point::new(Grid::new(index % 11, index / 11)?)
    }

    fn step(self, files: i8, ranks: i8) -> Option<Point> {
        Point::new(self.0.step(files, ranks)?)
    }
}

fn is_at_edge(place: u8) -> bool {
    place == 0 || place == 10
}

impl Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let square = Grid::deserialize(deserializer)?;
        Point::new(square).ok_or_else(|| serde::de::Error::custom(format!("not a point: {square}")))
    }
}

/// A set of points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Points(u128);

impl Points {
    pub(super) fn contains(self, point: Point) -> bool {
        self.0 & Points::bit(point) != 0
    }

    /// Adds a point. Returns whether it is new.
    pub(super) fn insert(&mut self, point: Point) -> bool {
        let new = !self.contains(point);
        self.0 |= Points::bit(point);
        new
    }

    fn is_subset(self, of: Points) -> bool {
        self.0 & of.0 == self.0
    }

    fn bit(point: Point) -> u128 {
        1 << point.index()
    }
}

impl<'a> FromIterator<&'a Point> for Points {
    fn from_iter<I: IntoIterator<Item = &'a Point>>(points: I) -> Self {
        let mut set = Points::default();
        for &point in points {
            set.insert(point);
        }
        set
    }
}

/// The four corners of a square of any size and tilt, ordered by rank, then file (clause 2.2).
pub type Quad = [Point; 4];

/// Every square of the board, and those through each point.
pub(crate) struct Squares {
    pub(crate) all: Vec<Quad>,
    /// Every point, ordered by rank, then file.
    pub(crate) points: Vec<Point>,
    /// Indexed by [`Point::index`].
    through: Vec<Vec<Through>>,
}

/// A square through a point.
struct Through {
    /// The index in [`Squares::all`].
    number: usize,
    corners: Points,
}

/// The table of all 1,173 squares, computed once.
pub(crate) static SQUARES: LazyLock<Squares> = LazyLock::new(|| {
    let all = all_squares();
    let mut through: Vec<Vec<Through>> = (0..121).map(|_| Vec::new()).collect();
    for (number, quad) in all.iter().enumerate() {
        let corners = quad.iter().collect();
        quad.iter().for_each(|corner| through[corner.index()].push(Through { number, corners }));
    }
    Squares { all, points: Point::all().collect(), through }
});

/// Returns every square once, sorted. Each has one side that leads to the right and not down; turning it to
/// the left three times gives the other corners.
fn all_squares() -> Vec<Quad> {
    let mut squares = Vec::new();
    for point in Point::all() {
        for (right, up) in (1..=10).flat_map(|right| (0..=10).map(move |up| (right, up))) {
            let corners = [(right, up), (right - up, up + right), (-up, right)]
                .map(|(files, ranks)| point.step(files, ranks));
            if let [Some(second), Some(third), Some(fourth)] = corners {
                let mut quad = [point, second, third, fourth];
                quad.sort();
                squares.push(quad);
            }
        }
    }
    squares.sort();
    squares
}

impl Squares {
    fn through(&self, point: Point) -> &[Through] {
        &self.through[point.index()]
    }

    /// Returns the quads that these marbles form through `point`, sorted.
    pub(super) fn quads(&self, marbles: Points, point: Point) -> Vec<Quad> {
        let formed = self.through(point).iter().filter(|square| square.corners.is_subset(marbles));
        formed.map(|square| self.all[square.number]).collect()
    }

    /// Whether a marble on `point` would complete a quad.
    pub(super) fn completes(&self, mut marbles: Points, point: Point) -> bool {
        marbles.insert(point);
        self.through(point).iter().any(|square| square.corners.is_subset(marbles))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of squares by tilt; see OEIS A124479.
    #[test]
    fn the_board_has_1173_squares_348_upright_165_at_45_degrees_and_660_at_other_tilts() {
        let squares = &SQUARES.all;
        let upright = |quad: &&Quad| quad[0].rank() == quad[1].rank();
        // In a square at 45 degrees the lowest corner is straight below the highest.
        let diagonal = |quad: &&Quad| quad[0].file() == quad[3].file();
        assert_eq!(squares.len(), 1173);
        assert_eq!(squares.iter().filter(upright).count(), 348);
        assert_eq!(squares.iter().filter(diagonal).count(), 165);
        assert!(squares.windows(2).all(|pair| pair[0] < pair[1]), "sorted, and none twice");
        assert_eq!(Point::all().count(), 117);
    }

    /// Four points form a square if the four smallest of their six distances are equal and the other two
    /// twice as large (squared).
    #[test]
    fn every_square_of_the_table_has_equal_sides_and_diagonals() {
        let points: Vec<Point> = Point::all().collect();
        let distance = |a: Point, b: Point| {
            let files = a.file().abs_diff(b.file());
            let ranks = a.rank().abs_diff(b.rank());
            u32::from(files).pow(2) + u32::from(ranks).pow(2)
        };
        let mut found = 0;
        for (i, &a) in points.iter().enumerate() {
            for &b in &points[i + 1..] {
                // Check each square once, at its first two points.
                for quad in SQUARES.all.iter().filter(|quad| quad[0] == a && quad[1] == b) {
                    let mut distances = Vec::new();
                    for (j, &c) in quad.iter().enumerate() {
                        distances.extend(quad[j + 1..].iter().map(|&d| distance(c, d)));
                    }
                    distances.sort_unstable();
                    assert_eq!(distances[..4], [distances[0]; 4], "{quad:?}");
                    assert_eq!(distances[4..], [2 * distances[0]; 2], "{quad:?}");
                    found += 1;
                }
            }
        }
        assert_eq!(found, 1173);
    }

    #[test]
    fn the_corners_are_not_points() {
        for corner in ["A1", "K1", "A11", "K11", "L1", "A12"] {
            assert_eq!(Point::parse(corner), None, "{corner}");
            assert!(serde_json::from_value::<Point>(corner.into()).is_err());
        }
        assert_eq!(Point::parse("b1").map(|point| point.to_string()), Some("B1".to_string()));
    }
}
