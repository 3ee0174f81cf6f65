//! The dossier of a match: files that a third party can check, the [`account`] of the match among them. It
//! has two forms ([`DossierForm`]); [`Dossier`] reads the arbiter's.

pub mod account;
mod blackout;
mod files;
mod read;

pub use self::files::{
    About, CHECK_PROGRAM, DispatchRecord, DossierForm, FORMAT, LetterRecord, SeatHolder, files,
};
pub use self::read::Dossier;
