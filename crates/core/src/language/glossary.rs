//! The English words that words of other languages mean, for what people ask about, by which our pages are searched.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::LANGUAGES;
use super::word::{fold, is_joined};
use crate::letter::split_words;

/// Minimum characters of a beginning in a glossary.
const MIN_BEGINNING: usize = 2;

/// A language's words for what people ask about.
#[derive(Default, Deserialize)]
#[serde(from = "BTreeMap<String, String>")]
pub struct Glossary {
    /// Words that show the language.
    shows: BTreeSet<String>,
    /// Stems that any letter about a match may hold.
    says_little: BTreeSet<String>,
    /// Whole words, each with the English words that it means.
    whole: BTreeMap<String, Vec<String>>,
    beginnings: BTreeMap<String, Vec<String>>,
    /// Words of a language without blanks between words.
    joined: Vec<(String, String)>,
}

impl From<BTreeMap<String, String>> for Glossary {
    fn from(entries: BTreeMap<String, String>) -> Self {
        let mut glossary = Glossary::default();
        for (english, words) in entries {
            words.split_whitespace().for_each(|word| glossary.add(&english, word));
        }
        glossary
    }
}

impl Glossary {
    /// Adds a word that means an English one.
    fn add(&mut self, english: &str, word: &str) {
        if word.contains(is_joined) {
            self.joined.push((word.to_owned(), english.to_owned()));
            return;
        }
        let folded = split_words(word).map(fold).collect::<String>();
        let list = match english {
            "shows" => return self.shows.extend([folded]),
            "says_little" => return self.says_little.extend([folded]),
            _ if word.ends_with('*') => &mut self.beginnings,
            _ => &mut self.whole,
        };
        list.entry(folded).or_default().push(english.to_owned());
    }

    fn meanings(&self, word: &str) -> impl Iterator<Item = &str> {
        let ends = word.char_indices().map(|(at, c)| at + c.len_utf8()).skip(MIN_BEGINNING - 1);
        let begun = ends.filter_map(|end| self.beginnings.get(&word[..end])).flatten();
        self.whole.get(word).into_iter().flatten().chain(begun).map(String::as_str)
    }

    /// Returns how many of the words show the language or are in the glossary.
    fn known(&self, words: &[String]) -> usize {
        words.iter().filter(|word| self.shows.contains(*word) || self.meanings(word).next().is_some()).count()
    }
}

/// The glossaries of the languages in which a letter may be written, that of English first.
pub struct Glossaries(Vec<&'static Glossary>);

impl Glossaries {
    /// Chooses the language that knows most of these words in the form of [`fold`], besides English.
    pub fn of(words: &[String]) -> Glossaries {
        let Some((english, others)) = LANGUAGES.split_first() else { return Glossaries(Vec::new()) };
        let is_english = are_english(words);
        let others = others.iter().map(|language| &language.glossary);
        let most = others.clone().map(|glossary| glossary.known(words)).max().unwrap_or_default();
        let alike = others.filter(|glossary| !is_english && glossary.known(words) == most);
        Glossaries(std::iter::once(&english.glossary).chain(alike).collect())
    }

    /// Whether a word only shows the language, such as French `pas`, which is no English `pass`.
    pub fn only_shows(&self, word: &str) -> bool {
        self.0.iter().skip(1).any(|glossary| glossary.shows.contains(word))
    }

    /// Returns the English words that a word means.
    pub fn meanings(&self, word: &str) -> Vec<&'static str> {
        self.0.iter().flat_map(|glossary| glossary.meanings(word)).collect()
    }
}

/// Whether one of the words stands in no letter but an English one.
pub fn are_english(words: &[String]) -> bool {
    LANGUAGES.first().is_some_and(|english| words.iter().any(|word| english.glossary.shows.contains(word)))
}

/// Whether any letter about a match may hold this English stem.
pub fn says_little(stem: &str) -> bool {
    LANGUAGES.first().is_some_and(|english| english.glossary.says_little.contains(stem))
}

/// Returns the English words for what a text without blanks mentions.
pub fn meanings_in(text: &str) -> Vec<&'static str> {
    let joined = LANGUAGES.iter().flat_map(|language| &language.glossary.joined);
    joined.filter(|(word, _)| text.contains(word)).map(|(_, english)| english.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let glossary = Glossaries::of(&words);
            let last = words.last().expect("a word");
            assert!(glossary.meanings(last).contains(&english), "{text}: {:?}", glossary.meanings(last));
        }
        assert!(meanings_in("塔の上に乗ることはできますか").contains(&"tower"));
    }

    #[test]
    fn a_word_of_another_language_means_nothing() {
        let words: Vec<String> = ["wie", "geht", "es", "dem", "hund"].map(str::to_owned).into();
        let glossary = Glossaries::of(&words);
        assert!(words.iter().all(|word| glossary.meanings(word).is_empty()));
    }
}
