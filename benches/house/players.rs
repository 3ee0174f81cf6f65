//! Who plays: a level of the house, its highest level with other guesses, random play, or an opponent from outside.

use fogpost::game::any::{AnySeen, AnyState, GameKind};
use fogpost::game::{BySeat, Outcome, Reason};
use fogpost::house::{self, HouseLevel};

use crate::outside;
use crate::player::{Player, Turn};
use crate::random_player::Random;

/// A level of the house.
struct Level(&'static HouseLevel);

impl Player for Level {
    fn play(&mut self, _state: &AnyState, seen: &AnySeen, seed: u64) -> Turn {
        let chosen = house::play(seen, self.0, seed).expect("the house plays the game");
        Turn { orders: chosen.orders, positions: chosen.positions }
    }
}

/// The highest level of a game that hides something, with other guesses.
enum Guessing {
    /// From setups alone.
    Blind,
    /// Right ones. It cheats: it sees the state.
    Cheat,
}

impl Player for Guessing {
    fn play(&mut self, state: &AnyState, seen: &AnySeen, seed: u64) -> Turn {
        let chosen = match self {
            Guessing::Blind => house::play_blind(seen, seed),
            Guessing::Cheat => house::play_open(&with_everything(state, seen), seed),
        };
        let chosen = chosen.expect("the game hides something");
        Turn { orders: chosen.orders, positions: chosen.positions }
    }
}

/// What the seat of `seen` would be told if the match were closed now: everything.
fn with_everything(state: &AnyState, seen: &AnySeen) -> AnySeen {
    let (mut closed, mut seen) = (state.clone(), seen.clone());
    closed.close(Outcome { winner: None, reason: Reason::Abandoned });
    seen.add(&BySeat::new(None, None), &closed);
    seen
}

/// Returns the guessing player called `name`: the highest level with `-blind` or `-cheat` appended.
fn guessing(game: GameKind, name: &str) -> Option<Guessing> {
    let top = house::levels(game).last().filter(|_| game.hides_something())?.name;
    match name.strip_prefix(top)? {
        "-blind" => Some(Guessing::Blind),
        "-cheat" => Some(Guessing::Cheat),
        _ => None,
    }
}

/// Returns the player called `name`.
///
/// # Errors
/// Returns a sentence that lists the players if there is none of this name.
pub fn named(game: GameKind, name: &str) -> Result<Box<dyn Player>, String> {
    if let Some(level) = house::level(game, name) {
        return Ok(Box::new(Level(level)));
    }
    if let Some(player) = guessing(game, name) {
        return Ok(Box::new(player));
    }
    match name {
        "random" => Ok(Box::new(Random)),
        _ => {
            let levels: Vec<_> = house::levels(game).iter().map(|level| level.name).collect();
            outside::named(game, name).ok_or_else(|| {
                let levels = levels.join(", ");
                format!("nobody called {name} plays {game}; try random, {levels}; {}", outside::NAMES)
            })
        }
    }
}
