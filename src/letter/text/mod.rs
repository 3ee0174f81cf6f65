//! The text of letters: its lines from plain text and HTML, cleaned, and the words and patterns to recognise in it.

pub mod body;
pub mod clean;
mod html;
mod html_tag;
pub mod lines;
pub mod order_form;
pub mod patterns;
pub mod printable;
pub mod words;
