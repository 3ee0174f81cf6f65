#![doc = include_str!("../README.md")]

pub use fogpost_games::{game, house, render};
pub use fogpost_letter as letter;

pub mod audit;
pub mod club;
pub mod dialect;
pub mod language;
pub mod ledger;
pub mod referee;
pub mod report;
pub mod request;
pub mod web;
pub mod zone;
