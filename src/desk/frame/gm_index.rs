//! Identifies a GM without borrowing the config.

/// A GM, by place in the config.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GmIndex(pub usize);
