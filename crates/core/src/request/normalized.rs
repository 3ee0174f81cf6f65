//! Normalises a line for reading: removes bullets, numbering, emphasis, comments and stray punctuation.

use std::borrow::Cow;

use crate::letter::clean::latin;

/// A line of a letter, ready to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalizedLine {
    /// The line without decoration; look-alike letters are replaced by Latin ones.
    pub plain: String,
    /// Like `plain`, with look-alike letters as they are.
    undecorated: String,
    /// As written, without bullets.
    raw: String,
    /// The bullet, number or emphasis that was removed from the start.
    bullet: String,
    /// Whether capitals mark a command. They do not in a letter that is wholly in capitals.
    capitals_mark: bool,
}

impl NormalizedLine {
    pub fn of(line: &str) -> NormalizedLine {
        let raw = without_bullet(line.trim());
        let plain = without_emphasis(without_comment(raw)).trim_end_matches(is_stray).trim();
        NormalizedLine {
            plain: latin(plain).unwrap_or_else(|| plain.to_owned()),
            undecorated: plain.to_owned(),
            raw: raw.to_owned(),
            bullet: line.find(plain).map_or("", |at| line[..at].trim()).to_owned(),
            capitals_mark: true,
        }
    }

    /// Returns the line as read in its letter. `capitals_mark` says whether capitals mark a command there.
    pub fn in_letter(self, capitals_mark: bool) -> NormalizedLine {
        NormalizedLine { capitals_mark, ..self }
    }

    /// Returns the line as written, without a comment at its end.
    pub fn uncommented(&self) -> &str {
        without_comment(&self.raw).trim_end()
    }

    /// Whether a question mark ends the line.
    pub fn is_asked(&self) -> bool {
        self.uncommented().ends_with(['?', '？'])
    }

    pub fn bullet(&self) -> &str {
        &self.bullet
    }

    pub fn is_empty(&self) -> bool {
        !self.plain.chars().any(char::is_alphanumeric)
    }

    /// Returns the words, without the punctuation around them.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        words_of(&self.plain)
    }

    /// Returns the words with look-alike letters as they are: in an address every letter counts.
    pub fn words_as_written(&self) -> impl Iterator<Item = &str> {
        words_of(&self.undecorated)
    }

    /// Returns the line with look-alike letters as they are.
    pub fn as_written(&self) -> &str {
        &self.undecorated
    }

    /// Returns the pieces between semicolons.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        self.plain.split(';')
    }

    /// Whether the first word is in capitals, as commands are in our letters, and that marks a command.
    pub fn starts_in_capitals(&self) -> bool {
        self.capitals_mark && self.words().next().is_some_and(|word| !word.chars().any(char::is_lowercase))
    }

    pub fn after_first_word(&self) -> &str {
        after_first_word(&self.plain)
    }

    /// Returns the text after the first word as written, with comments.
    pub fn raw_after_first_word(&self) -> &str {
        after_first_word(self.raw.trim_start_matches(['*', '_']))
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    const PUNCTUATION: [char; 10] = [',', ':', ';', '.', '!', '?', '"', '\'', '(', ')'];
    let words = text.split_whitespace().map(|word| word.trim_matches(PUNCTUATION));
    words.filter(|word| !word.is_empty())
}

fn after_first_word(text: &str) -> &str {
    let end = text.find(|c: char| c.is_whitespace() || c == ':').unwrap_or(text.len());
    text[end..].trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '*'))
}

/// Whether the line is `END`.
pub fn is_end(line: &str) -> bool {
    line.len() < 40
        && NormalizedLine::of(line).words().collect::<Vec<_>>().join(" ").eq_ignore_ascii_case("end")
}

