//! Decisions: rows in, changes out. Pure: nothing here awaits, queries the database, or asks the system for
//! the time or for random numbers.
//!
//! The shell loads rows, a function of this module decides on a [`Desk`](frame::desk::Desk), and the shell
//! commits the changes. If a decision lacks a row, the shell loads it and decides again. The mail that
//! follows from a decision is worded here, too. Each folder uses only those before it:
//!
//! - `frame`: the desk itself, the rows, and the facts known about people;
//! - `outbox`: letters, worded and limited;
//! - `matches`: openings, offers, holders of seats, and acts;
//! - `events`: leagues, cups and ladders;
//! - `people`: settings, addresses, questions, and the commands that need no seat;
//! - `seat`: letters from the holder of a seat;
//! - `gm`: instructions, lists, digests and alarms;
//! - `door`: identifies the sender of a letter, and passes it on to the code that decides on it.

pub mod door;
pub mod events;
pub mod frame;
pub mod gm;
pub mod items;
pub mod matches;
pub mod outbox;
pub mod people;
pub mod seat;
