//! Letters as mail: their headers and MIME form, the pins by which the ledger proves them, and the texts of
//! sent ones.

pub mod envelope;
pub mod mime;
pub mod pin;
mod redraw;
pub mod sent;

pub use redraw::redraw;
