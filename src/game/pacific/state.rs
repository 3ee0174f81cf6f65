//! What is remembered of a match: both fleets, the submarines beneath them, and what was told and done so far.

use serde::{Deserialize, Serialize};

use super::order::SubmarineOrder;
use crate::game::{self, BySeat, OptionRule, Outcome, Seat, Values, square};

/// 16 × 16: files A..P from the west, ranks 1..16 from the south (1.1).
pub type Square = square::Square<16, 16>;

/// A class of surface ship (1.2). Its letter is what JSON and orders call it.
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

    /// The class with this capital letter.
    pub fn of_letter(letter: char) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.letter() == letter)
    }

    /// In small letters, for sentences.
    pub fn name(self) -> &'static str {
        match self {
            Class::Carrier => "carrier",
            Class::Squadron => "squadron",
            Class::Battleship => "battleship",
            Class::Cruiser => "cruiser",
            Class::Destroyer => "destroyer",
        }
    }

    /// What a ship of this class costs, and counts afloat (1.2).
    pub fn points(self) -> u32 {
        match self {
            Class::Carrier | Class::Squadron => 10,
            Class::Battleship => 5,
            Class::Cruiser => 4,
            Class::Destroyer => 3,
        }
    }
}

/// What a surface ship is, and what is remembered of it. A squadron bears its carrier's number (2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "class")]
pub enum Kind {
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

impl Kind {
    pub fn class(self) -> Class {
        match self {
            Kind::Carrier { .. } => Class::Carrier,
            Kind::Squadron { .. } => Class::Squadron,
            Kind::Battleship => Class::Battleship,
            Kind::Cruiser => Class::Cruiser,
            Kind::Destroyer => Class::Destroyer,
        }
    }

    /// The number of a carrier or a squadron.
    pub fn no(self) -> Option<u16> {
        match self {
            Kind::Carrier { no } | Kind::Squadron { no, .. } => Some(no),
            Kind::Battleship | Kind::Cruiser | Kind::Destroyer => None,
        }
    }
}

/// A surface ship; everything about it is open to both sides once the setups are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ship {
    #[serde(flatten)]
    pub kind: Kind,
    pub at: Square,
}

impl Ship {
    pub fn class(&self) -> Class {
        self.kind.class()
    }

    /// Squadrons neither hunt submarines (3.6) nor are hunted by them (4.2), nor save a side (5.1).
    pub fn is_squadron(&self) -> bool {
        self.class() == Class::Squadron
    }
}

/// A submarine, known to its own side alone until the match is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submarine {
    pub no: u16,
    pub at: Square,
}

/// Four squares, 2 × 2, named by the one in their south-west: A..O, 1..15 (3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Area(Square);

impl Area {
    /// `None` where the four squares would not all be on the board.
    pub fn new(south_west: Square) -> Option<Area> {
        south_west.step(1, 1).map(|_| Area(south_west))
    }

    /// Every area of the board, in the order of their corners.
    pub fn all() -> impl Iterator<Item = Area> {
        Square::all().filter_map(Area::new)
    }

    pub fn corner(self) -> Square {
        self.0
    }

    /// King's steps from `square` to the nearest square of the area; 0 within it, 1 in the ring around it.
    pub fn distance(self, square: Square) -> u8 {
        let gap = |low: u8, at: u8| if at < low { low - at } else { at.saturating_sub(low + 1) };
        gap(self.0.file(), square.file()).max(gap(self.0.rank(), square.rank()))
    }
}

impl<'de> Deserialize<'de> for Area {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let corner = Square::deserialize(deserializer)?;
        Area::new(corner).ok_or_else(|| serde::de::Error::custom(format!("no area: {corner}")))
    }
}

/// Whether a squadron may leap once or as often as it likes (P-LEAP).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Leap {
    Once,
    Always,
}

/// From how far a torpedo sinks (P-TORPEDO).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Torpedo {
    /// From exactly two king's steps.
    Exact,
    /// From two king's steps or fewer.
    Within,
}

/// The options of one match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// 7 or 8 in the basic fleet (P-COUNT).
    pub destroyers: u8,
    /// Whether there are submarines, and with them their phase and the attacks on them (1.5).
    pub submarines: bool,
    pub squadron_leap: Leap,
    pub torpedo: Torpedo,
    /// After how many surface turns of each side without a sinking the points decide (P-QUIET).
    pub quiet_limit: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            destroyers: 7,
            submarines: true,
            squadron_leap: Leap::Once,
            torpedo: Torpedo::Exact,
            quiet_limit: 50,
        }
    }
}

