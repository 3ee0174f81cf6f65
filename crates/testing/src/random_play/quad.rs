//! Random play of Quad.

use fogpost_games::game::quad::{Order, Point, State};
use fogpost_games::game::{Game, Seat};

use super::{RandomPlay, Rng};

impl RandomPlay for State {
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
            lines.push(Order::Star(draw(&mut empty, rng)).to_string());
        }
        lines.push(Order::Marble(draw(&mut empty, rng)).to_string());
        lines
    }
}

fn draw(empty: &mut Vec<Point>, rng: Rng<'_>) -> Point {
    let chosen = rng(u32::try_from(empty.len()).expect("a board has few points"));
    empty.swap_remove(chosen as usize)
}
