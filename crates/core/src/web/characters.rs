//! The boards of a replay in characters.

/// All boards of a match in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBoards {
    pub steps: Vec<String>,
    /// The meaning of the characters.
    pub legend: String,
}

/// Writes the boards. The last text of each step shows everything.
pub fn write(steps: &[Vec<String>]) -> TextBoards {
    let last = |texts: &[String]| texts.last().map(String::as_str).unwrap_or_default().to_owned();
    let legend = steps.last().map(|texts| split(&last(texts)).1.unwrap_or_default().trim().to_owned());
    let written = steps.iter().map(|texts| without_empty_rows(split(&last(texts)).0)).collect();
    TextBoards { steps: written, legend: legend.unwrap_or_default() }
}

/// Splits the legend from a board.
fn split(text: &str) -> (&str, Option<&str>) {
    text.split_once("\n\n").map_or((text, None), |(board, legend)| (board, Some(legend)))
}

/// Drops lines without a letter, a digit or a dot, which only separate squares.
fn without_empty_rows(board: &str) -> String {
    let says = |line: &&str| line.contains(|c: char| c.is_alphanumeric() || c == '.');
    board.lines().filter(says).map(|line| line.trim_end().to_owned() + "\n").collect()
}
