//! Defaults for matches against the house.
//!
//! The advantage of the first seat of a game, for ratings.

use serde::Deserialize;

use crate::game::any::{Choices, GameKind};
use crate::house::{self, HouseLevel, Level};
use crate::referee::{HouseDefaults, OfferRejection, house_level};

/// Defaults for matches against the house.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HouseSection {
    /// The level. A game that does not have it uses its strongest.
    pub level: String,
    /// Whether players who have beaten a level meet the next one, unless they choose otherwise.
    pub advance: bool,
}

impl Default for HouseSection {
    fn default() -> Self {
        let HouseDefaults { level, advance } = HouseDefaults::UNSET;
        HouseSection { level: level.as_str().to_owned(), advance }
    }
}

impl HouseSection {
    /// Checks the level.
    ///
    /// # Errors
    /// Returns a sentence that names the levels if no game has this one.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut levels: Vec<&str> = Vec::new();
        for level in GameKind::ALL.iter().flat_map(|kind| house::levels(*kind)) {
            if !levels.contains(&level.name) {
                levels.push(level.name);
            }
        }
        if levels.contains(&self.level.as_str()) {
            Ok(())
        } else {
            Err(format!("house.level is `{}`; try {}", self.level, levels.join(", ")))
        }
    }

    /// Returns the defaults in the form in which letters state them.
    pub fn defaults(&self) -> HouseDefaults {
        let level = Level::parse(&self.level).expect("the config was checked");
        HouseDefaults { level, advance: self.advance }
    }

    /// Returns the named level, or else the club's default.
    ///
    /// # Errors
    /// Returns an error if the house does not play the game, or has no such level in it.
    pub fn level(&self, game: GameKind, named: Option<&str>) -> Result<&'static HouseLevel, OfferRejection> {
        let default = self.defaults().level_in(game).filter(|_| named.is_none());
        default.map_or_else(|| house_level(game, named.unwrap_or(&self.level)), Ok)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_without_the_clubs_level_uses_its_strongest() {
        let house = HouseSection { level: "expert".to_owned(), advance: false };
        for (game, level) in [(GameKind::Quad, "expert"), (GameKind::Pacific, "average")] {
            assert_eq!(house.level(game, None).map(|level| level.name), Ok(level), "{game}");
        }
        assert!(house.level(GameKind::Pacific, Some("expert")).is_err(), "a named level is not replaced");
    }
}
