//! The state of a match: both fleets, the submarines, and what was reported and ordered so far.

use serde::{Deserialize, Serialize};

use super::fleet::{Area, Class, Ship, Square, Submarine};
use super::options::Options;
use super::order::SubmarineOrder;
use crate::game::{BySeat, Outcome, Seat};

/// The stage of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Setup,
    /// This side is to move on the surface, or pass if it cannot.
    Surface(Seat),
    Submarines,
    Over(Outcome),
}

/// A result of an adjudication, with everything that the referee knows.
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

/// An attack by or on submarines of which both sides were told, and its round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sighting {
    pub round: u32,
    pub event: Event,
}

/// A submarine order, kept to be disclosed at the end of the match (4.6).
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
    /// Ordered by square.
    pub(super) ships: BySeat<Vec<Ship>>,
    /// Ordered by number.
    pub(super) submarines: BySeat<Vec<Submarine>>,
    /// Surface turns in a row without a sinking (P-QUIET).
    pub(super) quiet: u32,
    /// The results of the last adjudication, in order.
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

    /// Whether there are submarines, which are all that the game hides.
    pub fn has_submarines(&self) -> bool {
        self.options.submarines
    }

    /// Both surface fleets, which both sides see.
    pub fn ships(&self) -> &BySeat<Vec<Ship>> {
        &self.ships
    }
}
