//! The advantage of the first seat of a game, for ratings.

use serde::Deserialize;

use crate::game::any::{Choices, GameKind};

/// The points by which the first seat of each game is favoured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RatingsSection {
    /// Quad without the option `swap`.
    pub quad: i32,
    pub pacific: i32,
    pub quantum: i32,
    #[serde(rename = "quadrant-z")]
    pub quadrant_z: i32,
}

impl Default for RatingsSection {
    fn default() -> Self {
        RatingsSection { quad: 220, pacific: 145, quantum: 80, quadrant_z: 0 }
    }
}

impl RatingsSection {
    /// Returns the advantage of the first seat in a match with these options.
    pub fn advantage(&self, game: GameKind, choices: &Choices) -> i32 {
        let swaps = game.options_in_force(choices).get("swap").is_some_and(|swap| swap == "on");
        match game {
            _ if swaps => 0,
            GameKind::Quad => self.quad,
            GameKind::Pacific => self.pacific,
            GameKind::Quantum => self.quantum,
            GameKind::QuadrantZ => self.quadrant_z,
        }
    }

    /// Checks the figures.
    ///
    /// # Errors
    /// Returns a sentence that names the key if an advantage is absurdly large.
    pub(super) fn check(&self) -> Result<(), String> {
        let all = [
            ("quad", self.quad),
            ("pacific", self.pacific),
            ("quantum", self.quantum),
            ("quadrant-z", self.quadrant_z),
        ];
        match all.iter().find(|(_, points)| !(-1000..=1000).contains(points)) {
            Some((game, points)) => Err(format!("ratings.{game} is {points}; it must be from -1000 to 1000")),
            None => Ok(()),
        }
    }
}
