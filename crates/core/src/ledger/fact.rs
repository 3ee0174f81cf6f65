//! Facts, which the entries of a ledger record. They are named in the past tense.
//!
//! The basis of a match's rating, apart from its result. It is fixed when the match opens, so that ratings
//! follow from ledgers alone.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{IntoStaticStr, VariantNames};

use super::holder::SeatPins;
use super::seal::PinnedLot;
use super::settings::{PlayerSettings, TermsChange, is_default};
use crate::dialect::DIALECT;
use crate::game::any::{Choices, GameKind};
use crate::game::condition::{ConditionOutcome, Conditions};
use crate::game::record::Ending;
use crate::game::{BySeat, OrderLines, Outcome, Phase, Seat, named_enum};
use crate::letter::{Address, Digest, OwnIdentity};

/// A fact: one decision of the referee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(tag = "kind", content = "body")]
pub enum Fact {
    /// The match begins. The entry pins what rulings depend on.
    MatchOpened {
        /// The format of the ledger: [`FORMAT`](super::FORMAT).
        format: u32,
        /// The version of the game's rules that the match follows.
        rules: u32,
        game: GameKind,
        options: Choices,
        players: BySeat<String>,
        /// The level of the house in the seats that it plays.
        #[serde(default, skip_serializing_if = "is_default")]
        house: BySeat<Option<String>>,
        terms: Value,
        #[serde(default, skip_serializing_if = "is_default")]
        settings: Box<BySeat<PlayerSettings>>,
        mail_identity: Box<MailIdentity>,
        /// Pins the secret of the salts without revealing it: [`SealKey::pin`](super::SealKey::pin).
        key: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holders: Option<Box<BySeat<SeatPins>>>,
        /// The source of the secret. A match that the GM opened between players has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lot: Option<Box<PinnedLot>>,
        /// Set if the match may be rated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rating: Option<Box<RatingBasis>>,
    },
    /// The referee writes from another address, uses other templates of the club's own, or follows another
    /// procedure from here on.
    MailIdentitySet {
        mail_identity: Box<MailIdentity>,
        /// The SHA-256 of the stored match before this entry, if the procedure changes: rulings by the new
        /// procedure can be repeated from that state.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Digest>,
    },
    /// Orders were sealed. `sealed` is the SHA-256 of the salt and the orders, each followed by a line feed.
    /// They are firm from `firm_at` on, or at once.
    OrdersSealed {
        seat: Seat,
        phase: Phase,
        turn: u32,
        orders: OrderLines,
        wait: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        firm_at: Option<DateTime<Utc>>,
        sealed: Digest,
    },
    /// The seat's orders are firm from now on.
    OrdersFirm { seat: Seat, phase: Phase, turn: u32 },
    /// The seat's orders, which were not firm yet, wait for the deadline, because of its words.
    OrdersDeferred { seat: Seat, phase: Phase, turn: u32 },
    /// The orders of a letter cannot stand.
    OrdersRefused {
        seat: Seat,
        phase: Phase,
        turn: u32,
        orders: Vec<String>,
        faults: Vec<FaultyLine>,
        /// The orders that a reply of `YES` files instead.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        offered: Vec<String>,
    },
    /// Orders were checked and not filed (`CHECK`).
    OrdersChecked { seat: Seat, phase: Phase, turn: u32, orders: Vec<String>, faults: Vec<FaultyLine> },
    /// The seat withdrew its filing.
    OrdersWithdrawn { seat: Seat, phase: Phase, turn: u32 },
    /// The seat sent conditional orders in advance, which replace any earlier ones. `sealed` is computed as
    /// for orders.
    ConditionsSealed { seat: Seat, turn: u32, conditions: Conditions, sealed: Digest },
    /// The seat withdrew its conditional orders.
    ConditionsWithdrawn { seat: Seat, turn: u32 },
    /// A move, a pass or the end of the match decided the outcome of conditional orders.
    ConditionsFollowed { seat: Seat, outcome: ConditionOutcome },
    /// A letter asked for something and filed nothing. `asked` holds the verbs of its commands.
    LetterAnswered { seat: Seat, asked: Vec<String> },
    /// The phase is open to these seats until `deadline`.
    DeadlineSet { phase: Phase, turn: u32, seats: Vec<Seat>, deadline: DateTime<Utc> },
    /// The seats had not filed when their grace was over.
    DeadlineMissed { phase: Phase, turn: u32, seats: Vec<Seat> },
    /// The seat took a day of its bank when its grace was over; `left` remain.
    BankDayTaken { seat: Seat, left: u32, deadline: DateTime<Utc> },
    /// The deadline moved by whole days; 0 if an absence or a returned letter moved it.
    DeadlineExtended { days: u32, deadline: DateTime<Utc> },
    /// Deadlines were extended because the referee could not be reached.
    DeadlineSlid { deadline: DateTime<Utc> },
    /// The referee's clock was ahead: the deadline that it moved was set again.
    DeadlineRestored { deadline: DateTime<Utc> },
    /// Clocks in the zone of the terms change otherwise than was known, so the deadline was set again: at the same local
    /// time.
    ZonesChanged { deadline: DateTime<Utc> },
    /// The mail server was late to accept the letter that opened the phase to the seat, and the deadline
    /// moved by the delay.
    OpeningSentLate { seat: Seat, deadline: DateTime<Utc> },
    /// The seat was reminded, or told again that its letter was refused.
    ReminderSent { seat: Seat, turn: u32 },
    /// No reminder was sent, because we were down until after the deadline.
    ReminderPassed { turn: u32 },
    /// The player's digest contains the reminder, because it is sent before the deadline.
    ReminderLeftToDigest { seat: Seat, turn: u32 },
    /// Deadlines are not enforced until the GM has decided. `bouncing` are the seats whose mail bounces.
    GmAsked { seats: Vec<Seat>, bouncing: Vec<Seat> },
    /// The phase was adjudicated on these `filings`; `state` is the digest of the new state's canonical JSON.
    TurnAdjudicated { phase: Phase, turn: u32, filings: BySeat<Option<OrderLines>>, state: Digest },
    /// The match was ended from outside the rules.
    MatchClosed { ending: Ending },
    /// The match is over.
    MatchEnded { outcome: Outcome },
    /// Deadlines are suspended.
    MatchPaused { reason: PauseReason },
    /// Deadlines run again, or a protest after the end is settled.
    MatchResumed { deadline: Option<DateTime<Utc>> },
    /// The result is void: the match counts as annulled.
    MatchAnnulled { reason: String },
    /// These terms are in force from the next phase on.
    TermsChanged { terms: TermsChange },
    /// The seat offered a draw.
    DrawOffered { seat: Seat },
    /// The seat asked for more time.
    ExtensionAsked { seat: Seat, days: u32 },
    /// The seat's player announced an absence.
    AbsenceNoted { seat: Seat, from: NaiveDate, to: NaiveDate },
    /// The seat's player asked for somebody to take over the seat.
    SubstituteAsked { seat: Seat },
    /// The seat's player has vanished. Until `until`, the other player may go on against the house or take
    /// the win.
    SubstituteOffered { seat: Seat, until: DateTime<Utc> },
    /// The other player goes on against the house in this seat.
    SubstituteAgreed { seat: Seat },
    /// The seat protested.
    Protested {
        seat: Seat,
        /// Whether the protest stops nothing, and was only passed on to the GM.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        passed_on: bool,
    },
    /// A message from the seat was passed on to the other.
    MessagePassed { from: Seat },
    /// Our mail to the seat bounced, or could not be sent.
    MailReturned { seat: Seat },
    /// Mail to the seat arrives again.
    MailRestored { seat: Seat },
    /// An automatic absence note came from the seat.
    AwayNoted { seat: Seat },
    /// The seat has a new player. Earlier filings for it are void.
    PlayerReplaced {
        seat: Seat,
        from: String,
        to: String,
        /// Whether a GM has excused the former player, who is then not rated.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        excused: bool,
    },
    /// The seat has a new reply token.
    TokenRenewed { seat: Seat },
    /// The seat's reply token and its player's addresses are those in `pins` from here on.
    HolderPinned { seat: Seat, pins: SeatPins },
    /// The seat's player has a new name.
    PlayerRenamed { seat: Seat, from: String, to: String },
    /// The seat's player has changed the settings of their letters.
    PlayerSet { seat: Seat, settings: PlayerSettings },
    /// A note for the GMs.
    GmNoted { text: String },
    /// The GM told a seat, or both, something. `text` is the SHA-256 of the text.
    GmTold { to: Option<Seat>, text: Digest },
    /// Adjudications after the first `keeps` are void; play continues from the state before them.
    CorrectionMade {
        turn: u32,
        keeps: usize,
        reason: String,
        state: Digest,
        /// Pins a new secret of the salts, because the end of the match has revealed the previous one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<Digest>,
    },
    /// While the match ran, the GM was shown what the rules hide: `what`, for this reason.
    Unsealed { what: String, reason: String },
    /// After the end, the entry with this fact lists the pins of the last ruling's letters, and the
    /// deliveries since then.
    LettersListed {},
    /// A player was forgotten, and is called `player` from now on: letters from and to them are withheld.
    /// `seat` is the seat that they held at the end.
    Forgotten {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seat: Option<Seat>,
        player: String,
    },
}

