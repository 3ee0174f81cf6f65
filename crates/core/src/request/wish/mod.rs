//! Wishes in people's own words: the requests in a letter's remarks, found by the phrases of each language.
//!
//! A wish is never carried out; the answer offers the line that would fulfil it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::NaiveDate;
use dates::{Span, span};
use serde::Serialize;

use crate::dialect::is_square;
use crate::game::Line;
use crate::language::{
    LANGUAGES, Language, Phrases, Sentence, Word, WordSet, any_has, fold, is_joined, sentences,
};
use crate::letter::{Address, split_words};

mod answer;
mod corrections;
mod dates;
mod gist;
mod orders;
mod tokens;

pub use self::corrections::{change_meant, correction_meant, corrects, stay_meant};
pub use self::gist::orders_meant;
pub use self::tokens::names_a_number;
pub use crate::language::Topic;
pub use answer::{
    Stance, WordAnswer, asks_or_agrees, denies, is_bare_no, is_bare_verb, refuses, stance, word_answer,
};
use answer::{agrees, asks_to_stop, is_negated, meaning};
pub use orders::{CAPTURE_ALL, holds_in_words, orders_in_words, square_in_words, turn_in_words};

/// The trouble that a letter mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Care {
    /// Somebody has died.
    Grief,
    /// Somebody is ill or hurt.
    Illness,
}

/// The wishes of a letter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    pub care: Option<Care>,
    pub topic: Option<Topic>,
    /// A second subject, in other sentences than the first.
    pub also: Option<Topic>,
    /// The days that it names.
    pub span: Span,
    /// The mail address that it names.
    pub address: Option<Address>,
    /// The words for the opponent.
    pub message: Vec<String>,
    /// The word under which the rules explain what it asks about.
    pub about: Option<String>,
    /// Whether its wish for more time or a draw agrees to the opponent's.
    pub agrees: bool,
    /// Whether it also asks whether orders have arrived, or complains that they have not.
    pub misses_orders: bool,
    /// Whether it begins with the opponent's name, so that its trouble or absence is theirs: `Bo has no internet`.
    pub is_of_foe: bool,
}

/// Maximum words of a letter that only thanks.
const MAX_THANKS: usize = 15;

/// Returns the phrases of all wishes that may occur in these sentences: few, by the beginnings of their words.
fn wishes_among(sentences: &[Sentence]) -> Vec<(&'static Language, &'static Topic, &'static Phrases)> {
    let words = sentences.iter().flat_map(|sentence| &sentence.words);
    let beginnings = words.fold(0, |all, word| all | word.beginning.bit());
    let wishes = LANGUAGES.iter().flat_map(|language| {
        let wishes = language.wishes.iter().filter(|(_, phrases)| phrases.may_be_among(beginnings));
        wishes.map(move |(topic, phrases)| (language, topic, phrases))
    });
    wishes.collect()
}

