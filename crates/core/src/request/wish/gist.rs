//! The orders that somebody's own words mean, told by the pieces and squares in them: `make 4 go C2 and leave the rest`.
//!
//! Nobody can list the words with which people give orders, so this reads only which ship, or which noun of a piece, is
//! followed by which squares. The words between them do not count, unless they deny something or set a condition: then
//! nothing is read. What is read is offered, never filed.

use std::collections::BTreeSet;

use super::orders::CAPTURE_ALL;
use crate::game::any::GameKind;
use crate::language::{LANGUAGES, Language, OrderWords, Phrases, Topic, Word, any_has, fold, is_joined};
use crate::letter::clean::latin;
use crate::request;
use crate::request::normalized::is_square;

/// Maximum words of a letter that gives orders in words.
const MAX_WORDS: usize = 80;

/// Maximum words of a line whose only square is meant although it names no piece.
const MAX_AROUND_POINT: usize = 6;

/// Maximum words of a sentence, among others, whose only square is meant although it names no piece.
const MAX_IN_SENTENCE: usize = 4;

/// Ends of sentences that ask nothing.
const ENDS: [char; 6] = ['.', '!', '…', ';', '。', '！'];

/// Letters as they are spelt by those who dictate.
const SPELT: [(&str, char); 4] = [("be", 'B'), ("bee", 'B'), ("dee", 'D'), ("gee", 'G')];

/// Small letters that are no word of their own in any of the languages.
const NO_WORDS: &str = "bcdfghjp";

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
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

/// Returns the orders that these lines mean, in the form of the game or as `A3-B2`. They may be illegal. Empty if the
/// lines leave open what they mean.
pub fn orders_meant(lines: &[&str], game: GameKind) -> Vec<String> {
    let words: Vec<&str> = lines.iter().flat_map(|line| words_of(line)).collect();
    let asks = lines.iter().any(|line| asks(line));
    if asks || words.len() > MAX_WORDS || words.iter().any(|word| is_condition(&fold(word))) {
        return Vec::new();
    }
    let tokens = tokens(&words, game);
    let found = match game {
        GameKind::QuadrantZ => ships(&tokens),
        GameKind::Quad => points(&tokens, words_around_point(lines, game)),
        GameKind::Quantum => only_move(&tokens),
        GameKind::Pacific => submarine(&tokens).or_else(|| only_move(&tokens)),
    };
    found.unwrap_or_default()
}

/// Maximum words of a line that corrects an order by another square, whatever else it says: `Err, H7.`
const MAX_SHORT_CORRECTION: usize = 3;

/// Maximum bytes of a line whose sentences each correct something.
const MAX_CORRECTING: usize = 400;

/// Maximum words of a letter that replaces a square of the orders that are filed.
const MAX_CORRECTION: usize = 30;

/// Returns the filed orders as a letter corrects them: `please make A2 an A1`, `I meant G8`. They may be illegal. `None` if
/// it leaves open what it corrects.
pub fn correction_meant(lines: &[&str], game: GameKind, filed: &[String]) -> Option<Vec<String>> {
    let words: Vec<&str> = lines.iter().flat_map(|line| words_of(line)).collect();
    if filed.is_empty() || words.len() > MAX_CORRECTION {
        return None;
    }
    // "If it is not too late, could ship 4 go to G2 and not G1?" denies the old square, so that it is no musing.
    let muses = lines.iter().any(|line| asks(line)) || words.iter().any(|word| is_condition(&fold(word)));
    let is_open = muses || lines.iter().any(|line| request::takes_back(line));
    let corrects = !muses && lines.iter().any(|line| corrects(line));
    by_squares(&words, game, filed, is_open)
        .or_else(|| corrects.then(|| by_new_squares(&words, game, filed)).flatten())
}

/// Returns the orders of a letter as a line beside them changes them, as a whole or sentence by sentence: it names the
/// ship of one of them and another square, such as `For 2 I would rather have F4`, says that a square or a move replaces
/// another, or that a ship stays.
pub fn change_meant(line: &str, game: GameKind, orders: &[String]) -> Option<Vec<String>> {
    let change = |said: &str, orders: &[String]| {
        one_change(said, game, orders).or_else(|| stay_meant(&[said], game, orders))
    };
    change(line, orders).or_else(|| {
        if line.len() > MAX_CORRECTING {
            return None;
        }
        let mut changed = orders.to_vec();
        for sentence in line.split_inclusive(ENDS) {
            match change(sentence, &changed) {
                Some(next) => changed = next,
                // What is not understood may be about the orders, too.
                None if sentence.contains(|c: char| c.is_numeric()) => return None,
                None => {}
            }
        }
        Some(changed).filter(|changed| changed != orders)
    })
}

