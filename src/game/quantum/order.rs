//! The orders of Quantum as they are written. `rules` decides whether a move is legal.

use std::fmt::{self, Display};

use serde::Serialize;

use crate::game::Syntax;
use crate::game::square::Square;

/// One of the 64 squares.
pub type Spot = Square<8, 8>;

/// A move, `D3 E4` (clause 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Order {
    pub from: Spot,
    pub to: Spot,
}

impl Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.from, self.to)
    }
}

/// Parses `D3 E4` or `D3-E4`. A line that does not begin with a letter and a digit is a remark.
pub(super) fn parse(line: &str) -> Result<Vec<Order>, Syntax> {
    let spaced = line.replacen(['-', '–'], " - ", 1);
    let words: Vec<&str> =
        spaced.split_whitespace().map(|word| word.trim_end_matches([',', '.', ';'])).collect();
    let mut start = words.first().copied().unwrap_or_default().bytes();
    let begins_like_a_square = start.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && start.next().is_some_and(|byte| byte.is_ascii_digit());
    if !begins_like_a_square {
        return Err(Syntax::Unknown);
    }
    let (from, to) = match words[..] {
        [from, to] | [from, "-", to] => (from, to),
        _ => return Err(malformed("A move is two squares, from where to where.".to_string())),
    };
    Ok(vec![Order { from: spot(from)?, to: spot(to)? }])
}

fn spot(text: &str) -> Result<Spot, Syntax> {
    Spot::parse(text).ok_or_else(|| {
        malformed(format!("The board has no square {}: squares run from A1 to H8.", text.to_uppercase()))
    })
}

fn malformed(reason: String) -> Syntax {
    Syntax::Malformed { reason, example: "D3 E4" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_is_read_in_any_case_and_spacing() {
        let order = Order { from: Spot::parse("D3").unwrap(), to: Spot::parse("E4").unwrap() };
        for text in
            ["D3 E4", "d3-e4", "D3 - e4", "  d3 \t e4 ", "D3–E4", "d3 e4.", "D3, E4", &order.to_string()]
        {
            assert_eq!(parse(text), Ok(vec![order]), "{text:?}");
        }
    }

    #[test]
    fn prose_is_not_an_order() {
        for text in
            ["I hope you are well", "See you on Friday", "Pass", "| D3 E4", "- D3", "8  s  s", "É3 E4", ""]
        {
            assert_eq!(parse(text), Err(Syntax::Unknown), "{text:?}");
        }
    }

    #[test]
    fn a_line_that_only_begins_like_a_move_is_malformed() {
        for text in
            ["D3", "D3 E9", "I3 E4", "D3 E4 F5", "D3--E4", "D3-", "B4 I forget: hello", "D3E4", "a0 a1"]
        {
            assert!(matches!(parse(text), Err(Syntax::Malformed { .. })), "{text:?}");
        }
    }
}
