//! From raw bytes to what a person wrote.

mod digest;

pub use digest::Digest;