/// Reads the remarks of a letter. `foe` is the opponent's name, and `is_setup` whether a setup is due.
pub fn read_remarks(remarks: &[Line], foe: &str, is_setup: bool, today: NaiveDate) -> Spoken {
    let sentences = sentences(remarks);
    let wishes = wishes_among(&sentences);
    let mut found: Vec<(Topic, usize, &Language)> = Vec::new();
    for (index, sentence) in sentences.iter().enumerate() {
        for (language, topic, phrases) in &wishes {
            if phrases.any_where(&sentence.words, |start| !is_negated(sentence, start, language)) {
                found.push((**topic, index, *language));
            }
        }
    }
    if !found.iter().any(|(topic, ..)| is_dated(*topic)) {
        found.extend(implied_absence(&sentences, today));
    }
    let message = found.iter().filter(|(topic, ..)| *topic == Topic::Tell);
    let message = message
        .filter_map(|(_, index, language)| message_after(&sentences[*index], foe, remarks, language))
        .next();
    found.retain(|(topic, ..)| match topic {
        Topic::Tell => message.is_some(),
        Topic::Thanks | Topic::NeverMind => is_short(&sentences) && is_chat(remarks),
        Topic::Setup => is_setup,
        // "How do I print the board?" is about something else, unless it names the rules or what they explain.
        Topic::Rules => {
            names_rules(&sentences)
                || about(&sentences).is_some()
                || is_brief(&sentences)
                || sentences.iter().any(names_a_piece)
        }
        // Only strangers ask for it.
        Topic::Join => foe.is_empty(),
        _ => true,
    });
    let topic = found.iter().map(|(topic, ..)| *topic).min();
    let also = topic.and_then(|first| second_topic(&found, first));
    let topic = topic.map(|topic| time_instead(topic, &found, &sentences, today));
    let topic = topic.or(is_reaction(remarks).then_some(Topic::Thanks));
    let topic = topic.or(asks_to_stop(&sentences).then_some(Topic::LessMail));
    // Whoever names an address and wishes for nothing else, means it.
    let topic = topic.or((!foe.is_empty() && address_in(&sentences).is_some()).then_some(Topic::Address));
    let care = care(&sentences);
    // Sympathy is for the opponent, in the writer's own words.
    let is_sympathy = care.is_none() && !foe.is_empty() && sentences.iter().any(condoles);
    let (topic, message) = match (is_sympathy, message) {
        (true, None) => {
            (Some(Topic::Tell), Some(remarks.iter().map(|line| line.text.trim().to_owned()).collect()))
        }
        (_, message) => (topic, message),
    };
    let spans =
        found.iter().filter(|(found, ..)| is_dated(*found)).map(|(_, index, language)| (index, *language));
    let spans = spans.map(|(index, language)| best_span(&sentences, *index, language, today));
    Spoken {
        care,
        topic,
        also,
        span: spans.max_by_key(Span::weight).unwrap_or_default(),
        address: topic
            .filter(|topic| [Topic::Address, Topic::Opponent].contains(topic))
            .and_then(|_| address_in(&sentences)),
        message: message.unwrap_or_default(),
        agrees: found
            .iter()
            .any(|(found, index, language)| Some(*found) == topic && agrees(&sentences[*index], language)),
        about: topic.filter(|topic| *topic == Topic::Rules).and_then(|_| about(&sentences)),
        misses_orders: found.iter().any(|(topic, ..)| *topic == Topic::Arrived),
        is_of_foe: sentences.first().is_some_and(|first| begins_with_name(first, foe)),
    }
}

