//! Coordinates of square boards, and their parsing.

use std::fmt::{self, Display};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Seat;

/// A square on a board of `FILES` × `RANKS` (at most 26 × 99). Files are A, B, … from the left, ranks 1, 2, …
/// from the bottom. Ordered A1, B1, … then A2, …; written in capitals, parsed in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square<const FILES: u8, const RANKS: u8> {
    // The derived order compares the fields in this order.
    rank: u8,
    file: u8,
}

impl<const FILES: u8, const RANKS: u8> Square<FILES, RANKS> {
    /// Returns the square at `file` and `rank`, both counted from 0; `None` if it is off the board.
    pub const fn new(file: u8, rank: u8) -> Option<Self> {
        if file < FILES && rank < RANKS { Some(Square { file, rank }) } else { None }
    }

    /// The file, counted from 0.
    pub const fn file(self) -> u8 {
        self.file
    }

    /// The rank, counted from 0.
    pub const fn rank(self) -> u8 {
        self.rank
    }

    /// The index in the order A1, B1, …, counted from 0.
    pub const fn index(self) -> usize {
        self.rank as usize * FILES as usize + self.file as usize
    }

    /// Returns every square of the board in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..RANKS).flat_map(|rank| (0..FILES).map(move |file| Square { file, rank }))
    }

    /// Returns the square that lies `files` to the right and `ranks` up; `None` if it is off the board.
    pub fn step(self, files: i8, ranks: i8) -> Option<Self> {
        Self::new(self.file.checked_add_signed(files)?, self.rank.checked_add_signed(ranks)?)
    }

    /// The square in the place of this one when the board is turned for a reader: `second` sits at
    /// the upper edge. Turning twice gives the same square.
    pub const fn turned_for(self, reader: Seat) -> Self {
        match reader {
            Seat::First => self,
            Seat::Second => Square { file: FILES - 1 - self.file, rank: RANKS - 1 - self.rank },
        }
    }

    /// The distance in king's moves.
    pub fn king_steps(self, other: Self) -> u8 {
        self.file.abs_diff(other.file).max(self.rank.abs_diff(other.rank))
    }

    /// Reads `k7` or `K7`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut chars = text.chars();
        let letter = chars.next()?.to_ascii_uppercase();
        let digits = chars.as_str();
        if !letter.is_ascii_uppercase()
            || digits.starts_with('0')
            || !digits.bytes().all(|b| b.is_ascii_digit())
        {
            return None;
        }
        let rank: u8 = digits.parse().ok()?;
        Self::new(letter as u8 - b'A', rank.checked_sub(1)?)
    }
}

impl<const F: u8, const R: u8> Display for Square<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'A' + self.file), self.rank + 1)
    }
}

impl<const F: u8, const R: u8> Serialize for Square<F, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const F: u8, const R: u8> Deserialize<'de> for Square<F, R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("not a square: {text}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Board = Square<16, 16>;

    #[test]
    fn squares_survive_being_written_and_read() {
        for square in Board::all() {
            assert_eq!(Board::parse(&square.to_string()), Some(square));
            assert_eq!(Board::parse(&square.to_string().to_lowercase()), Some(square));
        }
        assert_eq!(Board::all().count(), 256);
    }

    #[test]
    fn a_board_is_turned_so_that_its_reader_sits_below() {
        let corner = Board::parse("A16").expect("a square");
        assert_eq!(corner.turned_for(Seat::First), corner);
        assert_eq!(corner.turned_for(Seat::Second).to_string(), "P1");
        assert!(Board::all().all(|at| at.turned_for(Seat::Second).turned_for(Seat::Second) == at));
    }

    #[test]
    fn other_text_is_not_a_square() {
        for text in ["", "A", "A0", "A17", "Q1", "A01", "1A", "A+1", "A1 ", "Ä1", "A1B", "A999"] {
            assert_eq!(Board::parse(text), None, "{text:?}");
        }
    }
}
