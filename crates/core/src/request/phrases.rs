//! The words with which people clearly postpone or question the orders next to them, in twelve languages: the
//! table `words/postponing.txt`, which explains its own format.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use strum::{EnumString, VariantNames};

use crate::letter::split_words;

/// A section of the table, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Section {
    Postponing,
    Asking,
    Or,
    Postscripts,
    Closings,
}

/// A phrase of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SectionPhrase {
    words: Vec<&'static str>,
    /// Whether a sentence begins with it.
    begins: bool,
    /// Whether a clause ends with it.
    ends: bool,
    /// The phrase as a whole, in a language that does not separate words.
    unparted: Option<&'static str>,
}

impl SectionPhrase {
    fn of(text: &'static str) -> SectionPhrase {
        let (text, begins) = text.strip_prefix('^').map_or((text, false), |text| (text, true));
        let (text, ends) = text.strip_suffix('.').map_or((text, false), |text| (text, true));
        let text = text.trim();
        let unparted = text.chars().any(is_unparted).then_some(text);
        SectionPhrase { words: split_words(text).collect(), begins, ends, unparted }
    }
}

/// Whether a character belongs to a script that does not separate words.
fn is_unparted(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}')
}

/// The phrases of each section, grouped by their first word.
static TABLE: LazyLock<BTreeMap<Section, SectionPhrases>> = LazyLock::new(|| {
    let mut table: BTreeMap<Section, SectionPhrases> = BTreeMap::new();
    let mut section: Option<Section> = None;
    for line in include_str!("words/postponing.txt").lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name.parse().ok();
        } else if let (Some((_language, phrases)), Some(section)) = (line.split_once(": "), section)
            && !line.starts_with('#')
        {
            table.entry(section).or_default().add(phrases);
        }
    }
    table
});

#[derive(Debug, Default)]
struct SectionPhrases {
    by_first_word: BTreeMap<&'static str, Vec<SectionPhrase>>,
    unparted: Vec<&'static str>,
}

impl SectionPhrases {
    fn add(&mut self, phrases: &'static str) {
        for phrase in phrases.split(';').map(str::trim).filter(|phrase| !phrase.is_empty()) {
            let phrase = SectionPhrase::of(phrase);
            match phrase.unparted {
                Some(text) => self.unparted.push(text),
                None => self.by_first_word.entry(phrase.words[0]).or_default().push(phrase),
            }
        }
    }
}

/// A word of a text, in lower case.
#[derive(Clone, Debug)]
struct LowerWord {
    text: String,
    line: usize,
    begins_sentence: bool,
    ends_clause: bool,
    ends_sentence: bool,
}

/// The words of some lines that belong together.
pub struct Wording {
    words: Vec<LowerWord>,
    /// Each line in lower case, with its number.
    lines: Vec<(usize, String)>,
}

impl Wording {
    /// Reads lines that belong together, each with its number. A sentence may continue from one to the next.
    pub fn of<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Wording {
        let lines: Vec<(usize, String)> = lines.map(|(no, text)| (no, text.to_lowercase())).collect();
        let mut words: Vec<LowerWord> = Vec::new();
        for (line, text) in &lines {
            for (word, after) in words_with_gaps(text) {
                let begins_sentence = words.last().is_none_or(|before| before.ends_sentence);
                // The full stops of `P.S.` do not end a sentence.
                let is_abbreviated = word.chars().nth(1).is_none() && after.starts_with('.');
                let ends_sentence = !is_abbreviated && after.contains(['.', '!', '?', '…', ':']);
                let ends_clause = ends_sentence || after.contains([',', ';', '(', ')', '-', '"']);
                words.push(LowerWord {
                    text: word.to_owned(),
                    line: *line,
                    begins_sentence,
                    ends_clause,
                    ends_sentence,
                });
            }
        }
        if let Some(last) = words.last_mut() {
            (last.ends_clause, last.ends_sentence) = (true, true);
        }
        Wording { words, lines }
    }

