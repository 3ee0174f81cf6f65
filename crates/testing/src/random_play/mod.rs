//! Random play of every game, for tests and benches.

mod pacific;
mod quad;
mod quadrant_z;
mod quantum;

use fogpost_games::game::any::AnyState;
use fogpost_games::game::{BySeat, Game, Numbered, Sealed, Seat};

/// A source of random numbers: `rng(n)` returns one below `n`, which is not 0.
pub type Rng<'a> = &'a mut dyn FnMut(u32) -> u32;

/// Maximum random filings to try in search of a legal one.
const TRIES: usize = 100;

/// A match that is played at random.
pub trait RandomPlay {
    /// Makes order lines for the phase that is due from `seat`. They drive the match towards an end, and are mostly
    /// legal: now and then a line is faulty.
    fn random_filing(&self, seat: Seat, rng: Rng<'_>) -> Vec<String>;

    /// Tries filings of [`random_filing`](Self::random_filing) until one is legal; gives up after many illegal ones.
    fn random_orders(&self, seat: Seat, rng: Rng<'_>) -> Option<Sealed<Self::Order>>
    where
        Self: Game,
    {
        let view = self.view(seat);
        (0..TRIES).find_map(|_| {
            let mut orders = Vec::new();
            for (line, text) in (1..).zip(self.random_filing(seat, rng)) {
                let parsed = Self::parse(&text).ok()?;
                orders.extend(parsed.into_iter().map(|order| Numbered { line, order }));
            }
            Self::check(&view, &orders).ok()
        })
    }

    /// Returns the state after the phase that is due; the state itself once the match is over.
    fn play_at_random(&self, rng: Rng<'_>) -> Self
    where
        Self: Game,
    {
        let mut filed = BySeat::new(None, None);
        for seat in self.due().map(|due| due.seats).unwrap_or_default() {
            filed[seat] = self.random_orders(seat, rng);
        }
        self.adjudicate(&filed)
    }
}

impl RandomPlay for AnyState {
    fn random_filing(&self, seat: Seat, rng: Rng<'_>) -> Vec<String> {
        match self {
            AnyState::QuadrantZ(state) => state.random_filing(seat, rng),
            AnyState::Pacific(state) => state.random_filing(seat, rng),
            AnyState::Quantum(state) => state.random_filing(seat, rng),
            AnyState::Quad(state) => state.random_filing(seat, rng),
        }
    }
}
