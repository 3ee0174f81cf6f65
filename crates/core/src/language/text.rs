//! The sentences of a letter.

use super::word::{Word, contraction, fold, is_mark, joined};
use crate::game::Line;

/// Maximum words of a letter that are searched for phrases.
const MAX_WORDS: usize = 400;

/// Maximum bytes of these words.
const MAX_BYTES: usize = 12_000;

/// Characters above which a line counts as wrapped, so that its sentence continues on the next one.
const WRAPPED: usize = 55;

/// A sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    pub words: Vec<Word>,
    /// The words between blanks, in lower case: dates keep their punctuation.
    pub raw: Vec<String>,
    pub is_question: bool,
}

impl Sentence {
    /// Returns its words without blanks, for languages that do not separate them.
    pub fn joined(&self) -> String {
        joined(&self.words)
    }
}

/// Splits lines into sentences. A short line ends one; a long line is wrapped.
pub fn sentences(lines: &[Line]) -> Vec<Sentence> {
    let mut found: Vec<Sentence> = Vec::new();
    let mut open = Sentence::default();
    let (mut count, mut left) = (0, MAX_BYTES);
    for (index, line) in lines.iter().enumerate() {
        if count >= MAX_WORDS || left == 0 {
            break;
        }
        let text = line.text.trim_end();
        let words: Vec<&str> = text.split_whitespace().take(MAX_WORDS).collect();
        let mut end = 0;
        for (place, raw) in words.iter().enumerate() {
            if count >= MAX_WORDS || left == 0 {
                break;
            }
            // Some languages write a whole line without a blank.
            let raw = &raw[..raw.floor_char_boundary(left)];
            left -= raw.len();
            let offset = end + text[end..].find(raw).unwrap_or(0);
            end = offset + raw.len();
            count += add_words(&mut open, raw, index, offset).max(1);
            let next = words.get(place + 1).and_then(|next| next.chars().next());
            if ends_sentence(raw, next) {
                open.is_question = raw.contains(['?', '？']);
                found.push(std::mem::take(&mut open));
            }
        }
        if text.chars().count() < WRAPPED || text.ends_with([':', ',']) {
            found.push(std::mem::take(&mut open));
        }
    }
    found.push(open);
    found.retain(|sentence| !sentence.words.is_empty());
    found
}

/// Adds the words between the punctuation of `raw`. Returns their number.
fn add_words(sentence: &mut Sentence, raw: &str, line: usize, offset: usize) -> usize {
    sentence.raw.push(raw.to_lowercase());
    let ends_word = |c: char| !c.is_alphanumeric() && !is_mark(c);
    let before = sentence.words.len();
    let mut at = offset;
    for piece in raw.split_inclusive(ends_word) {
        let word = piece.trim_end_matches(ends_word);
        let folded = fold(word);
        let end = at + word.len();
        if let Some((stem, rest)) = contraction(&folded) {
            sentence.words.extend([stem, rest].map(|part| Word::new(part.to_owned(), line, end)));
        } else if !folded.is_empty() {
            sentence.words.push(Word::new(folded, line, end));
        }
        at += piece.len();
    }
    sentence.words.len() - before
}

/// Whether `raw` is the last word of a sentence before a word that begins with `next`. A full stop after a
/// number does not end a sentence if the text continues in lower case or with a number: `20.12. bis 3.1.`
fn ends_sentence(raw: &str, next: Option<char>) -> bool {
    let bare = raw.trim_end_matches(['"', '\'', ')', '*', '_']);
    if bare.ends_with(['!', '?', ';', '。', '！', '？']) {
        return true;
    }
    let is_number = bare.trim_end_matches('.').ends_with(|c: char| c.is_ascii_digit());
    let goes_on = next.is_some_and(|next| {
        next.is_lowercase() || next.is_ascii_digit() || is_number && next.is_alphabetic()
    });
    bare.ends_with('.') && !goes_on
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(lines: &[&str]) -> Vec<String> {
        let join = |sentence: Sentence| {
            sentence.words.into_iter().map(|word| word.text).collect::<Vec<_>>().join(" ")
        };
        sentences(&Line::numbered(lines)).into_iter().map(join).collect()
    }

    #[test]
    fn sentences_end_at_points_but_not_at_dates() {
        assert_eq!(
            words(&["Bin vom 20.12. bis 3.1. im Urlaub. Bitte Frist verschieben!"]),
            ["bin vom 20 12 bis 3 1 im urlaub", "bitte frist verschieben"]
        );
        assert_eq!(words(&["I can't.", "G7?"]), ["i can t", "g7"]);
        assert_eq!(words(&["I cant."]), ["i can t"]);
    }

    #[test]
    fn a_long_line_is_wrapped_and_a_short_one_is_not() {
        let long = "my mother died on Saturday and I will not be able to play for";
        assert_eq!(words(&[long, "three weeks"]).len(), 1);
        assert_eq!(words(&["Hello", "three weeks"]).len(), 2);
    }
}
