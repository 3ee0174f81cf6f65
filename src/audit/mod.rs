//! Verifies a match against its ledger, its letters and the rules, without trusting anyone.
//!
//! [`LedgerReader`] walks the chain and parses every letter again. [`Check`] repeats the ruling on every cause and
//! compares the result with what is stored, byte for byte. [`ExpectedDispatch`] compares our letters with their pins in the
//! chain. [`witness`] compares the ledger line in a player's own mail with the chain.
//!
//! Nothing here loads anything, or knows where it is stored.

pub mod account;
mod blackout;
mod check;
pub mod dossier;
mod expected;
mod verdict;
pub mod witness;

pub use check::columns;
pub use check::{
    Check, LedgerBatch, LedgerReader, LedgerRow, ParsedLetter, StoredLetter, StoredMatch, StoredSeat,
    Withheld,
};
pub use expected::{ExpectedDispatch, StoredDispatch};
pub use verdict::{AuditVerdict, Finding, Place};
