//! Makes what people wrote safe to quote in a letter.

use textwrap::WordSplitter;

/// Maximum characters quoted from a player's line: with its indentation and bullet, the quote stays under 70.
const MAX_QUOTED: usize = 60;

/// Makes a player's line safe to quote: spaces replace control characters, and an ellipsis replaces the end of a long
/// line.
pub fn shortened(text: &str) -> String {
    let mut rest = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut clean: String = rest.by_ref().take(MAX_QUOTED).collect();
    if rest.next().is_some() {
        clean.pop();
        clean.push('…');
    }
    clean
}

/// The lines of a person's text, wrapped for a quote. The template prefixes each, so that none can be taken for an
/// order.
pub fn wrapped(text: &str) -> Vec<String> {
    let options = || textwrap::Options::new(MAX_QUOTED).word_splitter(WordSplitter::NoHyphenation);
    let lines = text.lines().flat_map(|line| textwrap::wrap(line, options()));
    lines.map(|line| shortened(&line)).collect()
}
