//! The boards of a replay in characters.

/// Splits the legend from a board.
pub fn split(text: &str) -> (&str, &str) {
    text.split_once("\n\n").unwrap_or((text, ""))
}

/// Returns a board without its legend and without lines that only separate squares: those without a letter, a digit or a
/// dot.
pub fn short(text: &str) -> String {
    let says = |line: &&str| line.contains(|c: char| c.is_alphanumeric() || c == '.');
    split(text).0.lines().filter(says).map(|line| line.trim_end().to_owned() + "\n").collect()
}
