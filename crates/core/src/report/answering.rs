//! The passage of our pages that answers a question, found by its words.
//!
//! Nobody can list how people ask. So the rules and a page of short answers are searched for the words of the letter:
//! rare ones count for more, and a passage that shares too few of them is not shown. The words of the letter choose
//! among our own passages, and never stand in the answer because of it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::language::{Glossaries, LANGUAGES, are_english, fold, is_joined, meanings_in, says_little};
use crate::letter::split_words;

/// Words that say nothing about the subject.
static EMPTY: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let words = LANGUAGES.iter().flat_map(|language| &language.words.empty);
    words.map(|word| fold(word)).collect()
});

/// Minimum share of the weight of a letter's words that a passage has.
const SHARE: f64 = 0.45;

/// Minimum share if several of the words are keywords of the passage.
const SHARE_OF_KEYS: f64 = 0.4;

/// Minimum share if one of the words names the passage.
const SHARE_OF_NAMES: f64 = 0.25;

/// Minimum share if the passage answers letters that speak of nothing else.
const SHARE_ALONE: f64 = 0.8;

/// Minimum share of a passage that comes near to a question.
const SHARE_NEAR: f64 = 0.25;

/// Words of a letter beyond which it is about more than one question.
const MAX_WORDS: usize = 30;

/// Maximum bytes of the words to search for, so that a long letter costs no search.
const MAX_BYTES: usize = 4_000;

/// Maximum passages of an answer.
const MAX_PASSAGES: usize = 2;

/// Maximum sentences of a letter to search for.
const MAX_SENTENCES: usize = 12;

/// Weight of a word of another language that no page of ours has, and its minimum letters. Our glossary lacks most.
const FOREIGN: f64 = 1.2;
const FOREIGN_LETTERS: usize = 4;

/// A passage, with the stems by which it is found.
#[derive(Default)]
struct Passage<'p> {
    /// Keywords, each of which is enough.
    names: BTreeSet<String>,
    /// Keywords, each of which is enough in a letter that speaks of nothing else.
    alone: BTreeSet<String>,
    /// All keywords.
    keys: BTreeSet<String>,
    body: BTreeSet<String>,
    text: Vec<&'p str>,
}

impl Passage<'_> {
    fn has(&self, word: &Asked) -> bool {
        word.is_in(&self.keys) || word.is_in(&self.body)
    }
}

/// A word of a letter, by the stems that it may mean on our pages.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    stems: BTreeSet<String>,
    /// Whether it is of another language than English, and short.
    is_slight: bool,
}

impl Asked {
    fn is_in(&self, stems: &BTreeSet<String>) -> bool {
        self.stems.iter().any(|stem| stems.contains(stem))
    }
}

/// Returns the passages that answer what somebody wrote, or nothing. A page of answers begins each with a line of
/// keywords behind `?`: those that are enough by themselves, then `/` and all others, then `/` and those of the others
/// that are enough if the letter speaks of nothing else. Passages without such a line, those of the rules, answer only
/// questions.
pub(super) fn answering(page: &str, written: &str) -> String {
    // An instruction that only GMs may give asks nothing.
    if written.len() > MAX_BYTES || written.starts_with("GM ") {
        return String::new();
    }
    let passages = passages(page);
    let questions = || sentences(written).filter(|sentence| is_question(sentence)).take(MAX_SENTENCES);
    let mut found = Vec::from_iter(best(&passages, written));
    if found.is_empty() || questions().count() > 1 {
        found.extend(questions().filter_map(|question| best(&passages, question)));
    }
    if found.is_empty() {
        let mut statements = sentences(written).take(MAX_SENTENCES);
        found.extend(statements.find_map(|statement| best(&passages, statement)));
    }
    shown(&passages, &found)
}

/// Returns the passage that comes nearest to a question for which [`answering`] finds none.
pub(super) fn perhaps(page: &str, written: &str) -> String {
    if written.len() > MAX_BYTES || !is_question(written) {
        return String::new();
    }
    let passages = passages(page);
    let mut questions = sentences(written).filter(|sentence| is_question(sentence)).take(MAX_SENTENCES);
    let found = questions.find_map(|question| nearest(&passages, question));
    shown(&passages, &Vec::from_iter(found))
}

/// Whether a text has more than one sentence, one of them a question.
pub(super) fn asks_too(written: &str) -> bool {
    is_question(written) && sentences(written).filter(|sentence| !sentence.is_empty()).nth(1).is_some()
}

