//! The ledger of a match: what was decided, when and why, in one chain of hashes.
//!
//! An entry is a fact in the past tense. Its hash is SHA-256 over its canonical JSON (RFC 8785), which holds the
//! hash of the entry before it; so nothing can be changed, left out or put in between without a trace. Each
//! entry also bears a salt, so that nobody can guess at a secret order from the hash that both players are told.
//! The letters that a ruling brought are worded after it, so the first entry of the next one holds their digests.

use chrono::{DateTime, SecondsFormat, SubsecRound, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::game::any::{AnyState, Choices, Filing, Kind};
use crate::game::record::{By, Ending, Filed, Record};
use crate::game::{BySeat, Fault, Outcome, Phase, Seat};
use crate::letter::{Address, Digest, Own};

/// What was decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body")]
pub enum Fact {
    MatchOpened {
        game: Kind,
        options: Choices,
        players: BySeat<String>,
        /// The level at which the house plays the seat.
        #[serde(default, skip_serializing_if = "nobody")]
        house: BySeat<Option<String>>,
        terms: Value,
        desk: Desk,
        /// Pins the secret that the salts come from, without opening it: [`SealKey::pin`].
        key: Digest,
    },
    /// The referee writes from another address, or words his letters otherwise, from here on.
    DeskSet {
        desk: Desk,
    },
    /// `sealed` is SHA-256 over the salt and the orders, each followed by a line feed.
    OrdersSealed {
        seat: Seat,
        phase: Phase,
        turn: u32,
        orders: Filing,
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
        filings: BySeat<Option<Filing>>,
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
        from: chrono::NaiveDate,
        to: chrono::NaiveDate,
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
pub fn nobody(house: &BySeat<Option<String>>) -> bool {
    house.first.is_none() && house.second.is_none()
}

/// What a letter is read by and an answer worded by, beside the match itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Desk {
    /// The referee's own address.
    pub address: String,
    /// The digest of everything that words a letter: the templates, the club's name, the program's version.
    pub wording: Digest,
    /// The domain of our letters' Message-IDs; empty: that of the address.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message_ids: String,
}

impl Desk {
    /// By what letters to the referee were read; `None`: the address is none.
    pub fn own(&self) -> Option<Own> {
        let address = Address::parse(&self.address).ok()?;
        let domain = if self.message_ids.is_empty() { address.domain() } else { &self.message_ids };
        Some(Own { message_id_domain: domain.to_owned(), address, return_path: None })
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

/// On whose account it was decided; with an act, all that the act said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The SHA-256 of the letter's raw bytes.
    Letter(Digest),
    Clock,
    /// The GM of this name; no act opens a match.
    Gm {
        name: String,
        act: Option<Value>,
    },
    House {
        act: Value,
    },
}

/// One link of the chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    #[serde(rename = "match")]
    pub match_id: String,
    /// From 1, without gaps.
    pub seq: u64,
    /// UTC, to the millisecond.
    #[serde(with = "millis")]
    pub at: DateTime<Utc>,
    pub cause: Source,
    /// The version of the game's rules that the match is played by.
    pub rules: u32,
    #[serde(flatten)]
    pub fact: Fact,
    /// 32 hexadecimal digits.
    pub salt: String,
    /// The hash of the entry before; 64 zeros in the first.
    pub prev: Digest,
    /// What was told since the entry before: the SHA-256 of each letter of ours, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Digest>,
}

/// An entry without what was decided: its place in the chain, its cause, and what was told before it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Link {
    #[serde(rename = "match")]
    pub match_id: String,
    pub seq: u64,
    #[serde(with = "millis")]
    pub at: DateTime<Utc>,
    pub cause: Source,
    pub rules: u32,
    /// The name of the fact.
    pub kind: String,
    pub prev: Digest,
    #[serde(default)]
    pub told: Vec<Digest>,
}

impl Entry {
    /// RFC 8785 canonical JSON: what is hashed.
    pub fn canonical(&self) -> String {
        canonical(self)
    }

    pub fn hash(&self) -> Digest {
        Digest::of(self.canonical().as_bytes())
    }
}

/// The canonical JSON (RFC 8785) of a value.
pub fn canonical(value: &impl Serialize) -> String {
    serde_json_canonicalizer::to_string(value).expect("our values have string keys and no unusual numbers")
}

/// The end of a chain: how many entries there are, and the hash of the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub seq: u64,
    pub hash: Digest,
}