/// Whether a line has a digit, or a word for a number or an ordinal. A line without any names no square and no piece, so
/// that it changes no order.
pub fn names_a_number(line: &str) -> bool {
    let is_number = |word: String| super::number(&word).is_some() || nth(&word).is_some();
    line.contains(char::is_numeric) || words_of(line).into_iter().map(fold).any(is_number)
}

fn one_change(said: &str, game: GameKind, orders: &[String]) -> Option<Vec<String>> {
    let words = words_of(said);
    if words.len() > MAX_CORRECTION {
        return None;
    }
    let of_ship = (game == GameKind::QuadrantZ).then(|| by_ship(&words, game, orders)).flatten();
    let is_short = words.len() <= MAX_SHORT_CORRECTION && !asks(said);
    if !is_short && !corrects(said) {
        return of_ship;
    }
    // "C9 is not as good as C6" denies no square.
    of_ship
        .or_else(|| by_squares(&words, game, orders, !was_meant_otherwise(said)))
        .or_else(|| (!asks(said)).then(|| by_new_squares(&words, game, orders)).flatten())
}

fn asks(text: &str) -> bool {
    text.contains(['?', '？', '¿'])
}

/// Whether a line corrects something: it says that something is replaced or preferred, or was meant otherwise.
pub fn corrects(line: &str) -> bool {
    let replaces = |word: &str| {
        let word = fold(word);
        any_has(&word, |language| &language.orders.instead)
            || any_has(&word, |language| &language.orders.rather)
    };
    was_meant_otherwise(line) || words_of(line).into_iter().any(replaces)
}

/// Whether a line begins with a word that takes back, or says that something was meant otherwise.
fn was_meant_otherwise(line: &str) -> bool {
    let said: Vec<Word> = words_of(line).iter().map(|word| Word::new(fold(word), 0, 0)).collect();
    let says = |language: &Language| {
        language.wishes.get(&Topic::Change).is_some_and(|said_so| said_so.any_in(&said))
    };
    request::takes_back(line) || LANGUAGES.iter().any(says)
}

/// Corrects the orders that end with one of the two squares that are named, if no order has the other.
fn by_squares(words: &[&str], game: GameKind, orders: &[String], is_open: bool) -> Option<Vec<String>> {
    // Each square, and whether a word before or behind it denies it.
    let mut named: Vec<(String, bool)> = Vec::new();
    let mut start = 0;
    for (at, word) in words.iter().enumerate() {
        let Some(square) = square(word, game) else { continue };
        let before = words[start..at].iter().rev().take(3);
        let is_denied = before.into_iter().any(|word| denies(&fold(word)))
            || words
                .get(at + 1)
                .is_some_and(|next| any_has(&fold(next), |language| &language.orders.denying_behind));
        start = at + 1;
        if named.iter().all(|(known, _)| *known != square) {
            named.push((square, is_denied));
        }
    }
    let is_ordered = |square: &str| orders.iter().any(|order| squares_of(order).any(|word| word == square));
    // `It was D5-C7` names a move.
    let is_move = matches!(game, GameKind::Quantum | GameKind::Pacific)
        && words.windows(2).any(|two| two.iter().all(|word| square(word, game).is_some()))
        && named.iter().all(|(_, is_denied)| !is_denied);
    if is_move {
        return None;
    }
    let (old, new, is_old_denied) = match &named[..] {
        [(one, old), (other, false)] if is_ordered(one) && !is_ordered(other) => (one, other, *old),
        [(one, false), (other, old)] if is_ordered(other) && !is_ordered(one) => (other, one, *old),
        _ => return None,
    };
    let is_changed = |order: &String| order.ends_with(old.as_str());
    if is_open && !is_old_denied || !orders.iter().any(is_changed) {
        return None;
    }
    let changed = orders.iter().map(|order| match is_changed(order) {
        true => format!("{}{new}", &order[..order.len() - old.len()]),
        false => order.clone(),
    });
    Some(changed.collect())
}

