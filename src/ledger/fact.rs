//! What an entry says: facts in the past tense.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::game::any::{Choices, GameKind};
use crate::game::record::Ending;
use crate::game::{BySeat, Fault, OrderLines, Outcome, Phase, Seat};
use crate::letter::{Address, Digest, OwnIdentity};

/// What was decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body")]
pub enum Fact {
    MatchOpened {
        game: GameKind,
        options: Choices,
        players: BySeat<String>,
        /// The level at which the house plays the seat.
        #[serde(default, skip_serializing_if = "no_house")]
        house: BySeat<Option<String>>,
        terms: Value,
        desk: MailIdentity,
        /// Pins the secret that the salts come from, without opening it: [`SealKey::pin`].
        key: Digest,
    },
    /// The referee writes from another address, or words his letters otherwise, from here on.
    DeskSet {
        desk: MailIdentity,
    },
    /// `sealed` is SHA-256 over the salt and the orders, each followed by a line feed.
    OrdersSealed {
        seat: Seat,
        phase: Phase,
        turn: u32,
        orders: OrderLines,
        wait: bool,
        sealed: Digest,
    },
    OrdersRefused {
        seat: Seat,
        phase: Phase,
        turn: u32,
        orders: Vec<String>,
        faults: Vec<Fault>,
    },
    OrdersChecked {
        seat: Seat,
        phase: Phase,
        turn: u32,
        orders: Vec<String>,
        faults: Vec<Fault>,
    },
    /// A letter that asked something and filed nothing; the words of its commands.
    LetterAnswered {
        seat: Seat,
        asked: Vec<String>,
    },
    /// The letter before was ruled on, but its answer was one too many to that address and was not sent.
    AnswerHeldBack {
        seat: Seat,
    },
    DeadlineSet {
        phase: Phase,
        turn: u32,
        seats: Vec<Seat>,
        deadline: DateTime<Utc>,
    },
    DeadlineMissed {
        phase: Phase,
        turn: u32,
        seats: Vec<Seat>,
    },
    DeadlineExtended {
        days: u32,
        deadline: DateTime<Utc>,
    },
    /// Deadlines slid because the referee himself could not be reached.
    DeadlineSlid {
        deadline: DateTime<Utc>,
    },
    ReminderSent {
        seat: Seat,
        turn: u32,
    },
    /// The moment for a reminder was met only after the deadline: none was sent.
    ReminderPassed {
        turn: u32,
    },
    /// Deadlines are not enforced until the GM has decided; `bouncing` are seats whose letters come back.
    GmAsked {
        seats: Vec<Seat>,
        bouncing: Vec<Seat>,
    },
    /// `filings` are those that the phase was decided on; `state` is the digest of the state's canonical JSON.
    TurnAdjudicated {
        phase: Phase,
        turn: u32,
        filings: BySeat<Option<OrderLines>>,
        state: Digest,
    },
    MatchClosed {
        ending: Ending,
    },
    MatchEnded {
        outcome: Outcome,
    },
    MatchPaused {
        reason: String,
    },
    MatchResumed {
        deadline: Option<DateTime<Utc>>,
    },
    DrawOffered {
        seat: Seat,
    },
    ExtensionAsked {
        seat: Seat,
        days: u32,
    },
    AbsenceNoted {
        seat: Seat,
        from: NaiveDate,
        to: NaiveDate,
    },
    SubstituteAsked {
        seat: Seat,
    },
    Protested {
        seat: Seat,
    },
    MessagePassed {
        from: Seat,
    },
    /// Our letters to the seat came back, or could not be sent.
    MailReturned {
        seat: Seat,
    },
    MailRestored {
        seat: Seat,
    },
    /// An absence note came from the seat.
    AwayNoted {
        seat: Seat,
    },
    /// Somebody else holds the seat from now on; what was filed for it is void.
    PlayerReplaced {
        seat: Seat,
        from: String,
        to: String,
    },
    TokenRenewed {
        seat: Seat,
    },
    PlayerRenamed {
        seat: Seat,
        from: String,
        to: String,
    },
    GmNoted {
        text: String,
    },
    /// What was decided after the first `keeps` adjudications is void, and decided anew.
    CorrectionMade {
        turn: u32,
        keeps: usize,
        reason: String,
        state: Digest,
    },
    /// The GM had shown to him what the rules hide while the match runs; `what` he asked for.
    Unsealed {
        what: String,
    },
}

/// Whether the house holds no seat: then nothing is said of it.
pub fn no_house(house: &BySeat<Option<String>>) -> bool {
    house.first.is_none() && house.second.is_none()
}

/// What a letter is read by and an answer worded by, beside the match itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailIdentity {
    /// The referee's own address.
    pub address: String,
    /// The digest of everything that words a letter: the templates, the club's name, the program's version.
    pub wording: Digest,
    /// The domain of our letters' Message-IDs; empty: that of the address.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message_ids: String,
}

impl MailIdentity {
    /// By what letters to the referee were read; `None`: the address is none.
    pub fn own_identity(&self) -> Option<OwnIdentity> {
        let address = Address::parse(&self.address).ok()?;
        let domain = if self.message_ids.is_empty() { address.domain() } else { &self.message_ids };
        Some(OwnIdentity { message_id_domain: domain.to_owned(), address, return_path: None })
    }
}

impl Fact {
    /// The fact's name, as the entry's `kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Fact::MatchOpened { .. } => "MatchOpened",
            Fact::DeskSet { .. } => "DeskSet",
            Fact::OrdersSealed { .. } => "OrdersSealed",
            Fact::OrdersRefused { .. } => "OrdersRefused",
            Fact::OrdersChecked { .. } => "OrdersChecked",
            Fact::LetterAnswered { .. } => "LetterAnswered",
            Fact::AnswerHeldBack { .. } => "AnswerHeldBack",
            Fact::DeadlineSet { .. } => "DeadlineSet",
            Fact::DeadlineMissed { .. } => "DeadlineMissed",
            Fact::DeadlineExtended { .. } => "DeadlineExtended",
            Fact::DeadlineSlid { .. } => "DeadlineSlid",
            Fact::ReminderSent { .. } => "ReminderSent",
            Fact::ReminderPassed { .. } => "ReminderPassed",
            Fact::GmAsked { .. } => "GmAsked",
            Fact::TurnAdjudicated { .. } => "TurnAdjudicated",
            Fact::MatchClosed { .. } => "MatchClosed",
            Fact::MatchEnded { .. } => "MatchEnded",
            Fact::MatchPaused { .. } => "MatchPaused",
            Fact::MatchResumed { .. } => "MatchResumed",
            Fact::DrawOffered { .. } => "DrawOffered",
            Fact::ExtensionAsked { .. } => "ExtensionAsked",
            Fact::AbsenceNoted { .. } => "AbsenceNoted",
            Fact::SubstituteAsked { .. } => "SubstituteAsked",
            Fact::Protested { .. } => "Protested",
            Fact::MessagePassed { .. } => "MessagePassed",
            Fact::MailReturned { .. } => "MailReturned",
            Fact::MailRestored { .. } => "MailRestored",
            Fact::AwayNoted { .. } => "AwayNoted",
            Fact::PlayerReplaced { .. } => "PlayerReplaced",
            Fact::TokenRenewed { .. } => "TokenRenewed",
            Fact::PlayerRenamed { .. } => "PlayerRenamed",
            Fact::GmNoted { .. } => "GmNoted",
            Fact::CorrectionMade { .. } => "CorrectionMade",
            Fact::Unsealed { .. } => "Unsealed",
        }
    }
}
