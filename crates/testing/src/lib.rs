//! Tools for the tests and benches of several packages: random numbers, random matches, and colours as readers see
//! them.

pub mod play;
pub mod random;
pub mod random_play;
pub mod sight;
