//! Verifies a match against its ledger, its letters and the rules, without trusting anyone.
//!
//! [`LedgerReader`] walks the chain and parses every letter again. [`Check`] repeats the ruling on every cause and
//! compares the result with what is stored, byte for byte. [`ExpectedDispatch`] does the same for our letters: it
//! compares their bytes by the digests in the chain, and words them again. [`witness`] compares the ledger line in a
//! player's own mail with the chain.
//!
//! [`BookCheck`] checks the club's book, and [`AnchorVerdict`] what players were told of its anchors.
//!
//! Nothing here loads anything, or knows where it is stored.

pub mod account;
mod anchors;
mod blackout;
mod book;
mod check;
pub mod dossier;
mod expected;
mod verdict;
pub mod witness;

pub use anchors::{AnchorProof, AnchorVerdict, AnchorWitness, DatedEntry, ToldAnchor};
pub use book::{BookCheck, StoredLate};
pub use check::columns;
pub use check::{
    Check, LedgerBatch, LedgerReader, LedgerRow, ParsedLetter, StoredLetter, StoredMatch, StoredSeat,
    VerifiedEntry,
};
pub use expected::{Compared, CurrentWording, ExpectedDispatch, StoredDispatch};
pub use verdict::{AuditResult, AuditVerdict, Finding, Place};
