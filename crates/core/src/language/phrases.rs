//! Phrases, and where words of a letter match them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde::{Deserialize, Deserializer};

use super::word::{Beginning, Word, fold, is_joined, joined, single_blanks};
use crate::letter::split_words;

/// Maximum words in a gap.
const MAX_GAP: usize = 4;

/// A piece of a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Word(String),
    /// The beginning of a word.
    Stem(String),
    /// Up to [`MAX_GAP`] words.
    Gap,
}

/// A phrase of words that blanks separate.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Phrase {
    pieces: Vec<Piece>,
    /// Whether a sentence begins with it.
    begins: bool,
    /// Whether a clause ends with it.
    ends: bool,
}

/// Whether the words of a list are compared without accents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Folded,
    Written,
}

/// A list of phrases. One in a script that does not separate words is found anywhere in a sentence.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct Phrases {
    joined: Vec<String>,
    /// By the beginnings of their first words.
    separated: BTreeMap<Beginning, Vec<Phrase>>,
    /// A bit set of the beginnings of all phrases. Most words begin none, which saves comparing them with
    /// thousands.
    beginnings: u128,
}

/// Words or whole phrases, compared as by [`single_blanks`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct WordSet(BTreeSet<String>);

impl From<Vec<String>> for Phrases {
    fn from(list: Vec<String>) -> Self {
        Phrases::of(&list, Spelling::Folded)
    }
}

/// Reads a list whose accents count: `è` asks, and `e` does not.
pub(super) fn as_written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Phrases, D::Error> {
    Ok(Phrases::of(&Vec::<String>::deserialize(deserializer)?, Spelling::Written))
}

impl Phrases {
    fn of(list: &[String], spelling: Spelling) -> Phrases {
        let mut phrases = Phrases::default();
        for text in list {
            if text.contains(is_joined) {
                phrases.joined.push(match spelling {
                    Spelling::Folded => single_blanks(text).replace(' ', ""),
                    Spelling::Written => text.clone(),
                });
            } else {
                let phrase = Phrase::new(text, spelling);
                if let Some(beginning) = phrase.beginning() {
                    phrases.beginnings |= beginning.bit();
                    phrases.separated.entry(beginning).or_default().push(phrase);
                }
            }
        }
        phrases
    }

    pub fn is_empty(&self) -> bool {
        self.joined.is_empty() && self.separated.is_empty()
    }

    /// Whether one of the phrases may occur among words with these beginnings.
    pub fn may_be_among(&self, beginnings: u128) -> bool {
        self.beginnings & beginnings != 0 || !self.joined.is_empty()
    }

    /// Whether a phrase is in a sentence.
    pub fn any_in(&self, sentence: &[Word]) -> bool {
        self.any_where(sentence, |_| true)
    }

    /// Whether a sentence contains a phrase that begins at a word whose index satisfies the condition. A
    /// phrase in a script that does not separate words counts as beginning with the sentence.
    pub fn any_where(&self, sentence: &[Word], is_meant: impl Fn(usize) -> bool) -> bool {
        let has_joined = || {
            let is_foreign = sentence.iter().any(|word| !word.text.is_ascii());
            is_foreign && is_meant(0) && self.any_joined_in(&joined(sentence))
        };
        !self.joined.is_empty() && has_joined()
            || (0..sentence.len()).any(|start| self.begins_at(sentence, start) && is_meant(start))
    }

    /// Whether a word alone is one of the phrases.
    pub fn contains(&self, word: &str) -> bool {
        self.begins_at(&[Word::new(word.to_owned(), 0, 0)], 0)
    }

    /// Whether these words are one of the phrases as a whole, without stems.
    pub fn is_phrase(&self, words: &[&str]) -> bool {
        let is_whole = |phrase: &Phrase| {
            let pieces = phrase.pieces.iter().zip(words);
            phrase.pieces.len() == words.len()
                && pieces.into_iter().all(|(piece, word)| matches!(piece, Piece::Word(text) if text == word))
        };
        self.separated.values().flatten().any(is_whole)
    }

