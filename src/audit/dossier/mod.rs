//! The dossier of a match: files that a third party can check. There are two forms of it ([`DossierForm`]);
//! [`Dossier`] reads the arbiter's. It contains the [`account`] of the match.

pub mod account;
mod blackout;
mod files;
mod read;

pub use self::files::{About, DispatchRecord, DossierForm, FORMAT, LetterRecord, SeatHolder, files};
pub use self::read::Dossier;
