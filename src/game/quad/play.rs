//! Random play for tests and benchmarks.

use super::order::Order;
use super::point::Point;
use super::view::View;

/// Order lines of the side to move, mostly legal: `rng(n)` gives a number below `n`. Now and then stars are
/// played, first marbles taken over and a line is at fault.
pub fn random_filing(view: &View, rng: &mut impl FnMut(u32) -> u32) -> Vec<String> {
    let mut empty = view.empty();
    if empty.is_empty() || rng(20) == 0 {
        return vec![["STAR E6 E6", "MARBLE E6 E7", "SWAP", ""][rng(4) as usize].to_string()];
    }
    if view.may_swap() && rng(2) == 0 {
        return vec![Order::Swap.to_string()];
    }
    let mut draw = |rng: &mut dyn FnMut(u32) -> u32| -> Point {
        let chosen = rng(u32::try_from(empty.len()).expect("a board has few points"));
        empty.swap_remove(chosen as usize)
    };
    let mut lines = Vec::new();
    while lines.len() < view.stars_now() && rng(6) == 0 {
        lines.push(Order::Star(draw(rng)).to_string());
    }
    lines.push(Order::Marble(draw(rng)).to_string());
    lines
}
