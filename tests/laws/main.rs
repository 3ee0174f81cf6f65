//! Laws that every game obeys, tested by random play: properties of states, orders, records and letters. The matches
//! come from [`play`].

mod boards;
mod causes;
mod floods;
mod letters;
mod referee;
mod secrecy;