impl Default for Head {
    fn default() -> Self {
        Head { seq: 0, hash: Digest::from([0; 32]) }
    }
}

/// The secret of a match from which all its salts come; opened with the result.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SealKey(Digest);

impl SealKey {
    pub fn new(random: [u8; 32]) -> Self {
        SealKey(Digest::from(random))
    }

    /// SHA-256 of the secret.
    pub fn pin(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }

    /// The secret itself, as 64 hexadecimal digits: told with the result, never before.
    pub fn open(&self) -> String {
        self.0.to_string()
    }

    /// The dice of the house in the phase of this number: the first 8 bytes of SHA-256 over the key, `dice` and the
    /// number (4 bytes, big-endian).
    pub fn dice(&self, phase_no: u32) -> u64 {
        let digest = Sha256::new().chain_update(self.0.as_bytes()).chain_update("dice");
        let [a, b, c, d, e, f, g, h, ..] =
            <[u8; 32]>::from(digest.chain_update(phase_no.to_be_bytes()).finalize());
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// The salt of entry `seq`: the first 16 bytes of SHA-256 over the key and the number (8 bytes, big-endian).
    pub fn salt(&self, seq: u64) -> String {
        let digest = Sha256::new().chain_update(self.0.as_bytes()).chain_update(seq.to_be_bytes()).finalize();
        Digest::from(<[u8; 32]>::from(digest)).to_string()[..32].to_owned()
    }
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey(…)")
    }
}

/// The digest of sealed orders that a receipt tells: SHA-256 over the salt and each order, a line feed after each.
pub fn seal_digest(salt: &str, orders: &Filing) -> Digest {
    let mut text = format!("{salt}\n");
    for order in orders.lines() {
        text.push_str(order);
        text.push('\n');
    }
    Digest::of(text.as_bytes())
}

/// `2026-05-14T09:12:00.000Z`: every instant of an entry is written with exactly three decimals.
pub fn to_millis(at: DateTime<Utc>) -> DateTime<Utc> {
    at.trunc_subsecs(3)
}

mod millis {
    use super::{DateTime, SecondsFormat, Utc};
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(at: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&at.to_rfc3339_opts(SecondsFormat::Millis, true))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DateTime<Utc>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let at = DateTime::parse_from_rfc3339(&text).map_err(serde::de::Error::custom)?;
        Ok(at.with_timezone(&Utc))
    }
}

/// The entries by which a match stands as it does: those without the adjudications and endings that a correction
/// made void.
pub fn standing(entries: &[Entry]) -> Vec<&Entry> {
    let mut standing: Vec<&Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Fact::CorrectionMade { keeps, .. } = &entry.fact {
            let mut left = *keeps;
            standing.retain(|entry| match entry.fact {
                Fact::TurnAdjudicated { .. } => {
                    let kept = left > 0;
                    left = left.saturating_sub(1);
                    kept
                }
                Fact::MatchClosed { .. } | Fact::MatchEnded { .. } => false,
                _ => true,
            });
        }
        standing.push(entry);
    }
    standing
}

/// The adjudications that stand, in order: phase, turn and the filings that each was decided on.
pub fn adjudications(entries: &[Entry]) -> Vec<(Phase, u32, BySeat<Option<Filing>>)> {
    let decided = standing(entries).into_iter().filter_map(|entry| match &entry.fact {
        Fact::TurnAdjudicated { phase, turn, filings, .. } => Some((*phase, *turn, filings.clone())),
        _ => None,
    });
    decided.collect()
}