/// Returns the passages that answer the questions in what somebody wrote beside something else.
pub(super) fn answering_questions(page: &str, written: &str) -> String {
    if written.len() > MAX_BYTES || !is_question(written) {
        return String::new();
    }
    let passages = passages(page);
    let questions = sentences(written).filter(|sentence| is_question(sentence)).take(MAX_SENTENCES);
    let found: Vec<usize> = questions.filter_map(|question| best(&passages, question)).collect();
    shown(&passages, &found)
}

/// Returns the text of the first of these passages, each once.
fn shown(passages: &[Passage<'_>], found: &[usize]) -> String {
    let mut once: Vec<usize> = Vec::new();
    for index in found {
        if !once.contains(index) {
            once.push(*index);
        }
    }
    let texts = once.iter().take(MAX_PASSAGES).map(|index| passages[*index].text.join("\n\n"));
    texts.collect::<Vec<_>>().join("\n\n")
}

fn is_question(text: &str) -> bool {
    text.contains(['?', '？', '؟'])
}

/// Splits a text into sentences, each with the sign at its end. Wrapped lines belong together.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let paragraphs = text.split("\n\n");
    paragraphs.flat_map(|paragraph| {
        let ends = paragraph.char_indices().filter(|(at, c)| {
            let next = paragraph[at + c.len_utf8()..].chars().next();
            let is_end = matches!(c, '?' | '!' | '？' | '！' | '。' | '؟') || matches!(c, '.' | '…');
            is_end && next.is_none_or(|next| next.is_whitespace() || is_joined(next))
        });
        let ends = ends.map(|(at, c)| at + c.len_utf8());
        let cuts: Vec<usize> = std::iter::once(0).chain(ends).chain([paragraph.len()]).collect();
        cuts.windows(2).map(|cut| paragraph[cut[0]..cut[1]].trim()).collect::<Vec<_>>()
    })
}

