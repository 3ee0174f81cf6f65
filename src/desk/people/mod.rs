//! Players: their settings, addresses and names, and the commands that need no seat.

pub mod addresses;
pub mod changes;
pub mod commands;
pub mod confirm;
pub mod leaving;
pub mod player_settings;
pub mod questions;
pub mod registry;