/// Returns a wish for more time instead of an absence without a last day, if another sentence asks for it: "I go on a
/// trip. May I have another week?"
fn time_instead(
    topic: Topic,
    found: &[(Topic, usize, &'static Language)],
    sentences: &[Sentence],
    today: NaiveDate,
) -> Topic {
    let is_away = |at: usize| found.iter().any(|(topic, index, _)| *topic == Topic::Absence && *index == at);
    let asks_for_time = found.iter().any(|(topic, index, _)| *topic == Topic::MoreTime && !is_away(*index));
    let mut absences = found.iter().filter(|(topic, ..)| *topic == Topic::Absence);
    let has_last_day = absences.any(|(_, index, language)| {
        let span = best_span(sentences, *index, language, today);
        span.to.is_some() || span.days.is_some()
    });
    if topic == Topic::Absence && asks_for_time && !has_last_day { Topic::MoreTime } else { topic }
}

/// Whether a sentence names somebody amid its words, as people write about a third person.
pub fn speaks_about(remarks: &[Line], name: &str) -> bool {
    let names: Vec<String> = name.split_whitespace().map(fold).collect();
    let is_name = |word: &Word| names.iter().any(|name| is_form_of(&word.text, name));
    sentences(remarks).iter().any(|sentence| match &sentence.words[..] {
        [_, _, _, amid @ .., _] => amid.iter().any(is_name),
        _ => false,
    })
}

/// Whether a sentence begins with a name, perhaps in another form.
fn begins_with_name(sentence: &Sentence, name: &str) -> bool {
    let first = sentence.words.first();
    first.is_some_and(|first| name.split_whitespace().any(|name| is_form_of(&first.text, &fold(name))))
}

/// Returns another topic than the first that is found in none of its sentences. All wishes about days are one.
/// Beside a complaint there is none: other words are anger then.
fn second_topic(found: &[(Topic, usize, &Language)], first: Topic) -> Option<Topic> {
    if first == Topic::Foul {
        return None;
    }
    let is_first = |topic: Topic| topic == first || is_dated(topic) && is_dated(first);
    let taken: BTreeSet<usize> =
        found.iter().filter(|(topic, ..)| is_first(*topic)).map(|(_, index, _)| *index).collect();
    let others = found.iter().filter(|(topic, index, _)| !is_first(*topic) && !taken.contains(index));
    others.map(|(topic, ..)| *topic).min()
}

/// Days until a time begins of which a letter need not say that it is to come. A date without a year that has passed would be
/// next year's.
const SOON: i64 = 100;

/// Days since its beginning.
const EARLIER: i64 = 7;

/// Minimum words of a sentence that says from when to when, or until when something is not.
const MIN_DAYS: usize = 3;

/// Returns the sentence that says what is not until some day, or names both days of a time that comes: "no orders from me
/// until the 14th", "moving house, from Friday to the 20th".
fn implied_absence(sentences: &[Sentence], today: NaiveDate) -> Option<(Topic, usize, &'static Language)> {
    let is_soon = |day: NaiveDate| {
        today == NaiveDate::default() || (-EARLIER..=SOON).contains(&(day - today).num_days())
    };
    // Each language looks for days, which "Good luck!" cannot name.
    let may_name_days = |sentence: &Sentence| {
        sentence.words.len() >= MIN_DAYS || sentence.words.iter().any(|word| !word.text.is_ascii())
    };
    let statements =
        sentences.iter().enumerate().filter(|(_, sentence)| !sentence.is_question && may_name_days(sentence));
    let mut implied = statements.flat_map(|(index, sentence)| {
        LANGUAGES.iter().map(move |language| (index, sentence, language)).filter(
            move |(_, sentence, language)| {
                let denies = sentence.words.iter().any(|word| language.words.not.contains(&word.text));
                let returns = language.words.back.any_in(&sentence.words);
                denies && dates::names_last_day(sentence, language, today)
                    || dates::first_of_both_days(sentence, language, returns, today).is_some_and(is_soon)
            },
        )
    });
    implied.next().map(|(index, _, language)| (Topic::Absence, index, language))
}

/// Maximum words of a letter that asks for the rules without naming them: `How does this work?`
const MAX_BRIEF: usize = 14;

fn names_rules(sentences: &[Sentence]) -> bool {
    let names =
        |sentence: &Sentence| LANGUAGES.iter().any(|language| language.club.rules.any_in(&sentence.words));
    sentences.iter().any(names)
}

fn is_brief(sentences: &[Sentence]) -> bool {
    sentences.iter().map(|sentence| sentence.words.len()).sum::<usize>() <= MAX_BRIEF
}

/// Returns the word under which the rules explain what the sentences ask about.
fn about(sentences: &[Sentence]) -> Option<String> {
    let words = LANGUAGES.iter().flat_map(|language| &language.about);
    let mut asked =
        words.filter(|(_, phrases)| sentences.iter().any(|sentence| phrases.any_in(&sentence.words)));
    asked.next().map(|(word, _)| word.clone())
}

/// Whether words are only polite ones of one language, such as `please` and `thanks`.
pub fn are_polite(words: &[&str]) -> bool {
    let words: Vec<String> = words.iter().flat_map(|word| split_words(word)).map(fold).collect();
    LANGUAGES.iter().any(|language| words.iter().all(|word| language.answers.polite.contains(word)))
}

/// Returns the words without the polite ones at the end, as in `capture please`. Always keeps the first word.
pub fn without_polite<'w>(words: &'w [&'w str]) -> &'w [&'w str] {
    let polite = words.iter().rev().take_while(|word| are_polite(&[word])).count();
    &words[..(words.len() - polite).max(words.len().min(1))]
}

/// Reads a number in digits or in a word of one of the languages.
pub fn number(word: &str) -> Option<u32> {
    word.parse()
        .ok()
        .or_else(|| LANGUAGES.iter().find_map(|language| language.words.numbers.get(word).copied()))
}

/// Whether remarks may take orders back, or change them: they wish to, say that something is replaced, deny or limit
/// something about these lines, or name a square or a piece and ask nothing. `setups` are the names of ready setups where
/// one is due.
pub fn may_take_orders_back(remarks: &[Line], setups: &[&str]) -> bool {
    let spoken = read_remarks(remarks, "", false, NaiveDate::default());
    let wishes = [spoken.topic, spoken.also];
    let is_wish = |topic: Topic| matches!(topic, Topic::Withdraw | Topic::Change | Topic::Pause);
    wishes.into_iter().flatten().any(is_wish)
        || sentences(remarks).iter().any(|said| may_take_back(said, setups))
}

fn may_take_back(said: &Sentence, setups: &[&str]) -> bool {
    let names_play = names_a_square(said)
        || names_a_piece(said)
        || said.words.iter().any(|word| setups.contains(&word.text.as_str()))
        || !setups.is_empty()
            && LANGUAGES.iter().any(|language| language.wishes[&Topic::Setup].any_in(&said.words));
    // In one language: "to" points in Polish.
    let takes_back = LANGUAGES.iter().any(|language| {
        let any = |list: &WordSet| said.words.iter().any(|word| list.contains(&word.text));
        let begins = said.words.first().is_some_and(|word| language.beside.first.contains(&word.text));
        // "This turn" points at no letter.
        let is_of_turn = |word: &Word| language.orders.turn.contains(&word.text);
        let points = said.words.iter().enumerate().any(|(at, word)| {
            language.beside.pointers.contains(&word.text) && !said.words.get(at + 1).is_some_and(is_of_turn)
        });
        points && (begins || any(&language.words.not) || language.beside.undoing.any_in(&said.words))
    });
    // A word such as "not" replaces something only beside a square.
    let replaces = |word: &Word| {
        any_has(&word.text, |language| &language.orders.rather)
            || any_has(&word.text, |language| &language.orders.instead)
                && !any_has(&word.text, |language| &language.words.not)
    };
    said.words.iter().any(replaces) || (names_play || takes_back) && !said.is_question
}

/// Whether the remarks ask something, or wish for something.
pub fn asks_or_wishes(remarks: &[Line]) -> bool {
    let sentences = sentences(remarks);
    let is_meant = |topic: &Topic| !matches!(topic, Topic::Thanks | Topic::NeverMind | Topic::Arrived);
    let phrases = wishes_among(&sentences);
    let wishes = |sentence: &Sentence| {
        let mut meant = phrases.iter().filter(|(_, topic, _)| is_meant(topic));
        meant.any(|(language, _, phrases)| {
            phrases.any_where(&sentence.words, |start| !is_negated(sentence, start, language))
        })
    };
    sentences.iter().any(|sentence| sentence.is_question || wishes(sentence))
        || implied_absence(&sentences, NaiveDate::default()).is_some()
}

/// Maximum words of a question beside a yes.
const MAX_REPROACH: usize = 6;

/// Whether a letter says nothing but yes and a short question that doubts nothing: `Why the wait? Just play it.`
pub fn agrees_with_reproach(lines: &[Line]) -> bool {
    let (asked, said): (Vec<Sentence>, Vec<Sentence>) =
        sentences(lines).into_iter().partition(|sentence| sentence.is_question);
    let doubts = |sentence: &Sentence| {
        let has =
            |list: fn(&Language) -> &WordSet| sentence.words.iter().any(|word| any_has(&word.text, list));
        sentence.words.len() > MAX_REPROACH
            || names_a_square(sentence)
            || names_a_piece(sentence)
            || has(|language| &language.words.not)
            || has(|language| &language.words.if_)
            || sentence
                .words
                .first()
                .is_some_and(|word| any_has(&word.text, |language| &language.beside.first))
    };
    // A bare yes may answer the question itself: `Was that wrong? Yes.`
    !asked.is_empty()
        && !asked.iter().any(doubts)
        && said.iter().map(|sentence| sentence.words.len()).sum::<usize>() > 1
        && matches!(meaning(&said), Some(WordAnswer::Yes | WordAnswer::WasMe))
}

/// Whether a letter of courtesies and other words thanks, and takes nothing back as far as its words tell: they neither
/// deny nor ask nor limit anything, and name no day, number, square or piece.
pub fn only_thanks(lines: &[Line]) -> bool {
    let all = sentences(lines);
    let spoken = read_remarks(lines, "", false, NaiveDate::default());
    let has = |sentence: &Sentence, list: fn(&Language) -> &WordSet| {
        sentence.words.iter().any(|word| any_has(&word.text, list))
    };
    let limits = |sentence: &Sentence| {
        has(sentence, |language| &language.words.not)
            || has(sentence, |language| &language.words.if_)
            || has(sentence, |language| &language.beside.first)
            || LANGUAGES.iter().any(|language| {
                language.beside.undoing.any_in(&sentence.words)
                    || language.orders.except.any_in(&sentence.words)
            })
    };
    spoken.topic == Some(Topic::Thanks) && !all.iter().any(limits)
}

/// Whether a person should read the remarks at once: they mention trouble, complain, or ask for a pause.
pub fn is_urgent(remarks: &[Line]) -> bool {
    let sentences = sentences(remarks);
    let asks = |sentence: &Sentence| {
        LANGUAGES.iter().any(|language| {
            let topics = [Topic::Foul, Topic::Pause];
            let is_meant = |start: usize| !is_negated(sentence, start, language);
            topics
                .iter()
                .filter_map(|topic| language.wishes.get(topic))
                .any(|phrases| phrases.any_where(&sentence.words, is_meant))
        })
    };
    care(&sentences).is_some() || sentences.iter().any(asks)
}

/// Whether remarks name no number, square or piece, so that they are not orders in words.
pub fn is_chat(remarks: &[Line]) -> bool {
    let has_digit = |sentence: &Sentence| {
        sentence.words.iter().any(|word| word.text.contains(|c: char| c.is_ascii_digit()))
    };
    !sentences(remarks).iter().any(|sentence| has_digit(sentence) || names_a_piece(sentence))
}

/// Whether remarks are only a mail program's notice that somebody reacted to a letter.
pub fn is_reaction(remarks: &[Line]) -> bool {
    let mut lines = remarks.iter().map(|line| line.text.to_lowercase());
    let is_notice = |line: &String| {
        line.len() < MAX_NOTICE
            && (line.contains("reacted via gmail") || line.contains("reacted to your message"))
    };
    !remarks.is_empty() && lines.all(|line| is_notice(&line) || !line.contains(char::is_alphanumeric))
}

/// Maximum bytes of a notice of a reaction, with a link.
const MAX_NOTICE: usize = 200;

/// Whether the days that a letter names belong to wishes of this topic.
fn is_dated(topic: Topic) -> bool {
    matches!(topic, Topic::Absence | Topic::MoreTime | Topic::Pause)
}

/// Returns the days that a sentence names or, if it names none, those of the first other sentence that does.
fn best_span(sentences: &[Sentence], index: usize, language: &Language, today: NaiveDate) -> Span {
    let own = span(&sentences[index], language, today);
    if own != Span::default() {
        return own;
    }
    let others = sentences.iter().map(|sentence| span(sentence, language, today));
    others.into_iter().find(|span| *span != Span::default()).unwrap_or_default()
}

/// Whether a letter is short and asks nothing.
fn is_short(sentences: &[Sentence]) -> bool {
    let words: usize = sentences.iter().map(|sentence| sentence.words.len()).sum();
    words <= MAX_THANKS && !sentences.iter().any(|sentence| sentence.is_question)
}

/// Returns the first mail address in a letter.
fn address_in(sentences: &[Sentence]) -> Option<Address> {
    let words = sentences.iter().flat_map(|sentence| &sentence.raw).filter(|word| word.contains('@'));
    // Some scripts do not separate an address from the words around it.
    let pieces = words.flat_map(|word| word.split(is_joined)).filter(|piece| piece.contains('@'));
    let bare = pieces.map(|piece| piece.trim_matches(|c: char| !c.is_alphanumeric()));
    bare.filter_map(|word| Address::parse_given(word).ok()).next()
}

/// Returns the words after the opponent's name, to the end of the paragraph. "Tell you what: if Bo …" is no message.
fn message_after(
    sentence: &Sentence,
    foe: &str,
    remarks: &[Line],
    language: &Language,
) -> Option<Vec<String>> {
    let names: Vec<String> = foe.split_whitespace().map(fold).collect();
    let is_name = |word: &Word| names.iter().any(|name| is_form_of(&word.text, name));
    let first = sentence.words.iter().position(is_name)?;
    if sentence.words[..first].iter().any(|word| language.words.if_.contains(&word.text)) {
        return None;
    }
    let count = sentence.words[first..].iter().take_while(|word| is_name(word)).count();
    let word = sentence.words.get(first + count - 1)?;
    let rest = remarks.get(word.line)?.text.get(word.end..)?;
    if let Some((_, after)) = rest.split_once('「')
        && let Some((quoted, _)) = after.split_once('」')
    {
        return Some(vec![quoted.to_owned()]);
    }
    let rest = without_ending(rest)?.trim_start_matches(|c: char| {
        !c.is_alphanumeric() && !c.is_ascii_punctuation() || c == ':' || c == ','
    });
    let rest = without_linking_words(behind_colon(rest.trim_start()));
    let more = remarks.get(word.line + 1..).unwrap_or_default();
    let more = more.iter().map(|line| line.text.trim().to_owned()).take_while(|line| !line.is_empty());
    let message: Vec<String> = std::iter::once(rest.trim().to_owned()).chain(more).collect();
    message.iter().any(|line| line.chars().any(char::is_alphanumeric)).then_some(message)
}

/// Returns what follows a name without the ending that an apostrophe joins to it, as in `Bo'ya`. `None` behind `Bo's`,
/// where something of his follows.
fn without_ending(rest: &str) -> Option<&str> {
    let Some(joined) = rest.strip_prefix(['\'', '’']) else { return Some(rest) };
    let after = joined.trim_start_matches(char::is_alphabetic);
    let ending = &joined[..joined.len() - after.len()];
    match ending {
        "s" => None,
        _ if ending.chars().count() <= MAX_ENDING => Some(after),
        _ => Some(rest),
    }
}

/// Maximum words between a name and the colon before a message: `Richte Bo bitte von mir aus: …`.
const MAX_BEFORE_COLON: usize = 4;

/// Returns what follows a colon behind a few words, or the whole text.
fn behind_colon(text: &str) -> &str {
    match text.split_once(": ") {
        Some((before, after)) if split_words(before).count() <= MAX_BEFORE_COLON => after.trim_start(),
        _ => text,
    }
}

/// Letters of an ending that a name gets in some languages, as in `Bovi` and `Bo'ya`.
const MAX_ENDING: usize = 2;

/// Whether a word is the name, perhaps with an ending, or with words of a script that does not separate words.
fn is_form_of(word: &str, name: &str) -> bool {
    let ending = word.strip_prefix(name);
    ending.is_some_and(|ending| ending.chars().count() <= MAX_ENDING || ending.starts_with(is_joined))
}

/// Returns a message without the words that link "tell Bo" to it.
pub fn without_linking_words(text: &str) -> &str {
    let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    match LANGUAGES.iter().any(|language| language.words.that.contains(first)) {
        true => without_linking_words(text[first.len()..].trim_start_matches(['\'', ' ', ','])),
        false => text,
    }
}

/// English words of the games' pieces: a sentence with one is about the match.
const PIECES: &str =
    "ship carrier battleship cruiser destroyer submarine sub squadron fleet marble star stack tower piece";

/// Returns the writer's own trouble that the sentences mention.
fn care(sentences: &[Sentence]) -> Option<Care> {
    let condoles = sentences.iter().any(condoles);
    let about_people =
        sentences.iter().filter(|sentence| !names_a_square(sentence) && !names_a_piece(sentence));
    about_people.filter_map(|sentence| care_in(sentence, condoles)).min()
}

/// Whether a sentence expresses sympathy with somebody.
fn condoles(sentence: &Sentence) -> bool {
    LANGUAGES.iter().any(|language| language.trouble.condolences.any_in(&sentence.words))
}

fn care_in(sentence: &Sentence, condoles: bool) -> Option<Care> {
    let mut languages = LANGUAGES.iter();
    let has_family = |language: &Language| {
        let is_own = |start: usize| is_own(sentence, start, language, condoles);
        language.trouble.family.any_where(&sentence.words, is_own)
    };
    let grieves = |language: &Language| {
        !condoles && language.trouble.grief.any_in(&sentence.words)
            || language.trouble.death.any_in(&sentence.words) && has_family(language)
    };
    if languages.any(grieves) {
        return Some(Care::Grief);
    }
    let is_ill = |language: &Language| {
        language.trouble.illness.any_in(&sentence.words)
            || language.trouble.ill.any_in(&sentence.words) && has_family(language)
    };
    LANGUAGES.iter().any(is_ill).then_some(Care::Illness)
}

/// Whether a word for somebody's family is the writer's: not that of `his father`, and, in a sentence of sympathy,
/// only that of `my father`.
fn is_own(sentence: &Sentence, start: usize, language: &Language, condoles: bool) -> bool {
    let before = start.checked_sub(1).map_or("", |before| &sentence.words[before].text);
    let trouble = &language.trouble;
    !language.joined && trouble.mine.contains(before) || !condoles && !trouble.theirs.contains(before)
}

/// Whether a sentence names a square or a piece by a number, as in `A3` and `#4`.
pub(super) fn names_a_square(sentence: &Sentence) -> bool {
    sentence.words.iter().any(|word| is_square(&word.text))
}

/// Whether a word is a piece of a game, in the singular or the plural. The verb in `Ship me …` is not one, so
/// `ship` at the beginning of a sentence does not count, unless a number follows.
pub(super) fn names_a_piece(sentence: &Sentence) -> bool {
    let is_number = |word: &Word| word.text.bytes().all(|byte| byte.is_ascii_digit());
    let has_number = sentence.words.get(1).is_some_and(is_number);
    let words = sentence.words.iter().enumerate();
    let mut words = words.filter(|(at, word)| !(*at == 0 && word.text == "ship") || has_number);
    words.any(|(_, word)| NAMES_OF_PIECES.contains(&word.text))
}

/// The words for pieces in all languages that separate words, with the endings of the plural.
static NAMES_OF_PIECES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let languages = LANGUAGES.iter().filter(|language| !language.joined);
    let own = languages.flat_map(|language| language.orders.pieces()).map(|(noun, _)| noun.as_str());
    let all = PIECES.split(' ').chain(own);
    all.flat_map(|piece| ["", "s", "e", "n", "en"].map(|ending| format!("{piece}{ending}"))).collect()
});

impl Span {
    /// Returns the amount of information: 2 for each day, and 1 for a duration.
    fn weight(&self) -> u8 {
        2 * u8::from(self.from.is_some()) + 2 * u8::from(self.to.is_some()) + u8::from(self.days.is_some())
    }

    /// Returns both days, if it names them and they are in order.
    pub fn both(&self) -> Option<(NaiveDate, NaiveDate)> {
        self.from.zip(self.to).filter(|(from, to)| from <= to)
    }
}

#[cfg(test)]
mod tests;
