//! All that is remembered of a match, and its options. What a seat may know of it is settled in `view`.

use serde::{Deserialize, Serialize};

use super::combat::Fight;
use super::fleet::Ship;
use super::galaxy::{Quadrant, Quadrants, Sector, Square};
use super::options::Options;
use super::order::Order;
use crate::game::{BySeat, Outcome, Seat};

/// A match of Quadrant Z.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub(super) options: Options,
    /// Turns adjudicated.
    pub(super) turn: u16,
    pub(super) stage: Stage,
    pub(super) stars: Stars,
    pub(super) sides: BySeat<Side>,
    /// What the last adjudication brought.
    pub(super) news: Vec<Event>,
}

/// What the match waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stage {
    Setup,
    Turn,
    Casualties(Box<Pending>),
    Over(Outcome),
}

/// A turn that stopped after combat was computed (`Z-CASUALTIES`, option `ask`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pending {
    /// The match before this turn; the turn is decided anew from it.
    pub before: State,
    pub orders: BySeat<Vec<Order>>,
    pub fights: Vec<Fight>,
    pub asked: BySeat<bool>,
}

/// What one side has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Side {
    /// By number.
    pub ships: Vec<Ship>,
    /// The highest number that any ship of this side ever had (clause 2.4).
    pub highest: u16,
    /// Points captured and not yet spent.
    pub stock: u16,
    pub base: Option<Square>,
    /// The quadrants whose stars it knows, all of them, its home sector included (clause 3.3).
    pub charted: Quadrants,
    /// The standing `LOSSES`, living ships only.
    pub losses: Vec<u16>,
}

/// What stands on one square: what each side placed there, and who captured it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Star {
    pub placed: BySeat<u8>,
    pub captured_by: Option<Seat>,
}

impl Star {
    /// The value, merged (`Z-MERGE`); 0 where there is no star.
    pub fn value(self) -> u16 {
        u16::from(self.placed.first) + u16::from(self.placed.second)
    }
}

/// The stars of all squares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Placed>", into = "Vec<Placed>")]
pub(super) struct Stars(Box<[Star; Square::COUNT]>);

/// A star as it is stored.
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

    /// Every star with its square, by square.
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
        let placed = |(at, star): (Square, Star)| Placed {
            at,
            first: star.placed.first,
            second: star.placed.second,
            captured_by: star.captured_by,
        };
        stars.iter().map(placed).collect()
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

/// What one side has captured (clause 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    pub stars: u16,
    pub value: u16,
}

/// Something that a turn brought. What each side hears of it is settled in `view::disclose`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Event {
    /// Ships of `by` came into a neutral quadrant (`Z-ENTRY`).
    Entered { by: Seat, quadrant: Quadrant },
    /// Ships of `by` stand on a square of the opponent's home sector (`Z-INTRUDER`).
    Intruded { by: Seat, at: Square, size: u16 },
    /// Ships of both stand in one quadrant (`Z-STANDOFF`).
    Met { quadrant: Quadrant },
    /// Combat (clause 3.4).
    Fought { quadrant: Quadrant, sides: BySeat<Fought> },
    /// A star was captured (clause 3.5); `offence` is that of all the capturer's ships there at the end.
    Captured { by: Seat, at: Square, value: u16, offence: u16 },
}

/// What one side did and suffered in one quadrant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fought {
    pub offence: u16,
    pub defence: u16,
    /// Taken.
    pub damage: u16,
    /// Ascending.
    pub lost: Vec<u16>,
    /// The size of all ships lost together.
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

    pub fn sector(&self, quadrant: Quadrant) -> Sector {
        self.options.layout.sector(quadrant)
    }

    /// Whose home base stands on `square`, if one does.
    pub fn base_of(&self, square: Square) -> Option<Seat> {
        Seat::BOTH.into_iter().find(|&seat| self.sides[seat].base == Some(square))
    }
}
