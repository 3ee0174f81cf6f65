//! Doubts: lines that leave open whether their author gives an order, and the orders found in lines that are
//! not orders, such as `and SHIP 3 B2 TO B1`, `SHPI 4 2/1 G4` or `If he moves, HOLD`.
//!
//! Such a line is neither filed nor ignored, because its author may have meant it. The only consequence is a
//! question, so one question too many is better than a missed order; but prose about squares, as players
//! write it to each other, should not lead to one.

use super::grammar::Grammar;
use super::normalized::{self, is_any_of};
use super::wish::are_polite;
use crate::language::{any_has, fold};
use crate::letter::split_words;

/// A line that leaves open whether its author gives an order. If a letter has one, nothing is filed, and the
/// author is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub line: usize,
    pub kind: DoubtKind,
    /// The orders that the line holds or means, as far as it shows. They may be illegal.
    pub found_orders: Vec<String>,
}

impl Doubt {
    pub fn new(line: usize, kind: DoubtKind) -> Doubt {
        Doubt { line, kind, found_orders: Vec::new() }
    }

    /// Whether it is about a line of so many words that they may be meant for a person.
    pub fn is_about_words(&self, line: &str) -> bool {
        self.kind.is_said() && split_words(line).nth(MAX_ORDER / 2).is_some()
    }
}

/// The reason for a doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoubtKind {
    /// The bullet or number before an order may be part of it.
    Bullet(String),
    /// The line is one of our examples, with its bar.
    Example,
    /// The line holds an order among other words.
    Inside,
    /// The same, but some of them deny it or set a condition.
    Denied,
    /// The line names the squares of a move, but not as an order does.
    Squares,
    /// The line consists of the words of orders, but is not an order.
    Misspelt,
    /// The line is an order in another language than English, or in other words.
    InWords,
    /// The line changes orders of the letter or those that are filed. The orders found are all of them, as changed.
    Changes,
    /// The line is the subject of a letter without orders.
    InSubject,
    /// The order stands in the quote of our letter, where its author seems to have changed a line.
    InQuote,
    /// The order stands below a line that may introduce an older letter.
    MayBeOld,
    /// The order is below a line `END`.
    BelowEnd,
    /// A question mark follows the order.
    Asked,
    /// The order is inside a question.
    InQuestion,
    /// A square below a name or a greeting.
    BelowName,
    /// A square in the middle of a sentence.
    InSentence,
    /// Words next to the orders postpone or withdraw them.
    Postponed,
}

impl DoubtKind {
    /// Whether the doubtful line may be words to a person.
    fn is_said(&self) -> bool {
        matches!(
            self,
            DoubtKind::Inside
                | DoubtKind::Denied
                | DoubtKind::Squares
                | DoubtKind::InWords
                | DoubtKind::Changes
        )
    }
}

/// Maximum words of an order inside a line. Longer orders, such as fleets, are on lines of their own.
const MAX_ORDER: usize = 12;

/// Maximum words of a line to search. Players do not write longer lines, and the limit keeps the work per
/// letter linear.
const MAX_WORDS: usize = 400;

/// Maximum other words around an order of one word, such as a point. Longer lines only mention it. Twice as
/// many are allowed around a word in capitals, such as `HOLD`.
const MAX_AROUND_WORD: usize = 4;

/// Maximum words of a line that is read as an order with a misspelt or missing first word.
const MAX_MISSPELT: usize = 10;

/// Orders of one word that people use in prose too.
const WORD_ORDERS: [&str; 3] = ["HOLD", "SWAP", "PASS"];

/// Words that occur in orders, apart from their verbs, squares and numbers.
const ORDER_WORDS: [&str; 15] = [
    "TO", "AT", "ON", "FROM", "AND", "ALL", "GO", "GOES", "MOVE", "MOVES", "STAY", "STAYS", "NONE", "BASE",
    "->",
];

/// More words that occur in short forms of orders, such as `ALL IN A TO B2` and `REST HOLD`.
const SHORT_FORM_WORDS: [&str; 3] = ["IN", "REST", "OTHERS"];

/// Whether a word denies or conditions what a line says, so that it offers no order.
fn denies(word: &str) -> bool {
    any_has(&fold(word), |language| &language.orders.denying)
}

/// Returns the doubt about a line that holds an order, if it holds one. `line` is normalized, and not an
/// order as a whole.
pub fn held_orders(grammar: &impl Grammar, no: usize, line: &str) -> Option<Doubt> {
    if !may_hold_order(line) {
        return None;
    }
    let is_denied = split_words(line).any(denies);
    let is_labelled = is_labelled(line);
    let line = normalized::as_order(line);
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).take(MAX_WORDS).collect();
    let (kind, held) = inside(grammar, &words, is_labelled)
        .map(|held| (DoubtKind::Inside, held))
        .or_else(|| misspelt(grammar, &words).map(|held| (DoubtKind::Misspelt, vec![held])))
        .or_else(|| squares(grammar, &words).map(|held| (DoubtKind::Squares, vec![held])))
        .or_else(|| is_of_order_words(grammar, &words).then(|| (DoubtKind::Misspelt, Vec::new())))?;
    Some(unless_denied(is_denied, Doubt { line: no, kind, found_orders: held }))
}

