//! The daemon: letters come in, are ruled on and answered; deadlines are enforced; mail goes out.
//!
//! `loops/` wait and back off. Each batch of `items` is loaded (`load/`), decided in [`crate::desk`], which
//! awaits nothing and knows no database, and committed. The rules of play are in [`crate::referee`].

pub mod audit;
pub mod away;
pub mod clock;
mod commit;
pub mod events;
mod heartbeat;
pub mod house;
pub mod instruct;
pub mod intake;
pub mod items;
pub mod load;
pub mod loops;
mod office;
pub mod ratings;
mod restored;
mod rulings;
pub mod screen;
pub mod sending;
pub mod site;
pub mod status;
pub mod suspects;
mod waiting;

pub use crate::config::GmIndex;
pub use crate::desk::frame::club::{FaultInjection, Moment};
pub use crate::desk::gm::unseal::Unseal;
pub use crate::desk::matches::applicants::{APPLICANT, Applicant};
pub use crate::desk::matches::openings::{Holder, NEW_NEEDS_ADDRESS, NamedAddress, NewMatch, WrittenHolder};
pub use crate::desk::matches::player_names::{fit_name, plus_address};
pub use intake::copies::{new_letter, with_new_text};
pub use intake::old::{count_unknown, is_before};
pub use items::{DueMatches, Settled};
pub use office::{Clock, Office, templates};
