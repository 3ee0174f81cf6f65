//! The GM's instructions, by letter or at the terminal: `GM MATCH QZ-7K3M EXTEND 3 days TURN 4`. Parsed here
//! and carried out by the shell.

use chrono::TimeDelta;

use crate::game::any::GameKind;
use crate::game::named_enum;
use crate::game::{Line, Seat};
use crate::ledger::Act;
use crate::ledger::book::BookOutcome;
use crate::letter::Address;
use crate::request::Whom;

/// One instruction from the GM.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    /// Acts on a match.
    Match {
        id: String,
        /// The turn it is meant for. If another turn is open, nothing is done.
        turn: Option<u32>,
        action: MatchAction,
    },
    /// Extends the deadline of each match that is late or waits for a GM: of all, or of a match, a game or an event, as
    /// written. Sent twice, it acts once.
    ExtendLate { of: Option<String>, turn: Option<u32>, days: u32 },
    /// Lists matches.
    List(Listing),
    /// Opens a match between the two whom the words name.
    New { game: String, words: Vec<String>, options: Vec<(String, String)>, days: Option<u32> },
    /// Registers a player.
    PlayerAdd { address: Address, name: String },
    /// Declines somebody who waits to be admitted, with a word for them.
    PlayerDecline { address: Address, words: String },
    /// Acts on a player.
    Player { whom: Whom, act: PlayerAct },
    /// Rules on a letter that was taken for automatic mail, exceeded a limit, or was set aside.
    AcceptLetter {
        /// The beginning of its digest, in lower case.
        digest: String,
    },
    /// Writes the same letter to many players.
    Announce { readers: Readership, text: String },
    /// Announces an event with a plan.
    NewEvent { plan: String },
    /// Acts on an event.
    Event { id: String, action: EventAction },
    /// Shows the items that wait for a GM.
    Digest,
    /// Confirms the machine's clock, if it is in doubt.
    ConfirmClock,
}

/// The players who read an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Readership {
    All,
    /// Everybody who plays a match of this game.
    Game(GameKind),
}

/// A GM's request about a match.
#[derive(Clone, Debug, PartialEq)]
pub enum MatchAction {
    /// An act that needs nothing but the match.
    Act(Act),
    /// Gives the seat to another player or to the house.
    Replace {
        seat: Seat,
        /// The new holder: a person as GMs name people, or the house.
        by: String,
        /// Whether the former player is not rated.
        excused: bool,
    },
    /// Reopens an adjudicated turn, or decides it on other orders. The shell adds the rest of the
    /// `Correction` from the ledger.
    Correct { turn: u32, reason: String, orders: Option<(Seat, Vec<Line>)> },
}

/// A GM's request about an event. `words` name a player, by name, number or address, and give a reason.
#[derive(Clone, Debug, PartialEq)]
pub enum EventAction {
    /// Begins the next season now.
    Open,
    /// Accepts no more entries; no further season follows.
    Close,
    /// Ends the event; its running matches continue as friendly ones.
    Cancel { reason: String },
    /// Records a note.
    Note { text: String },
    /// Enters a player.
    Enter { words: Vec<String> },
    /// Takes a player out.
    Strike { words: Vec<String> },
    /// Replaces the first of two players by the second.
    Replace { words: Vec<String> },
    /// Moves the end of the running season, or the next opening.
    Extend { days: u32, reason: String },
    /// Enters a result for a match that ended without one.
    Result { match_id: String, outcome: BookOutcome, reason: String },
    /// Imports results of matches that were played elsewhere.
    Import { rows: Vec<ImportedResult> },
}

/// An act on a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayerAct {
    /// Shows the player and their matches.
    Show,
    /// Renames the player, also in running matches.
    Rename(String),
    /// Gives everything that belongs to the player to another.
    MergeInto(Whom),
    /// Adds an address, to which letters go from now on; the older ones stay.
    AddAddress(Address),
    /// Removes an address.
    RemoveAddress(Address),
    /// Notes that mail to the player arrives again.
    BounceClear,
    /// Lets letters from the person go unread.
    Block,
    /// Reads letters from the person again.
    Unblock,
}

/// A line of a table of matches that were played elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedResult {
    pub line: u64,
    pub section: u32,
    /// Names, numbers or addresses.
    pub first: String,
    pub second: String,
    /// `None` for a match that is still to be played.
    pub outcome: Option<BookOutcome>,
}

impl Instruction {
    /// Whether it changes a match or a person, rather than only asking.
    pub fn changes_something(&self) -> bool {
        !matches!(
            self,
            Instruction::List(_) | Instruction::Player { act: PlayerAct::Show, .. } | Instruction::Digest
        )
    }
}

named_enum! {
    /// The matches to list.
    #[derive(Default)]
    pub enum Listing {
        /// Every match that is not over.
        #[default]
        All = "all",
        Running = "running",
        /// The deadline has passed, or the GM was asked.
        Late = "late",
        Paused = "paused",
        Protests = "protests",
        /// Running, and due within [`DUE_SOON`].
        Due = "due",
        /// The matches that ended last.
        Ended = "ended",
    }
}

/// Maximum time until the deadline of a match that `GM LIST due` shows.
pub const DUE_SOON: TimeDelta = TimeDelta::hours(24);

/// A line that begins with `GM`: its instruction, or its fault.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionLine {
    pub line: Line,
    pub parsed: Result<Instruction, InstructionFault>,
}

/// The reason why a line is not a valid instruction, as a sentence, and an example of a valid one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFault {
    pub reason: String,
    pub example: &'static str,
}
