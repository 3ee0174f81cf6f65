//! A player who files random legal orders.

use fogpost::game::any::{AnySeen, AnyState};

use crate::player::{Player, Turn};
use fogpost_testing::random::dice;
use fogpost_testing::random_play::RandomPlay as _;

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
