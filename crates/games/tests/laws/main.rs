//! Laws that every game obeys, tested by random play: properties of states, orders, records and boards.

mod boards;
mod filings;
mod house;
mod records;
mod sheets;
mod states;