/// The record of a match from its entries, in order: the filings that each phase was decided on, and how it was
/// ended from outside the rules. `None` when the first entry does not open a match.
pub fn record(entries: &[Entry]) -> Option<Record> {
    let first = entries.first()?;
    let Fact::MatchOpened { game, options, players, .. } = &first.fact else { return None };
    let (mut filings, mut players) = (Vec::new(), players.clone());
    for entry in entries {
        if let Fact::PlayerRenamed { seat, to, .. } | Fact::PlayerReplaced { seat, to, .. } = &entry.fact {
            players[*seat].clone_from(to);
        }
    }
    for entry in standing(entries) {
        match &entry.fact {
            Fact::TurnAdjudicated { phase, filings: decided_on, .. } => {
                for (seat, filing) in decided_on.iter() {
                    let Some(filing) = filing else { continue };
                    let by = By::Seat(seat, filing.lines().join("\n"));
                    filings.push(Filed { by, phase: Some(phase.to_string()) });
                }
            }
            Fact::MatchClosed { ending } => filings.push(Filed { by: By::Referee(*ending), phase: None }),
            _ => {}
        }
    }
    Some(Record { game: *game, rules: first.rules, players, options: options.clone(), filings })
}

/// Plays a match through as its entries tell it, what was corrected later included: `each` gets the state that every
/// adjudication, every ending from outside the rules and every correction left. Ends where an entry does not fit.
pub fn replay(entries: &[Entry], mut each: impl FnMut(&Entry, &AnyState)) {
    let Some(first) = entries.first() else { return };
    let Fact::MatchOpened { game, options, .. } = &first.fact else { return };
    let Ok(start) = game.start_under(first.rules, options) else { return };
    let (mut state, mut decided) = (start.clone(), Vec::new());
    for entry in entries {
        let fits = match &entry.fact {
            Fact::TurnAdjudicated { filings, .. } => {
                decided.push(filings);
                state.adjudicate(filings).is_ok()
            }
            Fact::MatchClosed { ending } => {
                state.close(ending.outcome());
                true
            }
            Fact::CorrectionMade { keeps, .. } => {
                decided.truncate(*keeps);
                state = start.clone();
                decided.iter().all(|filings| state.adjudicate(filings).is_ok())
            }
            _ => continue,
        };
        if !fits {
            return;
        }
        each(entry, &state);
    }
}

/// Where a chain is broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    #[error("entry #{seq} is missing: #{found} stands in its place")]
    Missing { seq: u64, found: u64 },
    #[error("entry #{seq} does not follow the entry before it")]
    Unchained { seq: u64 },
    #[error("entry #{seq} was changed: its hash does not fit")]
    Changed { seq: u64 },
    #[error("entry #{seq} cannot be read: {reason}")]
    Unreadable { seq: u64, reason: String },
}

impl Head {
    /// Goes on to the next entry, which is given as its canonical JSON and its hash. What it decides is not read.
    ///
    /// # Errors
    /// [`Broken`]: it is not what follows.
    pub fn follow(&mut self, json: &str, hash: Digest) -> Result<Link, Broken> {
        let seq = self.seq + 1;
        let link: Link = serde_json::from_str(json)
            .map_err(|error| Broken::Unreadable { seq, reason: error.to_string() })?;
        if link.seq != seq {
            return Err(Broken::Missing { seq, found: link.seq });
        }
        if Digest::of(json.as_bytes()) != hash {
            return Err(Broken::Changed { seq });
        }
        if link.prev != self.hash {
            return Err(Broken::Unchained { seq });
        }
        *self = Head { seq, hash };
        Ok(link)
    }
}

/// Walks the chain from its first entry and gives its head. `rows` are canonical JSON and hash of each entry, in
/// order.
///
/// # Errors
/// [`Broken`], at the first place where it went wrong.
pub fn walk<'a>(rows: impl IntoIterator<Item = (&'a str, Digest)>) -> Result<Head, Broken> {
    let mut head = Head::default();
    for (json, hash) in rows {
        head.follow(json, hash)?;
    }
    Ok(head)
}
