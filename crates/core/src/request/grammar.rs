//! The part of a game that reading a letter depends on: recognising orders, and lines that look like them.

use super::normalized::{self, NormalizedLine};
use crate::game::Syntax;
use crate::game::any::GameKind;

/// The written orders of a game, as far as reading a letter depends on them.
pub trait Grammar {
    /// Whether a line begins like an order, complete or not.
    fn begins_order(&self, line: &str) -> bool;

    /// Whether a line is a complete order.
    fn is_order(&self, line: &str) -> bool;

    /// Returns the order that a line means if its bullet or number is part of it: `SHIP 2 HOLD` for `2:
    /// hold`. `rest` is the line without the bullet.
    fn with_bullet(&self, bullet: &str, rest: &str) -> Option<String>;

    /// Returns the words that orders begin with, in capitals.
    fn verbs(&self) -> &'static [&'static str];

    /// Returns another game in which a line is a complete order.
    fn game_elsewhere(&self, _line: &str) -> Option<GameKind> {
        None
    }
}

impl Grammar for GameKind {
    fn begins_order(&self, line: &str) -> bool {
        match self.syntax(line) {
            Ok(()) => true,
            Err(Syntax::Unknown) => false,
            Err(Syntax::Malformed { .. }) => !is_prose(line),
        }
    }

    fn is_order(&self, line: &str) -> bool {
        self.syntax(line).is_ok()
    }

    fn with_bullet(&self, bullet: &str, rest: &str) -> Option<String> {
        GameKind::with_bullet(*self, bullet, rest)
    }

    fn verbs(&self) -> &'static [&'static str] {
        GameKind::verbs(*self)
    }

    /// Counts only an order with its verb and a number, because people write `pass`, `hold` and squares in
    /// prose.
    fn game_elsewhere(&self, line: &str) -> Option<GameKind> {
        let (first, rest) = line.split_once(' ')?;
        let has_number = rest.contains(|c: char| c.is_ascii_digit());
        let has_verb = |game: &GameKind| game.verbs().iter().any(|verb| first.eq_ignore_ascii_case(verb));
        let mut others = GameKind::ALL.iter().copied().filter(|game| game != self);
        others.find(|game| has_number && has_verb(game) && game.is_order(line))
    }
}

/// A grammar that only knows whether a line begins like an order. No line is doubtful in it.
impl<F: Fn(&str) -> bool> Grammar for F {
    fn begins_order(&self, line: &str) -> bool {
        self(line)
    }

    fn is_order(&self, _line: &str) -> bool {
        false
    }

    fn with_bullet(&self, _bullet: &str, _rest: &str) -> Option<String> {
        None
    }

    fn verbs(&self) -> &'static [&'static str] {
        &[]
    }
}

/// Returns the orders on a line: several if each piece between its semicolons is one.
pub fn orders_of(grammar: &impl Grammar, wording: &NormalizedLine) -> Option<Vec<String>> {
    if wording.plain.contains(';') {
        let pieces = wording.pieces().map(normalized::as_order).filter(|piece| !piece.is_empty());
        let pieces: Vec<String> = pieces.collect();
        if pieces.len() > 1 && pieces.iter().all(|piece| grammar.begins_order(piece)) {
            return Some(pieces);
        }
    }
    let whole = normalized::as_order(&wording.plain);
    grammar.begins_order(&whole).then(|| vec![whole])
}

/// Whether a line is prose although it starts like an order, such as `Star Shipping Ltd`: three or more words
/// without a digit, the first of them not in capitals.
pub fn is_prose(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let in_capitals = words.next().is_none_or(|first| !first.chars().any(char::is_lowercase));
    !in_capitals && words.count() >= 2 && !line.contains(|c: char| c.is_ascii_digit())
}
