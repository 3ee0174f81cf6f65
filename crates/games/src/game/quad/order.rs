//! The orders of Quad as they are written. `view` decides whether a turn may stand.

use std::fmt::{self, Display};

use super::point::Point;
use crate::game::{Line, Syntax, condition};

/// One piece of a turn, or the answer to the first marble (clauses 2.1, 2.5). A line may hold several orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Star(Point),
    Marble(Point),
    Swap,
}

impl Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Star(point) => write!(f, "STAR {point}"),
            Order::Marble(point) => write!(f, "MARBLE {point}"),
            Order::Swap => f.write_str("SWAP"),
        }
    }
}

/// Parses `STAR C4 D5`, `MARBLE E6`, `C4* D5* E6` or `SWAP`. A line that only begins like one of these is
/// malformed; any other line is a remark.
pub(super) fn parse(line: &str) -> Result<Vec<Order>, Syntax> {
    let words: Vec<String> = line
        .split_whitespace()
        .map(|word| word.trim_end_matches([',', '.', ';']).to_ascii_uppercase())
        .filter(|word| !word.is_empty())
        .collect();
    let Some((first, rest)) = words.split_first() else { return Err(Syntax::Unknown) };
    match first.as_str() {
        "SWAP" if rest.is_empty() => Ok(vec![Order::Swap]),
        "SWAP" => Err(malformed("SWAP stands alone on its line.", "SWAP")),
        "STAR" | "STARS" if !rest.is_empty() => points(rest).map(|point| Ok(Order::Star(point?))).collect(),
        "MARBLE" | "MARBLES" if !rest.is_empty() => {
            points(rest).map(|point| Ok(Order::Marble(point?))).collect()
        }
        "STAR" | "STARS" => Err(malformed("Stars are written as STAR and their points.", "STAR C4 D5")),
        "MARBLE" | "MARBLES" => Err(malformed("The marble is written as MARBLE and its point.", "MARBLE E6")),
        _ if begins_like_a_point(first) => words.iter().map(|word| piece(word)).collect(),
        _ => Err(Syntax::Unknown),
    }
}

/// Splits a line such as `STAR C4 D5 MARBLE F6`, which a letter may have, into one for each word that begins
/// an order.
pub(super) fn split(line: &Line) -> Vec<Line> {
    if condition::is_condition(&line.text) {
        return vec![line.clone()];
    }
    let mut texts: Vec<String> = Vec::new();
    for word in line.text.split_whitespace() {
        let begins = VERBS.iter().any(|verb| word.eq_ignore_ascii_case(verb));
        match texts.last_mut().filter(|_| !begins) {
            Some(text) => {
                text.push(' ');
                text.push_str(word);
            }
            None => texts.push(word.to_owned()),
        }
    }
    texts.into_iter().map(|text| Line { no: line.no, text }).collect()
}

/// Words that begin an order and are followed by points.
const VERBS: [&str; 4] = ["STAR", "STARS", "MARBLE", "MARBLES"];

/// Parses the points after `STAR` or `MARBLE`, with or without `AT`, `ON` or `TO` before them.
fn points(words: &[String]) -> impl Iterator<Item = Result<Point, Syntax>> {
    let words = match words {
        [at, rest @ ..] if matches!(at.as_str(), "AT" | "ON" | "TO") && !rest.is_empty() => rest,
        words => words,
    };
    words.iter().filter(|word| *word != "AND").map(|word| point(word))
}

fn begins_like_a_point(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.next().is_some_and(|byte| byte.is_ascii_digit())
}

/// Parses `C4*` as a star and `E6` as a marble.
fn piece(word: &str) -> Result<Order, Syntax> {
    match word.strip_suffix('*') {
        Some(star) => Ok(Order::Star(point(star)?)),
        None => Ok(Order::Marble(point(word)?)),
    }
}

fn point(word: &str) -> Result<Point, Syntax> {
    Point::parse(word).ok_or_else(|| {
        let reason = match word {
            "A1" | "A11" | "K1" | "K11" => {
                format!("{word} is a corner, and the board has no points in its corners.")
            }
            _ if begins_like_a_point(word) => {
                format!("The board has no point {word}: files run from A to K, ranks from 1 to 11.")
            }
            _ => format!("I do not understand \"{word}\": it is not a point of the board."),
        };
        malformed(reason, "C4* D5* E6")
    })
}

fn malformed(reason: impl Into<String>, example: &'static str) -> Syntax {
    Syntax::Malformed { reason: reason.into(), example }
}
