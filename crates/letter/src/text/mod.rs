//! The text of letters: the cleaned lines of plain text and HTML, and words and patterns to find in them.

pub mod body;
pub mod clean;
pub mod html;
mod html_tag;
pub mod lines;
pub mod patterns;
pub mod printable;
pub mod words;
