//! The club beyond single matches: its members, their reliability, the meanings of names, and events. Pure.
//!
//! - `member`: a player's wishes, and the club's memory of them
//! - `reliability`: the turns that a ruling closed, and how many of a player's last ones were filed in time
//! - `rating`: Glicko-2, the rated results of a match, the rating table of all results, and how strong the house is
//! - `names`: the player that a name or a number means, and names that readers could take for one another
//! - `events`: leagues, cups and ladders

pub mod events;
pub mod member;
pub mod names;
pub mod rating;
pub mod reliability;