/// Returns the line in the form of an order, with blanks in place of punctuation between words, and `TO` in
/// place of an arrow.
pub fn as_order(line: &str) -> String {
    let mut arrows = Cow::Borrowed(line);
    if line.contains('>') {
        arrows =
            line.replace("-->", "->").replace("=>", "->").replace("->", " TO ").replace('>', " TO ").into();
    }
    let words: Vec<&str> = arrows
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';'))
        .map(|word| word.trim_end_matches(['.', '!', '?']))
        .filter(|word| !word.is_empty() && *word != "*")
        .collect();
    match words[..] {
        // All games accept a hyphen in a move from square to square, but not all accept `TO`.
        [from, to_word, to] if to_word.eq_ignore_ascii_case("to") && is_square(from) && is_square(to) => {
            format!("{from}-{to}")
        }
        _ => words.join(" "),
    }
}

/// Whether the list contains the word, ignoring case.
pub fn is_any_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|listed| word.eq_ignore_ascii_case(listed))
}

/// Whether the word is a letter and one or two digits.
pub fn is_square(word: &str) -> bool {
    let mut chars = word.chars();
    let digits = word.len().saturating_sub(1);
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && (1..=2).contains(&digits)
        && chars.all(|c| c.is_ascii_digit())
}

/// Removes `- `, `* `, `• `, `1. `, `2) `, `(3) ` or `a) ` at the start.
fn without_bullet(line: &str) -> &str {
    let mut rest = line;
    // A nested list has several bullets.
    for _ in 0..3 {
        let bullet = rest.trim_start_matches([
            '-', '*', '+', '•', '·', '◦', '▪', '▫', '■', '□', '●', '○', '‣', '⁃', '→', '~',
        ]);
        let bulleted = bullet.len() < rest.len()
            && (bullet.starts_with(char::is_whitespace) || !rest.starts_with(['-', '*', '+', '~']));
        let after = if bulleted { Some(bullet) } else { without_number(rest) };
        match after {
            Some(after) if !after.trim().is_empty() => rest = after.trim_start(),
            _ => break,
        }
    }
    rest
}

fn without_number(line: &str) -> Option<&str> {
    let inner = line.strip_prefix('(').unwrap_or(line);
    let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
    let letter = usize::from(digits == 0 && inner.starts_with(|c: char| c.is_ascii_lowercase()));
    if digits > 2 || digits + letter == 0 {
        return None;
    }
    let rest = &inner[digits + letter..];
    let rest = if digits > 0 { rest.strip_prefix(['.', ')', ':']) } else { rest.strip_prefix(')') }?;
    let rest = rest.strip_prefix(')').unwrap_or(rest);
    rest.starts_with(char::is_whitespace).then(|| rest.trim_start())
}

/// Removes a comment `# …`, but keeps the `#` of `SHIP #1`, which is ship 1.
pub fn without_comment(line: &str) -> &str {
    match line.match_indices('#').find(|(at, _)| !is_number_sign(line, *at)) {
        Some((at, _)) => line[..at].trim_end(),
        None => line,
    }
}

/// Whether the `#` at `at` is between a word and a number.
fn is_number_sign(line: &str, at: usize) -> bool {
    let before = line[..at].trim();
    line[at + 1..].starts_with(|c: char| c.is_ascii_digit())
        && !before.is_empty()
        && before.chars().all(char::is_alphabetic)
}

/// Removes `*bold*`, `_underlined_`, quotation marks and brackets around the line. Wrapping may have left
/// only one half of them.
fn without_emphasis(line: &str) -> &str {
    let mut rest = line;
    for _ in 0..4 {
        match rest.chars().next() {
            Some('*' | '_' | '`' | '"' | '\'' | '[' | '<' | '(') => rest = rest[1..].trim_start(),
            _ => break,
        }
    }
    let opened = rest.len() < line.len();
    // `C4*` is a star in Quad, but a line that starts with a word cannot be one.
    let starts_with_word = rest.chars().take_while(char::is_ascii_alphabetic).count() >= 3;
    if opened || starts_with_word {
        let trimmed = rest.trim_end_matches(['*', '_', '`', '"', '\'', ']', '>', ')', '.', ',', ' ']);
        // Keep a star that belongs to the last of several pieces.
        if opened || !trimmed.contains('*') { trimmed } else { rest }
    } else {
        rest
    }
}

fn is_stray(c: char) -> bool {
    c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':' | '!' | '?')
}
