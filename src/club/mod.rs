//! The club itself, beyond single matches: its book. Pure.
//!
//! A [`Book`] is a hash chain like a match's ledger. CLUB holds the daily anchor, which the [`merkle`] tree of all
//! ledgers gives, and what the audit verified.

mod anchoring;
mod book;
pub mod merkle;

pub use anchoring::{AnchorSecret, Chains, next_anchor};
pub use book::{
    Anchored, Book, BookEntry, BookFact, BookKind, CLUB, ChainedBookEntry, LateDelivery, Verified,
};