/// Corrects the only order with a square by the only other square that is named, or by a whole move.
fn by_new_squares(words: &[&str], game: GameKind, orders: &[String]) -> Option<Vec<String>> {
    let has_point = |order: &&String| squares_of(order).count() > 0 && !order.starts_with("STAR");
    let old = only(orders.iter().filter(has_point))?;
    let is_move = matches!(game, GameKind::Quantum | GameKind::Pacific) && squares_of(old).count() == 2;
    if is_move && let Some(new) = other_move(words, game, old) {
        return Some(with(orders, old, new));
    }
    let tokens = tokens(words, game);
    // A number names another piece.
    if tokens.iter().any(|token| matches!(token, Token::Number(_))) {
        return None;
    }
    let mut named = squares(&tokens);
    named.dedup();
    // A line that names a square of the order, too, may compare them.
    let names_own = words
        .iter()
        .filter_map(|word| square(word, game))
        .any(|named| squares_of(old).any(|own| own == named));
    let new = match named[..] {
        [square] if !names_own => {
            let last = squares_of(old).last()?;
            format!("{}{square}", &old[..old.rfind(last)?])
        }
        _ => return None,
    };
    Some(with(orders, old, new))
}

/// Returns the only move beside the one that is ordered, unless it is denied.
fn other_move(words: &[&str], game: GameKind, ordered: &str) -> Option<String> {
    let moves = words.windows(2).enumerate().filter_map(|(at, two)| {
        let (from, to) = (square(two[0], game)?, square(two[1], game)?);
        let is_other = !squares_of(ordered).eq([from.as_str(), to.as_str()]);
        is_other.then(|| (at, format!("{from}-{to}")))
    });
    let (at, new) = only(moves)?;
    let is_denied = at > 0 && denies(&fold(words[at - 1]));
    (!is_denied).then_some(new)
}

/// Returns the only item.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// Returns the squares of an order.
fn squares_of(order: &str) -> impl Iterator<Item = &str> {
    order.split([' ', '-']).filter(|word| is_square(word))
}

/// Returns these orders with the one with which a ship stays, if words say so of one ship whose order moves it, or take that
/// order back: `about ship 1: leave it where it is`.
pub fn stay_meant(lines: &[&str], game: GameKind, orders: &[String]) -> Option<Vec<String>> {
    let words: Vec<&str> = lines.iter().flat_map(|line| words_of(line)).collect();
    let asks = lines.iter().any(|line| asks(line));
    if game != GameKind::QuadrantZ || asks || words.len() > MAX_CORRECTION {
        return None;
    }
    let said: Vec<Word> = words.iter().map(|word| Word::new(fold(word), 0, 0)).collect();
    let has =
        |of: fn(&OrderWords) -> &Phrases| LANGUAGES.iter().any(|language| of(&language.orders).any_in(&said));
    let takes_back = lines.iter().any(|line| request::takes_back(line));
    if said.iter().any(|word| is_condition(&word.text))
        || has(|orders| &orders.except)
        || !takes_back && !has(|orders| &orders.stays)
    {
        return None;
    }
    let tokens = tokens(&words, game);
    // "Another try" names no ship 1.
    let names_ship = said.iter().any(|word| is_ship(&word.text));
    let no =
        only_ship(&tokens).filter(|no| names_ship || words.iter().any(|word| word.contains(no.as_str())))?;
    let order = orders.iter().find(|order| is_of_ship(order, no))?;
    let is_of_order = |square: &&str| order.split(' ').any(|word| word == *square);
    let moves = !order.ends_with("HOLD");
    (moves && squares(&tokens).iter().all(is_of_order))
        .then(|| with(orders, order, format!("SHIP {no} HOLD")))
}

/// Returns the orders with another one in place of one of them.
fn with(orders: &[String], old: &String, new: String) -> Vec<String> {
    orders.iter().map(|order| if order == old { new.clone() } else { order.clone() }).collect()
}

/// Whether an order is about the ship of this number.
fn is_of_ship(order: &str, no: &str) -> bool {
    let mut words = order.split(' ');
    words.next().is_some_and(|verb| verb.eq_ignore_ascii_case("SHIP")) && words.next() == Some(no)
}

