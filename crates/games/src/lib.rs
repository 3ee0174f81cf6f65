pub mod game;
pub mod house;

/// What only the other packages of this repository use.
#[doc(hidden)]
pub mod internal {
    pub use serde;
}

#[cfg(test)]
extern crate self as fogpost_games;
#[cfg(test)]
#[path = "../../testing/src/random_play/mod.rs"]
mod random_play;
