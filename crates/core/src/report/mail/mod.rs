//! Letters as mail: their headers and MIME form, their pins in the ledger, and the texts of sent ones.

pub mod envelope;
pub mod mime;
pub mod pin;
mod redraw;
pub mod sent;

pub use redraw::redraw;
