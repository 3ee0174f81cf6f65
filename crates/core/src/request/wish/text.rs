//! Sentences and words of a letter, in the form in which phrases are compared.

use crate::dialect::is_square;
use crate::game::Line;

/// Maximum words of a letter that are searched for phrases.
const MAX_WORDS: usize = 400;

/// Maximum bytes of these words.
const MAX_BYTES: usize = 12_000;

/// Characters above which a line counts as wrapped, so that its sentence continues on the next one.
const WRAPPED: usize = 55;

/// A word of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// In lower case, without accents.
    pub folded: String,
    pub beginning: Beginning,
    /// Index of its line, and the end of the word in it in bytes.
    pub line: usize,
    pub end: usize,
}

/// The first two characters of a word, as one of 128 numbers. Words that begin alike have the same number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beginning(u8);

impl Beginning {
    pub fn of(word: &str) -> Beginning {
        let number = word.chars().take(2).fold(0_u32, |number, c| (number * 31 + u32::from(c)) % 128);
        Beginning(u8::try_from(number).unwrap_or_default())
    }

    /// Returns the bit for it in a set of beginnings.
    pub fn bit(self) -> u128 {
        1 << self.0
    }
}

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
        self.words.iter().map(|word| word.folded.as_str()).collect()
    }

    /// Whether it names a square or a piece by a number, as in `A3` and `#4`.
    pub fn names_a_square(&self) -> bool {
        self.words.iter().any(|word| is_square(&word.folded))
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
        if !folded.is_empty() {
            let beginning = Beginning::of(&folded);
            sentence.words.push(Word { folded, beginning, line, end: at + word.len() });
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

/// Whether the character is a combining mark, which belongs to a word.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Returns a word in lower case and without accents.
pub fn fold(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for c in word.chars().flat_map(char::to_lowercase).filter(|c| !is_mark(*c)) {
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            _ => folded.push(unaccented(c)),
        }
    }
    folded
}

fn unaccented(c: char) -> char {
    match c {
        'á' | 'à' | 'â' | 'ä' | 'ã' | 'å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' | 'ĉ' => 'c',
        'ď' | 'đ' | 'ð' => 'd',
        'é' | 'è' | 'ê' | 'ë' | 'ē' | 'ě' | 'ę' | 'ė' => 'e',
        'ğ' | 'ģ' => 'g',
        'í' | 'ì' | 'î' | 'ï' | 'ī' | 'į' | 'ı' => 'i',
        'ĺ' | 'ľ' | 'ł' | 'ļ' => 'l',
        'ñ' | 'ń' | 'ň' | 'ņ' => 'n',
        'ó' | 'ò' | 'ô' | 'ö' | 'õ' | 'ø' | 'ō' | 'ő' => 'o',
        'ŕ' | 'ř' | 'ŗ' => 'r',
        'ś' | 'š' | 'ş' | 'ș' => 's',
        'ť' | 'ţ' | 'ț' => 't',
        'ú' | 'ù' | 'û' | 'ü' | 'ū' | 'ů' | 'ű' | 'ų' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ž' | 'ż' => 'z',
        'ё' => 'е',
        'й' => 'и',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(lines: &[&str]) -> Vec<String> {
        let join = |sentence: Sentence| {
            sentence.words.into_iter().map(|word| word.folded).collect::<Vec<_>>().join(" ")
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
    }

    #[test]
    fn a_long_line_is_wrapped_and_a_short_one_is_not() {
        let long = "my mother died on Saturday and I will not be able to play for";
        assert_eq!(words(&[long, "three weeks"]).len(), 1);
        assert_eq!(words(&["Hello", "three weeks"]).len(), 2);
    }

    #[test]
    fn words_are_compared_without_accents() {
        assert_eq!(fold("ÉLODIE"), "elodie");
        assert_eq!(fold("Größe"), "grosse");
        assert_eq!(fold("İstanbul"), "istanbul");
        assert_eq!(fold("Proszę"), "prosze");
    }
}