/// Returns the index of the passage that answers a text best, if one does.
fn best(passages: &[Passage<'_>], text: &str) -> Option<usize> {
    // Passages without keywords, those of the rules, answer only questions, and nothing said beside them.
    let is_question = sentences(text).filter(|sentence| !sentence.is_empty()).all(is_question);
    best_by(passages, text, |passage, Found { share, words, keys, is_named, is_alone }| {
        match passage.keys.is_empty() {
            true => is_question && share >= SHARE && words > 1,
            false => is_alone || is_named && share >= SHARE_OF_NAMES || keys > 1 && share >= SHARE_OF_KEYS,
        }
    })
}

/// Returns the index of the passage that comes nearest to a question.
fn nearest(passages: &[Passage<'_>], text: &str) -> Option<usize> {
    best_by(passages, text, |passage, Found { share, words, keys, .. }| match passage.keys.is_empty() {
        true => words > 1 && share >= SHARE_NEAR,
        false => keys > 1 && share >= SHARE_NEAR || keys > 0 && words > 1 && share >= SHARE_OF_KEYS,
    })
}

/// The words of a letter that a passage has, too.
struct Found {
    /// Their share in the weight of all words of the letter.
    share: f64,
    words: usize,
    keys: usize,
    /// Whether one of the words names the passage, or is enough in a letter of little else.
    is_named: bool,
    is_alone: bool,
}

/// Returns the index of the passage with the greatest share of a text's words among those that count.
fn best_by(
    passages: &[Passage<'_>],
    text: &str,
    counts: impl Fn(&Passage<'_>, Found) -> bool,
) -> Option<usize> {
    let asked = asked(text);
    if asked.is_empty() || asked.len() > MAX_WORDS {
        return None;
    }
    let is_english = is_english(text);
    let all = passages.len() as f64;
    let weight = |word: &Asked| {
        let count = passages.iter().filter(|passage| passage.has(word)).count();
        match count {
            0 if word.is_slight => 0.0,
            0 if !is_english => FOREIGN,
            _ => (1.0 + all / count.max(1) as f64).ln(),
        }
    };
    let weighed: Vec<(&Asked, f64)> = asked.iter().map(|word| (word, weight(word))).collect();
    let total: f64 = weighed.iter().map(|(_, weight)| weight).sum();
    let score = |passage: &Passage<'_>| -> f64 {
        let found: Vec<&(&Asked, f64)> = weighed.iter().filter(|(word, _)| passage.has(word)).collect();
        let share = found.iter().map(|(_, weight)| weight).sum::<f64>() / total;
        // In another language most words are unknown, and every letter may speak of orders.
        let says_nothing = |word: &Asked| !is_english && word.stems.iter().any(|stem| says_little(stem));
        let keys = found.iter().filter(|(word, _)| word.is_in(&passage.keys) && !says_nothing(word)).count();
        let is_named = found.iter().any(|(word, _)| word.is_in(&passage.names));
        let is_alone = share >= SHARE_ALONE && found.iter().any(|(word, _)| word.is_in(&passage.alone));
        // At equal shares an answer comes before a rule, and more keywords before fewer.
        let by_keys = if keys > 0 { 0.2 + 0.02 * keys as f64 } else { 0.0 };
        let found = Found { share, words: found.len(), keys, is_named, is_alone };
        if counts(passage, found) { share + by_keys } else { 0.0 }
    };
    let scored = passages.iter().map(score).enumerate().filter(|(_, score)| *score > 0.0);
    scored.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(index, _)| index)
}

/// Whether a text has a word that only English has.
fn is_english(text: &str) -> bool {
    are_english(&split_words(text).map(fold).collect::<Vec<_>>())
}

/// Returns the words of a text that say something about the subject, each once.
fn asked(text: &str) -> BTreeSet<Asked> {
    let words: Vec<String> = split_words(text).map(fold).collect();
    let is_english = are_english(&words);
    let glossary = Glossaries::of(&words);
    let mut asked = BTreeSet::new();
    for (at, word) in words.iter().enumerate() {
        if word.contains(is_joined) {
            let named = meanings_in(word).into_iter().map(stem);
            asked.extend(named.map(|stem| Asked { stems: BTreeSet::from([stem]), is_slight: false }));
            continue;
        }
        let meant = glossary.meanings(word);
        let is_empty = !meant.is_empty() && !meant.iter().any(|english| says_something(english));
        if is_empty || glossary.only_shows(word) {
            continue;
        }
        // `sous-marin`, `porta-aviões`
        let pair =
            words.get(at + 1).map(|next| glossary.meanings(&format!("{word}{next}"))).unwrap_or_default();
        let pair: BTreeSet<String> =
            pair.into_iter().filter(|both| !meant.contains(both)).map(stem).collect();
        if !pair.is_empty() {
            asked.insert(Asked { stems: pair, is_slight: false });
        }
        if says_something(word) {
            let is_slight = !is_english && meant.is_empty() && word.chars().count() < FOREIGN_LETTERS;
            let stems = std::iter::once(word.as_str()).chain(meant).map(stem).collect();
            asked.insert(Asked { stems, is_slight });
        }
    }
    asked
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
            let part = |index: usize| stems(keys.split('/').nth(index).unwrap_or_default()).collect();
            let (names, alone) = (part(0), part(2));
            let (keys, body) = (stems(keys).collect(), stems(text).collect());
            found.push(Passage { names, alone, keys, body, text: vec![text] });
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
    split_words(text).map(fold).filter(|word| says_something(word)).map(|word| stem(&word))
}

fn says_something(word: &str) -> bool {
    (word.chars().count() > 1 || !word.is_ascii()) && !EMPTY.contains(word)
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
    fn each_question_of_a_letter_finds_its_passage() {
        let two = "Do slanting squares count? Thanks. And what if I run out of marbles?";
        let both = "Yes: any tilt.\n\nWhoever runs out of marbles first waits for the other.";
        assert_eq!(answering_questions(PAGE, two), both);
        assert_eq!(answering_questions(PAGE, "Oops, undo. Nice day, is it not?"), "");
    }

    #[test]
    fn a_question_in_another_language_finds_the_passage() {
        assert_eq!(answering(PAGE, "Telt een scheef vierkant ook mee?"), "Yes: any tilt.");
        assert_eq!(answering(PAGE, "¿Cómo está tu gato?"), "");
        assert_eq!(answering("? pass / skip\nNobody can pass.", "Qui n'a pas encore joué ?"), "");
    }

    #[test]
    fn a_keyword_that_is_enough_alone_needs_no_other_words() {
        let page = "? / picture image show / picture\nThe text part has no picture.";
        assert_eq!(answering(page, "I don't want the picture."), "The text part has no picture.");
        assert_eq!(answering(page, "A nice picture of my grandchildren"), "");
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
