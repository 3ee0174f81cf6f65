//! The way of a letter from its arrival to whoever decides on it.

pub mod automatic;
pub mod entry;
pub mod sender;
pub mod signatures;
pub mod stranger;
pub mod tokenless;
pub mod unproven;
pub mod unreadable;
