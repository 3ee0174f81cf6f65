//! The GMs' instructions, lists, digests and alarms.

pub mod accept;
pub mod agenda;
pub mod alarm;
pub mod announce;
pub mod digest;
pub mod in_words;
pub mod instructions;
pub mod letter;
pub mod lists;
pub mod restored;
pub mod rollback;
pub mod unseal;
pub mod without_letter;
