//! Who plays: a level of the house, random play, or an opponent from outside.

use fogpost::game::HouseLevel;
use fogpost::game::any::{AnySeen, AnyState, GameKind};

use crate::outside;
use crate::player::{Player, Turn};
use crate::random_player::Random;

/// A level of the house.
struct Level(&'static HouseLevel);

impl Player for Level {
    fn play(&mut self, _state: &AnyState, seen: &AnySeen, seed: u64) -> Turn {
        let chosen = seen.play(self.0, seed).expect("the house plays the game");
        Turn { orders: chosen.orders, positions: chosen.positions }
    }
}

/// Returns the player called `name`.
///
/// # Errors
/// Returns a sentence that lists the players if there is none of this name.
pub fn named(game: GameKind, name: &str) -> Result<Box<dyn Player>, String> {
    if let Some(level) = game.level(name) {
        return Ok(Box::new(Level(level)));
    }
    match name {
        "random" => Ok(Box::new(Random)),
        _ => {
            let levels: Vec<_> = game.levels().iter().map(|level| level.name).collect();
            outside::named(game, name).ok_or_else(|| {
                let levels = levels.join(", ");
                format!("nobody called {name} plays {game}; try random, {levels}; {}", outside::NAMES)
            })
        }
    }
}
