//! The laws that every game obeys, tried by random play: what a state, an order, a record and a letter may be
//! trusted with. Each test is a sentence; the matches come from [`play`].

mod desk;
mod filings;
mod letters;
mod play;
mod records;
mod secrecy;
mod states;
