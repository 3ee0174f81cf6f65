//! The referee: one cause in, one ruling out. Pure.
//!
//! [`rule`] decides on letters, the clock, the GM and the house alike. It returns the match after the ruling,
//! the entries for its ledger, and the dispatches. It does not word them, and knows neither mailbox nor
//! database.
//!
//! Each of these uses only those above it:
//!
//! - `words`, `schedule`, `settings`, `offer`, `profile`, `event_reply`, `changes`, `rejection`, `reply`,
//!   `answer`, `matter`: values that know no match, such as terms, offers, the answer to a letter, and the cause
//!   of a ruling with its letter as it was read
//! - `play/`: the match as it is stored, a ruling in progress, and what every cause may lead to: deadlines,
//!   adjudications
//! - `house`: the computer player in a match
//! - `letter/`: a seat's letter, with its orders and commands
//! - `clock/`: deadlines that pass, reminders, and letters that the mail delayed or returned
//! - `gm/`: acts of GMs and of the program, corrections, and the instructions that GMs write
//! - [`rule`]

use chrono::{DateTime, Utc};

use self::play::ruling::Draft;

mod answer;
mod changes;
mod clock;
mod event_reply;
mod gm;
mod house;
mod letter;
mod matter;
mod offer;
mod play;
mod profile;
mod rejection;
mod reply;
mod schedule;
mod settings;
mod words;

pub use answer::{
    AbsentElsewhere, Answer, Orders, OtherPart, PartOutcome, PastReport, PastReports, Proposal, ProposalKind,
    SeasonEnd, Wishes,
};
pub use changes::ChangeReply;
pub use clock::enforcement::Consequence;
pub use clock::late::TOLERATED_DELAY;
pub use event_reply::{
    EventLine, EventLoad, EventRejection, EventWord, GmEventAct, PlanFault, SectionTable, StandingRow,
    Standings,
};
pub use gm::grammar::{has_instruction, instruction, instructions, is_digest_prefix};
pub use gm::instruction::{
    DUE_SOON, EventAction, ImportedResult, Instruction, InstructionFault, InstructionLine, Listing,
    MatchAction, PlayerAct, Readership,
};
pub use house::{HouseDefaults, HouseMatch, HousePlayer, digest_of, house_level};
pub use letter::prepare::{NoSuchPart, part_digest, part_text, prepare};
pub use letter::together::Questions;
pub use letter::unreadable::advice;
pub use letter::wishes::{tell_back, wishes_of};
pub use matter::{Matter, SeatLetter};
pub use offer::{MatchSummary, Offer, OfferRejection, OfferSummary, OpenOffer};
pub use play::deadline::move_deadline;
pub use play::dispatch::{Adjudication, Content, Dispatch, DispatchKind, News, Notice, Reader};
pub use play::game_match::{FiledOrders, Match, Stage};
pub use play::kept::{GmMessage, OfferedOrders, RefusedLetter, Unsealing, WordingNews};
pub use play::opening::{Opening, open};
pub use play::overview::{Ask, MatchOverview};
pub use play::past::{Past, digest_of_request, without_numbers};
pub use play::ruling::Ruling;
pub use profile::{Profile, ProfileGame, RatingLine};
pub use rejection::{ClaimRejection, Rejection};
pub use reply::{Confirmer, Reply};
pub use schedule::{Absence, ForfeitRule, MAX_BANK, Press, Substitute, TERM_NAMES, Terms, read_terms_change};
pub use settings::{SettingFault, SettingFaultKind, SettingsChange, as_written};
pub use words::{
    Passing, WORDS_NOTE, Words, cut, is_order_of_any_game, may_tell_of_play, note_of_text, note_of_words,
    tells_of_trouble, without_lines_of_play,
};

pub use crate::ledger::{
    Act, Cause, Correction, Hint, HouseFailure, HousePlay, LetterCause, LetterFormat, NewKey, PlayerSettings,
    RatingBasis, Receipts, TermsChange,
};
pub use crate::request::wish::{Care, Topic};
pub use crate::request::{COMMAND_WORDS, LeftOut, MAX_COMMANDS, MAX_FAULTS};

/// The number of this procedure. Raise it whenever the same cause leads to other entries than before: the
/// audit repeats only rulings of its own procedure.
pub const PROCEDURE: u32 = 4;

/// Rules on one cause. Never fails: a cause that comes too late changes nothing.
pub fn rule(current: &Match, matter: &Matter<'_>, at: DateTime<Utc>) -> Ruling {
    let mut draft = Draft::new(current.clone(), matter.cause(), at);
    let done = match matter {
        Cause::Letter(letter) => {
            letter::apply_letter(&mut draft, letter);
            Ok(())
        }
        Cause::Clock { phase } => {
            clock::apply_time(&mut draft, *phase);
            Ok(())
        }
        Cause::House { phase, play } => house::play(&mut draft, *phase, play),
        Cause::Gm { phase, act, .. } | Cause::Program { phase, act } => {
            gm::apply_act(&mut draft, *phase, act)
        }
    };
    Ruling { rejection: done.err(), ..draft.ruling() }
}
