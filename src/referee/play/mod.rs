//! A match and its play: what is stored of it, and what changes it whatever the cause is.

pub mod adjudication;
pub mod deadline;
pub mod dispatch;
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
