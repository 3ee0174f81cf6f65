//! The referee: one cause in, one ruling out. Pure.
//!
//! [`rule`] decides on letters, the clock, the GM and the house alike. It returns the match after the ruling, the
//! entries for its ledger, and the dispatches. It does not word them, and knows neither mailbox nor database.

mod answer;
mod beside;
mod bounce;
mod changes;
mod clock;
mod conditions;
mod dispatch_kind;
mod doubtful;
mod faults;
mod filing;
mod gm;
mod house;
mod instruction;
mod kept;
mod late;
mod letters;
mod life;
mod matter;
mod offer;
mod opening;
mod overview;
mod part;
mod past;
mod questions;
mod refusal;
mod rejection;
mod reminders;
mod reply;
mod schedule;
mod settings;
mod snapshot;
mod stage;
mod substitute;
mod together;
mod turn;
mod wording_news;
mod words;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::game::any::{AnyState, Filing};
use crate::game::condition::ConditionNews;
use crate::game::{BySeat, Outcome, Phase, Seat};
use crate::ledger::{ChainedEntry, PauseReason};

pub use answer::{AbsentElsewhere, Answer, Orders, PastReport, PastReports};
pub use changes::ChangeReply;
pub use dispatch_kind::DispatchKind;
pub use house::{HouseDefaults, HouseMatch, HousePlayer, digest_of, house_level};
pub use instruction::{
    DUE_SOON, Instruction, InstructionFault, InstructionLine, Listing, MatchAction, Readership,
    has_instruction, instructions, is_digest_prefix,
};
pub use kept::{GmMessage, OfferedOrders, RefusedLetter, Unsealing};
pub use late::TOLERATED_DELAY;
pub use life::{FiledOrders, Match};
pub use matter::{Matter, NoSuchPart, SeatLetter, part_digest, part_text, prepare};
pub use offer::{MatchSummary, Offer, OfferRejection, OfferSummary, OpenSeat};
pub use opening::{Opening, open};
pub use overview::MatchOverview;
pub use part::{OtherPart, PartOutcome};
pub use past::{Past, digest_of_request, without_numbers};
pub use questions::Questions;
pub use rejection::Rejection;
pub use reply::Reply;
pub use schedule::{Absence, ForfeitRule, Press, Substitute, Terms};
pub use settings::{SettingFault, SettingFaultKind, SettingsChange, as_written};
pub use stage::Stage;
pub use substitute::ClaimRejection;
pub use wording_news::WordingNews;
pub use words::{Passing, Words, cut, games_in, reads_as_order, without_order_lines};

pub use crate::ledger::{
    Act, Cause, Correction, Hint, HouseFailure, HousePlay, LetterCause, LetterFormat, NewKey, PlayerSettings,
    Receipts,
};
pub use crate::request::{COMMAND_WORDS, LeftOut, MAX_COMMANDS, MAX_FAULTS};

/// The number of this procedure. Raise it whenever the same cause brings other entries than before: the audit repeats only
/// rulings of its own procedure.
pub const PROCEDURE: u32 = 1;

/// A decision that the shell has yet to store.
#[derive(Clone, Debug)]
pub struct Ruling {
    /// Why an act was rejected.
    pub rejection: Option<Rejection>,
    /// The match after the ruling.
    pub after: Match,
    pub entries: Vec<ChainedEntry>,
    pub dispatches: Vec<Dispatch>,
    /// The answer to the letter, if it is held. Its commands that concern no match are carried out all the same.
    pub unsent: Option<Box<Answer>>,
}

impl Ruling {
    /// The answer to the letter, sent or not. There is none if its player does not want this receipt.
    pub fn answer_mut(&mut self) -> Option<&mut Answer> {
        let mut sent = self.dispatches.iter_mut().filter_map(|dispatch| dispatch.content.answer_mut());
        sent.next().or(self.unsent.as_deref_mut())
    }
}

/// One letter to one reader, not yet worded.
#[derive(Clone, Debug)]
pub struct Dispatch {
    pub to: Reader,
    pub content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Seat(Seat),
    /// The player who held the seat until now.
    Former(Seat),
    Gm,
}

/// The content of a dispatch.
#[derive(Clone, Debug)]
pub enum Content {
    /// The match begins: the opponent, the terms, and how to write the first orders.
    Invitation,
    /// The answer to a letter: a receipt, a refusal, or the answers to its commands.
    Answer(Box<Answer>),
    /// The result of an adjudication, or of several in a row if the referee passed for sides that could not move.
    Report {
        steps: Vec<Adjudication>,
        missed: Vec<Seat>,
        /// Why the turn was decided again.
        correction: Option<String>,
        /// The filings of both sides. A report shows the reader's own at most.
        filed: Box<BySeat<Option<FiledOrders>>>,
        /// The outcomes of conditional orders. A report shows the reader's own at most.
        conditions: Vec<ConditionNews>,
        /// The answer to the letter whose orders completed the phase, if the reader wrote it.
        receipt: Option<Box<Answer>>,
    },
    /// To a player who takes over a seat: where the match stands.
    Succession,
    /// The deadline is near and the seat has not filed.
    Reminder,
    /// Which seats missed the deadline, and what follows.
    Missed { seats: Vec<Seat> },
    /// Something that happened between adjudications.
    Notice(Notice),
}

