//! Load, decide, commit: the steps that turn waiting letters, and other causes, into changes.

pub mod attempts;
pub mod commit;
mod digest;
mod dkim;
mod gm_lists;
pub mod items;
pub mod load;
pub mod matches;
pub mod read;
pub mod rounds;
