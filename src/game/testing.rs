//! Support for tests and benchmarks: random play, and counting what can be played. No rule depends on it.

use super::{BySeat, Game, Numbered, Sealed, Seat};

/// A source of random numbers: `rng(n)` returns one below `n`, which is not 0.
pub type Rng<'a> = &'a mut dyn FnMut(u32) -> u32;

/// Maximum random filings to try in search of a legal one.
const TRIES: usize = 100;

/// A game that plays at random.
pub trait RandomPlay: Game {
    /// Makes order lines for the phase that is due from the seat of `view`. They drive the match towards an end, and
    /// are mostly legal: now and then a line is at fault.
    fn random_filing(view: &Self::View, rng: Rng<'_>) -> Vec<String>;

    /// Tries filings of [`random_filing`](Self::random_filing) until one is legal; gives up after many illegal ones.
    fn random_orders(&self, seat: Seat, rng: Rng<'_>) -> Option<Sealed<Self::Order>> {
        let view = self.view(seat);
        (0..TRIES).find_map(|_| {
            let mut orders = Vec::new();
            for (line, text) in (1..).zip(Self::random_filing(&view, rng)) {
                let parsed = Self::parse(&text).ok()?;
                orders.extend(parsed.into_iter().map(|order| Numbered { line, order }));
            }
            Self::check(&view, &orders).ok()
        })
    }

    /// Returns the state after the phase that is due; the state itself once the match is over.
    fn play_at_random(&self, rng: Rng<'_>) -> Self {
        let mut filed = BySeat::new(None, None);
        for seat in self.due().map(|due| due.seats).unwrap_or_default() {
            filed[seat] = self.random_orders(seat, rng);
        }
        self.adjudicate(&filed)
    }
}

/// The filings that decide one phase.
pub type Turn<G> = BySeat<Option<Sealed<<G as Game>::Order>>>;

/// A game whose turns can be enumerated, so that its move generation can be checked by counting, as chess programs do.
pub trait Perft: Game {
    /// Returns every turn that can be played now, a pass included; none once the match is over.
    fn turns(&self) -> Vec<Turn<Self>>;

    /// Counts the sequences of `depth` turns. A match that ends earlier adds none.
    fn perft(&self, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let turns = self.turns();
        if depth == 1 {
            return turns.len() as u64;
        }
        turns.iter().map(|turn| self.adjudicate(turn).perft(depth - 1)).sum()
    }
}
