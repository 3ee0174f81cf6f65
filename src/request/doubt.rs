//! Finds the order in a line that is none: `and SHIP 3 B2 TO B1`, `SHPI 4 2/1 G4`, `If he moves, HOLD`.
//!
//! Such a line is neither filed nor ignored, because its author may have meant it. The only consequence is a
//! question, so one question too many is better than a missed order; but prose about squares, as players
//! write it to each other, should not lead to one.

use super::grammar::Grammar;
use super::normalized;

/// Maximum words of an order inside a line. Longer orders, such as fleets, stand on lines of their own.
const MAX_ORDER: usize = 12;

/// Maximum words of a line to search. Players write no longer lines, and the work per letter stays linear.
const MAX_WORDS: usize = 400;

/// Maximum other words around an order of one word, such as a point. Longer lines only mention it.
const MAX_AROUND_WORD: usize = 4;

/// Maximum words of a line that is read as an order with a misspelt or missing first word.
const MAX_MISSPELT: usize = 10;

/// Orders of one word that people use in prose too.
const WORD_ORDERS: [&str; 3] = ["HOLD", "SWAP", "PASS"];

/// Words between the two squares of a move, in several languages.
const TO: [&str; 10] = ["TO", "NACH", "VERS", "NAAR", "HACIA", "PARA", "TIL", "TILL", "ZU", "->"];

/// Returns the order that a line holds, if it holds one. `line` is normalized, and not an order as a whole.
pub fn held_order(grammar: &impl Grammar, line: &str) -> Option<String> {
    if !may_hold_order(line) {
        return None;
    }
    let line = normalized::as_order(line);
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).take(MAX_WORDS).collect();
    inside(grammar, &words).or_else(|| misspelt(grammar, &words)).or_else(|| squares(grammar, &words))
}

/// Whether the line has a digit, as squares and ships have, or one of the [`WORD_ORDERS`].
fn may_hold_order(line: &str) -> bool {
    line.bytes().any(|byte| byte.is_ascii_digit())
        || line.split(|c: char| !c.is_alphanumeric()).any(|word| is_any_of(word, &WORD_ORDERS))
}

fn is_any_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|listed| word.eq_ignore_ascii_case(listed))
}

/// Returns an order among other words.
fn inside(grammar: &impl Grammar, words: &[&str]) -> Option<String> {
    for start in 0..words.len() {
        let first = trimmed(words[start]);
        if !is_any_of(first, grammar.verbs()) && !has_coordinate(first) {
            continue;
        }
        let most = MAX_ORDER.min(words.len() - start);
        for length in (1..=most).rev().filter(|length| *length < words.len()) {
            let piece = words[start..start + length].iter().map(|word| trimmed(word));
            let piece = piece.collect::<Vec<_>>().join(" ");
            if grammar.is_order(&piece) && (length > 1 || counts_alone(&piece, words.len() - 1)) {
                return Some(piece);
            }
        }
    }
    None
}

/// Whether an order of one word is more than a mention, among this number of other words.
fn counts_alone(word: &str, others: usize) -> bool {
    let in_capitals = !word.chars().any(char::is_lowercase);
    match is_any_of(word, &WORD_ORDERS) {
        true => in_capitals || others <= 1,
        false => others <= MAX_AROUND_WORD,
    }
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '*' | '#'))
}

/// Whether the word is a square, alone or with a prefix or a second square: `A3`, `U2`, `DD2-E4`.
fn has_coordinate(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    (1..=2).contains(&letters) && word.as_bytes().get(letters).is_some_and(u8::is_ascii_digit)
}

/// Returns the order that the line becomes with another first word, or with one word added before it.
fn misspelt(grammar: &impl Grammar, words: &[&str]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    if rest.is_empty() || words.len() > MAX_MISSPELT {
        return None;
    }
    let spelt = grammar.verbs().iter().find_map(|verb| {
        let order = format!("{verb} {}", rest.join(" "));
        // A list of numbers is an order only by its first word, so that word must be meant.
        let alike =
            is_misspelt(first, verb) || rest.len() >= 3 && rest.iter().any(|word| has_coordinate(word));
        (alike && grammar.is_order(&order)).then_some(order)
    });
    spelt.or_else(|| {
        let starts_like_one = first.starts_with(|c: char| c.is_ascii_digit() || c == '#');
        let has_more = words.iter().any(|word| has_coordinate(word) || is_any_of(word, &WORD_ORDERS));
        if !starts_like_one || !has_more {
            return None;
        }
        let line = words.join(" ");
        let mut added = grammar.verbs().iter().map(|verb| format!("{verb} {line}"));
        added.find(|order| grammar.is_order(order))
    })
}

/// Whether `word` is `verb` with a letter or two wrong, missing, doubled or swapped.
fn is_misspelt(word: &str, verb: &str) -> bool {
    let word = word.to_ascii_uppercase();
    // Accented characters do not count as typing mistakes.
    if !word.is_ascii() || word.len().abs_diff(verb.len()) > 2 || word.len() > 16 {
        return false;
    }
    let most = if verb.len() > 4 { 2 } else { 1 };
    strsim::osa_distance(&word, verb) <= most
}

/// Returns the move from square to square in a short line, in a game whose orders say more than that.
fn squares(grammar: &impl Grammar, words: &[&str]) -> Option<String> {
    if grammar.verbs().is_empty() || words.len() > MAX_MISSPELT {
        return None;
    }
    let is_square = |word: &str| normalized::is_square(trimmed(word));
    let spaced =
        words.windows(3).find(|three| is_square(three[0]) && is_any_of(three[1], &TO) && is_square(three[2]));
    let glued = words.iter().map(|word| trimmed(word)).find(|word| is_glued_move(word));
    spaced.map(|three| three.join(" ")).or_else(|| glued.map(str::to_owned))
}

/// Whether the word is `A3-B1` or `A3xB1`.
fn is_glued_move(word: &str) -> bool {
    let squares = word.split_once(['-', 'x', 'X']);
    squares.is_some_and(|(from, to)| normalized::is_square(from) && normalized::is_square(to))
}
