//! The basis of a match's rating, apart from its result. It is fixed when the match opens, so that ratings
//! follow from ledgers alone.

use serde::{Deserialize, Serialize};

use crate::game::BySeat;

/// The basis of a match's rating: see the module. Only a match that may be rated has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatingBasis {
    /// The numbers of the players who hold the seats first; `None` for the house.
    pub numbers: BySeat<Option<i64>>,
    /// The points by which the first seat is favoured.
    pub advantage: i32,
    /// The figure of the house at its level, if it holds a seat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub house: Option<HouseFigure>,
}

/// The fixed figure of the house at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HouseFigure {
    pub figure: i32,
    pub deviation: i32,
}
