//! The geometry of the galaxy: squares, quadrants and sectors. This module knows nothing about stars or
//! ships.

use std::fmt::{self, Display, Write as _};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::game::options::named_option;
use crate::game::{Seat, named_enum};

/// One of the 100 squares (clause 1.1), ordered A1, A2, A3, A4, B1 … Y4. Written `A3`, parsed in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    pub const COUNT: usize = 100;

    /// Returns every square in order.
    pub fn all() -> impl Iterator<Item = Square> {
        (0..Self::COUNT as u8).map(Square)
    }

    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    pub fn quadrant(self) -> Quadrant {
        Quadrant(self.0 / 4)
    }

    /// The place within the quadrant, 0 to 3, row by row. Players count from 1.
    pub fn cell(self) -> u8 {
        self.0 % 4
    }

    /// The column on the whole board, 0 to 9 from the left.
    pub fn column(self) -> u8 {
        self.quadrant().column() * 2 + self.cell() % 2
    }

    /// The row on the whole board, 0 to 9 from the top.
    pub fn row(self) -> u8 {
        self.quadrant().row() * 2 + self.cell() / 2
    }

    /// Whether the squares are in one quadrant and share an edge (clause 1.3).
    pub fn is_adjacent(self, other: Square) -> bool {
        self.quadrant() == other.quadrant() && matches!(self.cell() ^ other.cell(), 1 | 2)
    }

    /// Whether a ship can go from here to `to` in one turn (clause 3.2).
    pub fn reaches(self, to: Square) -> bool {
        self.is_adjacent(to) || self.quadrant().is_beside(to.quadrant())
    }

    /// Reads `a3` or `A3`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Square> {
        let &[letter, digit @ b'1'..=b'4'] = text.as_bytes() else { return None };
        Some(Quadrant::from_letter(letter)?.square(digit - b'1'))
    }
}

impl Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.quadrant().fmt(f)?;
        f.write_char(char::from(b'1' + self.cell()))
    }
}

/// One of the 25 quadrants (clause 1.1), ordered and written A to Y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quadrant(u8);

impl Quadrant {
    /// Returns every quadrant in order.
    pub fn all() -> impl Iterator<Item = Quadrant> {
        (0..25).map(Quadrant)
    }

    /// Returns the home quadrant of `seat` (clause 1.2).
    pub fn home(seat: Seat) -> Quadrant {
        match seat {
            Seat::First => Quadrant(0),
            Seat::Second => Quadrant(24),
        }
    }

    /// The column, 0 to 4 from the left.
    pub fn column(self) -> u8 {
        self.0 % 5
    }

    /// The row, 0 to 4 from the top.
    pub fn row(self) -> u8 {
        self.0 / 5
    }

    /// The number of steps between adjacent quadrants that lead to `other`.
    pub fn distance(self, other: Quadrant) -> u8 {
        self.row().abs_diff(other.row()) + self.column().abs_diff(other.column())
    }

    /// Whether the two quadrants share an edge.
    pub fn is_beside(self, other: Quadrant) -> bool {
        self.distance(other) == 1
    }

    /// Returns the quadrants that share an edge with this one, in order.
    pub fn beside(self) -> impl Iterator<Item = Quadrant> {
        let row = self.row();
        let column = self.column();
        let neighbours = [
            (row > 0).then(|| self.0 - 5),
            (column > 0).then(|| self.0 - 1),
            (column < 4).then_some(self.0 + 1),
            (row < 4).then_some(self.0 + 5),
        ];
        neighbours.into_iter().flatten().map(Quadrant)
    }

    /// Returns the square at `cell`, 0 to 3.
    pub fn square(self, cell: u8) -> Square {
        Square(self.0 * 4 + cell % 4)
    }

    /// Returns its four squares in order.
    pub fn squares(self) -> impl Iterator<Item = Square> {
        (0..4).map(move |cell| self.square(cell))
    }

    /// Reads `q` or `Q`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Quadrant> {
        let &[letter] = text.as_bytes() else { return None };
        Self::from_letter(letter)
    }

    fn from_letter(letter: u8) -> Option<Quadrant> {
        let letter = letter.to_ascii_uppercase();
        matches!(letter, b'A'..=b'Y').then(|| Quadrant(letter - b'A'))
    }
}

impl Display for Quadrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char(char::from(b'A' + self.0))
    }
}

/// A set of quadrants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quadrants(u32);

impl Quadrants {
    pub fn of(letters: &str) -> Quadrants {
        let mut set = Quadrants::default();
        letters.bytes().filter_map(Quadrant::from_letter).for_each(|quadrant| set.insert(quadrant));
        set
    }

