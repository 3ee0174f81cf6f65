//! Answers in words to one of our questions: `Yes, please.`, `Nein danke`, `はい`.

use super::Topic;
use crate::game::Line;
use crate::language::{LANGUAGES, Language, Phrases, Sentence, WordSet, longest_phrase, sentences};

/// The meaning of a whole letter that answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordAnswer {
    Yes,
    No,
    /// "That was me": a yes to the question whether a letter was the player's.
    WasMe,
}

/// Maximum words of such an answer, without a greeting and a name.
const MAX_WORDS: usize = 6;

/// Maximum words of a last line that may be a name.
const MAX_NAME: usize = 3;

/// Returns the meaning of a letter that says nothing but yes or no, in one of the languages.
pub fn word_answer(lines: &[Line]) -> Option<WordAnswer> {
    let sentences = sentences(lines);
    if sentences.iter().any(|sentence| sentence.is_question) || sentences.len() > MAX_WORDS {
        return None;
    }
    let without_name = match sentences.split_last() {
        Some((last, rest)) if !rest.is_empty() && last.words.len() <= MAX_NAME => Some(rest),
        _ => None,
    };
    meaning(&sentences).or_else(|| without_name.and_then(meaning))
}

/// Whether a letter is nothing but one word that denies: `No.`
pub fn is_bare_no(lines: &[Line]) -> bool {
    let words = words_of(&sentences(lines));
    LANGUAGES.iter().any(|Language { answers, words: known, .. }| {
        matches!(without_polite(&words, &answers.polite), [only] if known.not.contains(only))
    })
}

/// Whether a letter says no to what it answers, or only that something is to stop.
pub fn refuses(lines: &[Line]) -> bool {
    stance(lines, None) == Stance::No || asks_to_stop(&sentences(lines))
}

/// Whether a letter says nothing but that its writer wants no more letters.
pub fn asks_to_stop(sentences: &[Sentence]) -> bool {
    let words = words_of(sentences);
    let says = |language: &Language| is_made_of(&words, &[&language.answers.stop], &language.answers.polite);
    words.len() <= MAX_WORDS && LANGUAGES.iter().any(says)
}

/// Whether a letter asks a question, or says yes somewhere.
pub fn asks_or_agrees(lines: &[Line]) -> bool {
    let sentences = sentences(lines);
    let words = words_of(&sentences);
    sentences.iter().any(|sentence| sentence.is_question)
        || LANGUAGES.iter().any(|language| language.answers.yes.any_in(&words))
}

/// Whether a statement of a letter says no, or holds a word that denies.
pub fn denies(lines: &[Line]) -> bool {
    let sentences = sentences(lines);
    let mut statements = sentences.iter().filter(|sentence| !sentence.is_question);
    statements.any(|sentence| {
        let words = words_of(std::slice::from_ref(sentence));
        LANGUAGES.iter().any(|language| {
            words.iter().any(|word| language.words.not.contains(word)) || language.answers.no.any_in(&words)
        })
    })
}

/// The answer of a letter to an offer or a wish of the opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    Yes,
    No,
    /// Neither is sure.
    Open,
}

/// Maximum words of a letter that surely agrees.
const MAX_AGREEMENT: usize = 14;

