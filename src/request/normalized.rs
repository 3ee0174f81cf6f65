//! One line as it was meant: without bullets, numbering, emphasis, comments and stray punctuation.

use std::borrow::Cow;

use crate::letter::clean::latin;

/// A line of a letter, made ready to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalizedLine {
    /// Without what surrounds it; look-alike letters are Latin.
    pub plain: String,
    pub had_look_alikes: bool,
    /// As written, without bullets.
    raw: String,
}

impl NormalizedLine {
    pub fn of(line: &str) -> NormalizedLine {
        let raw = without_bullet(line.trim());
        let plain = without_emphasis(without_comment(raw)).trim_end_matches(is_stray).trim();
        let latin = latin(plain);
        NormalizedLine {
            had_look_alikes: latin.is_some(),
            plain: latin.unwrap_or_else(|| plain.to_owned()),
            raw: raw.to_owned(),
        }
    }

    pub fn is_empty(&self) -> bool {
        !self.plain.chars().any(char::is_alphanumeric)
    }

    /// The words, without the punctuation between them.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let edge = |c: char| matches!(c, ',' | ':' | ';' | '.' | '!' | '?' | '"' | '\'' | '(' | ')');
        self.plain.split_whitespace().map(move |word| word.trim_matches(edge)).filter(|word| !word.is_empty())
    }

    /// The pieces between semicolons.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        self.plain.split(';')
    }

    /// Whether the first word is in capitals, as commands are in our letters.
    pub fn shouts(&self) -> bool {
        self.words().next().is_some_and(|word| !word.chars().any(char::is_lowercase))
    }

    pub fn after_first_word(&self) -> &str {
        behind_first_word(&self.plain)
    }

    /// What stands behind the first word as written, comments and all.
    pub fn raw_after_first_word(&self) -> &str {
        behind_first_word(self.raw.trim_start_matches(['*', '_']))
    }
}

fn behind_first_word(text: &str) -> &str {
    let end = text.find(|c: char| c.is_whitespace() || c == ':').unwrap_or(text.len());
    text[end..].trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '*'))
}

/// Whether the line is `END`.
pub fn is_end(line: &str) -> bool {
    line.len() < 40
        && NormalizedLine::of(line).words().collect::<Vec<_>>().join(" ").eq_ignore_ascii_case("end")
}

/// A line as orders are written: punctuation between words is blanks, an arrow is `TO`.
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
        // Every board game takes a move from square to square with a hyphen.
        [from, to_word, to] if to_word.eq_ignore_ascii_case("to") && is_square(from) && is_square(to) => {
            format!("{from}-{to}")
        }
        _ => words.join(" "),
    }
}

fn is_square(word: &str) -> bool {
    let mut chars = word.chars();
    let digits = word.len().saturating_sub(1);
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && (1..=2).contains(&digits)
        && chars.all(|c| c.is_ascii_digit())
}

/// Without `- `, `* `, `• `, `1. `, `2) `, `(3) `, `a) ` at the beginning.
fn without_bullet(line: &str) -> &str {
    let mut rest = line;
    // A list in a list has two.
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
    let behind = if digits > 0 { rest.strip_prefix(['.', ')', ':']) } else { rest.strip_prefix(')') }?;
    let behind = behind.strip_prefix(')').unwrap_or(behind);
    behind.starts_with(char::is_whitespace).then(|| behind.trim_start())
}

/// Without `# …`; but `SHIP #1` is ship 1.
fn without_comment(line: &str) -> &str {
    let numbered = |at: usize| {
        line[at + 1..].starts_with(|c: char| c.is_ascii_digit())
            && !line[..at].trim().is_empty()
            && line[..at].trim().chars().all(char::is_alphabetic)
    };
    match line.match_indices('#').find(|(at, _)| !numbered(*at)) {
        Some((at, _)) => line[..at].trim_end(),
        None => line,
    }
}

/// Without `*bold*`, `_underlined_`, quotation marks or brackets all round; a client may leave one half of them on
/// the line.
fn without_emphasis(line: &str) -> &str {
    let mut rest = line;
    for _ in 0..4 {
        let first = rest.chars().next();
        let after = match first {
            Some('*' | '_' | '`' | '"' | '\'' | '[' | '<' | '(') => rest[1..].trim_start(),
            _ => break,
        };
        rest = after;
    }
    let opened = rest.len() < line.len();
    // `C4*` is a star of Quad; a word before it says that it is none.
    let verb = rest.chars().take_while(char::is_ascii_alphabetic).count() >= 3;
    if opened || verb {
        let trimmed = rest.trim_end_matches(['*', '_', '`', '"', '\'', ']', '>', ')', '.', ',', ' ']);
        // A star that belongs to the last of several pieces stays.
        if opened || !trimmed.contains('*') { trimmed } else { rest }
    } else {
        rest
    }
}

fn is_stray(c: char) -> bool {
    c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':' | '!' | '?')
}
