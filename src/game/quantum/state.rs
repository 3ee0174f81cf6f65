//! What is remembered of a match of Quantum: the board, whose turn it is, and the options.

use std::fmt::{self, Display};
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use super::order::Spot;
use crate::game::{self, BySeat, OptionRule, Outcome, Seat, Values};

/// The height from which a stack is a tower (clause 2.1).
pub const TOWER: u8 = 6;

/// How a stack moves: by the kind of its top piece (clause 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    #[serde(rename = "S")]
    Square,
    #[serde(rename = "C")]
    Circle,
    #[serde(rename = "Q")]
    Queen,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Square, Kind::Circle, Kind::Queen];

    pub fn letter(self) -> char {
        match self {
            Kind::Square => 'S',
            Kind::Circle => 'C',
            Kind::Queen => 'Q',
        }
    }

    /// As players call it: `square`.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Square => "square",
            Kind::Circle => "circle",
            Kind::Queen => "queen",
        }
    }

    fn parse(letter: char) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.letter() == letter)
    }

    /// The directions in which it moves, as steps of files and ranks.
    pub(super) fn directions(self) -> &'static [(i8, i8)] {
        const ALL: [(i8, i8); 8] = [(0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1)];
        match self {
            Kind::Square => &ALL[..4],
            Kind::Circle => &ALL[4..],
            Kind::Queen => &ALL,
        }
    }
}

/// One piece or more on a square: the colour and the kind of the top piece, and the height (clause 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    pub side: Seat,
    pub kind: Kind,
    pub height: u8,
}

impl Stack {
    pub fn is_tower(self) -> bool {
        self.height >= TOWER
    }
}

/// A stack and its square, as it stands in the JSON of clause 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Placed {
    at: Spot,
    #[serde(flatten)]
    stack: Stack,
}

/// The stacks on the 64 squares. Its JSON is the list of clause 4, A1, B1, … first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Placed>", into = "Vec<Placed>")]
pub struct Board([Option<Stack>; 64]);

impl Board {
    pub(super) const EMPTY: Board = Board([None; 64]);

    /// The array of a side on its own ranks, the other's mirrored along the files (N-ARRAY).
    fn set_up(array: &Array) -> Board {
        let mut board = Board::EMPTY;
        for spot in Spot::all() {
            let home = array.0.get(usize::from(spot.rank()));
            if let Some(kind) = home.and_then(|rank| rank[usize::from(spot.file())]) {
                let mirrored = Spot::new(spot.file(), 7 - spot.rank()).expect("the mirror lies on the board");
                board[spot] = Some(Stack { side: Seat::First, kind, height: 1 });
                board[mirrored] = Some(Stack { side: Seat::Second, kind, height: 1 });
            }
        }
        board
    }

    /// Every stack with its square, in the order of the squares.
    pub fn stacks(&self) -> impl Iterator<Item = (Spot, Stack)> {
        Spot::all().zip(self.0).filter_map(|(spot, stack)| Some((spot, stack?)))
    }

    /// The towers of each side's colour (clause 3.1).
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
                return Err(format!("no stack can stand so on {at}"));
            }
        }
        Ok(board)
    }
}

/// The pieces of a side on its first ranks, seen from its own edge (N-ARRAY).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Array(Vec<[Option<Kind>; 8]>);

impl Array {
    const DEFAULT: &'static str = "SSSSSSSS/CCCCCCCC/QQQQQQQQ";
    const SHAPE: &'static str = "one to three ranks with / between them, each of eight characters S, C, Q or . (empty), at least one piece";
}

impl TryFrom<String> for Array {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let kind = |letter: char| if letter == '.' { Some(None) } else { Kind::parse(letter).map(Some) };
        let rank = |rank: &str| -> Option<[Option<Kind>; 8]> {
            rank.chars().map(kind).collect::<Option<Vec<_>>>()?.try_into().ok()
        };
        let ranks: Option<Vec<_>> = text.split('/').map(rank).collect();
        ranks
            .filter(|ranks| ranks.len() <= 3 && ranks.iter().flatten().any(Option::is_some))
            .map(Array)
            .ok_or_else(|| format!("The array is {}.", Array::SHAPE))
    }
}

impl From<Array> for String {
    fn from(array: Array) -> Self {
        array.to_string()
    }
}

impl Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank =
            |rank: &[Option<Kind>; 8]| rank.map(|kind| kind.map_or('.', Kind::letter)).iter().collect();
        f.write_str(&self.0.iter().map(rank).collect::<Vec<String>>().join("/"))
    }
}

/// The options of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    array: Array,
    /// A single piece may jump over a single piece of its own colour (clause 2.3).
    pub(super) jump: bool,
    /// Turns of each side in a row without a stacking move that end the match (N-STALL).
    quiet_limit: u32,
}

impl Default for Options {
    fn default() -> Self {
        let array = Array::try_from(Array::DEFAULT.to_string()).expect("the default is an array");
        Options { array, jump: false, quiet_limit: 50 }
    }
}

impl game::Options for Options {
    const RULES: &'static [OptionRule] = &[
        OptionRule {
            name: "array",
            values: Values::Text(Array::SHAPE),
            default: Array::DEFAULT,
            says: "the pieces of a side, rank by rank from its own edge",
        },
        OptionRule {
            name: "jump",
            values: Values::OneOf(&["off", "on"]),
            default: "off",
            says: "a single piece may jump over a single piece of its own colour",
        },
        OptionRule {
            name: "quiet_limit",
            values: Values::Limit,
            default: "50",
            says: "turns of each side in a row without stacking that end the match",
        },
    ];

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "array" => self.array = Array::try_from(value.to_string())?,
            "jump" => self.jump = value == "on",
            "quiet_limit" => {
                self.quiet_limit = value.parse().map_err(|_| format!("{value} is no number of turns."))?;
            }
            _ => return Err(format!("Quantum has no option {name}.")),
        }
        Ok(())
    }

    fn get(&self, name: &str) -> String {
        match name {
            "array" => self.array.to_string(),
            "jump" => if self.jump { "on" } else { "off" }.to_string(),
            "quiet_limit" => self.quiet_limit.to_string(),
            _ => String::new(),
        }
    }
}

/// The turn played last; without squares it was a pass (N-PASS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    pub side: Seat,
    pub from: Option<Spot>,
    pub to: Option<Spot>,
    pub stacked: bool,
}

/// All that is remembered of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) options: Options,
    pub(super) board: Board,
    /// Turns played, passes included.
    pub(super) turn: u32,
    /// `None` once the match is over.
    pub(super) to_move: Option<Seat>,
    /// Turns in a row without a stacking move.
    pub(super) quiet: u32,
    pub(super) last: Option<Last>,
    pub(super) outcome: Option<Outcome>,
}

impl State {
    pub(super) fn new(options: &Options) -> State {
        State {
            board: Board::set_up(&options.array),
            options: options.clone(),
            turn: 0,
            to_move: Some(Seat::First),
            quiet: 0,
            last: None,
            outcome: None,
        }
    }

    /// Whether `quiet` has reached the limit, which is given in turns of each side (N-STALL).
    pub(super) fn is_stale(&self) -> bool {
        self.quiet >= 2 * self.options.quiet_limit
    }
}