/// Returns the doubt, or one without orders if the line denies what it says, takes it back or sets a condition.
pub fn unless_denied(is_denied: bool, doubt: Doubt) -> Doubt {
    if is_denied { Doubt::new(doubt.line, DoubtKind::Denied) } else { doubt }
}

/// Whether a line consists of the words of orders, squares and numbers, its first word perhaps misspelt, and
/// holds a number or a square.
fn is_of_order_words(grammar: &impl Grammar, words: &[&str]) -> bool {
    let verbs = grammar.verbs();
    let is_verb = |word: &str| is_verb(grammar, word);
    let is_number = |word: &str| {
        let digits = word.trim_start_matches('#');
        has_coordinate(word)
            || !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'/' || b == b'-')
    };
    let is_known = |word: &str| is_verb(word) || is_number(word) || is_any_of(word, &ORDER_WORDS);
    let Some((first, rest)) = words.split_first() else { return false };
    let is_misspelt = verbs.iter().any(|verb| is_misspelt(first, verb));
    words.len() <= MAX_ORDER
        && (is_misspelt || is_known(first) && words.iter().any(|word| is_verb(word)))
        && rest.iter().all(|word| is_known(word))
        && rest.iter().any(|word| is_number(word))
}

/// Whether the line has a digit, as squares and ships have, or one of the [`WORD_ORDERS`].
fn may_hold_order(line: &str) -> bool {
    line.bytes().any(|byte| byte.is_ascii_digit())
        || split_words(line).any(|word| is_any_of(word, &WORD_ORDERS))
}

/// Words behind `CHECK` that only point at the orders below it.
const POINTING: [&str; 12] =
    ["THIS", "THESE", "IT", "THEM", "ONLY", "FIRST", "MY", "THE", "ORDER", "ORDERS", "MOVE", "MOVES"];

/// Whether words are polite, or point at the orders below: `please`, `these first`.
pub fn points_at_orders(words: &[&str]) -> bool {
    words.iter().all(|word| {
        let word = trimmed(word);
        is_any_of(word, &POINTING) || are_polite(&[&word.to_lowercase()])
    })
}

/// Maximum words behind an order of one word that leave it an order: `G7 it is`.
const MAX_AFTER_POINT: usize = 2;

/// Returns the doubt about a line that is an order and continues with other words: `SETUP deep please`. A single
/// word is an order only before polite words, or very few.
pub fn order_and_words(grammar: &impl Grammar, no: usize, line: &str) -> Option<Doubt> {
    let is_denied = split_words(line).any(denies);
    let line = normalized::as_order(line);
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).take(MAX_WORDS).collect();
    let is_order = |length: &usize| {
        let (order, rest) = words.split_at(*length);
        (*length > 1 || rest.len() <= MAX_AFTER_POINT || are_polite(rest))
            && goes_on_in_words(grammar, rest)
            && grammar.is_order(&order.join(" "))
    };
    let length = (1..words.len().min(MAX_ORDER + 1)).rev().find(is_order)?;
    let held = vec![words[..length].join(" ")];
    Some(unless_denied(is_denied, Doubt { line: no, kind: DoubtKind::Inside, found_orders: held }))
}

/// Returns the doubt about a line that begins like an order and denies it or sets a condition.
pub fn denied_order(no: usize, line: &str) -> Option<Doubt> {
    // A line that starts with IF is a condition. If it is faulty, it gets its own explanation.
    let is_denied = split_words(line).skip(1).any(denies);
    let is_condition = split_words(line).next().is_some_and(|word| is_any_of(word, &["IF"]));
    (is_denied && !is_condition).then(|| Doubt::new(no, DoubtKind::Denied))
}

/// Whether none of the words after an order can belong to one.
fn goes_on_in_words(grammar: &impl Grammar, rest: &[&str]) -> bool {
    let is_of_order = |word: &&str| {
        word.contains(|c: char| c.is_ascii_digit())
            || is_any_of(trimmed(word), &ORDER_WORDS)
            || is_any_of(trimmed(word), grammar.verbs())
    };
    // `B1` may have become `BI` or `Bl`.
    let is_like_square = |word: &str| {
        let letters = word.as_bytes();
        letters.len() == 2 && letters[0].is_ascii_alphabetic() && matches!(letters[1], b'I' | b'i' | b'l')
    };
    !is_like_square(rest[0]) && !rest.iter().any(is_of_order)
}

/// Whether a line has a word that occurs in no order of the game, short forms included.
pub fn has_foreign_word(grammar: &impl Grammar, line: &str) -> bool {
    let is_foreign = |word: &str| {
        let is_name = word.chars().all(|c| c.is_alphabetic()) && word.chars().count() > 1;
        is_name
            && !is_verb(grammar, word)
            && !is_any_of(word, &ORDER_WORDS)
            && !is_any_of(word, &SHORT_FORM_WORDS)
    };
    split_words(line).any(is_foreign)
}

/// Minimum words of prose that occur in no order.
const PROSE: usize = 5;

