//! The referee: one cause in, one ruling out. Pure.
//!
//! [`rule`] decides on letters, the clock, the GM and the house alike. It returns the match after the ruling, the
//! entries for its ledger, and the dispatches. It does not word them, and knows neither mailbox nor database.

mod act;
mod answer;
mod bounce;
mod bounces;
mod changes;
mod clock;
mod complete;
mod conditions;
mod confirmation;
mod dispatch_kind;
mod doubtful;
mod earlier;
mod faults;
mod filing;
mod gm;
mod gm_message;
mod house;
mod instruction;
mod keys;
mod late;
mod letters;
mod life;
mod memories;
mod offer;
mod offered;
mod opening;
mod overview;
mod part;
mod protest;
mod questions;
mod refusal;
mod refused;
mod reminders;
mod reply;
mod schedule;
mod sent_late;
mod settings;
mod snapshot;
mod stage;
mod substitute;
mod thread;
mod together;
mod turn;
mod vanished;
mod wording_news;
mod words;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use self::thread::{other_match, thread_turn};
use crate::game::any::{AnyState, Filing, GameKind};
use crate::game::condition::ConditionNews;
use crate::game::{BySeat, Line, Outcome, Phase, Seat};
use crate::ledger::{ChainedEntry, PauseReason, Signature};
use crate::letter::{Digest, Letter, NewText};
use crate::request::Request;

pub use act::{Act, Correction, HouseFailure, NewKey, Rejection};
pub use answer::{AbsentElsewhere, Answer, Orders, PastReport, PastReports};
pub use changes::ChangeReply;
pub use confirmation::{Acceptance, Confirmation};
pub use dispatch_kind::DispatchKind;
pub use earlier::EarlierOrders;
pub use gm_message::{GmMessage, Unsealing};
pub use house::{Hint, HouseDefaults, HouseMatch, HousePlayer, digest_of, house_level};
pub use instruction::{
    DUE_SOON, Instruction, InstructionFault, InstructionLine, Listing, MatchAction, Readership, instructions,
    is_digest_prefix,
};
pub use late::TOLERATED_DELAY;
pub use life::{FiledOrders, Match};
pub use offer::{MatchSummary, Offer, OfferRejection, OfferSummary, OpenSeat};
pub use offered::OfferedOrders;
pub use opening::{Opening, open};
pub use overview::MatchOverview;
pub use part::{LetterPart, OtherPart, PartOutcome};
pub use protest::is_only_passed_on;
pub use questions::{Questions, changing_command};
pub use refused::RefusedLetter;
pub use reply::Reply;
pub use schedule::{Absence, ForfeitRule, Press, Substitute, Terms};
pub use settings::{SettingFault, SettingFaultKind, SettingsChange, as_written};
pub use stage::Stage;
pub use substitute::ClaimRejection;
pub use together::NoticeLimits;
pub use wording_news::WordingNews;
pub use words::{Passing, Words, cut, games_in, reads_as_order, without_order_lines};

pub use crate::ledger::{LetterFormat, PlayerSettings, Receipts};
pub use crate::request::{COMMAND_WORDS, LeftOut, MAX_COMMANDS, MAX_FAULTS};

/// What a ruling is about.
#[derive(Clone, Debug)]
pub enum Cause<'a> {
    Letter(&'a SeatLetter),
    /// Something is due. `phase_no` is the phase that was open when the shell loaded the match.
    Clock {
        phase_no: u32,
    },
    Gm {
        name: &'a str,
        phase_no: u32,
        act: &'a Act,
    },
    /// An act of the program itself: it plays for the house, or extends a deadline after an outage.
    House {
        phase_no: u32,
        act: &'a Act,
    },
}

/// The number of this procedure. Raise it whenever the same cause brings other entries than before: the audit repeats only
/// rulings of its own procedure.
pub const PROCEDURE: u32 = 1;

/// How long after the end of a match its tokens are good for more than questions.
pub const QUESTIONS_ONLY_AFTER: TimeDelta = TimeDelta::days(30);

