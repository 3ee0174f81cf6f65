//! The pieces, squares and numbers that words name, in all languages.

use crate::game::any::GameKind;
use crate::language::{LANGUAGES, OrderWords, Phrases, any_has, fold, is_joined};
use crate::letter::clean::latin;
use crate::request::normalized::is_square;

use super::orders::CAPTURE_ALL;

/// Ends of sentences that ask nothing.
pub(super) const ENDS: [char; 6] = ['.', '!', '…', ';', '。', '！'];

/// Letters as they are spelt by those who dictate.
const SPELT: [(&str, char); 4] = [("be", 'B'), ("bee", 'B'), ("dee", 'D'), ("gee", 'G')];

/// Small letters that are no word of their own in any of the languages.
const NO_WORDS: &str = "bcdfghjp";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Number(String),
    Square(String),
    Ship,
    Star,
    Marble,
    Submarine,
    Capture,
    Hold,
    Fire,
    Sonar,
    Instead,
    Word,
}

/// Whether a line has a digit, or a word for a number or an ordinal. A line without any names no square and no piece, so
/// that it changes no order.
pub fn names_a_number(line: &str) -> bool {
    let is_number = |word: String| super::number(&word).is_some() || nth(&word).is_some();
    line.contains(char::is_numeric) || words_of(line).into_iter().map(fold).any(is_number)
}

pub(super) fn asks(text: &str) -> bool {
    text.contains(['?', '？', '¿'])
}

/// Returns the only item.
pub(super) fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// Returns the squares of an order.
pub(super) fn squares_of(order: &str) -> impl Iterator<Item = &str> {
    order.split([' ', '-']).filter(|word| is_square(word))
}

pub(super) fn is_ship(word: &str) -> bool {
    LANGUAGES.iter().any(|language| language.position.names_piece(word))
}

/// Returns the number that a word for first to fifth names.
pub(super) fn nth(word: &str) -> Option<usize> {
    LANGUAGES.iter().find_map(|language| {
        let at = language.orders.nth.iter().position(|name| word.starts_with(name));
        at.map(|at| at + 1)
    })
}

/// Splits a line into words: also where a script begins that does not separate words, and before an ending behind a hyphen.
/// An ending that an apostrophe joins to a square is left out: `A3'ten`.
pub(super) fn words_of(line: &str) -> Vec<&str> {
    let mut before = "";
    let runs = line.split_inclusive(|c: char| !c.is_alphanumeric()).filter_map(|run| {
        let is_ending =
            before.ends_with(['\'', '’']) && is_square(&before.to_ascii_uppercase()[..before.len() - 1]);
        before = run;
        let word = run.trim_end_matches(|c: char| !c.is_alphanumeric());
        (!word.is_empty() && !is_ending).then_some(word)
    });
    let pieces = runs.flat_map(|run| {
        let cuts = run
            .char_indices()
            .zip(run.chars().skip(1))
            .filter(|((_, one), next)| is_joined(*one) != is_joined(*next));
        let cuts: Vec<usize> = cuts.map(|((at, one), _)| at + one.len_utf8()).collect();
        let ends = std::iter::once(0).chain(cuts).chain([run.len()]).collect::<Vec<usize>>();
        ends.windows(2).map(|cut| &run[cut[0]..cut[1]]).collect::<Vec<_>>()
    });
    pieces.collect()
}

/// Whether a word sets a condition in one of the languages, and is no common word of another.
pub(super) fn is_condition(written: &str) -> bool {
    // Only the accent tells "where" and "yes" from "or" and "if".
    if ["où", "sí"].contains(&written.to_lowercase().as_str()) {
        return false;
    }
    let word = fold(written);
    any_has(&word, |language| &language.words.if_) && !any_has(&word, |language| &language.words.weak_if)
}

pub(super) fn tokens(words: &[&str], game: GameKind) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let next = words.get(at).and_then(|next| number(next));
        let spelt = SPELT.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, letter)| *letter);
        let is_letter =
            |c: &char| word.len() == 1 && (c.is_ascii_uppercase() && *c != 'I' || NO_WORDS.contains(*c));
        let capital = word.chars().next().filter(is_letter).map(|letter| letter.to_ascii_uppercase());
        if let (Some(letter), Some(number)) = (spelt.or(capital), next) {
            tokens.push(Token::Square(format!("{letter}{number}")));
            at += 1;
            continue;
        }
        // The number of a turn is no ship's.
        let before = at.checked_sub(2).and_then(|before| words.get(before)).map(|word| fold(word));
        let is_turn = before.is_some_and(|word| any_has(&word, |language| &language.orders.turn));
        let beside = [at.checked_sub(2).and_then(|before| words.get(before)), words.get(at)];
        let nth = nth(&fold(word)).filter(|_| beside.into_iter().flatten().any(|word| is_ship(&fold(word))));
        tokens.push(match nth {
            Some(nth) => Token::Number(nth.to_string()),
            None if is_turn => Token::Word,
            None => token(word, game),
        });
    }
    tokens
}

