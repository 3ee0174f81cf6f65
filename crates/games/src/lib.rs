#![doc = include_str!("../README.md")]

pub mod game;
pub mod house;
pub mod render;

/// Items for the other packages of this repository.
#[doc(hidden)]
pub mod internal {
    pub use serde;
}

// The house's own tests see its inside, so they need random play of the types that are compiled for them. A package that
// they depend on would bring a second copy of every type.
#[cfg(test)]
extern crate self as fogpost_games;
#[cfg(test)]
#[path = "../../testing/src/random_play/mod.rs"]
mod random_play;
