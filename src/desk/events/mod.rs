//! Events: their due steps, the commands of players and GMs, and their letters. The engine is `club::events`;
//! this module writes its facts into the book, together with the matches and letters that follow.

pub mod acts;
pub mod book;
pub mod clock;
pub mod entering;
pub mod import;
pub mod in_words;
pub mod letters;
pub mod people;
pub mod results;
pub mod shown;