/// A line that cannot stand, and the reason. The full sentence is only in the letter, so that its wording can
/// improve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyLine {
    /// `None` for the orders as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub kind: FaultKind,
}

named_enum! {
    /// The reason why orders cannot stand.
    pub enum FaultKind {
        /// It is neither an order nor a command, or it contradicts another line.
        Syntax = "syntax",
        /// It is not an order, but may have been meant as one.
        Doubtful = "doubtful",
        /// The rules forbid it.
        Illegal = "illegal",
        /// The letter names another match.
        OtherMatch = "other-match",
        /// The letter names another turn.
        OtherTurn = "other-turn",
        /// The seat does not owe these orders now.
        NotDue = "not-due",
        /// The letter is ruled on too late.
        Superseded = "superseded",
        /// The seat sent the same orders for an earlier turn.
        Repeated = "repeated",
    }
}

/// The reason why a match is paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PauseReason {
    /// A protest is before the GM.
    Protest,
    /// Its ledger does not verify.
    Unsound,
    /// The GM's own words.
    Gm(String),
}

/// The settings, apart from the match, that rulings and letters depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailIdentity {
    /// The referee's own address.
    pub address: String,
    /// The number of the procedure that this program follows in its rulings.
    pub procedure: u32,
    /// The domain of our Message-IDs; if empty, the domain of the address.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message_ids: String,
    /// The version of the time zone database, such as `2025b`, from which local times and deadlines follow.
    pub tzdata: String,
    /// The club's own templates, each with its SHA-256, which replace those of the program.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<String, Digest>,
}

impl MailIdentity {
    /// Returns the identity that letters are read with, or `None` if the address is invalid.
    pub fn own_identity(&self) -> Option<OwnIdentity> {
        let address = Address::parse(&self.address).ok()?;
        let domain = if self.message_ids.is_empty() { address.domain() } else { &self.message_ids };
        let message_id_domain = domain.to_owned();
        Some(OwnIdentity { message_id_domain, address, return_path: None, dialect: &DIALECT })
    }
}

impl Fact {
    /// Returns the fact's name, which is the `kind` of its entry.
    pub fn kind(&self) -> &'static str {
        self.into()
    }
}

/// The basis of a match's rating: see the module. Only a match that may be rated has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatingBasis {
    /// The numbers of the players who hold the seats first; `None` for the house.
    pub numbers: BySeat<Option<i64>>,
    /// The points by which the first seat is favoured.
    pub advantage: i32,
    /// The figure of the house at its level, if it holds a seat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub house: Option<HouseFigure>,
}

/// The fixed figure of the house at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HouseFigure {
    pub figure: i32,
    pub deviation: i32,
}
