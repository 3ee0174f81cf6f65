//! Opening matches, holding their seats, and acts on them.

pub mod acts;
pub mod applicants;
pub mod challenge;
pub mod holders;
pub mod meeting;
pub mod membership;
pub mod offers;
pub mod openings;
pub mod player_names;
pub mod rematch;
pub mod seats;
pub mod substitute;
pub mod taking;
