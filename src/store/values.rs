//! What is kept, as the rest of the program gives and gets it.

use chrono::{DateTime, Utc};

use crate::game::Seat;
use crate::game::any::GameKind;
use crate::letter::Digest;
use crate::referee::{DispatchKind, Stage};

/// A letter as it arrived, before anybody has looked at it.
#[derive(Clone, Debug)]
pub struct NewLetter {
    pub digest: Digest,
    pub raw: Vec<u8>,
    pub received_at: DateTime<Utc>,
    /// Where it was found, for people: `imap:INBOX/1/57`.
    pub origin: String,
    /// Its Message-ID and sender together tell a letter that was sent twice; empty when it has none.
    pub message_id: String,
    pub sender: String,
    pub subject: String,
    /// The reply tokens in it: where several daemons share the letters, those of one match stay together.
    /// Empty where there is one daemon.
    pub tokens: Vec<String>,
}

/// A letter that waits to be ruled on.
#[derive(Clone, Debug)]
pub struct WaitingLetter {
    pub digest: Digest,
    pub raw: Vec<u8>,
    pub received_at: DateTime<Utc>,
    /// How often ruling on it was tried and failed.
    pub tries: u32,
}

/// What became of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterStatus {
    /// It waits to be ruled on.
    Waiting,
    /// It acted for a seat, and was answered.
    Ruled,
    /// It was answered without touching a match.
    Answered,
    /// From a machine: neither answered nor acted on.
    Automatic,
    /// Met before: no second effect, no second answer.
    Repeated,
    /// Not recognised as anybody's, or beyond the limits; not answered.
    Ignored,
    /// Ruling on it failed three times; the GM is told.
    SetAside,
}

impl LetterStatus {
    pub const ALL: [LetterStatus; 7] = [
        LetterStatus::Waiting,
        LetterStatus::Ruled,
        LetterStatus::Answered,
        LetterStatus::Automatic,
        LetterStatus::Repeated,
        LetterStatus::Ignored,
        LetterStatus::SetAside,
    ];

    /// Its name in the database, and for people who list letters by it.
    pub fn as_str(self) -> &'static str {
        match self {
            LetterStatus::Waiting => "waiting",
            LetterStatus::Ruled => "ruled",
            LetterStatus::Answered => "answered",
            LetterStatus::Automatic => "automatic",
            LetterStatus::Repeated => "repeated",
            LetterStatus::Ignored => "ignored",
            LetterStatus::SetAside => "set_aside",
        }
    }

    pub fn parse(name: &str) -> Option<LetterStatus> {
        LetterStatus::ALL.into_iter().find(|fate| fate.as_str() == name)
    }
}

/// What became of one letter, and why.
#[derive(Clone, Debug)]
pub struct LetterDecision {
    pub digest: Digest,
    pub status: LetterStatus,
    /// One line for the GM: `an absence note`, `no reply token of a seat`.
    pub note: String,
    pub seat: Option<(String, Seat)>,
}

/// A letter that goes on waiting.
#[derive(Clone, Debug)]
pub struct Postponed {
    pub digest: Digest,
    /// Why, for the GM.
    pub note: String,
    /// Until when it is left alone; `None`: ruling on it failed, which is counted.
    pub until: Option<DateTime<Utc>>,
}

/// One line of the list of letters.
#[derive(Clone, Debug)]
pub struct LetterRow {
    pub digest: Digest,
    pub received_at: DateTime<Utc>,
    /// When its fate was decided.
    pub decided_at: Option<DateTime<Utc>>,
    pub sender: String,
    pub subject: String,
    pub size: u64,
    pub status: LetterStatus,
    pub note: String,
    pub seat: Option<(String, Seat)>,
}

/// A person who plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Player {
    pub id: i64,
    pub name: String,
    /// Lower case, the one that letters go to first.
    pub addresses: Vec<String>,
    /// Our letters to this player came back.
    pub bouncing: bool,
}

/// A seat found by its reply token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    pub token: String,
    pub match_id: String,
    pub seat: Seat,
    pub player: Player,
}

/// A match as it is kept: its snapshot as JSON beside what it is looked up by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchRow {
    /// `QZ-7K3M`.
    pub id: String,
    pub game: GameKind,
    pub stage: Stage,
    /// When the clock has something to decide in it; `None`: never.
    pub wake_at: Option<DateTime<Utc>>,
    pub snapshot: String,
    /// Counts the commits that changed the match; 0 for one not yet stored.
    pub version: i64,
}

