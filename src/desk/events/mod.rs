//! Events: what is due in them, what their players and GMs ask for, and the letters that they send. The engine is
//! `club::events`; here its facts are written into the book, together with the matches and letters that follow.

pub mod acts;
pub mod book;
pub mod clock;
pub mod entering;
pub mod import;
pub mod letters;
pub mod people;
pub mod results;
pub mod shown;
