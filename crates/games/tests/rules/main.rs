//! The rules of the games, tested without letters: by cases, by counting, and by the setups that can be drawn.

mod cases;
mod orders;
mod perft;
mod perft_pacific;
mod ready_setups;
