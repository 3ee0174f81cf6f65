//! The languages in which people write: a file for each in `words/`, with all that it brings, and the phrases that
//! its lists are made of.
//!
//! A new language is a new file and its line in the list below; see "How to add a language" in docs/architecture.md.

use std::collections::BTreeSet;
use std::sync::LazyLock;

mod glossary;
mod phrases;
mod table;
mod text;
mod word;

pub use glossary::{Glossaries, are_english, meanings_in, says_little};
pub use phrases::{Phrases, WordSet, longest_phrase};
pub use table::{Answers, GmWords, Language, OrderWords, Section, TimeWords, Topic};
pub use text::{Sentence, sentences};
pub use word::{Edges, Word, contraction, fold, folded_words, is_joined, single_blanks};

macro_rules! languages {
    ($($code:literal)+) => {
        /// The codes of the languages by ISO 639-1, each with its file.
        const FILES: &[(&str, &str)] = &[$(($code, include_str!(concat!("words/", $code, ".toml")))),+];
    };
}

// The one list of the languages. If a word means something in several, the first counts; English is the first.
languages! {
    "en"
    "de"
    "fr"
    "es"
    "it"
    "pt"
    "nl"
    "pl"
    "cs"
    "ru"
    "tr"
    "ja"
    "sv"
}

/// All languages, in the order of the list. A word that means yes in one and no in another means neither.
pub static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let read = |text: &str| toml::from_str::<Language>(text).expect("a test reads each file");
    let mut languages: Vec<Language> = FILES.iter().map(|(_, text)| read(text)).collect();
    let all = |of: fn(&Language) -> &WordSet| -> BTreeSet<String> {
        languages.iter().flat_map(|language| of(language).iter().cloned()).collect()
    };
    let (yes, no) = (all(|language| &language.answers.yes), all(|language| &language.answers.no));
    for Language { answers, .. } in &mut languages {
        answers.yes.remove_all(&no);
        answers.no.remove_all(&yes);
    }
    languages
});

/// Returns the codes of the languages.
pub fn codes() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(code, _)| *code)
}

/// Whether a word is in a list of one of the languages.
pub fn any_has(word: &str, list: impl Fn(&Language) -> &WordSet) -> bool {
    LANGUAGES.iter().any(|language| list(language).contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Tables = toml::Table;

    fn tables(text: &str) -> Tables {
        toml::from_str(text).expect("a file of tables")
    }

    #[test]
    fn every_file_is_read_and_has_the_subjects_of_the_first() {
        for (code, text) in FILES {
            let language: Language = toml::from_str(text).unwrap_or_else(|error| panic!("{code}: {error}"));
            assert!(language.about.keys().eq(LANGUAGES[0].about.keys()), "{code} lacks a word of [about]");
            let lists = tables(text);
            for (name, count) in [("months", 12), ("weekdays", 7)] {
                assert_eq!(lists["words"][name].as_array().expect("a list").len(), count, "{code}: {name}");
            }
        }
        assert_eq!(LANGUAGES.len(), FILES.len());
    }

    #[test]
    fn every_list_is_in_lower_case_and_the_phrases_of_wishes_without_punctuation() {
        for (code, text) in FILES {
            for (section, lists) in tables(text) {
                let lists = lists.as_table().into_iter().flatten();
                for (list, phrases) in lists.filter_map(|(name, list)| Some((name, list.as_array()?))) {
                    for phrase in phrases.iter().filter_map(toml::Value::as_str) {
                        // English I names no file, and i is one.
                        let is_lower = phrase == phrase.to_lowercase() || list == "letters";
                        assert!(is_lower, "{code}: [{section}] {list}: {phrase}");
                        let bare = phrase.replace([' ', '*', '…', '、'], "");
                        assert!(!bare.is_empty(), "{code}: [{section}] {list}");
                        let is_plain = bare.chars().all(char::is_alphanumeric);
                        assert!(section != "wishes" || is_plain, "{code}: {phrase} has punctuation");
                    }
                }
            }
        }
    }

    /// Without any of its sections or lists, a file is refused, and the error names what is missing.
    #[test]
    fn a_language_that_lacks_a_section_or_a_list_is_refused() {
        for (code, text) in FILES {
            let whole = tables(text);
            let missing = |name: &str, without: &Tables| {
                let error = match toml::from_str::<Language>(&toml::to_string(without).expect("tables")) {
                    Err(error) => error.to_string(),
                    Ok(_) => panic!("{code}: {name} may be missing"),
                };
                assert!(error.contains(&format!("missing field `{name}`")), "{code}: {name}: {error}");
            };
            for (section, lists) in whole.iter().filter(|(_, lists)| lists.is_table()) {
                let mut without = whole.clone();
                without.remove(section);
                missing(section, &without);
                // The words of the rules are compared with those of English.
                let lists = lists
                    .as_table()
                    .into_iter()
                    .flatten()
                    .filter(|_| !["about", "glossary"].contains(&section.as_str()));
                for (list, _) in lists.filter(|(list, _)| *list != "letters") {
                    let mut without = whole.clone();
                    without[section].as_table_mut().expect("a section").remove(list);
                    missing(list, &without);
                }
            }
        }
    }

    #[test]
    fn no_word_means_yes_in_one_language_and_no_in_another() {
        let yes: BTreeSet<&String> =
            LANGUAGES.iter().flat_map(|language| language.answers.yes.iter()).collect();
        let no: BTreeSet<&String> =
            LANGUAGES.iter().flat_map(|language| language.answers.no.iter()).collect();
        assert_eq!(yes.intersection(&no).collect::<Vec<_>>(), Vec::<&&String>::new());
        // Polish "no" is a yes, German "nie" is never and Polish "nie" is no.
        for word in ["no", "nie"] {
            assert!(!yes.contains(&word.to_owned()) && !no.contains(&word.to_owned()), "{word}");
        }
        for language in LANGUAGES.iter() {
            assert!(language.answers.yes.iter().count() > 8 && language.answers.no.iter().count() > 4);
            for other in LANGUAGES.iter() {
                let shared: Vec<_> =
                    language.answers.yes.iter().filter(|word| other.words.not.contains(word)).collect();
                assert!(shared.is_empty(), "{shared:?}");
            }
        }
    }
}
