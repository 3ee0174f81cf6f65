//! Decisions: rows in, a settlement out.
//!
//! Nothing here awaits, queries the database, or asks the system for the time or for randomness. A [`LoadedRows`]
//! holds what a decision may read; where it lacks a row, the answer is [`Undecided::Lacks`], and the caller loads the
//! row and decides again. The mail that follows from a decision is worded and assembled here, too.

mod absences;
mod accept;
pub mod acts;
mod addresses;
pub mod alarm;
mod announce;
mod answers;
mod asker;
mod automatic;
pub mod budgets;
mod challenge;
mod changes;
pub mod codes;
pub mod confirm;
pub mod desk;
pub mod digest;
mod everybody;
mod gm;
pub mod gm_index;
pub mod gms;
mod holders;
pub mod in_work;
pub mod instructions;
pub mod items;
mod leaving;
mod lists;
mod mail;
mod membership;
pub mod offers;
pub mod one_letter;
pub mod openings;
pub mod parallel;
mod parts;
mod people;
pub mod player_settings;
pub mod proof;
mod questions;
pub mod random;
pub mod resend;
pub mod returned;
mod rollback;
pub mod rows;
mod ruling_mail;
mod seat;
pub mod sender;
pub mod sending;
pub mod settings;
mod signatures;
pub mod standing;
pub mod stored;
mod stranger;
mod substitute;
pub mod summary;
mod tokenless;
mod unreadable;
pub mod unseal;
