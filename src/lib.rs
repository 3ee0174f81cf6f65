//! A referee for games played by letter.

pub mod audit;
pub mod cli;
pub mod config;
pub mod daemon;
pub mod game;
pub mod ledger;
pub mod letter;
pub mod post;
pub mod referee;
pub mod report;
pub mod request;
pub mod store;