fn token(written: &str, game: GameKind) -> Token {
    let word = fold(written);
    if let Some(square) = square(written, game) {
        return Token::Square(square);
    }
    // A telephone leaves out the blank: `Marbleg7`.
    let glued = [("marble", Token::Marble), ("star", Token::Star)];
    if let Some((noun, _)) = glued.iter().find(|(noun, _)| word.strip_prefix(noun).is_some_and(is_square)) {
        return Token::Square(word[noun.len()..].to_ascii_uppercase());
    }
    if any_has(&word, |language| &language.orders.instead) {
        return Token::Instead;
    }
    let is_any = |of: fn(&OrderWords) -> &Phrases| {
        LANGUAGES.iter().any(|language| of(&language.orders).contains(&word))
    };
    let is_piece = |noun: &str| LANGUAGES.iter().any(|language| language.orders.piece(&word) == Some(noun));
    match () {
        () if is_any(|orders| &orders.submarine) => Token::Submarine,
        () if is_any(|orders| &orders.fire) => Token::Fire,
        () if word == "sonar" => Token::Sonar,
        () if is_piece("SHIP") => Token::Ship,
        () if is_piece("STAR") => Token::Star,
        () if is_piece("MARBLE") || is_misspelt_marble(&word) => Token::Marble,
        () if is_piece(CAPTURE_ALL) => Token::Capture,
        () if any_has(&word, |language| &language.orders.hold) => Token::Hold,
        () => number(&word).map_or(Token::Word, Token::Number),
    }
}

/// Whether a word is a long word for a marble with a letter or two wrong: `marbel`.
fn is_misspelt_marble(word: &str) -> bool {
    let is_like = |noun: &String| {
        noun.chars().count() > MAX_SHORT
            && word.chars().take(MAX_SHORT / 2).eq(noun.chars().take(MAX_SHORT / 2))
            && strsim::osa_distance(word, noun) <= 2
    };
    LANGUAGES.iter().any(|language| language.orders.marble.iter().any(is_like))
}

/// Maximum letters of a noun of which a misspelt form may be another word.
const MAX_SHORT: usize = 5;

/// Reads a number in digits or in a word of more than two letters, so that no article counts.
pub(super) fn number(word: &str) -> Option<String> {
    let digits = word.bytes().all(|byte| byte.is_ascii_digit()) && word.len() <= 2;
    let is_word = || word.chars().count() > 2;
    let number =
        if digits { word.parse().ok() } else { is_word().then(|| super::number(&fold(word))).flatten() };
    number.map(|number: u32| number.to_string())
}

/// Returns a folded word of another script in the letters that its own stand for, as far as they are known: `бо` is `bo`.
fn in_latin(word: &str) -> String {
    let known = |c: char| LANGUAGES.iter().find_map(|language| language.orders.letters.get(&c).copied());
    let word: String = word.chars().map(|c| known(c).unwrap_or(c)).collect();
    latin(&word).unwrap_or(word)
}

pub(super) fn square(word: &str, game: GameKind) -> Option<String> {
    let word = in_latin(&fold(word)).to_ascii_uppercase();
    // The letter of a class before a square of the Pacific.
    let word = match game {
        GameKind::Pacific if word.len() > 2 && word.get(1..).is_some_and(is_square) => word[1..].to_owned(),
        _ => word,
    };
    let (file, rank) = (word.chars().next()?, word.get(1..)?.parse::<u32>().ok()?);
    let (last, most) = match game {
        GameKind::QuadrantZ => ('Y', 4),
        GameKind::Quad => ('K', 11),
        GameKind::Quantum => ('H', 8),
        GameKind::Pacific => ('P', 16),
    };
    (is_square(&word) && ('A'..=last).contains(&file) && (1..=most).contains(&rank)).then_some(word)
}

/// Returns the squares of the tokens but those that another replaces.
pub(super) fn squares(tokens: &[Token]) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_replaced = false;
    for token in tokens {
        match token {
            Token::Instead => is_replaced = true,
            Token::Square(_) if is_replaced => is_replaced = false,
            Token::Square(square) => found.push(square.as_str()),
            _ => {}
        }
    }
    found
}
