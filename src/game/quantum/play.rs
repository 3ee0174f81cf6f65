//! Random play for tests and benchmarks.

use super::view::View;

/// Order lines of the side to move, mostly legal: `rng(n)` gives a number below `n`. Stackings are liked, so that
/// towers rise; now and then a line is at fault.
pub fn random_filing(view: &View, rng: &mut impl FnMut(u32) -> u32) -> Vec<String> {
    let moves = view.moves();
    let stackings: Vec<_> = moves.iter().filter(|order| view.stacks[order.to].is_some()).collect();
    let mut pick = |len: usize| rng(u32::try_from(len).expect("a side has few moves")) as usize;
    if moves.is_empty() || pick(20) == 0 {
        return vec![["A1 A1", "D3 E9", "H8 A2", ""][pick(4)].to_string()];
    }
    let order = if stackings.is_empty() || pick(3) == 0 {
        moves[pick(moves.len())]
    } else {
        *stackings[pick(stackings.len())]
    };
    vec![order.to_string()]
}
