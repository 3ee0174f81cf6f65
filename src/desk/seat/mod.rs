//! Letters from the holder of a seat, and their parts.

pub mod absences;
pub mod parts;
pub mod ruling;