/// Returns what a letter says to an offer or a wish that it answers. To negate the words for its `topic` says no, too. A
/// word that denies may belong to an idiom that no list has, so alone it is no sure no.
pub fn stance(lines: &[Line], topic: Option<Topic>) -> Stance {
    match word_answer(lines) {
        Some(WordAnswer::Yes | WordAnswer::WasMe) => return Stance::Yes,
        Some(WordAnswer::No) => return Stance::No,
        None => {}
    }
    let all = sentences(lines);
    let asks = all.iter().any(|sentence| sentence.is_question);
    let (mut agrees, mut refuses, mut denies) = (false, false, asks);
    for sentence in all.iter().filter(|sentence| !sentence.is_question) {
        let words = words_of(std::slice::from_ref(sentence));
        let has_idiom = LANGUAGES.iter().any(|language| language.answers.idioms.any_in(&sentence.words));
        agrees |= has_idiom;
        for language in LANGUAGES.iter() {
            let Language { answers, wishes, words: known, .. } = language;
            let is_negated = |start: usize| is_negated(sentence, start, language);
            let negates = |phrases: &Phrases| phrases.any_where(&sentence.words, is_negated);
            let is_short =
                words.len() <= MAX_NAME && words.first().is_some_and(|word| known.not.contains(word));
            agrees |= answers.yes.any_in(&words) || self::agrees(sentence, language);
            refuses |= !has_idiom
                && (answers.no.any_in(&words)
                    || is_short
                    || negates(&answers.agrees)
                    || topic.and_then(|topic| wishes.get(&topic)).is_some_and(negates));
            denies |= !has_idiom && words.iter().any(|word| known.not.contains(word));
        }
    }
    let count: usize = all.iter().map(|sentence| sentence.words.len()).sum();
    match (agrees, refuses) {
        (false, true) => Stance::No,
        (true, false) if !denies && count <= MAX_AGREEMENT => Stance::Yes,
        _ => Stance::Open,
    }
}

/// Whether a letter is nothing but this verb, apart from a greeting and a name.
pub fn is_bare_verb(lines: &[Line], verb: &str) -> bool {
    let mut words = sentences(lines).into_iter().filter(|sentence| !sentence.is_question);
    let is_verb =
        |sentence: &Sentence| matches!(&sentence.words[..], [word] if word.text.eq_ignore_ascii_case(verb));
    words.next().is_some_and(|first| is_verb(&first)) && words.all(|rest| rest.words.len() <= MAX_NAME)
}

/// Whether a sentence agrees to something.
pub(super) fn agrees(sentence: &Sentence, language: &Language) -> bool {
    let is_meant = |start: usize| !is_negated(sentence, start, language);
    !sentence.is_question && language.answers.agrees.any_where(&sentence.words, is_meant)
}

/// Whether one of the two words before a phrase negates it.
pub(super) fn is_negated(sentence: &Sentence, start: usize, language: &Language) -> bool {
    if language.joined {
        return false;
    }
    let before = &sentence.words[start.saturating_sub(2)..start];
    before.iter().any(|word| language.words.not.contains(&word.text))
}

pub(super) fn meaning(sentences: &[Sentence]) -> Option<WordAnswer> {
    let words = words_of(sentences);
    LANGUAGES.iter().find_map(|Language { answers, .. }| {
        if words.is_empty() || without_polite(&words, &answers.polite).len() > MAX_WORDS {
            return None;
        }
        let says = |lists: &[&WordSet]| is_made_of(&words, lists, &answers.polite);
        // "Yes, that was me" is both.
        if says(&[&answers.was_me, &answers.yes]) && answers.was_me.any_in(&words) {
            return Some(WordAnswer::WasMe);
        }
        match (says(&[&answers.yes]), says(&[&answers.no])) {
            (true, false) => Some(WordAnswer::Yes),
            (false, true) => Some(WordAnswer::No),
            _ => None,
        }
    })
}

fn words_of(sentences: &[Sentence]) -> Vec<String> {
    sentences.iter().flat_map(|sentence| &sentence.words).map(|word| word.text.clone()).collect()
}

/// Returns the words without the polite ones at both ends.
fn without_polite<'w>(words: &'w [String], polite: &WordSet) -> &'w [String] {
    let is_polite = |word: &&String| polite.contains(word);
    let before = words.iter().take_while(is_polite).count();
    let after = words[before..].iter().rev().take_while(is_polite).count();
    &words[before..words.len() - after]
}

/// Whether the words are a sequence of phrases of these lists and polite words, and nothing else.
fn is_made_of(words: &[String], lists: &[&WordSet], polite: &WordSet) -> bool {
    let mut rest = words;
    let mut has_phrase = false;
    while !rest.is_empty() {
        let is_known = |phrase: &str| lists.iter().any(|list| list.contains(phrase));
        let longest = longest_phrase(rest, 1..=rest.len(), is_known);
        let length = match longest {
            Some(length) => {
                has_phrase = true;
                length
            }
            None if polite.contains(&rest[0]) => 1,
            None => return false,
        };
        rest = &rest[length..];
    }
    has_phrase
}
