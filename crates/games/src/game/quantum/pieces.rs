//! Pieces, stacks and the board.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use crate::game::square::Square;
use crate::game::{BySeat, Seat};

/// One of the 64 squares.
pub type Spot = Square<8, 8>;

/// The height from which a stack is a tower (clause 2.1).
pub const TOWER: u8 = 6;

/// The kind of a piece. A stack moves like its top piece (clause 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PieceKind {
    #[serde(rename = "S")]
    Square,
    #[serde(rename = "C")]
    Circle,
    #[serde(rename = "Q")]
    Queen,
}

impl PieceKind {
    pub const ALL: [PieceKind; 3] = [PieceKind::Square, PieceKind::Circle, PieceKind::Queen];

    pub fn letter(self) -> char {
        match self {
            PieceKind::Square => 'S',
            PieceKind::Circle => 'C',
            PieceKind::Queen => 'Q',
        }
    }

    /// The word for players: `square`.
    pub fn word(self) -> &'static str {
        match self {
            PieceKind::Square => "square",
            PieceKind::Circle => "circle",
            PieceKind::Queen => "queen",
        }
    }

    pub(super) fn of_letter(letter: char) -> Option<PieceKind> {
        PieceKind::ALL.into_iter().find(|kind| kind.letter() == letter)
    }

    /// The directions in which it moves, as steps of files and ranks.
    pub(super) fn directions(self) -> &'static [(i8, i8)] {
        const ALL: [(i8, i8); 8] = [(0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1)];
        match self {
            PieceKind::Square => &ALL[..4],
            PieceKind::Circle => &ALL[4..],
            PieceKind::Queen => &ALL,
        }
    }
}

/// The pieces on a square: the colour and kind of the top piece, and the height (clause 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    pub side: Seat,
    pub kind: PieceKind,
    pub height: u8,
}

impl Stack {
    pub fn is_tower(self) -> bool {
        self.height >= TOWER
    }
}

/// A stack and its square, as in the JSON of clause 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Placed {
    at: Spot,
    #[serde(flatten)]
    stack: Stack,
}

/// The stacks on the 64 squares. Its JSON is the list of clause 4, in the order A1, B1, ….
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Placed>", into = "Vec<Placed>")]
pub struct Board([Option<Stack>; 64]);

impl Board {
    pub(super) const EMPTY: Board = Board([None; 64]);

    /// Returns every stack with its square, in the order of the squares.
    pub fn stacks(&self) -> impl Iterator<Item = (Spot, Stack)> {
        Spot::all().zip(self.0).filter_map(|(spot, stack)| Some((spot, stack?)))
    }

    /// Counts the towers of each side's colour (clause 3.1).
    pub fn towers(&self) -> BySeat<u8> {
        let mut towers = BySeat::new(0, 0);
        for stack in self.0.iter().flatten().filter(|stack| stack.is_tower()) {
            towers[stack.side] += 1;
        }
        towers
    }
}

impl Index<Spot> for Board {
    type Output = Option<Stack>;
    fn index(&self, spot: Spot) -> &Option<Stack> {
        &self.0[spot.index()]
    }
}

impl IndexMut<Spot> for Board {
    fn index_mut(&mut self, spot: Spot) -> &mut Option<Stack> {
        &mut self.0[spot.index()]
    }
}

impl From<Board> for Vec<Placed> {
    fn from(board: Board) -> Self {
        board.stacks().map(|(at, stack)| Placed { at, stack }).collect()
    }
}

impl TryFrom<Vec<Placed>> for Board {
    type Error = String;

    fn try_from(stacks: Vec<Placed>) -> Result<Self, String> {
        let mut board = Board::EMPTY;
        for Placed { at, stack } in stacks {
            if !(1..=10).contains(&stack.height) || board[at].replace(stack).is_some() {
                return Err(format!("no such stack can be on {at}"));
            }
        }
        Ok(board)
    }
}
