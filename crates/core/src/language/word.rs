//! Words of a letter, in the form in which phrases are compared.

use crate::letter::split_words;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// As its phrases are compared: in lower case, and [folded](fold) or as it was written.
    pub text: String,
    pub beginning: Beginning,
    /// Index of its line, and the end of the word in it in bytes.
    pub line: usize,
    pub end: usize,
    pub edges: Edges,
}

/// The ends of sentences and clauses beside a word, where phrases ask for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    pub begins_sentence: bool,
    pub ends_clause: bool,
    pub ends_sentence: bool,
}

impl Word {
    pub fn new(text: String, line: usize, end: usize) -> Word {
        Word { beginning: Beginning::of(&text), text, line, end, edges: Edges::default() }
    }
}

/// The first two characters of a word, as one of 128 numbers. Words that begin alike have the same number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
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

/// Returns words without blanks between them, for languages that do not separate them.
pub fn joined(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect()
}

/// Returns the folded words of a text. An English contraction that lacks its apostrophe is split as if it had one.
pub fn folded_words(text: &str) -> impl Iterator<Item = String> {
    split_words(text).map(fold).flat_map(|word| {
        let parts = match contraction(&word) {
            Some((stem, end)) => [Some(stem.to_owned()), Some(end.to_owned())],
            None => [Some(word), None],
        };
        parts.into_iter().flatten()
    })
}

/// Returns the parts of a folded English contraction that its author wrote without the apostrophe: `dont`, `whats`.
pub fn contraction(word: &str) -> Option<(&str, &str)> {
    const ENDS: [(&str, &[&str]); 3] = [
        (
            "t",
            &[
                "don", "can", "won", "didn", "doesn", "isn", "aren", "wasn", "weren", "couldn", "wouldn",
                "shouldn", "haven", "hasn", "hadn",
            ],
        ),
        ("s", &["what", "who", "that", "how", "where", "let"]),
        ("ve", &["i"]),
    ];
    ENDS.iter().find_map(|(end, stems)| {
        let stem = word.strip_suffix(end)?;
        stems.contains(&stem).then_some((stem, *end))
    })
}

/// Returns a phrase with one blank between its words, as sentences are compared.
pub fn single_blanks(text: &str) -> String {
    split_words(text).map(fold).collect::<Vec<_>>().join(" ")
}

/// Whether the character belongs to a script that does not separate words: kana and Chinese characters.
pub fn is_joined(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Whether the character is a combining mark, which belongs to a word.
pub fn is_mark(c: char) -> bool {
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

    #[test]
    fn a_contraction_needs_no_apostrophe() {
        let words = |text: &str| folded_words(text).collect::<Vec<_>>();
        assert_eq!(words("I dont know whats up"), words("I don't know what's up"));
        assert_eq!(words("want its count"), ["want", "its", "count"]);
    }

    #[test]
    fn words_are_compared_without_accents() {
        assert_eq!(fold("ÉLODIE"), "elodie");
        assert_eq!(fold("Größe"), "grosse");
        assert_eq!(fold("İstanbul"), "istanbul");
        assert_eq!(fold("Proszę"), "prosze");
    }
}
