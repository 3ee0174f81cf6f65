//! The sender of a letter: who it names, whether that can be proved, and whether a person or a machine wrote it.

pub mod authentic;
pub mod automatic;
pub mod classify;
pub mod envelope;
mod excerpt;
mod mailboxes;
pub mod person;
mod phrases;
