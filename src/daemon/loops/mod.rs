//! The loops: each waits for work, calls the steps that do it, and backs off on failure.

mod audit;
mod clock;
mod digest;
mod heartbeat;
mod house;
mod intake;
mod logins;
mod run;
mod settle;
mod upkeep;
mod wakeups;
