//! Random play for tests and benchmarks.

use super::view::View;

/// Order lines for the seat of `view`, mostly legal and lively. `rng(n)` gives a number below `n`.
pub fn random_filing(view: &View, rng: &mut impl FnMut(u32) -> u32) -> Vec<String> {
    let _ = (view, rng);
    Vec::new()
}
