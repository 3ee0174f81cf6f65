//! Laws that every game obeys, tested by random play: properties of states, orders, records and letters. The matches
//! come from [`play`].

mod boards;
mod causes;
mod desk;
mod filings;
mod floods;
mod house;
mod letters;
mod play;
#[path = "../support/random.rs"]
mod random;
#[path = "../support/random_play/mod.rs"]
mod random_play;
mod records;
mod secrecy;
mod states;