/// Returns the number of the only ship that words name: `ship 3`, `3`, `the third ship`.
fn only_ship(tokens: &[Token]) -> Option<&String> {
    let numbers: BTreeSet<&String> = tokens
        .iter()
        .filter_map(|token| if let Token::Number(no) = token { Some(no) } else { None })
        .collect();
    only(numbers.into_iter())
}

fn is_ship(word: &str) -> bool {
    LANGUAGES.iter().any(|language| language.position.names_piece(word))
}

/// Returns the number that a word for first to fifth names.
fn nth(word: &str) -> Option<usize> {
    LANGUAGES.iter().find_map(|language| {
        let at = language.orders.nth.iter().position(|name| word.starts_with(name));
        at.map(|at| at + 1)
    })
}

/// Corrects the order of the only ship that is named by the only other square.
fn by_ship(words: &[&str], game: GameKind, orders: &[String]) -> Option<Vec<String>> {
    let tokens = tokens(words, game);
    let no = only_ship(&tokens)?;
    let order = only(orders.iter().filter(|order| is_of_ship(order, no)))?;
    let is_of_order = |square: &str| order.split(' ').any(|word| word.eq_ignore_ascii_case(square));
    let mut others: Vec<&str> = squares(&tokens).into_iter().filter(|square| !is_of_order(square)).collect();
    others.dedup();
    let [square] = others[..] else { return None };
    let (before, last) = order.rsplit_once(' ')?;
    let changed = match is_square(last) {
        true => format!("{before} {square}"),
        false => format!("SHIP {no} TO {square}"),
    };
    Some(with(orders, order, changed))
}

/// Whether a word denies something, or says that something is replaced.
fn denies(word: &str) -> bool {
    any_has(word, |language| &language.orders.instead) || any_has(word, |language| &language.words.not)
}