    pub fn count(&self) -> usize {
        self.words.len()
    }

    /// Returns the number of the first line with a phrase of a section.
    pub fn find(&self, section: Section) -> Option<usize> {
        let parted = (0..self.words.len()).find(|at| self.has_phrase_at(section, *at));
        parted.map(|at| self.words[at].line).or_else(|| self.find_unparted(section))
    }

    /// Whether it begins with a phrase of a section.
    pub fn begins_with(&self, section: Section) -> bool {
        self.has_phrase_at(section, 0)
            || TABLE[&section].unparted.iter().any(|phrase| {
                self.lines.first().is_some_and(|(_, text)| text.trim_start().starts_with(phrase))
            })
    }

    /// Whether the last sentence begins with a phrase of a section.
    pub fn last_sentence_begins_with(&self, section: Section) -> bool {
        let begin = self.words.iter().rposition(|word| word.begins_sentence);
        begin.is_some_and(|at| self.has_phrase_at(section, at)) || self.find_unparted(section).is_some()
    }

    /// Whether a phrase of a section begins at a word.
    fn has_phrase_at(&self, section: Section, at: usize) -> bool {
        let Some(first) = self.words.get(at) else { return false };
        let candidates = TABLE[&section].by_first_word.get(first.text.as_str());
        candidates.is_some_and(|phrases| phrases.iter().any(|phrase| self.is_at(phrase, at)))
    }

    fn is_at(&self, phrase: &SectionPhrase, at: usize) -> bool {
        let Some(words) = self.words.get(at..at + phrase.words.len()) else { return false };
        let is_whole = words[..words.len() - 1].iter().all(|word| !word.ends_sentence);
        is_whole
            && words.iter().map(|word| word.text.as_str()).eq(phrase.words.iter().copied())
            && (!phrase.begins || words[0].begins_sentence)
            && (!phrase.ends || words[words.len() - 1].ends_clause)
    }

    fn find_unparted(&self, section: Section) -> Option<usize> {
        let has_any = |text: &str| TABLE[&section].unparted.iter().any(|phrase| text.contains(phrase));
        self.lines.iter().find(|(_, text)| has_any(text)).map(|(no, _)| *no)
    }
}

/// Returns the words of a text, each with the text between it and the next word.
fn words_with_gaps(text: &str) -> Vec<(&str, &str)> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let from = &rest[start..];
        let end = from.find(|c: char| !c.is_alphanumeric()).unwrap_or(from.len());
        let after = &from[end..];
        let gap = after.find(char::is_alphanumeric).unwrap_or(after.len());
        words.push((&from[..end], &after[..gap]));
        rest = after;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wording(text: &str) -> Wording {
        Wording::of((1..).zip(text.lines()))
    }

    #[test]
    fn every_section_has_a_line_for_each_language() {
        const LANGUAGES: [&str; 12] =
            ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "ru", "tr", "ja"];
        let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in include_str!("words/postponing.txt").lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix('[') {
                Some(name) => sections.push((name.trim_end_matches(']'), Vec::new())),
                None if line.is_empty() => {}
                None => {
                    let (language, phrases) = line.split_once(": ").expect("a language");
                    assert_eq!(phrases, phrases.to_lowercase());
                    sections.last_mut().expect("a section").1.push(language);
                }
            }
        }
        let names: Vec<&str> = sections.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, Section::VARIANTS);
        for (name, languages) in sections {
            assert_eq!(languages, LANGUAGES, "{name}");
        }
    }

    #[test]
    fn a_phrase_is_found_as_whole_words() {
        assert_eq!(wording("Hello\nthis is just\na draft, ok").find(Section::Postponing), Some(2));
        assert_eq!(wording("Not yet!").find(Section::Postponing), Some(1));
        assert_eq!(wording("I have not yet read it").find(Section::Postponing), None);
        assert_eq!(wording("これは下書きです").find(Section::Postponing), Some(1));
        assert_eq!(wording("a draftsman").find(Section::Postponing), None);
    }
}
