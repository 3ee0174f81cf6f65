//! A match and its play: its stored data, and the changes that any cause may lead to.

pub mod adjudication;
pub mod deadline;
pub mod dispatch;
pub mod firm;
pub mod game_match;
pub mod kept;
pub mod opening;
pub mod overview;
pub mod past;
pub mod ruling;
mod snapshot;
pub mod substitute;
pub mod untold;
pub mod wording_news;
