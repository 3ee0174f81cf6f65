//! The club beyond single matches: what it knows of its members, how reliably they file, whom a name means, and
//! which events it plays. Pure.
//!
//! - `member`: what a player wishes, and what the club remembers of them
//! - `owed`: which turns a ruling closed, and whether they were filed in time
//! - `reliability`: how many of a player's last turns were filed in time
//! - `figures`: how strong the house is
//! - `rating`: Glicko-2, one result at a time
//! - `rated`: the rated results of a match, and the table that follows from all
//! - `names`: the player that a name or a number means
//! - `events`: leagues, cups and ladders

pub mod events;
pub mod figures;
pub mod member;
pub mod names;
pub mod owed;
pub mod rated;
pub mod rating;
pub mod reliability;
