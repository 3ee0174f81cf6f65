//! The English words that words of other languages mean, for what people ask about: the table `glossary.txt`, which
//! explains its own format.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::language::fold;
use crate::letter::split_words;

/// The entry with words that show the language.
const SHOWS: &str = "-";

/// Minimum characters of a beginning in the table.
const MIN_BEGINNING: usize = 2;

/// The words of a language.
#[derive(Default)]
struct Words {
    /// Words that show the language.
    shows: BTreeSet<String>,
    /// Whole words, each with the English words that it means.
    whole: BTreeMap<String, Vec<&'static str>>,
    beginnings: BTreeMap<String, Vec<&'static str>>,
    /// Words of a language without blanks between words.
    joined: Vec<(&'static str, &'static str)>,
}

/// The sections of the table, English first.
static SECTIONS: LazyLock<Vec<Words>> = LazyLock::new(|| {
    let lines = include_str!("glossary.txt").lines().filter(|line| !line.starts_with('#'));
    let text: &'static str = lines.collect::<Vec<_>>().join(" ").leak();
    let sections = text.split(']').skip(1).map(|section| {
        let mut words = Words::default();
        section.split('[').next().unwrap_or_default().split(';').for_each(|entry| words.add(entry));
        words
    });
    sections.collect()
});

impl Words {
    /// Adds an English word, and the words after it that mean it.
    fn add(&mut self, entry: &'static str) {
        let mut words = entry.split_whitespace();
        let Some(english) = words.next() else { return };
        for word in words {
            if word.contains(is_joined) {
                self.joined.push((word, english));
                continue;
            }
            let folded = split_words(word).map(fold).collect::<String>();
            if english == SHOWS {
                self.shows.insert(folded);
                continue;
            }
            let list = if word.ends_with('*') { &mut self.beginnings } else { &mut self.whole };
            list.entry(folded).or_default().push(english);
        }
    }

    fn meanings(&self, word: &str) -> impl Iterator<Item = &'static str> {
        let ends = word.char_indices().map(|(at, c)| at + c.len_utf8()).skip(MIN_BEGINNING - 1);
        let begun = ends.filter_map(|end| self.beginnings.get(&word[..end])).flatten();
        self.whole.get(word).into_iter().flatten().chain(begun).copied()
    }

    /// Returns how many of the words show the language or are in the table.
    fn known(&self, words: &[String]) -> usize {
        words.iter().filter(|word| self.shows.contains(*word) || self.meanings(word).next().is_some()).count()
    }
}

/// Whether a character belongs to a script that does not separate words.
pub(super) fn is_joined(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// The words of the languages in which a letter may be written.
pub(super) struct Glossary(Vec<&'static Words>);

impl Glossary {
    /// Chooses the language that knows most of these words in the form of [`fold`], besides English.
    pub(super) fn of(words: &[String], is_english: bool) -> Glossary {
        let Some((english, others)) = SECTIONS.split_first() else { return Glossary(Vec::new()) };
        let most = others.iter().map(|section| section.known(words)).max().unwrap_or_default();
        let alike = others.iter().filter(|section| !is_english && section.known(words) == most);
        Glossary(std::iter::once(english).chain(alike).collect())
    }

    /// Whether a word only shows the language, such as French `pas`, which is no English `pass`.
    pub(super) fn only_shows(&self, word: &str) -> bool {
        self.0.iter().skip(1).any(|section| section.shows.contains(word))
    }

    /// Returns the English words that a word means.
    pub(super) fn meanings(&self, word: &str) -> Vec<&'static str> {
        self.0.iter().flat_map(|section| section.meanings(word)).collect()
    }
}

/// Returns the English words for what a text without blanks mentions.
pub(super) fn meanings_in(text: &str) -> Vec<&'static str> {
    let joined = SECTIONS.iter().flat_map(|section| &section.joined);
    joined.filter(|(word, _)| text.contains(word)).map(|(_, english)| *english).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_section() {
        for code in crate::language::codes() {
            assert!(include_str!("glossary.txt").contains(&format!("\n[{code}]\n")), "{code}");
        }
    }

    #[test]
    fn words_of_many_languages_mean_english_ones() {
        for (text, english) in [
            ("die schiffen", "ship"),
            ("deux navires", "ship"),
            ("mon sousmarin", "submarine"),
            ("корабли", "ship"),
            ("kulelerin", "tower"),
        ] {
            let words: Vec<String> = text.split(' ').map(fold).collect();
            let glossary = Glossary::of(&words, false);
            let last = words.last().expect("a word");
            assert!(glossary.meanings(last).contains(&english), "{text}: {:?}", glossary.meanings(last));
        }
        assert!(meanings_in("塔の上に乗ることはできますか").contains(&"tower"));
    }

    #[test]
    fn a_word_of_another_language_means_nothing() {
        let words: Vec<String> = ["wie", "geht", "es", "dem", "hund"].map(str::to_owned).into();
        let glossary = Glossary::of(&words, false);
        assert!(words.iter().all(|word| glossary.meanings(word).is_empty()));
    }
}