/// Splits a line into words: also where a script begins that does not separate words, and before an ending behind a hyphen.
/// An ending that an apostrophe joins to a square is left out: `A3'ten`.
fn words_of(line: &str) -> Vec<&str> {
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

/// Returns the words of the sentence that holds the first point, or of the whole letter if that is as short.
fn words_around_point(lines: &[&str], game: GameKind) -> usize {
    let sentences = lines.iter().flat_map(|line| line.split(ENDS)).map(words_of);
    let mut with_point = sentences.filter(|words| words.iter().any(|word| square(word, game).is_some()));
    let all: usize = lines.iter().map(|line| words_of(line).len()).sum();
    // A sentence among others says little else.
    with_point.next().map_or(all, |words| all.min(words.len() + MAX_AROUND_POINT - MAX_IN_SENTENCE))
}

/// Whether a word sets a condition in one of the languages, and is no common word of another.
fn is_condition(word: &str) -> bool {
    any_has(word, |language| &language.words.if_) && !any_has(word, |language| &language.words.weak_if)
}

fn tokens(words: &[&str], game: GameKind) -> Vec<Token> {
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
fn number(word: &str) -> Option<String> {
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

fn square(word: &str, game: GameKind) -> Option<String> {
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
fn squares(tokens: &[Token]) -> Vec<&str> {
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

/// Reads ships by their numbers, each with what follows up to the next ship.
fn ships(tokens: &[Token]) -> Option<Vec<String>> {
    let is_ship = |token: &Token| matches!(token, Token::Number(_));
    let first = tokens.iter().position(is_ship)?;
    // A square before the first ship may be its goal, or anything.
    if !squares(&tokens[..first]).is_empty() {
        return None;
    }
    let mut orders = Vec::new();
    let mut waiting: Vec<&str> = Vec::new();
    let mut rest = &tokens[first..];
    while let Some((Token::Number(no), after)) = rest.split_first() {
        let length = after.iter().position(is_ship).unwrap_or(after.len());
        let (said, next) = after.split_at(length);
        rest = next;
        waiting.push(no);
        let captures = said.contains(&Token::Capture);
        let goals = squares(said);
        let order = |no: &&str| match goals[..] {
            [square] if captures => Some(format!("CAPTURE {square}")),
            [to] => Some(format!("SHIP {no} TO {to}")),
            [from, to] => Some(format!("SHIP {no} {from} TO {to}")),
            [] if said.contains(&Token::Hold) => Some(format!("SHIP {no} HOLD")),
            _ => None,
        };
        if goals.is_empty() && !said.contains(&Token::Hold) && !rest.is_empty() {
            // "Ships 1 and 3 to B2".
            continue;
        }
        orders.extend(waiting.drain(..).map(|no| order(&no)).collect::<Option<Vec<_>>>()?);
    }
    waiting.is_empty().then_some(orders)
}

/// Reads stars and a marble by their nouns. A single point in a short letter is the marble's.
fn points(tokens: &[Token], words: usize) -> Option<Vec<String>> {
    let all = squares(tokens);
    let names_marble = tokens.contains(&Token::Marble);
    let names_star = tokens.contains(&Token::Star);
    if let ([point], false) = (&all[..], names_star) {
        return (names_marble || words <= MAX_AROUND_POINT).then(|| vec![format!("MARBLE {point}")]);
    }
    if !names_marble || tokens.contains(&Token::Instead) {
        return None;
    }
    let mut noun = None;
    let mut orders = Vec::new();
    for token in tokens {
        match token {
            Token::Star => noun = Some("STAR"),
            Token::Marble => noun = Some("MARBLE"),
            Token::Square(point) => orders.extend(noun.map(|noun| format!("{noun} {point}"))),
            _ => {}
        }
    }
    let marbles = orders.iter().filter(|order| order.starts_with("MARBLE")).count();
    (marbles == 1).then_some(orders)
}

/// Reads the only move in the tokens.
fn only_move(tokens: &[Token]) -> Option<Vec<String>> {
    match squares(tokens)[..] {
        [from, to] => Some(vec![format!("{from}-{to}")]),
        _ => None,
    }
}

/// Reads the order of a submarine by its number.
fn submarine(tokens: &[Token]) -> Option<Vec<String>> {
    let at = tokens.iter().position(|token| *token == Token::Submarine)?;
    let no =
        tokens[at..].iter().find_map(|token| if let Token::Number(no) = token { Some(no) } else { None })?;
    let order = match squares(tokens)[..] {
        [to] if tokens.contains(&Token::Fire) => format!("U{no} FIRE {to}"),
        [to] if tokens.contains(&Token::Sonar) => format!("U{no} SONAR {to}"),
        [to] => format!("U{no} TO {to}"),
        [from, to] => format!("U{no} {from} {to}"),
        _ => return None,
    };
    Some(vec![order])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(game: GameKind, text: &str) -> Vec<String> {
        orders_meant(&text.lines().collect::<Vec<_>>(), game)
    }

    #[test]
    fn ships_are_read_by_their_numbers_whatever_words_surround_them() {
        for (text, orders) in [
            ("All ships hold except 1, which goes to B2.", "SHIP 1 TO B2"),
            ("Make 4 go C2 and leave everything else as I said before", "SHIP 4 TO C2"),
            ("Ich habe mich vertippt, Schiff 1 soll nach B1 statt B2.", "SHIP 1 TO B1"),
            (
                "Okay send this ship one to B two full stop ship three to B one full stop thank you",
                "SHIP 1 TO B2/SHIP 3 TO B1",
            ),
            ("Az 1-es hajó menjen A3-ról B2-re", "SHIP 1 A3 TO B2"),
            ("Ship 1 to be two", "SHIP 1 TO B2"),
            ("Jag skrev fel, skepp 1 ska till B1 istället för B2.", "SHIP 1 TO B1"),
            ("1 and 3 both to B2 please", "SHIP 1 TO B2/SHIP 3 TO B2"),
            ("Birinci gemiyi A3'ten B2'ye götürmek istiyorum, diğerleri yerinde kalsın.", "SHIP 1 A3 TO B2"),
            ("Mein drittes Schiff fliegt nach B1, danke", "SHIP 3 TO B1"),
        ] {
            assert_eq!(meant(GameKind::QuadrantZ, text).join("/"), orders, "{text}");
        }
    }

    #[test]
    fn a_point_beside_few_words_is_the_marbles() {
        for text in ["Marvel G7", "g7 👍", "Marbleg7", "G7'ye koyuyorum", "我下G7。谢谢！", "G7 not G8"]
        {
            assert_eq!(meant(GameKind::Quad, text), ["MARBLE G7"], "{text}");
        }
        let text = "Bo's E5 has to be blocked I think... Star D4, then my marble goes to D5 I guess";
        assert_eq!(meant(GameKind::Quad, text), ["STAR D4", "MARBLE D5"]);
    }

    #[test]
    fn a_point_in_a_short_sentence_is_the_marbles() {
        for text in [
            "hi i am ben im 8 i want to putt my marbel on g7 pleez and wen do i win",
            "hallo ich bin emma und papa hat gesagt ich darf heute spielen. ich nehme G7",
            "The boiler broke, and the dog ran away.\nPS: G7",
        ] {
            assert_eq!(meant(GameKind::Quad, text), ["MARBLE G7"], "{text}");
        }
    }

    #[test]
    fn two_squares_correct_what_is_filed() {
        let filed = ["SHIP 1 F3 TO A2".to_owned(), "SHIP 2 HOLD".to_owned()];
        let corrected = |text: &str| {
            joined(correction_meant(&text.lines().collect::<Vec<_>>(), GameKind::QuadrantZ, &filed))
        };
        for text in [
            "In the orders I sent this morning, please change A2 into A1.",
            "Me equivoqué: el barco 1 no va a A2 sino a A1.",
            "A1 statt A2 bitte",
            "not A2, A1",
        ] {
            assert_eq!(corrected(text), "SHIP 1 F3 TO A1/SHIP 2 HOLD", "{text}");
        }
        for text in
            ["A2, not A1", "nicht A1, sondern A2", "A1 or A2?", "A1 and A3", "if he goes to A1 then A2"]
        {
            assert_eq!(corrected(text), "", "{text}");
        }
    }

    #[test]
    fn moves_and_submarines_are_read_by_their_squares() {
        assert_eq!(meant(GameKind::Quantum, "the queen from d3 to d4 please"), ["D3-D4"]);
        assert_eq!(meant(GameKind::Quantum, "hey um move d three to d four please, bye"), ["D3-D4"]);
        assert_eq!(meant(GameKind::Pacific, "destroyer b5 to c7"), ["B5-C7"]);
        assert_eq!(meant(GameKind::Pacific, "I would like my submarine number 2 at H9"), ["U2 TO H9"]);
        assert_eq!(meant(GameKind::Pacific, "let sub 2 shoot at H9"), ["U2 FIRE H9"]);
        assert_eq!(meant(GameKind::Pacific, "ubåt 2 skjuter mot H9"), ["U2 FIRE H9"]);
    }

    #[test]
    fn what_leaves_its_meaning_open_is_not_read() {
        for text in [
            "If he attacks A3 then ship 1 goes to B2",
            "Is ship 1 at B2?",
            "ship 1 to B2 or B3",
            "I have 3 ships",
            "B2 looks nice for 1",
            "ship 1 to B2 unless Bo is there",
            "skepp 1 till B2 om Bo går till A3",
        ] {
            assert_eq!(meant(GameKind::QuadrantZ, text), [""; 0], "{text}");
        }
        for text in [
            "B4 I go to bed: what a lovely game this is!",
            "G7 or G8",
            "Should I play G7?",
            "Nice, F6 G7 and H8 in a row",
        ] {
            assert_eq!(meant(GameKind::Quad, text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_question_corrects_only_if_it_denies_the_old_square() {
        let filed = ["SHIP 4 F1 TO G1".to_owned()];
        let corrected = |text: &str| joined(correction_meant(&[text], GameKind::QuadrantZ, &filed));
        for text in [
            "If it's not too late, could ship 4 go to G2 and not G1?",
            "Könnte Schiff 4 nach G2 statt G1?",
            "Le vaisseau 4 pourrait-il aller en G2 et pas G1 ?",
        ] {
            assert_eq!(corrected(text), "SHIP 4 F1 TO G2", "{text}");
        }
        for text in ["Is G2 better than G1?", "Ist G2 besser als G1?", "Could ship 4 reach G2?"] {
            assert_eq!(corrected(text), "", "{text}");
        }
    }

    #[test]
    fn a_ship_whose_order_is_taken_back_stays() {
        let filed = ["SHIP 1 G4 TO L2".to_owned(), "SHIP 3 B2 TO C1".to_owned()];
        let stays = |text: &str| joined(stay_meant(&[text], GameKind::QuadrantZ, &filed));
        for text in [
            "About ship 3: leave it where it is after all, the others as I said.",
            "Отмените ход третьим кораблём, остальное в силе.",
            "Schiff 3 soll doch lieber stehen bleiben, alles andere gilt.",
            "Annulez l'ordre du vaisseau 3, le reste est bon.",
        ] {
            assert_eq!(stays(text), "SHIP 1 G4 TO L2/SHIP 3 HOLD", "{text}");
        }
        for text in [
            "Cancel everything except ship 3",
            "Leave ship 1 and ship 3",
            "Ship 2 stays where it is",
            "Where is ship 3?",
            "If he comes, leave ship 3",
            "Ship 3 is a beauty",
            "Oh, too far. Another try:",
        ] {
            assert_eq!(stays(text), "", "{text}");
        }
    }

    #[test]
    fn a_remark_about_the_ship_of_an_order_changes_it() {
        let orders = ["SHIP 1 G4 TO L2".to_owned(), "SHIP 2 K2 TO F3".to_owned()];
        let changed = |text: &str| joined(change_meant(text, GameKind::QuadrantZ, &orders));
        for text in [
            "Pour le 2, je préfère F4 en fait.",
            "With ship 2 I would like F4 better than F3.",
            "Schiff 2 wäre auf F4 doch besser.",
        ] {
            assert_eq!(changed(text), "SHIP 1 G4 TO L2/SHIP 2 K2 TO F4", "{text}");
        }
        let text = "Sorry, I meant L1 for ship 1. And ship 2 stays where it is!";
        assert_eq!(changed(text), "SHIP 1 G4 TO L1/SHIP 2 HOLD");
        assert_eq!(changed("Ship 1 to L1 please. I wonder about F4."), "");
        for text in ["Ship 2 leaves K2 at last", "F4 looks empty", "My 2 cats like it", "Ships 1 and 2 to F4"]
        {
            assert_eq!(changed(text), "", "{text}");
        }
    }

    #[test]
    fn a_remark_that_corrects_an_order_changes_it_in_every_game() {
        for (game, order, text, changed) in [
            (GameKind::Quad, "MARBLE C6", "Perdón, quise decir C9.", "MARBLE C9"),
            (GameKind::Quad, "MARBLE C6", "Nein, doch lieber C9", "MARBLE C9"),
            (GameKind::Quad, "MARBLE C6", "C9 instead of C6 please", "MARBLE C9"),
            (GameKind::Quad, "MARBLE C6", "Err, C9.", "MARBLE C9"),
            (GameKind::Quantum, "D3 D4", "scratch that e3-e4", "E3-E4"),
            (GameKind::Quantum, "D3 D4", "Nah, rather E3-E4.", "E3-E4"),
            (GameKind::Quantum, "D3 D4", "Lieber E3-E4 statt D3-D4", "E3-E4"),
            (GameKind::Quantum, "D3 D4", "Sorry, D5 not D4", "D3 D5"),
            (GameKind::Pacific, "B5-C7", "Espere, o meu dedo escorregou: era D5-C7.", "D5-C7"),
            (GameKind::Pacific, "B5-C7", "oops, I meant D6", "B5-D6"),
        ] {
            assert_eq!(joined(change_meant(text, game, &[order.to_owned()])), changed, "{text}");
        }
        for text in
            ["After C9 I fear C6", "C9 is not as good as C6", "I do not fear C9", "C9 looks so empty", "C9?"]
        {
            assert_eq!(joined(change_meant(text, GameKind::Quad, &["MARBLE C6".to_owned()])), "", "{text}");
        }
        let order = ["B5-C7".to_owned()];
        let text = "Ошибся строкой, правильный ход пришлю вечером.";
        assert_eq!(joined(change_meant(text, GameKind::Pacific, &order)), "");
        let orders = ["STAR E8".to_owned(), "MARBLE D4".to_owned()];
        let corrected = correction_meant(&["I meant D5, not D4"], GameKind::Quad, &orders);
        assert_eq!(joined(corrected), "STAR E8/MARBLE D5");
        let orders = ["SHIP 1 A3 TO B2".to_owned()];
        let corrected = correction_meant(&["Ich wollte nicht B2, sondern B1"], GameKind::QuadrantZ, &orders);
        assert_eq!(joined(corrected), "SHIP 1 A3 TO B1");
    }

    fn joined(orders: Option<Vec<String>>) -> String {
        orders.unwrap_or_default().join("/")
    }
}
