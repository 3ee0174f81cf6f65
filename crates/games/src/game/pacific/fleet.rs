//! The sea and what is on it: squares, areas, ships and submarines.

use serde::{Deserialize, Serialize};

use crate::game::{Seat, square};

/// 16 × 16: files A to P from the west, ranks 1 to 16 from the south (1.1).
pub type Square = square::Square<16, 16>;

/// A class of surface ship (1.2). JSON and orders name it by its letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Class {
    #[serde(rename = "V")]
    Carrier,
    #[serde(rename = "S")]
    Squadron,
    #[serde(rename = "B")]
    Battleship,
    #[serde(rename = "C")]
    Cruiser,
    #[serde(rename = "D")]
    Destroyer,
}

impl Class {
    pub const ALL: [Class; 5] =
        [Class::Carrier, Class::Squadron, Class::Battleship, Class::Cruiser, Class::Destroyer];

    pub fn letter(self) -> char {
        match self {
            Class::Carrier => 'V',
            Class::Squadron => 'S',
            Class::Battleship => 'B',
            Class::Cruiser => 'C',
            Class::Destroyer => 'D',
        }
    }

    /// Returns the class of this capital letter.
    pub fn of_letter(letter: char) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.letter() == letter)
    }

    /// The lower-case name, for sentences.
    pub fn name(self) -> &'static str {
        match self {
            Class::Carrier => "carrier",
            Class::Squadron => "squadron",
            Class::Battleship => "battleship",
            Class::Cruiser => "cruiser",
            Class::Destroyer => "destroyer",
        }
    }

    /// The price of a ship of this class, and its points while afloat (1.2).
    pub fn points(self) -> u32 {
        match self {
            Class::Carrier | Class::Squadron => 10,
            Class::Battleship => 5,
            Class::Cruiser => 4,
            Class::Destroyer => 3,
        }
    }
}

/// A surface ship's class and what the rules remember about it. A squadron has its carrier's number (2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "class")]
pub enum ShipKind {
    #[serde(rename = "V")]
    Carrier { no: u16 },
    #[serde(rename = "S")]
    Squadron { no: u16, launched: bool, leapt: bool },
    #[serde(rename = "B")]
    Battleship,
    #[serde(rename = "C")]
    Cruiser,
    #[serde(rename = "D")]
    Destroyer,
}

impl ShipKind {
    pub fn class(self) -> Class {
        match self {
            ShipKind::Carrier { .. } => Class::Carrier,
            ShipKind::Squadron { .. } => Class::Squadron,
            ShipKind::Battleship => Class::Battleship,
            ShipKind::Cruiser => Class::Cruiser,
            ShipKind::Destroyer => Class::Destroyer,
        }
    }

    /// The number of a carrier or a squadron.
    pub fn no(self) -> Option<u16> {
        match self {
            ShipKind::Carrier { no } | ShipKind::Squadron { no, .. } => Some(no),
            ShipKind::Battleship | ShipKind::Cruiser | ShipKind::Destroyer => None,
        }
    }
}

/// A surface ship. Both sides see everything about it once the setups are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ship {
    #[serde(flatten)]
    pub kind: ShipKind,
    pub at: Square,
}

impl Ship {
    pub fn class(&self) -> Class {
        self.kind.class()
    }

    /// Whether the ship is a squadron. Squadrons do not attack submarines (3.6), cannot be torpedoed (4.2),
    /// and do not save a side from defeat (5.1).
    pub fn is_squadron(&self) -> bool {
        self.class() == Class::Squadron
    }
}

/// A submarine. Only its own side sees it until the match is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submarine {
    pub no: u16,
    pub at: Square,
}

/// A 2 × 2 block of squares, named by its south-west square: A to O, 1 to 15 (3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Area(Square);

impl Area {
    /// Returns `None` if a square of the area would be off the board.
    pub fn new(south_west: Square) -> Option<Area> {
        south_west.step(1, 1).map(|_| Area(south_west))
    }

    /// Returns every area of the board, in the order of their corners.
    pub fn all() -> impl Iterator<Item = Area> {
        Square::all().filter_map(Area::new)
    }

    pub fn corner(self) -> Square {
        self.0
    }

    /// The king's moves from `square` to the nearest square of the area: 0 within it, 1 in the ring around.
    pub fn distance(self, square: Square) -> u8 {
        let gap = |low: u8, at: u8| if at < low { low - at } else { at.saturating_sub(low + 1) };
        gap(self.0.file(), square.file()).max(gap(self.0.rank(), square.rank()))
    }
}

impl<'de> Deserialize<'de> for Area {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let corner = Square::deserialize(deserializer)?;
        Area::new(corner).ok_or_else(|| serde::de::Error::custom(format!("not an area: {corner}")))
    }
}

/// Whether `at` is in friendly waters (P-WATERS): ranks 1 to 8 for South, 9 to 16 for North.
pub fn in_friendly_waters(side: Seat, at: Square) -> bool {
    (at.rank() < 8) == (side == Seat::First)
}

/// The points of a fleet afloat, squadrons included (5.3).
pub fn points(fleet: &[Ship]) -> u32 {
    fleet.iter().map(|ship| ship.class().points()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Square {
        Square::parse(text).expect("a square")
    }

    #[test]
    fn an_area_has_four_squares_and_a_ring_of_twelve() {
        let area = Area::new(at("K7")).expect("within the board");
        assert_eq!(Square::all().filter(|square| area.distance(*square) == 0).count(), 4);
        assert_eq!(Square::all().filter(|square| area.distance(*square) == 1).count(), 12);
        assert_eq!(area.distance(at("M10")), 2);
        assert_eq!(area.distance(at("I7")), 2);
        let corner = Area::new(at("A1")).expect("within the board");
        assert_eq!(Square::all().filter(|square| corner.distance(*square) == 1).count(), 5);
        assert_eq!(Area::all().count(), 225);
        assert_eq!(Area::new(at("P7")), None);
        assert_eq!(Area::new(at("K16")), None);
    }

    #[test]
    fn a_ship_serializes_as_on_the_rules_page() {
        let ship = Ship { kind: ShipKind::Squadron { no: 1, launched: false, leapt: false }, at: at("E3") };
        let json = serde_json::to_value(ship).expect("plain values");
        let expected =
            serde_json::json!({"class": "S", "no": 1, "at": "E3", "launched": false, "leapt": false});
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_value::<Ship>(json).expect("as written"), ship);
    }
}