/// Whether a line that begins like an order has many words that occur in none.
pub fn is_prose(grammar: &impl Grammar, line: &str) -> bool {
    split_words(line).filter(|word| has_foreign_word(grammar, word)).nth(PROSE - 1).is_some()
}

fn is_verb(grammar: &impl Grammar, word: &str) -> bool {
    let singular = word.strip_suffix(['s', 'S']).unwrap_or(word);
    is_any_of(word, grammar.verbs()) || is_any_of(singular, grammar.verbs())
}

/// Whether the text is a move from square to square in a game whose orders need more than two squares.
pub fn is_move(grammar: &impl Grammar, text: &str) -> bool {
    !grammar.verbs().is_empty() && is_glued_move(text)
}

/// Returns the orders and moves among other words, each as long as possible. Returns no orders if the line has
/// a single point, which names no piece, without a label, or squares outside the orders, which may belong to another order.
fn inside(grammar: &impl Grammar, words: &[&str], is_labelled: bool) -> Option<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    let mut has_order = false;
    let mut has_more = false;
    let mut start = 0;
    while start < words.len() {
        let word = trimmed(words[start]);
        if let Some((piece, length)) = order_at(grammar, words, start) {
            has_order = true;
            found.push(piece);
            start += length;
        } else if is_move(grammar, word) {
            found.push(word.replace(['x', 'X'], "-"));
            start += 1;
        } else {
            has_more |= has_coordinate(word);
            start += 1;
        }
    }
    let names_no_piece = found.iter().any(|order| !order.contains(' ') && is_square(order));
    let is_open = has_more || names_no_piece && !is_labelled;
    has_order.then(|| if is_open { Vec::new() } else { found })
}

/// Maximum words of a label.
const MAX_LABEL: usize = 3;

/// Whether a line is a label with a colon and one word: `PS: G7`.
fn is_labelled(line: &str) -> bool {
    let Some((label, word)) = line.split_once([':', '：']) else { return false };
    let is_plain = |word: &str| word.chars().all(|c| c.is_alphabetic() || c == '.');
    let labels = label.split_whitespace().take(MAX_LABEL + 1);
    word.split_whitespace().count() == 1
        && (1..=MAX_LABEL).contains(&labels.clone().count())
        && labels.into_iter().all(is_plain)
}

/// Whether the word is a square, with a star or without.
fn is_square(word: &str) -> bool {
    normalized::is_square(word.trim_matches('*'))
}

/// Returns the longest order that begins at a word and is not the whole line, and its number of words.
fn order_at(grammar: &impl Grammar, words: &[&str], start: usize) -> Option<(String, usize)> {
    let first = trimmed(words[start]);
    if !is_any_of(first, grammar.verbs()) && !has_coordinate(first) {
        return None;
    }
    let most = MAX_ORDER.min(words.len() - start);
    (1..=most).rev().filter(|length| *length < words.len()).find_map(|length| {
        let piece = words[start..start + length].iter().map(|word| trimmed(word));
        let piece = piece.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let counts = piece.contains(' ') || counts_alone(&piece, words.len() - 1);
        (counts && grammar.is_order(&piece)).then_some((piece, length))
    })
}

/// Whether an order of one word is more than a mention, among this number of other words.
fn counts_alone(word: &str, others: usize) -> bool {
    let in_capitals = !word.chars().any(char::is_lowercase);
    match is_any_of(word, &WORD_ORDERS) {
        true => in_capitals && others <= 2 * MAX_AROUND_WORD || others <= 1,
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

/// Returns the order that the line becomes if its first word is replaced, or a word is added before it.
fn misspelt(grammar: &impl Grammar, words: &[&str]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    if rest.is_empty() || words.len() > MAX_MISSPELT {
        return None;
    }
    let spelt = grammar.verbs().iter().find_map(|verb| {
        let order = format!("{verb} {}", rest.join(" "));
        // Only its first word makes a list of numbers an order, so that word must be close to a verb.
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

/// Returns the two squares of a move in a short line, as `A3-B1`, in a game whose orders need more than two squares.
fn squares(grammar: &impl Grammar, words: &[&str]) -> Option<String> {
    if grammar.verbs().is_empty() || words.len() > MAX_MISSPELT {
        return None;
    }
    let is_square = |word: &str| normalized::is_square(trimmed(word));
    let is_between = |word: &str| word == "->" || any_has(&fold(word), |language| &language.orders.between);
    let spaced =
        words.windows(3).find(|three| is_square(three[0]) && is_between(three[1]) && is_square(three[2]));
    let glued = words.iter().map(|word| trimmed(word)).find(|word| is_glued_move(word));
    spaced
        .map(|three| format!("{}-{}", trimmed(three[0]), trimmed(three[2])))
        .or_else(|| glued.map(|word| word.replace(['x', 'X'], "-")))
}

/// Whether the word is `A3-B1` or `A3xB1`.
fn is_glued_move(word: &str) -> bool {
    let squares = word.split_once(['-', 'x', 'X']);
    squares.is_some_and(|(from, to)| normalized::is_square(from) && normalized::is_square(to))
}
