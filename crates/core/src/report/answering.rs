//! The passage of our pages that answers a question, found by its words.
//!
//! Nobody can list how people ask. So the rules and a page of short answers are searched for the words of the letter:
//! rare ones count for more, and a passage that shares too few of them is not shown. The words of the letter choose
//! among our own passages, and never stand in the answer because of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::language::LANGUAGES;
use crate::letter::split_words;

/// Minimum share of the weight of a letter's words that a passage has.
const SHARE: f64 = 0.45;

/// Minimum share if one of the words names the passage.
const SHARE_OF_NAMES: f64 = 0.25;

/// Words of a letter beyond which it is about more than one question.
const MAX_WORDS: usize = 30;

/// Maximum bytes of the words to search for, so that a long letter costs no search.
const MAX_BYTES: usize = 4_000;

/// A passage, with the stems by which it is found.
#[derive(Default)]
struct Passage<'p> {
    /// Keywords, each of which is enough.
    names: BTreeSet<String>,
    /// All keywords.
    keys: BTreeSet<String>,
    body: BTreeSet<String>,
    text: Vec<&'p str>,
}

impl<'p> Passage<'p> {
    fn has(&self, stem: &str) -> bool {
        self.keys.contains(stem) || self.body.contains(stem)
    }
}

/// Returns the passage that answers what somebody wrote, or nothing. A page of answers begins each with a line of
/// keywords behind `?`, those first that are enough alone, then `/`. Passages without such a line, those of the rules,
/// answer only questions.
pub(super) fn answering(page: &str, written: &str) -> String {
    if written.len() > MAX_BYTES {
        return String::new();
    }
    let asked: BTreeSet<String> = stems(written).collect();
    if asked.is_empty() || asked.len() > MAX_WORDS {
        return String::new();
    }
    let passages = passages(page);
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for stem in passages.iter().flat_map(|passage| passage.keys.union(&passage.body)) {
        *counts.entry(stem).or_default() += 1;
    }
    let all = f64::from(u32::try_from(passages.len()).unwrap_or(u32::MAX));
    let weight =
        |stem: &String| (1.0 + all / counts.get(stem.as_str()).map_or(1.0, |count| f64::from(*count))).ln();
    let total: f64 = asked.iter().map(weight).sum();
    let is_question = written.contains(['?', '？']);
    let score = |passage: &Passage<'_>| -> f64 {
        let found = asked.iter().filter(|stem| passage.has(stem));
        let share: f64 = found.map(weight).sum::<f64>() / total;
        let keys = asked.intersection(&passage.keys).count();
        let is_named = asked.intersection(&passage.names).next().is_some();
        let counts = match passage.keys.is_empty() {
            true => {
                is_question && share >= SHARE && asked.iter().filter(|stem| passage.has(stem)).count() > 1
            }
            false => (keys > 1 || is_named) && share >= if is_named { SHARE_OF_NAMES } else { SHARE },
        };
        // Among equals, an answer comes before a rule.
        if counts { share + f64::from(u8::from(keys > 0)) * 0.2 } else { 0.0 }
    };
    let scored = passages.iter().map(|passage| (score(passage), passage)).filter(|(score, _)| *score > 0.0);
    let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.map(|(_, passage)| passage.text.join("\n\n")).unwrap_or_default()
}

/// Splits a page into passages: paragraphs, each with the examples below it.
fn passages(page: &str) -> Vec<Passage<'_>> {
    let mut found: Vec<Passage<'_>> = Vec::new();
    let mut heading = "";
    let mut is_answer = false;
    for paragraph in paragraphs(page) {
        let mut lines = paragraph.lines();
        let first = lines.next().unwrap_or_default();
        if lines.next().is_some_and(|line| line.starts_with("---") || line.starts_with("===")) {
            (heading, is_answer) = (first, false);
        } else if let Some(keys) = first.strip_prefix("? ") {
            let text = paragraph[first.len()..].trim_start_matches('\n');
            let names = keys.split('/').next().unwrap_or_default();
            let (names, keys, body) = (stems(names).collect(), stems(keys).collect(), stems(text).collect());
            found.push(Passage { names, keys, body, text: vec![text] });
            is_answer = true;
        } else if let Some(before) = found.last_mut().filter(|_| is_answer || paragraph.starts_with("    ")) {
            before.text.push(paragraph);
        } else {
            let body = stems(heading).chain(stems(paragraph)).collect();
            found.push(Passage { body, text: vec![paragraph], ..Passage::default() });
        }
    }
    found
}

/// Splits a page at its blank lines, and before each line of keywords.
fn paragraphs(page: &str) -> impl Iterator<Item = &str> {
    let parts = page.split("\n\n").flat_map(|part| {
        let starts = part.match_indices("\n? ").map(|(at, _)| at + 1);
        let cuts: Vec<usize> = std::iter::once(0).chain(starts).chain([part.len()]).collect();
        cuts.windows(2).map(|cut| part[cut[0]..cut[1]].trim_matches('\n')).collect::<Vec<_>>()
    });
    parts.filter(|part| !part.is_empty())
}

/// Returns the stems of the words that say something about the subject.
fn stems(text: &str) -> impl Iterator<Item = String> {
    let words =
        split_words(text).map(str::to_lowercase).filter(|word| word.chars().count() > 1 || !word.is_ascii());
    let is_empty = |word: &String| LANGUAGES.iter().any(|language| language.words.empty.contains(word));
    words.filter(move |word| !is_empty(word)).map(|word| stem(&word))
}

/// Returns a word without the endings of English plurals and verbs.
fn stem(word: &str) -> String {
    let mut stem = word;
    let endings = ["ing", "ed", "es", "ly", "s"];
    if let Some(bare) =
        endings.iter().find_map(|ending| word.strip_suffix(ending)).filter(|bare| bare.len() > 2)
    {
        stem = bare;
    }
    let stem = stem.strip_suffix(['e', 'y', 'i']).filter(|bare| bare.len() > 2).unwrap_or(stem);
    let mut stem = stem.to_owned();
    if stem.len() > 3 && stem.is_ascii() && stem.as_bytes()[stem.len() - 1] == stem.as_bytes()[stem.len() - 2]
    {
        stem.pop();
    }
    if stem == "sub" { "submarin".to_owned() } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "? slanted tilted / count\nYes: any tilt.\n\n? undo / back wrong\nWhat stands, stands:\n\n    | TELL\n\n\
        The end\n-------\n\nA quad is four marbles on the corners of a square.\n\nWhoever runs out of marbles first waits \
        for the other.\n\nThe board has eleven files.";

    #[test]
    fn a_question_finds_the_passage_with_its_rare_words() {
        assert_eq!(answering(PAGE, "Do slanting squares count?"), "Yes: any tilt.");
        assert_eq!(
            answering(PAGE, "What if I run out of marbles?"),
            "Whoever runs out of marbles first waits for the other."
        );
        assert_eq!(answering(PAGE, "Oops, can I undo that?"), "What stands, stands:\n\n    | TELL");
    }

    #[test]
    fn words_that_are_about_something_else_find_nothing() {
        for text in [
            "How is your knee?",
            "I have four cats, and a wrong number rang all day",
            "",
            "Are you back?",
            "The board looks nice",
        ] {
            assert_eq!(answering(PAGE, text), "", "{text}");
        }
    }
}
