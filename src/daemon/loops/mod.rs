//! The loops: each waits for work, calls the steps that do it, and backs off on failure.

mod audit;
mod clock;
mod digest;
mod heartbeat;
mod house;
mod intake;
mod logins;
mod outbox;
mod outcomes;
mod queue;
mod run;
mod settle;
mod upkeep;
pub(super) mod waiting;
mod wakeups;

#[cfg(test)]
mod tests;
