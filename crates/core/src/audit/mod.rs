//! Verifies matches and events against their ledgers and books, the letters and the rules, without trusting anyone.
//!
//! [`LedgerReader`] walks the chain and parses every letter again. [`Check`] repeats the ruling on every
//! cause and compares the result with what is stored, byte for byte. [`ExpectedDispatch`] compares our
//! letters with their pins in the chain. [`book`] does the same for the book of an event. [`witness`] finds the heads
//! of chains in a player's own mail, and [`club`] compares what belongs to no match and no event.
//!
//! This module neither loads data nor knows where it is stored.

pub mod book;
mod check;
pub mod club;
pub mod dossier;
pub mod offers;
mod verdict;
pub mod witness;

pub use check::columns;
pub use check::owed::StoredTurn;
pub use check::{
    Check, ExpectedDispatch, LedgerBatch, LedgerReader, LedgerRow, ParsedLetter, StoredDispatch,
    StoredLetter, StoredMatch, StoredPlayer, StoredSeat, Withheld,
};
pub use dossier::account;
pub use verdict::{AuditVerdict, CheckSubject, Finding, Place};
