//! The GM's instructions, by letter or at the terminal: `GM MATCH QZ-7K3M EXTEND 3 days TURN 4`. Parsed here and
//! carried out by the shell.

use chrono::TimeDelta;

use crate::game::any::GameKind;
use crate::game::{Line, Seat};
use crate::ledger::Act;
use crate::letter::Address;
use crate::request::Party;

/// One instruction from the GM.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    Match {
        id: String,
        /// The turn it is meant for. If another turn is open, nothing is done.
        turn: Option<u32>,
        action: MatchAction,
    },
    List(Listing),
    New {
        game: String,
        first: Party,
        second: Party,
        options: Vec<(String, String)>,
        days: Option<u32>,
    },
    PlayerAdd {
        address: Address,
        name: String,
    },
    PlayerShow(Address),
    PlayerRename {
        address: Address,
        name: String,
    },
    /// Gives everything that belongs to `gone` to `into`.
    PlayerMerge {
        gone: Address,
        into: Address,
    },
    PlayerBounceClear(Address),
    /// Letters from the player go unread, or are read again.
    PlayerBlock {
        address: Address,
        on: bool,
    },
    /// Rules after all on a letter that was taken for automatic mail, exceeded a limit, or was set aside.
    AcceptLetter {
        /// The beginning of its digest, in lower case.
        digest: String,
    },
    /// Writes the same letter to many players.
    Announce {
        readers: Readership,
        text: String,
    },
    Digest,
}

/// The players who read an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Readership {
    All,
    /// Whoever plays a match of this game.
    Game(GameKind),
}

/// A GM's wish about a match.
#[derive(Clone, Debug, PartialEq)]
pub enum MatchAction {
    Act(Act),
    /// Gives the seat to another player or to the house.
    Replace {
        seat: Seat,
        by: Party,
    },
    /// Reopens an adjudicated turn, or decides it on other orders. The shell adds the rest of the `Correction` from the
    /// ledger.
    Correct {
        turn: u32,
        reason: String,
        orders: Option<(Seat, Vec<Line>)>,
    },
}

impl Instruction {
    /// Whether it changes a match or a person, and does not only ask.
    pub fn changes_something(&self) -> bool {
        match self {
            Instruction::Match { .. }
            | Instruction::New { .. }
            | Instruction::PlayerAdd { .. }
            | Instruction::PlayerRename { .. }
            | Instruction::PlayerMerge { .. }
            | Instruction::PlayerBounceClear(_)
            | Instruction::PlayerBlock { .. }
            | Instruction::AcceptLetter { .. }
            | Instruction::Announce { .. } => true,
            Instruction::List(_) | Instruction::PlayerShow(_) | Instruction::Digest => false,
        }
    }
}

/// Which matches to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    /// Every match that is not over.
    #[default]
    All,
    Running,
    /// The deadline has passed, or the GM was asked.
    Late,
    Paused,
    Protests,
    /// Running, and due within [`DUE_SOON`].
    Due,
    /// The matches that ended last.
    Ended,
}

/// Time until the deadline of the matches that `GM LIST due` shows, at most.
pub const DUE_SOON: TimeDelta = TimeDelta::hours(24);

impl Listing {
    pub fn parse(text: &str) -> Option<Listing> {
        match text.to_ascii_lowercase().as_str() {
            "all" => Some(Listing::All),
            "running" => Some(Listing::Running),
            "late" => Some(Listing::Late),
            "paused" => Some(Listing::Paused),
            "protests" => Some(Listing::Protests),
            "due" => Some(Listing::Due),
            "ended" => Some(Listing::Ended),
            _ => None,
        }
    }
}

/// A line that begins with `GM`: its instruction, or what is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionLine {
    pub line: Line,
    pub parsed: Result<Instruction, InstructionFault>,
}

/// Why a line is not a valid instruction, as a sentence, and an example of a valid one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFault {
    pub reason: String,
    pub example: &'static str,
}

impl InstructionFault {
    pub(super) fn new(reason: impl Into<String>, example: &'static str) -> Self {
        InstructionFault { reason: reason.into(), example }
    }
}
