//! The loops: each waits for work, calls the steps that do it, and backs off on failure.

pub mod clock;
pub mod digest;
pub mod letters;
mod mailbox;
pub mod run;
pub mod upkeep;
pub mod wakeups;
