//! Random play of every game, for tests and benches.

mod pacific;
mod quadrant_z;

use fogpost_games::game::any::AnyState;
use fogpost_games::game::quad::{Order, Point};
use fogpost_games::game::{BySeat, Game, Numbered, Sealed, Seat, quad, quantum};

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

impl RandomPlay for quad::State {
    /// Now and then plays stars, takes over the first marble, or writes a faulty line.
    fn random_filing(&self, seat: Seat, rng: Rng<'_>) -> Vec<String> {
        let view = self.view(seat);
        let mut empty = view.empty();
        if empty.is_empty() || rng(20) == 0 {
            return vec![["STAR E6 E6", "MARBLE E6 E7", "SWAP", ""][rng(4) as usize].to_string()];
        }
        if view.may_swap() && rng(2) == 0 {
            return vec![Order::Swap.to_string()];
        }
        let mut lines = Vec::new();
        while lines.len() < view.stars_now() && rng(6) == 0 {
            lines.push(Order::Star(draw_point(&mut empty, rng)).to_string());
        }
        lines.push(Order::Marble(draw_point(&mut empty, rng)).to_string());
        lines
    }
}

fn draw_point(empty: &mut Vec<Point>, rng: Rng<'_>) -> Point {
    let chosen = rng(u32::try_from(empty.len()).expect("a board has few points"));
    empty.swap_remove(chosen as usize)
}

impl RandomPlay for quantum::State {
    /// Prefers stacking moves, so that towers rise. Now and then, the line is faulty.
    fn random_filing(&self, seat: Seat, rng: Rng<'_>) -> Vec<String> {
        let view = self.view(seat);
        let moves = view.moves();
        let stackings: Vec<_> = moves.iter().filter(|order| view.stacks[order.to].is_some()).collect();
        if moves.is_empty() || pick(20, rng) == 0 {
            return vec![["A1 A1", "D3 E9", "H8 A2", ""][pick(4, rng)].to_string()];
        }
        let order = if stackings.is_empty() || pick(3, rng) == 0 {
            moves[pick(moves.len(), rng)]
        } else {
            *stackings[pick(stackings.len(), rng)]
        };
        vec![order.to_string()]
    }
}

fn pick(len: usize, rng: Rng<'_>) -> usize {
    rng(u32::try_from(len).expect("a side has few moves")) as usize
}