/// A letter that is known to come from a seat.
#[derive(Clone, Debug)]
pub struct SeatLetter {
    pub seat: Seat,
    pub digest: Digest,
    pub request: Request,
    /// Set if only a part of the letter is about this match.
    pub part: Option<LetterPart>,
    /// The turn named in its subject, or by the letter it answers.
    pub thread_turn: Option<u32>,
    /// The orders that the seat sent before, if nothing in the letter names a turn ([`SeatLetter::lacks_turn`]).
    pub earlier: Vec<EarlierOrders>,
    /// The letter showed the seat's reply token to others, so the seat gets a new one.
    pub shows_token: bool,
    /// The match ended so long ago that its token is good for questions only ([`QUESTIONS_ONLY_AFTER`]).
    pub questions_only: bool,
    /// Set if the letter was not proven to be the player's and the player has confirmed it.
    pub confirmation: Option<Confirmation>,
    /// Set if a GM accepted the letter, although it was not taken for a person's at first, or could not be ruled on.
    pub acceptance: Option<Acceptance>,
    /// What is known of its signature.
    pub signature: Option<Signature>,
    /// When it arrived.
    pub received: Option<DateTime<Utc>>,
    /// Another match that its subject or a line names, unless a line `MATCH` names its own.
    pub other_match: Option<String>,
    /// The names of attached files, which are not read.
    pub attachments: Vec<String>,
    /// The games besides the match's own that the letter's texts were found to hold orders of
    /// ([`SeatLetter::check_texts`]).
    pub texts_withheld: Option<Vec<GameKind>>,
    /// Why the letter's text could not be read, in one or two sentences to the player.
    pub unread: Option<String>,
    /// The answer is suppressed, because of the rate limit or as a duplicate. Everything else is decided as usual.
    pub answer_suppressed: bool,
    /// What `HINT` tells. The shell asks the house for it, if the letter may have one.
    pub hint: Option<Hint>,
    pub limits: NoticeLimits,
}

impl SeatLetter {
    /// Reads a letter from `seat` of a match. `written` is the part that its sender wrote now ([`Letter::new_text`]).
    pub fn of(letter: &Letter, seat: Seat, written: NewText, game_match: &Match) -> SeatLetter {
        SeatLetter::read(letter, seat, written, None, game_match)
    }

    fn read(
        letter: &Letter,
        seat: Seat,
        written: NewText,
        part: Option<LetterPart>,
        game_match: &Match,
    ) -> SeatLetter {
        let (lines, unread): (Vec<Line>, _) = match written {
            NewText::Lines(lines) => (lines, None),
            NewText::Blank => (Vec::new(), None),
            NewText::Unreadable(what) => (Vec::new(), Some(what.advice().to_owned())),
        };
        let (request, unread_files) =
            part::read_with_attachment(letter, &lines, part.is_some(), game_match.game);
        SeatLetter {
            part,
            thread_turn: thread_turn(letter, &game_match.id),
            other_match: other_match(letter, &request, &game_match.id),
            attachments: unread_files,
            unread,
            ..SeatLetter::asking(seat, letter.digest, request)
        }
    }

    /// A letter that asks for this, of which nothing else is known.
    fn asking(seat: Seat, digest: Digest, request: Request) -> SeatLetter {
        SeatLetter {
            seat,
            digest,
            request,
            part: None,
            thread_turn: None,
            earlier: Vec::new(),
            shows_token: false,
            questions_only: false,
            confirmation: None,
            acceptance: None,
            signature: None,
            received: None,
            other_match: None,
            attachments: Vec::new(),
            texts_withheld: None,
            unread: None,
            answer_suppressed: false,
            hint: None,
            limits: NoticeLimits::default(),
        }
    }

    /// When the letter came, if it is ruled on later than that.
    pub fn came_earlier(&self) -> Option<DateTime<Utc>> {
        let accepted = self.acceptance.as_ref().map(|acceptance| acceptance.arrived);
        self.confirmation.map(|confirmation| confirmation.arrived).or(accepted)
    }

    /// Whether the letter has orders to file, and neither a line nor its thread names their turn.
    pub fn lacks_turn(&self) -> bool {
        let request = &self.request;
        !request.orders.is_empty() && !request.check && request.turn.is_none() && self.thread_turn.is_none()
    }
}

/// A decision that the shell has yet to store.
#[derive(Clone, Debug)]
pub struct Ruling {
    /// Why an act was rejected.
    pub rejection: Option<Rejection>,
    /// The match after the ruling.
    pub after: Match,
    pub entries: Vec<ChainedEntry>,
    pub dispatches: Vec<Dispatch>,
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

/// What a dispatch says.
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
        /// What each side had filed. A report shows the reader's own at most.
        filed: Box<BySeat<Option<FiledOrders>>>,
        /// What became of conditional orders. A report shows the reader's own at most.
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
pub fn rule(current: &Match, cause: &Cause<'_>, at: DateTime<Utc>) -> Ruling {
    let mut rejection = None;
    let mut draft = life::Draft::new(current.clone(), cause, at);
    match cause {
        Cause::Letter(letter) => letters::rule(&mut draft, letter),
        Cause::Clock { phase_no } => clock::rule(&mut draft, *phase_no),
        Cause::Gm { phase_no, act, .. } | Cause::House { phase_no, act } => {
            rejection = gm::rule(&mut draft, *phase_no, act).err();
        }
    }
    Ruling { rejection, ..draft.ruling() }
}
