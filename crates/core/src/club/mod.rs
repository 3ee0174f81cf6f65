//! The club beyond single matches: its members, their reliability, the meanings of names, and events. Pure.
//!
//! - `member`: a player's wishes, and the club's memory of them
//! - `owed`: the turns that a ruling closed, and whether they were filed in time
//! - `reliability`: how many of a player's last turns were filed in time
//! - `figures`: how strong the house is
//! - `rating`: Glicko-2, one result at a time
//! - `rated`: the rated results of a match, and the rating table of all results
//! - `names`: the player that a name or a number means
//! - `likeness`: names that readers could take for one another
//! - `events`: leagues, cups and ladders

pub mod events;
pub mod figures;
pub mod likeness;
pub mod member;
pub mod names;
pub mod owed;
pub mod rated;
pub mod rating;
pub mod reliability;
