//! The size limits of a letter, and the reasons why one cannot be read.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// The size limits of a letter. A letter that exceeds one of them is an
/// [`UnreadableLetter`](crate::UnreadableLetter).
///
/// They bound memory, stack depth, the work of the parser (`structure`), and the work after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub max_bytes: usize,
    pub max_header_bytes: usize,
    pub max_parts: usize,
    /// Levels of multiparts and attached letters inside each other.
    pub max_nesting: usize,
    /// Lines of all texts together; a long one counts as several ([`BYTES_PER_LINE`]).
    pub max_lines: usize,
}

/// Bytes of text that count as a line, so that the limit on lines also bounds the text.
const BYTES_PER_LINE: usize = 100;

/// The number of lines that a letter may still have. Lines are counted as they are created: ten megabytes of
/// line feeds would otherwise become ten million lines.
#[derive(Clone, Copy, Debug)]
pub struct LineBudget {
    left: usize,
}

impl LineBudget {
    pub fn new(limits: &Limits) -> LineBudget {
        LineBudget { left: limits.max_lines }
    }

    /// Counts a line of this many bytes.
    ///
    /// # Errors
    /// [`UnreadableReason::TooManyLines`] if the limit leaves no room for the line.
    pub fn take(&mut self, bytes: usize) -> Result<(), UnreadableReason> {
        let lines = bytes.div_ceil(BYTES_PER_LINE).max(1);
        self.left = self.left.checked_sub(lines).ok_or(UnreadableReason::TooManyLines)?;
        Ok(())
    }

    /// Checks that there is still room for a text of this many bytes, whatever its line ends are.
    ///
    /// # Errors
    /// [`UnreadableReason::TooManyLines`] if there is no room.
    pub fn has_room_for(self, bytes: usize) -> Result<(), UnreadableReason> {
        if bytes / BYTES_PER_LINE > self.left { Err(UnreadableReason::TooManyLines) } else { Ok(()) }
    }
}

/// Adds a value that is new, unless there are `most` already: a hostile letter may hold thousands.
pub fn add_new<T: PartialEq>(found: &mut Vec<T>, value: T, most: usize) {
    if found.len() < most && !found.contains(&value) {
        found.push(value);
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_bytes: 10_000_000,
            max_header_bytes: 200_000,
            max_parts: 100,
            max_nesting: 20,
            max_lines: 10_000,
        }
    }
}

impl Limits {
    /// Returns the limits for a letter that a GM accepts although it exceeded the usual ones.
    pub fn generous() -> Limits {
        Limits {
            max_bytes: 100_000_000,
            max_header_bytes: 2_000_000,
            max_parts: 1000,
            max_nesting: 40,
            max_lines: 200_000,
        }
    }
}

/// The reason why a letter cannot be read, worded for the GM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantArray, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum UnreadableReason {
    #[error("it is bigger than letters.max_bytes")]
    TooBig,
    #[error("its header is too big")]
    HeaderTooBig,
    #[error("its From holds no address")]
    NoFrom,
    #[error("it names several senders")]
    SeveralFrom,
    #[error("its parts are nested deeper than letters.max_nesting")]
    TooDeep,
    #[error("it has more parts than letters.max_parts")]
    TooManyParts,
    #[error("it has too many lines")]
    TooManyLines,
    /// The letter is empty, except for white space.
    #[error("it is empty")]
    Empty,
}

impl UnreadableReason {
    pub const ALL: &'static [UnreadableReason] = UnreadableReason::VARIANTS;

    /// Whether the letter exceeds a limit, and can be read with higher ones.
    pub fn is_limit(self) -> bool {
        match self {
            UnreadableReason::TooBig
            | UnreadableReason::HeaderTooBig
            | UnreadableReason::TooDeep
            | UnreadableReason::TooManyParts
            | UnreadableReason::TooManyLines => true,
            UnreadableReason::NoFrom | UnreadableReason::SeveralFrom | UnreadableReason::Empty => false,
        }
    }
}
