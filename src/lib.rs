//! A referee for games played by letter.

pub mod game;
pub mod letter;
