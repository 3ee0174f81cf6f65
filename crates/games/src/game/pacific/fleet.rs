//! The sea and what is on it: squares, areas, ships and submarines.
//!
//! The moves of surface ships (3.1 to 3.4) and the reach of their depth charges (3.6).
//!
//! Both sides see both fleets, so nothing here can disclose a secret.

use serde::{Deserialize, Serialize};

use super::Leap;
use crate::game::{BySeat, Seat, square};

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
        gap(self.0.file(), square.file()).max(gap(self.0.rank(), square.rank()))
    }
}

fn gap(low: u8, at: u8) -> u8 {
    if at < low { low - at } else { at.saturating_sub(low + 1) }
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

/// The reach of an attack on an area, in king's steps to its nearest square (3.6, 4.3).
pub const REACH: u8 = 2;

const ORTHOGONAL: [(i8, i8); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const DIAGONAL: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
const KNIGHT: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

/// Both fleets, indexed by square because checking a move looks up many squares.
pub struct Chart<'a> {
    fleets: &'a BySeat<Vec<Ship>>,
    leap: Leap,
    held: [Option<Seat>; 256],
}

impl<'a> Chart<'a> {
    pub fn new(fleets: &'a BySeat<Vec<Ship>>, leap: Leap) -> Chart<'a> {
        let mut held = [None; 256];
        for (side, fleet) in fleets.iter() {
            for ship in fleet {
                held[ship.at.index()] = Some(side);
            }
        }
        Chart { fleets, leap, held }
    }

    /// The side that has a ship on `square`.
    pub fn holder(&self, square: Square) -> Option<Seat> {
        self.held[square.index()]
    }

    /// The ship of `side` on `square`.
    pub fn ship(&self, side: Seat, square: Square) -> Option<&'a Ship> {
        if self.holder(square) != Some(side) {
            return None;
        }
        self.fleets[side].iter().find(|ship| ship.at == square)
    }

    /// Calls `found` with each legal move of `side`, ship by ship: the ship and its target.
    pub fn each_move(&self, side: Seat, mut found: impl FnMut(&Ship, Square)) {
        for ship in &self.fleets[side] {
            self.each_target(side, ship, |to| found(ship, to));
        }
    }

    /// Whether `side` can move at all.
    pub fn can_move(&self, side: Seat) -> bool {
        self.fleets[side].iter().any(|ship| self.first_target(side, ship).is_some())
    }

    /// Whether `ship` may go to `to`.
    pub fn allows(&self, side: Seat, ship: &Ship, to: Square) -> bool {
        let mut allowed = false;
        self.each_target(side, ship, |target| allowed |= target == to);
        allowed
    }

    /// One of the squares that `ship` may go to, if there is any.
    pub fn first_target(&self, side: Seat, ship: &Ship) -> Option<Square> {
        let mut first = None;
        self.each_target(side, ship, |target| first = first.or(Some(target)));
        first
    }

    /// Calls `found` with each square that `ship` may go to, once.
    pub fn each_target(&self, side: Seat, ship: &Ship, mut found: impl FnMut(Square)) {
        match ship.kind {
            ShipKind::Battleship => self.slide(side, ship.at, &ORTHOGONAL, &mut found),
            ShipKind::Cruiser => {
                self.slide(side, ship.at, &DIAGONAL, &mut found);
                // 3.2: orthogonally, only to an empty square.
                for (files, ranks) in ORTHOGONAL {
                    if let Some(to) = ship.at.step(files, ranks).filter(|to| self.holder(*to).is_none()) {
                        found(to);
                    }
                }
            }
            ShipKind::Destroyer => self.jump(side, ship.at, &mut found),
            ShipKind::Squadron { leapt, .. } => {
                self.slide(side, ship.at, &ORTHOGONAL, &mut found);
                self.slide(side, ship.at, &DIAGONAL, &mut found);
                if !leapt || self.leap == Leap::Always {
                    self.jump(side, ship.at, &mut found);
                }
            }
            ShipKind::Carrier { no } => {
                let escort = self.escort(side, no);
                for (files, ranks) in ORTHOGONAL.into_iter().chain(DIAGONAL) {
                    let Some(to) = ship.at.step(files, ranks) else { continue };
                    let free = self.holder(to) != Some(side) || escort == Some(to);
                    if free && escort.is_none_or(|escort| self.follows(escort, ship.at, files, ranks)) {
                        found(to);
                    }
                }
            }
        }
    }

    /// The square of the squadron of carrier `no`, if it has not been launched and so moves with its carrier
    /// (3.4).
    pub fn escort(&self, side: Seat, no: u16) -> Option<Square> {
        self.fleets[side].iter().find_map(|ship| match ship.kind {
            ShipKind::Squadron { no: of, launched: false, .. } if of == no => Some(ship.at),
            _ => None,
        })
    }

    /// Whether an escorting squadron can make its carrier's move: its new square must be on the board and
    /// empty, and the carrier's old square counts as empty (P-ESCORT).
    fn follows(&self, escort: Square, carrier: Square, files: i8, ranks: i8) -> bool {
        let to = escort.step(files, ranks);
        to.is_some_and(|to| to == carrier || self.holder(to).is_none())
    }

    fn slide(&self, side: Seat, from: Square, directions: &[(i8, i8)], found: &mut impl FnMut(Square)) {
        for (files, ranks) in directions {
            let mut at = from;
            while let Some(to) = at.step(*files, *ranks) {
                let holder = self.holder(to);
                if holder != Some(side) {
                    found(to);
                }
                if holder.is_some() {
                    break;
                }
                at = to;
            }
        }
    }

    fn jump(&self, side: Seat, from: Square, found: &mut impl FnMut(Square)) {
        for (files, ranks) in KNIGHT {
            if let Some(to) = from.step(files, ranks).filter(|to| self.holder(*to) != Some(side)) {
                found(to);
            }
        }
    }
}

/// Whether any ship of `fleet` is close enough to `area` to attack it (3.6).
pub fn reaches(fleet: &[Ship], area: Area) -> bool {
    fleet.iter().any(|ship| !ship.is_squadron() && area.distance(ship.at) <= REACH)
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
