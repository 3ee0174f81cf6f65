//! The orders of Quantum as they are written. `rules` decides whether a move is legal.

use std::fmt::{self, Display};

use serde::Serialize;

use super::pieces::{PieceKind, Spot};
use crate::game::{Syntax, not_understood, two_squares};

/// A move, `D3 E4` (clause 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Order {
    /// The kind of the stack, if its letter was written (`QD3-E4`). It must be correct; a sealed order omits
    /// it.
    pub kind: Option<PieceKind>,
    pub from: Spot,
    pub to: Spot,
}

impl Order {
    pub fn new(from: Spot, to: Spot) -> Order {
        Order { kind: None, from, to }
    }
}

impl Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kind) = self.kind {
            write!(f, "{}", kind.letter())?;
        }
        write!(f, "{} {}", self.from, self.to)
    }
}

/// Parses `D3 E4`, `D3-E4`, `D3 TO E4`, `D3xE4` or `d3e4`, optionally after `MOVE` or the letter of the kind.
/// A line that begins like none of these is a remark.
pub(super) fn parse(line: &str) -> Result<Vec<Order>, Syntax> {
    let upper = line.to_ascii_uppercase().replace("->", " TO ");
    let mut words: Vec<&str> = upper
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':'))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let is_commanded = words.first() == Some(&"MOVE");
    if is_commanded {
        words.remove(0);
    }
    if words == ["PASS"] {
        return Err(malformed(
            "Nobody can pass while a move is left; without one, your side passes by itself.".to_owned(),
        ));
    }
    if is_commanded && words.is_empty() {
        return Err(malformed("A move is two squares, from where to where.".to_owned()));
    }
    let second = words.get(1).copied();
    let Some((kind, start)) = words.first().copied().and_then(|first| begins(first, second)) else {
        return Err(Syntax::Unknown);
    };
    // The letter of the kind is a word of its own, or is attached to the first square.
    match start {
        "" => {
            words.remove(0);
        }
        start => words[0] = start,
    }
    let squares: Vec<&str> = words
        .iter()
        .flat_map(|word| match two_squares(word, |word| Spot::parse(word).is_some()) {
            Some((from, to)) => vec![from, to],
            None => word.splitn(2, ['-', '–']).filter(|part| !part.is_empty()).collect(),
        })
        .collect();
    let (from, to) = match squares[..] {
        [from, to] | [from, "TO", to] => (from, to),
        _ => {
            let is_strange = |word: &&&str| **word != "TO" && !begins_like_a_square(word);
            let strange: Vec<&str> = squares.iter().filter(is_strange).copied().collect();
            let strange = not_understood(&strange);
            return Err(malformed(format!("{strange}A move is two squares, from where to where.")));
        }
    };
    Ok(vec![Order { kind, from: spot(from)?, to: spot(to)? }])
}

/// Returns the kind that the first word of a move names, and the rest of that word; `None` if no move begins
/// like this.
fn begins<'a>(first: &'a str, second: Option<&str>) -> Option<(Option<PieceKind>, &'a str)> {
    if begins_like_a_square(first) {
        return Some((None, first));
    }
    let kind = PieceKind::of_letter(first.chars().next()?)?;
    let rest = &first[1..];
    let goes_on =
        if rest.is_empty() { second.is_some_and(begins_like_a_square) } else { begins_like_a_square(rest) };
    goes_on.then_some((Some(kind), rest))
}

fn begins_like_a_square(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.next().is_some_and(|byte| byte.is_ascii_digit())
}

fn spot(text: &str) -> Result<Spot, Syntax> {
    Spot::parse(text)
        .ok_or_else(|| malformed(format!("The board has no square {text}: squares run from A1 to H8.")))
}

fn malformed(reason: String) -> Syntax {
    Syntax::Malformed { reason, example: "D3 E4" }
}
