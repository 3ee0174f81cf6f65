//! The sender of a letter: the header that names them, proof of it, and signs of a person or a machine.

pub mod authentic;
pub mod automatic;
pub mod classify;
pub mod envelope;
mod excerpt;
mod mailboxes;
pub mod person;
mod phrases;
