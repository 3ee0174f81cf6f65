//! The mail of a ruling: dispatches to players and GMs, not yet worded.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::game_match::FiledOrders;
use crate::game::any::{AnyState, Filing};
use crate::game::condition::ConditionNews;
use crate::game::named_enum;
use crate::game::record::Adjudicated;
use crate::game::{BySeat, Phase, Seat};
use crate::ledger::{HouseFailure, PauseReason, TermsChange};
use crate::letter::Digest;
use crate::referee::answer::Answer;
use crate::referee::schedule::Absence;

named_enum! {
    /// The kind of a dispatch, as lists, the database and dossiers name it.
    pub enum DispatchKind {
        /// A letter to a player who gets a seat, in a new match or in place of another player.
        Invitation = "invitation",
        /// An answer to a letter.
        Answer = "answer",
        /// A seat's turn result.
        Report = "report",
        Reminder = "reminder",
        /// The seats that missed the deadline, and the consequences.
        Missed = "missed",
        /// Any other news, and most letters to the GM.
        Notice = "notice",
        /// A match offered to one address.
        Challenge = "challenge",
        /// News to the player who made an offer that it lapsed or was declined.
        Offer = "offer",
        /// A warning to the GM that a match does not verify.
        Alarm = "alarm",
    }
}

/// One letter to one reader, not yet worded.
#[derive(Clone, Debug)]
pub struct Dispatch {
    pub to: Reader,
    pub content: Content,
    /// Whether the house answers the same letter in a moment, so that its report replaces this one.
    pub waits_for_house: bool,
}

impl Dispatch {
    pub fn new(to: Reader, content: Content) -> Dispatch {
        Dispatch { to, content, waits_for_house: false }
    }
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
    /// The result of an adjudication, or of several in a row if the referee passed for sides without a move.
    Report {
        news: Box<News>,
        /// The answer to the letter whose orders completed the phase, if the reader wrote it.
        receipt: Option<Box<Answer>>,
        /// The pin of the letter that waited for the house, which this one replaces.
        replaces: Option<Digest>,
    },
    /// The state of the match, for a player who takes over a seat.
    Succession,
    /// The deadline is near and the seat has not filed.
    Reminder,
    /// The seats that missed the deadline, and the consequences.
    Missed { seats: Vec<Seat> },
    /// Something that happened between adjudications.
    Notice(Notice),
}

impl Content {
    /// Returns the answer to a letter, if the content is one or contains one.
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

/// The part of a report about adjudications.
#[derive(Clone, Debug, Default)]
pub struct News {
    pub steps: Vec<Adjudication>,
    /// Number of earlier turns that are left out.
    pub left_out: usize,
    pub missed: Vec<Seat>,
    /// The reason why the turn was decided again.
    pub correction: Option<String>,
    /// The filings of both sides. A report shows the reader's own at most.
    pub filed: BySeat<Option<FiledOrders>>,
    /// The outcomes of conditional orders. A report shows the reader's own at most.
    pub conditions: Vec<ConditionNews>,
}

/// One adjudication: the phase that was decided, the orders, the state before, and the resulting state.
#[derive(Clone, Debug)]
pub struct Adjudication {
    pub phase: Phase,
    pub turn: u32,
    pub before: AnyState,
    pub filings: BySeat<Option<Filing>>,
    pub state: AnyState,
}

impl From<&Adjudicated<'_>> for Adjudication {
    fn from(done: &Adjudicated<'_>) -> Adjudication {
        let (before, filings, state) = (done.before.clone(), done.filings.clone(), done.state.clone());
        Adjudication { phase: done.phase, turn: done.turn, before, filings, state }
    }
}

/// News between adjudications, for one side, both, or the GM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Notice {
    /// The opponent offers a draw.
    DrawOffered { by: Seat },
    /// The opponent asks for more time.
    ExtensionAsked { by: Seat, days: u32 },
    /// The opponent has agreed to more time.
    Extended { days: u32 },
    /// A late seat takes a day of its bank. Its remaining days can move the deadline up to `latest`.
    BankDay { seat: Seat, left: u32, deadline: DateTime<Utc>, latest: DateTime<Utc> },
    /// The deadline moved because the referee was down.
    Slid,
    /// The deadline was set again because the clock that moved it had been ahead.
    SetAgain,
    /// The deadline was set again because clocks change otherwise than was known.
    ZonesChanged,
    /// The deadline moved because a letter to the other side bounced.
    Undelivered { seat: Seat, deadline: DateTime<Utc> },
    /// The opponent has announced an absence.
    Absent {
        seat: Seat,
        from: chrono::NaiveDate,
        to: chrono::NaiveDate,
        /// The reader's other matches in which it counts. The shell fills it in.
        also: Vec<String>,
    },
    /// Several absences that one letter announced.
    Absences { seat: Seat, absences: Vec<Absence>, also: Vec<String> },
    /// A request to the GM: a player asks for somebody to take over their seat.
    SubstituteAsked { by: Seat },
    /// A player protests, and the match is paused.
    Protested {
        by: Seat,
        text: Option<String>,
        /// The turn of the letter that the protest answers.
        turn: Option<u32>,
        /// The turn that was adjudicated last.
        last: Option<u32>,
        /// The last turn that was adjudicated with orders of the seat.
        own: Option<u32>,
    },
    /// A player's words to a person, for the GM.
    Words {
        by: Seat,
        text: String,
        /// Whether they mention trouble, so that the GM is offered a pause of the match.
        #[serde(default)]
        in_trouble: bool,
        /// The player's other running matches. The shell fills it in.
        #[serde(default)]
        also: Vec<String>,
    },
    /// Deadlines are suspended.
    Paused { reason: PauseReason },
    /// Deadlines run again.
    Resumed,
    /// A message from the opponent.
    Message { by: Seat, text: String },
    /// The GM moved the deadline.
    Extension { deadline: DateTime<Utc> },
    /// A message from the GM, to the reader or to both sides.
    MessageOfGm { text: String },
    /// The GM has sent the other side a message, which the result will show.
    GmWrote { to: Seat },
    /// The GM filed orders for the seat.
    FiledByGm { seat: Seat },
    /// The seat has another player.
    Replaced {
        seat: Seat,
        from: String,
        to: String,
        /// Whether the other player chose to go on against the house.
        agreed: bool,
        /// Whether the GM excuses the former player, whom the match then does not rate.
        #[serde(default)]
        excused: bool,
    },
    /// The seat has a new reply token.
    TokenRenewed { seat: Seat },
    /// A player has a new name.
    Renamed { from: String, to: String },
    /// A GM has voided the result.
    Annulled { reason: String },
    /// A GM has changed these terms from the next phase on.
    TermsChanged { terms: TermsChange },
    /// A turn was reopened.
    Reopened { turn: u32, reason: String },
    /// News to the GM that a seat missed too many turns, or that mail to it bounces.
    Overdue {
        seats: Vec<Seat>,
        bouncing: Vec<Seat>,
        /// Whether the rules assume orders for these seats, so that the turn can be adjudicated.
        can_adjudicate: bool,
    },
    /// A player has missed too many turns. Until `deadline`, the other player may go on against the house or
    /// take the win.
    Vanished { seat: Seat, deadline: DateTime<Utc> },
    /// News to the GM that the house's level found no legal turn, so that an easier level played.
    HouseFailed { seat: Seat, failure: HouseFailure },
}
