//! Who plays: a level of the house, random play, or an opponent from outside.

use fogpost::game::HouseLevel;
use fogpost::game::any::{AnySeen, AnyState, GameKind};

use crate::random::dice;

/// What a player files, and how many positions it looked at.
pub struct Turn {
    pub orders: Vec<String>,
    pub positions: u64,
}

/// A player of one seat in one match.
pub trait Player {
    /// Chooses orders for the seat of `seen`, from which some are due. An outside opponent may read the state where
    /// nothing is hidden. The same arguments give the same orders.
    fn play(&mut self, state: &AnyState, seen: &AnySeen, seed: u64) -> Turn;
}

/// A level of the house.
struct Level(&'static HouseLevel);

impl Player for Level {
    fn play(&mut self, _state: &AnyState, seen: &AnySeen, seed: u64) -> Turn {
        let chosen = seen.play(self.0, seed).expect("the house plays the game");
        Turn { orders: chosen.orders, positions: chosen.positions }
    }
}

/// Random legal orders.
pub struct Random;

/// Random orders to try until some are legal.
const TRIES: usize = 100;

impl Player for Random {
    fn play(&mut self, state: &AnyState, seen: &AnySeen, seed: u64) -> Turn {
        let (seat, mut rng) = (seen.seat(), dice(seed));
        let is_legal =
            |orders: &Vec<String>| state.seal(seat, &fogpost::game::Line::numbered(orders)).is_ok();
        let drawn = (0..TRIES).map(|_| state.random_filing(seat, &mut rng)).find(is_legal);
        Turn { orders: drawn.unwrap_or_default(), positions: 0 }
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
            crate::outside::named(game, name).ok_or_else(|| {
                let levels = levels.join(", ");
                format!("nobody called {name} plays {game}; try random, {levels}; {}", crate::outside::NAMES)
            })
        }
    }
}
