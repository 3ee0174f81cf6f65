//! What a player of the arena is.

use fogpost::game::any::{AnySeen, AnyState};

/// What a player files, and how many positions it looked at.
pub struct Turn {
    pub orders: Vec<String>,
    pub positions: u64,
}

/// A player of one seat in one match.
pub trait Player {
    /// Chooses orders for the seat of `seen`, from which some are due. An outside opponent may read the state where
    /// nothing is hidden. The same arguments give the same orders.
    fn play(&mut self, state: &AnyState, seen: &AnySeen, seed: u64) -> Turn;
}
