//! Quotes in letters: our own letters, the frames that introduce other quotes, and the new text between them.

pub mod banner;
pub mod changed;
pub mod frame;
pub mod frame_line;
pub mod introduction;
pub mod new_text;
pub mod own_letter;
pub mod scanner;
