//! The rules of the games, tested without letters: by cases, by counting, by another implementation and by the templates
//! that describe their states.

mod club;
mod events;
mod oracle;
mod quadrant_z;
mod templates_pacific;
mod templates_quad_quantum;
