//! The options of a match of Quantum.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use super::pieces::PieceKind;
use crate::game::Values;
use crate::game::options::{OptionValue, Switch, options};

options! {
    pub struct Options {
        pub(super) array: Array = Array::DEFAULT, "the pieces of a side, rank by rank from its own edge";
        /// Whether a single piece may jump over a single piece of its own colour (clause 2.3).
        pub(super) jump: Switch = "off", "a single piece may jump over a single piece of its own colour";
        /// Turns of each side in a row without a stacking move that end the match (N-STALL).
        pub(super) quiet_limit: u32 = "50", "turns of each side in a row without stacking that end the match";
    }
}

/// The pieces of a side on its first ranks, from its own edge on, each from file A to H (N-ARRAY).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Array(Vec<[Option<PieceKind>; 8]>);

impl Array {
    const DEFAULT: &'static str = "SSSSSSSS/CCCCCCCC/QQQQQQQQ";
    const SHAPE: &'static str = "one to three ranks with / between them, each of eight characters S, C, Q or . (empty), at least one piece";

    /// Returns the piece at this file on one of the side's own ranks, both counted from 0.
    pub(super) fn piece(&self, rank: u8, file: u8) -> Option<PieceKind> {
        self.0.get(usize::from(rank))?[usize::from(file)]
    }
}

impl TryFrom<String> for Array {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let ranks: Option<Vec<_>> = text.split('/').map(parse_rank).collect();
        ranks
            .filter(|ranks| ranks.len() <= 3 && ranks.iter().flatten().any(Option::is_some))
            .map(Array)
            .ok_or_else(|| format!("The array is {}.", Array::SHAPE))
    }
}

fn parse_rank(text: &str) -> Option<[Option<PieceKind>; 8]> {
    let mut squares = Vec::new();
    for letter in text.chars() {
        squares.push(if letter == '.' { None } else { Some(PieceKind::of_letter(letter)?) });
    }
    squares.try_into().ok()
}

impl From<Array> for String {
    fn from(array: Array) -> Self {
        array.to_string()
    }
}

impl Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, rank) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str("/")?;
            }
            rank.iter().try_for_each(|kind| write!(f, "{}", kind.map_or('.', PieceKind::letter)))?;
        }
        Ok(())
    }
}

impl OptionValue for Array {
    const VALUES: Values = Values::Text(Array::SHAPE);

    /// Empty squares at the end may be missing, because letters treat full stops at the end of a line as
    /// punctuation.
    fn parse_value(text: &str) -> Result<Self, String> {
        let last_rank = text.rsplit('/').next().unwrap_or_default();
        let missing = 8_usize.saturating_sub(last_rank.len());
        Array::try_from(text.to_owned() + &".".repeat(missing))
    }

    fn to_text(&self) -> String {
        self.to_string()
    }
}
