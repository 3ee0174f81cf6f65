//! The rules of the games, tested without letters: by cases, by counting, by another implementation and by the templates
//! that describe their states.

mod cases;
mod club;
mod events;
mod oracle;
mod orders;
mod perft;
mod perft_pacific;
mod quadrant_z;
#[path = "../support/random.rs"]
mod random;
#[path = "../support/random_play/mod.rs"]
mod random_play;
mod ready_setups;
mod templates_pacific;
mod templates_quad_quantum;
