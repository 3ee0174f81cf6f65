//! The loops: each waits for work, calls the steps that do it, and backs off on failure.

pub mod clock;
pub mod digest;
pub mod letters;
pub mod remembered;
pub mod run;
pub mod upkeep;
pub mod wakeups;