/// A seat of a match: who holds it, and the token that its letters bear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatRow {
    pub match_id: String,
    pub seat: Seat,
    pub player_id: i64,
    pub token: String,
}

/// One entry of a match's ledger as it is kept: columns to find it by, and its canonical JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRow {
    pub match_id: String,
    /// From 1, without gaps.
    pub seq: u64,
    pub at: DateTime<Utc>,
    pub kind: String,
    /// The whole entry but its own hash, as canonical JSON (RFC 8785).
    pub json: String,
    pub hash: Digest,
}

/// One mail to one person, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDispatch {
    /// Without angle brackets; the same at every try.
    pub message_id: String,
    pub recipient: String,
    pub bytes: Vec<u8>,
    pub kind: DispatchKind,
    pub match_id: Option<String>,
    pub seat: Option<Seat>,
    /// The letter that it answers.
    pub answers: Option<Digest>,
    /// A digest of what that letter says.
    pub asked: Option<Digest>,
}

/// An answer that somebody was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerRow {
    pub recipient: String,
    pub message_id: String,
    /// As in [`NewDispatch::asked`].
    pub asked: Option<Digest>,
}

/// A dispatch claimed for sending.
#[derive(Clone, Debug)]
pub struct Claimed {
    pub id: i64,
    pub message_id: String,
    pub recipient: String,
    pub bytes: Vec<u8>,
    pub kind: DispatchKind,
    pub match_id: Option<String>,
    /// How often sending was tried before.
    pub tries: u32,
}

/// What came of one try at sending.
#[derive(Clone, Debug)]
pub enum SendOutcome {
    Taken,
    /// To be tried again at this time.
    Later {
        at: DateTime<Utc>,
        error: String,
    },
    /// Given up: the GM is told.
    GivenUp {
        error: String,
    },
}

/// One line of the list of dispatches.
#[derive(Clone, Debug)]
pub struct DispatchRow {
    pub id: i64,
    pub message_id: String,
    pub recipient: String,
    pub kind: DispatchKind,
    pub match_id: Option<String>,
    pub seat: Option<Seat>,
    pub created_at: DateTime<Utc>,
    pub sent_at: Option<DateTime<Utc>>,
    pub tries: u32,
    pub given_up: bool,
    pub error: String,
    /// It came back: a bounce was about it.
    pub returned: bool,
}

/// A dispatch as it went out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRow {
    pub id: i64,
    pub message_id: String,
    pub recipient: String,
    pub kind: DispatchKind,
    pub seat: Option<Seat>,
    pub bytes: Vec<u8>,
}

/// An offer to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// By which it is taken up.
    pub code: String,
    /// The address of who offers.
    pub inviter: String,
    pub inviter_name: String,
    /// The address that it is for; `None`: for anyone.
    pub invited: Option<String>,
    pub game: GameKind,
    /// Options, days and seat as JSON.
    pub offer: String,
    pub stage: InvitationStage,
    /// The match that came of it.
    pub match_id: Option<String>,
    pub created_at: DateTime<Utc>,
    pub lapses_at: DateTime<Utc>,
}

/// What became of an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationStage {
    Open,
    Taken,
    Declined,
    Lapsed,
}

impl InvitationStage {
    const ALL: [InvitationStage; 4] =
        [InvitationStage::Open, InvitationStage::Taken, InvitationStage::Declined, InvitationStage::Lapsed];

    pub fn as_str(self) -> &'static str {
        match self {
            InvitationStage::Open => "open",
            InvitationStage::Taken => "taken",
            InvitationStage::Declined => "declined",
            InvitationStage::Lapsed => "lapsed",
        }
    }

    pub(super) fn parse(name: &str) -> Option<InvitationStage> {
        InvitationStage::ALL.into_iter().find(|stage| stage.as_str() == name)
    }
}

/// How much waits, and since when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    pub letters_waiting: u64,
    pub oldest_letter: Option<DateTime<Utc>>,
    pub dispatches_waiting: u64,
    pub oldest_dispatch: Option<DateTime<Utc>>,
    pub given_up: u64,
    pub matches_running: u64,
    /// Letters that could not be ruled on.
    pub set_aside: u64,
    /// When the clock has something to decide next; in the past, it is late by so much.
    pub next_wake: Option<DateTime<Utc>>,
}
