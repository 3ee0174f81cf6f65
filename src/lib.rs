//! A referee for games played by letter.

pub mod cli;
pub mod game;
pub mod letter;
pub mod post;
pub mod request;
