//! Verifies a match against its ledger, its letters and the rules, without trusting anyone.
//!
//! [`LedgerReader`] walks the chain and parses every letter again. [`Check`] repeats the ruling on every
//! cause and compares the result with what is stored, byte for byte. [`ExpectedDispatch`] compares our
//! letters with their pins in the chain. [`witness`] compares the ledger line in a player's own mail with the
//! chain.
//!
//! This module neither loads data nor knows where it is stored.

mod check;
pub mod dossier;
mod verdict;
pub mod witness;

pub use check::columns;
pub use check::{
    Check, ExpectedDispatch, LedgerBatch, LedgerReader, LedgerRow, ParsedLetter, StoredDispatch,
    StoredLetter, StoredMatch, StoredSeat, Withheld,
};
pub use dossier::account;
pub use verdict::{AuditVerdict, Finding, Place};