impl Content {
    /// The answer to a letter that this is or holds.
    pub fn answer(&self) -> Option<&Answer> {
        let (Content::Answer(answer) | Content::Report { receipt: Some(answer), .. }) = self else {
            return None;
        };
        Some(answer)
    }

    pub fn answer_mut(&mut self) -> Option<&mut Answer> {
        let (Content::Answer(answer) | Content::Report { receipt: Some(answer), .. }) = self else {
            return None;
        };
        Some(answer)
    }
}

/// One adjudication: the phase that was decided, the orders and the state in which they were filed, and the resulting
/// state.
#[derive(Clone, Debug)]
pub struct Adjudication {
    pub phase: Phase,
    pub turn: u32,
    pub before: AnyState,
    pub filings: BySeat<Option<Filing>>,
    pub state: AnyState,
}

/// News between adjudications, for one side, both, or the GM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Notice {
    DrawOffered {
        by: Seat,
    },
    ExtensionAsked {
        by: Seat,
        days: u32,
    },
    Extended {
        days: u32,
    },
    /// The deadline moved because the referee was down.
    Slid,
    /// The deadline moved because a letter to the other side bounced.
    Undelivered {
        seat: Seat,
        deadline: DateTime<Utc>,
    },
    Absent {
        seat: Seat,
        from: chrono::NaiveDate,
        to: chrono::NaiveDate,
        /// The reader's other matches in which it counts. The shell fills it in.
        also: Vec<String>,
    },
    /// Several absences that one letter announced.
    Absences {
        seat: Seat,
        absences: Vec<Absence>,
        also: Vec<String>,
    },
    SubstituteAsked {
        by: Seat,
    },
    Protested {
        by: Seat,
        text: Option<String>,
        /// The turn of the letter that the protest answers.
        turn: Option<u32>,
        /// The turn that was adjudicated last.
        last: Option<u32>,
    },
    /// To the GM: what a player wrote to a person.
    Words {
        by: Seat,
        text: String,
    },
    Paused {
        reason: PauseReason,
    },
    Resumed,
    Message {
        by: Seat,
        text: String,
    },
    /// The GM moved the deadline.
    Extension {
        deadline: DateTime<Utc>,
    },
    /// The GM tells the reader, or both sides, something.
    MessageOfGm {
        text: String,
    },
    /// The GM has told the other side something, which the result will show.
    GmWrote {
        to: Seat,
    },
    FiledByGm {
        seat: Seat,
    },
    Replaced {
        seat: Seat,
        from: String,
        to: String,
        /// The other player chose to go on against the house.
        agreed: bool,
    },
    TokenRenewed {
        seat: Seat,
    },
    /// A player has a new name.
    Renamed {
        from: String,
        to: String,
    },
    /// A turn was reopened.
    Reopened {
        turn: u32,
        reason: String,
    },
    /// To the GM: a seat missed too many turns, or mail to it bounces.
    Overdue {
        seats: Vec<Seat>,
        bouncing: Vec<Seat>,
    },
    Over {
        outcome: Outcome,
    },
    /// A player has missed too many turns, and until then the other may go on against the house or take the win.
    Vanished {
        seat: Seat,
        deadline: DateTime<Utc>,
    },
    /// To the GM: the house's level found no legal turn, and an easier one played instead.
    HouseFailed {
        seat: Seat,
        failure: HouseFailure,
    },
}

/// Rules on one cause. Never fails: a cause that comes too late changes nothing.
pub fn rule(current: &Match, matter: &Matter<'_>, at: DateTime<Utc>) -> Ruling {
    let mut draft = life::Draft::new(current.clone(), matter.cause(), at);
    let done = match matter {
        Cause::Letter(letter) => {
            letters::rule(&mut draft, letter);
            Ok(())
        }
        Cause::Clock { phase } => {
            clock::rule(&mut draft, *phase);
            Ok(())
        }
        Cause::House { phase, play } => house::play(&mut draft, *phase, play),
        Cause::Gm { phase, act, .. } | Cause::Program { phase, act } => gm::rule(&mut draft, *phase, act),
    };
    Ruling { rejection: done.err(), ..draft.ruling() }
}
