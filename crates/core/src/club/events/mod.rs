//! Events: leagues, cups and ladders that run themselves. All consist of sections in which everybody plays
//! everybody.
//!
//! Each module uses only those above it:
//!
//! - `keys`: the keys of a plan, and a plan to copy
//! - `plan`: the checked plan that a GM announces
//! - `sections`: the division of the entrants into sections, the seats of their matches, the table of a section, and the
//!   order in which its players rise, fall and go on
//! - `own_time`: how long each side of a match kept the other waiting, as the ledger shows, and the ends of a match, as its
//!   event counts them
//! - `event`: the state of an event, as its book shows it
//! - `seasons`: the list of players for the next season, and the time for which vanished players cannot enter
//! - `steps`: the steps that are due in an event
//! - `verify`: the check that a book is consistent with itself

pub mod event;
pub mod keys;
pub mod own_time;
pub mod plan;
pub mod seasons;
pub mod sections;
pub mod steps;
pub mod verify;

#[cfg(test)]
mod tests;
