//! The letters as mail: their header and MIME form, the pin that the ledger holds them to, and what is read from sent ones.

pub mod envelope;
pub mod mime;
pub mod pin;
mod redraw;
pub mod sent;

pub use redraw::redraw;
