//! Decides on a letter by its sender: a seat, a GM, a stranger, or a machine.

pub mod automatic;
pub mod entry;
pub mod gm_unproven;
pub mod in_words;
pub mod relayed;
pub mod sender;
pub mod signatures;
pub mod stranger;
pub mod tokenless;
pub mod unproven;
pub mod unreadable;