impl game::Options for Options {
    const RULES: &'static [OptionRule] = &[
        OptionRule {
            name: "destroyers",
            values: Values::OneOf(&["7", "8"]),
            default: "7",
            says: "how many destroyers the basic fleet has",
        },
        OptionRule {
            name: "submarines",
            values: Values::OneOf(&["true", "false"]),
            default: "true",
            says: "whether each side has five hidden submarines",
        },
        OptionRule {
            name: "squadron_leap",
            values: Values::OneOf(&["once", "always"]),
            default: "once",
            says: "how often the knight's leap is open to a squadron",
        },
        OptionRule {
            name: "torpedo",
            values: Values::OneOf(&["exact", "within"]),
            default: "exact",
            says: "whether torpedoes sink at exactly two squares, or at two and fewer",
        },
        OptionRule {
            name: "quiet_limit",
            values: Values::Limit,
            default: "50",
            says: "after how many turns of each side without a sinking points decide",
        },
    ];

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "destroyers" => self.destroyers = if value == "8" { 8 } else { 7 },
            "submarines" => self.submarines = value == "true",
            "squadron_leap" => self.squadron_leap = if value == "always" { Leap::Always } else { Leap::Once },
            "torpedo" => self.torpedo = if value == "within" { Torpedo::Within } else { Torpedo::Exact },
            "quiet_limit" => {
                self.quiet_limit = value.parse().map_err(|_| format!("no number of turns: {value}"))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn get(&self, name: &str) -> String {
        match name {
            "destroyers" => self.destroyers.to_string(),
            "submarines" => self.submarines.to_string(),
            "squadron_leap" => match self.squadron_leap {
                Leap::Once => "once".to_owned(),
                Leap::Always => "always".to_owned(),
            },
            "torpedo" => match self.torpedo {
                Torpedo::Exact => "exact".to_owned(),
                Torpedo::Within => "within".to_owned(),
            },
            "quiet_limit" => self.quiet_limit.to_string(),
            _ => String::new(),
        }
    }
}

/// The step of the match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Setup,
    /// The side named is to move on the surface, or to pass if it cannot.
    Surface(Seat),
    Submarines,
    Over(Outcome),
}

/// One thing that an adjudication brought, as the referee knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    Moved { side: Seat, from: Square, to: Square, sunk: Option<Class>, squadron_to: Option<Square> },
    SquadronLost { side: Seat, at: Square },
    DepthCharged { side: Seat, area: Area, sunk: u8, contact: bool },
    Torpedoed { side: Seat, no: u16, at: Square, sunk: Class },
    Sounded { side: Seat, no: u16, area: Area, sunk: u8, contact: bool },
    SubmarineSunk { side: Seat, no: u16, at: Square },
    SubmarineMoved { side: Seat, no: u16, to: Square },
    Passed { side: Seat },
}

/// One attack from or on the depths that both sides were told of, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sighting {
    pub round: u32,
    pub event: Event,
}

/// One submarine order, kept for the end of the match (4.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    pub round: u32,
    pub side: Seat,
    pub order: SubmarineOrder,
}

/// A match of War in the Pacific.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) options: Options,
    pub(super) stage: Stage,
    pub(super) round: u32,
    /// By square.
    pub(super) ships: BySeat<Vec<Ship>>,
    /// By number.
    pub(super) submarines: BySeat<Vec<Submarine>>,
    /// Surface turns in a row without a sinking (P-QUIET).
    pub(super) quiet: u32,
    /// What the last adjudication brought, in order.
    pub(super) events: Vec<Event>,
    /// Attacks with depth charges, sonar and torpedoes so far.
    pub(super) sightings: Vec<Sighting>,
    pub(super) log: Vec<Logged>,
}

impl State {
    pub fn new(options: Options) -> State {
        State {
            options,
            stage: Stage::Setup,
            round: 1,
            ships: BySeat::default(),
            submarines: BySeat::default(),
            quiet: 0,
            events: Vec::new(),
            sightings: Vec::new(),
            log: Vec::new(),
        }
    }

    /// Both fleets on the surface, open to both sides.
    pub fn ships(&self) -> &BySeat<Vec<Ship>> {
        &self.ships
    }
}

/// Friendly waters (P-WATERS): South's ranks 1 to 8, North's 9 to 16.
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
    fn a_ship_is_written_as_on_the_rules_page() {
        let ship = Ship { kind: Kind::Squadron { no: 1, launched: false, leapt: false }, at: at("E3") };
        let json = serde_json::to_value(ship).expect("plain values");
        let expected =
            serde_json::json!({"class": "S", "no": 1, "at": "E3", "launched": false, "leapt": false});
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_value::<Ship>(json).expect("as written"), ship);
    }
}
