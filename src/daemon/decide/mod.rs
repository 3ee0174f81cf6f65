//! Decisions: rows in, a settlement out.
//!
//! Nothing here awaits, queries the database, or asks the system for the time or for randomness. A [`LoadedRows`]
//! holds what a decision may read; where it lacks a row, the answer is [`Undecided::Lacks`], and the caller loads the
//! row and decides again. The mail that follows from a decision is worded and assembled here, too.

pub mod sending;
