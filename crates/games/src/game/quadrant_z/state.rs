//! The state of a match. `view` decides what a seat may know of it.

use serde::{Deserialize, Serialize};

use super::combat::Fight;
use super::fleet::Ship;
use super::galaxy::{Quadrant, Quadrants, Sector, Square};
use super::options::Options;
use super::order::Order;
use crate::game::{BySeat, Outcome, Phase, Seat};

/// A match of Quadrant Z.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub(crate) options: Options,
    /// The number of turns adjudicated.
    pub(crate) turn: u16,
    pub(crate) stage: Stage,
    pub(crate) stars: Stars,
    pub(crate) sides: BySeat<Side>,
    /// The results of the last adjudication.
    pub(crate) news: Vec<Event>,
}

/// The phase that the match waits for, or its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    Setup,
    Turn,
    Casualties(Box<Pending>),
    Over(Outcome),
}

/// A turn that stopped after combat was computed (`Z-CASUALTIES`, option `ask`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pending {
    /// The match before this turn, from which the turn is adjudicated again once the casualties are filed.
    pub before: State,
    pub orders: BySeat<Vec<Order>>,
    pub fights: Vec<Fight>,
    pub asked: BySeat<bool>,
}

/// The possessions and knowledge of one side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Side {
    /// Ordered by number.
    pub ships: Vec<Ship>,
    /// The highest number that a ship of this side ever had (clause 2.4), because numbers are not reused.
    pub highest: u16,
    /// Points captured and not yet spent.
    pub stock: u16,
    pub base: Option<Square>,
    /// The quadrants in which it knows every star, including its home sector (clause 3.3).
    pub charted: Quadrants,
    /// The standing `LOSSES`; living ships only.
    pub losses: Vec<u16>,
}

/// The star on a square: what each side placed there, and who captured it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Star {
    pub placed: BySeat<u8>,
    pub captured_by: Option<Seat>,
}

impl Star {
    /// The merged value (`Z-MERGE`); 0 if there is no star.
    pub fn value(self) -> u16 {
        u16::from(self.placed.first) + u16::from(self.placed.second)
    }
}

/// The stars of all squares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Placed>", into = "Vec<Placed>")]
pub(crate) struct Stars(Box<[Star; Square::COUNT]>);

/// A star as it is serialized.
#[derive(Serialize, Deserialize)]
struct Placed {
    at: Square,
    first: u8,
    second: u8,
    captured_by: Option<Seat>,
}

impl Stars {
    pub fn none() -> Stars {
        Stars(Box::new([Star::default(); Square::COUNT]))
    }

    pub fn at(&self, square: Square) -> Star {
        self.0[square.index()]
    }

    pub fn at_mut(&mut self, square: Square) -> &mut Star {
        &mut self.0[square.index()]
    }

    /// Returns every star with its square, ordered by square.
    pub fn iter(&self) -> impl Iterator<Item = (Square, Star)> {
        Square::all().zip(self.0.iter().copied()).filter(|(_, star)| star.value() > 0)
    }

    pub fn score(&self) -> BySeat<Score> {
        let mut score = BySeat::default();
        for star in self.0.iter() {
            if let Some(by) = star.captured_by {
                let score: &mut Score = &mut score[by];
                score.stars += 1;
                score.value += star.value();
            }
        }
        score
    }
}

impl From<Stars> for Vec<Placed> {
    fn from(stars: Stars) -> Self {
        let mut placed = Vec::new();
        for (at, Star { placed: BySeat { first, second }, captured_by }) in stars.iter() {
            placed.push(Placed { at, first, second, captured_by });
        }
        placed
    }
}

impl From<Vec<Placed>> for Stars {
    fn from(placed: Vec<Placed>) -> Self {
        let mut stars = Stars::none();
        for star in placed {
            *stars.at_mut(star.at) =
                Star { placed: BySeat::new(star.first, star.second), captured_by: star.captured_by };
        }
        stars
    }
}

/// The stars that a side has captured (clause 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    pub stars: u16,
    pub value: u16,
}

/// A result of a turn. `view::disclose` decides what each side is told about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Event {
    /// Ships of `by` entered a neutral quadrant (`Z-ENTRY`).
    Entered { by: Seat, quadrant: Quadrant },
    /// Ships of `by` are on a square of the enemy's home sector (`Z-INTRUDER`).
    Intruded { by: Seat, at: Square, size: u16 },
    /// Ships of both sides are in one quadrant (`Z-STANDOFF`).
    Met { quadrant: Quadrant },
    /// Combat (clause 3.4).
    Fought { quadrant: Quadrant, sides: BySeat<Fought> },
    /// A star was captured (clause 3.5). `offence` is the total of the captor's ships there after the turn.
    Captured { by: Seat, at: Square, value: u16, offence: u16 },
}

/// One side's part in a battle in one quadrant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fought {
    pub offence: u16,
    pub defence: u16,
    /// The damage that this side took.
    pub damage: u16,
    /// In ascending order.
    pub lost: Vec<u16>,
    /// The total size of the ships lost.
    pub lost_size: u16,
}

impl State {
    pub fn new(options: Options) -> State {
        State {
            options,
            turn: 0,
            stage: Stage::Setup,
            stars: Stars::none(),
            sides: BySeat::default(),
            news: Vec::new(),
        }
    }

    /// The open phase; `None` once the match is over.
    pub fn phase(&self) -> Option<Phase> {
        match self.stage {
            Stage::Setup => Some(Phase::Setup),
            Stage::Turn => Some(Phase::Turn),
            Stage::Casualties(_) => Some(Phase::Casualties),
            Stage::Over(_) => None,
        }
    }

    pub fn sector(&self, quadrant: Quadrant) -> Sector {
        self.options.layout.sector(quadrant)
    }

    /// Returns the side whose home base is on `square`, if there is one.
    pub fn base_of(&self, square: Square) -> Option<Seat> {
        Seat::BOTH.into_iter().find(|&seat| self.sides[seat].base == Some(square))
    }
}
