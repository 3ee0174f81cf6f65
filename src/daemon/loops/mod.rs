//! The loops: each waits for work, calls the steps that do it, and backs off on failure.

pub mod clock;
mod digest;
mod letters;
pub mod remembered;
pub mod run;
mod upkeep;
pub mod waiting;
mod wakeups;
