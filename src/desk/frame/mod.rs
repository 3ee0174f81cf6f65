//! The basis of every decision: the desk with its rows and drafts, the club, and the facts known about
//! people.

pub mod asker;
pub mod club;
pub mod codes;
pub mod desk;
pub mod in_work;
pub mod parallel;
pub mod random;
pub mod ratings;
pub mod rows;
pub mod standing;
pub mod stored;
pub mod summary;