    /// Whether a phrase of words begins at this one.
    pub fn begins_at(&self, words: &[Word], start: usize) -> bool {
        let Some(first) = words.get(start).filter(|word| self.beginnings & word.beginning.bit() != 0) else {
            return false;
        };
        let alike = self.separated.get(&first.beginning);
        alike.is_some_and(|phrases| phrases.iter().any(|phrase| phrase.begins(&words[start..])))
    }

    /// Whether a text contains a phrase in a script that does not separate words.
    pub fn any_joined_in(&self, text: &str) -> bool {
        self.joined.iter().any(|phrase| text.contains(phrase.as_str()))
    }

    /// Whether a text begins with such a phrase.
    pub fn any_joined_begins(&self, text: &str) -> bool {
        self.joined.iter().any(|phrase| text.starts_with(phrase.as_str()))
    }
}

impl Phrase {
    fn new(text: &str, spelling: Spelling) -> Phrase {
        let (text, begins) = text.strip_prefix('^').map_or((text, false), |text| (text, true));
        let (text, ends) = text.strip_suffix('.').map_or((text, false), |text| (text, true));
        let spelt = |word: &str| match spelling {
            Spelling::Folded => fold(word),
            Spelling::Written => word.to_owned(),
        };
        let mut pieces = Vec::new();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            match (word, word.strip_suffix('*')) {
                ("…", _) => pieces.push(Piece::Gap),
                (_, Some(stem)) => pieces.push(Piece::Stem(spelt(stem))),
                (_, None) => pieces.extend(split_words(word).map(|word| Piece::Word(spelt(word)))),
            }
        }
        Phrase { pieces, begins, ends }
    }

    /// `None` if it does not begin with a word, so that it is never found. A stem has at least two letters.
    fn beginning(&self) -> Option<Beginning> {
        match self.pieces.first()? {
            Piece::Word(text) | Piece::Stem(text) => Some(Beginning::of(text)),
            Piece::Gap => None,
        }
    }

    /// Whether the words begin with it.
    fn begins(&self, words: &[Word]) -> bool {
        (!self.begins || words[0].edges.begins_sentence) && self.goes_on(words, 0, &self.pieces)
    }

    /// Whether the words from this one on begin with those that the pieces match, in the same sentence as the first.
    fn goes_on(&self, words: &[Word], at: usize, pieces: &[Piece]) -> bool {
        let before = at.checked_sub(1).map(|before| words[before].edges).unwrap_or_default();
        let Some((piece, rest)) = pieces.split_first() else { return !self.ends || before.ends_clause };
        if before.ends_sentence {
            return false;
        }
        let is_next = |is_meant: &dyn Fn(&str) -> bool| {
            words.get(at).is_some_and(|word| is_meant(&word.text)) && self.goes_on(words, at + 1, rest)
        };
        match piece {
            Piece::Gap => (at..=words.len().min(at + MAX_GAP)).any(|at| self.goes_on(words, at, rest)),
            Piece::Word(word) => is_next(&|text| text == word),
            Piece::Stem(stem) => is_next(&|text| text.starts_with(stem.as_str())),
        }
    }
}

impl From<Vec<String>> for WordSet {
    fn from(list: Vec<String>) -> Self {
        WordSet(list.iter().map(|text| single_blanks(text)).collect())
    }
}

impl WordSet {
    pub fn contains(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    pub fn iter(&self) -> impl Iterator<Item = &String> {
        self.0.iter()
    }

    pub fn remove_all(&mut self, others: &BTreeSet<String>) {
        self.0.retain(|phrase| !others.contains(phrase));
    }

    /// Whether the words hold one of the phrases.
    pub fn any_in(&self, words: &[String]) -> bool {
        let text = format!(" {} ", words.join(" "));
        self.iter().any(|phrase| text.contains(&format!(" {phrase} ")))
    }
}

/// Returns the number of the first words that are the longest known phrase of so many words.
pub fn longest_phrase<W: std::borrow::Borrow<str>>(
    words: &[W],
    lengths: RangeInclusive<usize>,
    is_known: impl Fn(&str) -> bool,
) -> Option<usize> {
    let most = words.len().min(*lengths.end());
    (*lengths.start()..=most).rev().find(|length| is_known(&words[..*length].join(" ")))
}
