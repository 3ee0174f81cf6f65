//! Players: their settings, addresses and names, and the commands that need no seat.

pub mod addresses;
pub mod changes;
pub mod commands;
pub mod confirm;
pub mod finding;
pub mod leaving;
pub mod meeting_others;
pub mod player_settings;
pub mod proof;
pub mod questions;
pub mod registry;
