//! A player's profile, as PROFILE shows it. The shell fills it in.

use serde::{Deserialize, Serialize};

/// The facts that the club shows about a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Profile {
    /// Name and number: `Bo (P-12)`.
    pub player: String,
    /// Whether it is the reader's own.
    pub is_own: bool,
    pub games: Vec<ProfileGame>,
    /// Running matches.
    pub running: u32,
    /// The player's reliability as a sentence.
    pub filed: String,
}

/// A player's results in one game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileGame {
    pub name: &'static str,
    /// Matches won, drawn and lost against people.
    pub people: [u32; 3],
    /// The same against the house.
    pub house: [u32; 3],
    /// The rating, and its last changes, the latest first.
    pub rating: Option<String>,
    pub changes: Vec<String>,
}

/// A player's rating in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatingLine {
    pub player: String,
    pub rating: String,
    /// Rated results.
    pub results: u32,
}