    pub fn insert(&mut self, quadrant: Quadrant) {
        self.0 |= 1 << quadrant.0;
    }

    pub fn contains(self, quadrant: Quadrant) -> bool {
        self.0 & (1 << quadrant.0) != 0
    }

    pub fn common(self, other: Quadrants) -> Quadrants {
        Quadrants(self.0 & other.0)
    }

    /// Returns its quadrants in order.
    pub fn iter(self) -> impl Iterator<Item = Quadrant> {
        Quadrant::all().filter(move |&quadrant| self.contains(quadrant))
    }
}

/// The part of the galaxy that a quadrant belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sector {
    Home(Seat),
    Neutral,
}

named_enum! {
    /// The shape of the home sectors (`Z-HOME`).
    pub enum Layout {
        Triangle = "triangle",
        Block = "block",
    }
}
named_option!(Layout);

impl Layout {
    /// The letters of the home sector of `seat`, its home quadrant first.
    pub fn home(self, seat: Seat) -> &'static str {
        match (self, seat) {
            (Layout::Triangle, Seat::First) => "ABCFGK",
            (Layout::Triangle, Seat::Second) => "YXWTSO",
            (Layout::Block, Seat::First) => "ABCFGH",
            (Layout::Block, Seat::Second) => "YXWTSR",
        }
    }

    /// Returns the six quadrants of the home sector of `seat`, its home quadrant first.
    pub fn home_quadrants(self, seat: Seat) -> impl Iterator<Item = Quadrant> {
        self.home(seat).bytes().filter_map(Quadrant::from_letter)
    }

    pub fn sector(self, quadrant: Quadrant) -> Sector {
        let letter = char::from(b'A' + quadrant.0);
        Seat::BOTH
            .into_iter()
            .find(|&seat| self.home(seat).contains(letter))
            .map_or(Sector::Neutral, Sector::Home)
    }

    /// Returns the thirteen quadrants outside both home sectors, in order.
    pub fn neutral(self) -> impl Iterator<Item = Quadrant> {
        Quadrant::all().filter(move |&quadrant| self.sector(quadrant) == Sector::Neutral)
    }
}

/// Serializes a type as its text, and parses it back.
macro_rules! written {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text)
                    .ok_or_else(|| serde::de::Error::custom(format!("not in the galaxy: {text}")))
            }
        }
    };
}
written!(Square);
written!(Quadrant);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_parse_as_they_are_written() {
        assert_eq!(Square::all().count(), Square::COUNT);
        for square in Square::all() {
            assert_eq!(Square::parse(&square.to_string()), Some(square));
            assert_eq!(Square::parse(&square.to_string().to_lowercase()), Some(square));
        }
        for text in ["", "A", "A0", "A5", "Z1", "A11", "1A", " A1", "Ä1"] {
            assert_eq!(Square::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn adjacent_squares_share_an_edge_and_diagonal_ones_do_not() {
        let at = |text| Square::parse(text).unwrap();
        for (one, two, adjacent) in [
            ("M1", "M2", true),
            ("M1", "M3", true),
            ("M2", "M4", true),
            ("M3", "M4", true),
            ("M1", "M4", false),
            ("M2", "M3", false),
            ("M1", "M1", false),
            ("M2", "N1", false),
        ] {
            assert_eq!(at(one).is_adjacent(at(two)), adjacent, "{one} {two}");
            assert_eq!(at(two).is_adjacent(at(one)), adjacent, "{two} {one}");
        }
    }

    #[test]
    fn quadrants_at_the_end_of_a_row_are_not_beside_the_next_row() {
        let beside = |of: &str| -> String {
            let of = Quadrant::parse(of).unwrap();
            assert!(Quadrant::all().filter(|&other| of.is_beside(other)).eq(of.beside()));
            of.beside().map(|quadrant| quadrant.to_string()).collect()
        };
        assert_eq!(beside("A"), "BF");
        assert_eq!(beside("E"), "DJ");
        assert_eq!(beside("F"), "AGK");
        assert_eq!(beside("M"), "HLNR");
        assert_eq!(beside("Y"), "TX");
    }

    #[test]
    fn each_layout_leaves_thirteen_neutral_quadrants() {
        for layout in [Layout::Triangle, Layout::Block] {
            assert_eq!(layout.neutral().count(), 13);
            for seat in Seat::BOTH {
                assert_eq!(layout.sector(Quadrant::home(seat)), Sector::Home(seat));
                assert_eq!(Quadrants::of(layout.home(seat)).iter().count(), 6);
            }
        }
    }
}
