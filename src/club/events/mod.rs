//! Events: leagues, cups and ladders that run themselves, all of sections in which everybody plays everybody.
//!
//! Each of these uses only those above it:
//!
//! - `plan`: what a GM announces, checked
//! - `sections`: how entrants are cut and dealt into sections, and who has which seat
//! - `points`: the table of a section, and the order in which its players rise, fall and go on
//! - `own_time`: how long each side of a match kept the other waiting, as the ledger tells it
//! - `vanishing`: until when somebody cannot enter
//! - `event`: an event as its book tells it
//! - `seasons`: the list of the next season
//! - `steps`: what is due in an event
//! - `verify`: whether a book follows from itself

pub mod event;
pub mod own_time;
pub mod plan;
pub mod points;
pub mod seasons;
pub mod sections;
pub mod steps;
pub mod vanishing;
pub mod verify;
