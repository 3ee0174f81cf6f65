//! Verifies matches and events against their ledgers and books, the letters and the rules, without trusting anyone.
//!
//! [`LedgerReader`] walks the chain and parses every letter again. [`Check`] repeats the ruling on every
//! cause and compares the result with what is stored, byte for byte. [`ExpectedDispatch`] compares our
//! letters with their pins in the chain. [`book`] does the same for the book of an event. [`witness`] finds the heads
//! of chains in a player's own mail, and [`offers`] compares what belongs to no match and no event.
//!
//! This module neither loads data nor knows where it is stored.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::ledger::Head;
use crate::letter::Digest;

pub mod book;
mod check;
pub mod dossier;
pub mod offers;
pub mod witness;

pub use check::columns::StoredTurn;
pub use check::{
    Check, ExpectedDispatch, LedgerBatch, LedgerReader, LedgerRow, ParsedLetter, StoredDispatch,
    StoredLetter, StoredMatch, StoredPlayer, StoredSeat, Withheld, columns,
};
pub use dossier::account;

/// The subject of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckSubject {
    /// A match, by its ID.
    Match(String),
    /// An event and its book, by the event's ID.
    Event(String),
    /// Everything compared that belongs to no match and no event: offers, mailboxes, and the GMs' tokens.
    Club {},
}

/// The ID of [`CheckSubject::Club`].
const CLUB: &str = "CLUB";

impl CheckSubject {
    /// Returns the subject with this ID, whether or not it exists.
    pub fn of(id: &str) -> CheckSubject {
        match id {
            CLUB => CheckSubject::Club {},
            id if id.starts_with("EV-") => CheckSubject::Event(id.to_owned()),
            id => CheckSubject::Match(id.to_owned()),
        }
    }

    pub fn id(&self) -> &str {
        match self {
            CheckSubject::Match(id) | CheckSubject::Event(id) => id,
            CheckSubject::Club {} => CLUB,
        }
    }

    /// Returns a noun phrase that can begin a sentence.
    pub fn name(&self) -> String {
        match self {
            CheckSubject::Match(id) => format!("The ledger of match {id}"),
            CheckSubject::Event(id) => format!("The book of {id}"),
            CheckSubject::Club {} => "What is stored of offers, mailboxes and the GMs' tokens".to_owned(),
        }
    }
}

/// A discrepancy, and the first place where it appears.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    #[serde(flatten)]
    pub place: Place,
    /// A clause about the place, without orders: the GM may be a player.
    pub what: String,
}

impl Finding {
    pub fn at(place: Place, what: impl Into<String>) -> Finding {
        Finding { place, what: what.into() }
    }

    fn at_entry(seq: u64, what: impl Into<String>) -> Finding {
        Finding::at(Place::Entry(seq), what)
    }
}

/// The place of a discrepancy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// Data stored beside the ledger, by its name.
    Kept(&'static str),
    /// An entry, by its number.
    Entry(u64),
    /// A received letter.
    Letter(Digest),
    /// One of our letters, by its Message-ID.
    Sent(String),
    /// The ledger line with this hash in a player's own mail.
    Mail(Digest),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Kept(what) => f.write_str(what),
            Place::Entry(seq) => write!(f, "entry #{seq}"),
            Place::Letter(digest) => write!(f, "letter {digest}"),
            Place::Sent(id) => write!(f, "our letter <{id}>"),
            Place::Mail(hash) => write!(f, "the mail's ledger line {hash}"),
        }
    }
}

/// The result of checking one match or event, or the club.
#[derive(Clone, Debug, Serialize)]
pub struct AuditVerdict {
    #[serde(flatten)]
    pub subject: CheckSubject,
    pub entries: u64,
    pub letters: u64,
    /// Our letters that were compared with their pins, or that state a head of the book.
    pub sent: u64,
    /// Number of turns that another version of the house played, and of hints that it gave. The turns are
    /// legal and were chosen from what the seat had been told, but were not derived again.
    pub house_turns_of_other_versions: u64,
    /// Rulings that were not repeated, by the number of their procedure: another procedure made them, or an
    /// earlier ruling of their match.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rulings_by_procedure: BTreeMap<u32, u64>,
    /// The entries of turns for which the house's level found nothing legal, so that an easier level played.
    /// Turns of other versions are listed as the entries record them, because only the version that played
    /// can fail again.
    pub house_failures: Vec<u64>,
    /// The club's own templates that shaped letters, each with the number of letters to a seat that were sent
    /// while it replaced the program's.
    pub own_templates: BTreeMap<String, u64>,
    pub head: Head,
    pub findings: Vec<Finding>,
    /// The reason why letters are permanently withheld.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
    /// Letters that are withheld.
    #[serde(skip_serializing_if = "is_none")]
    pub withheld_letters: u64,
    /// Rulings that were not repeated, because letters are withheld.
    #[serde(skip_serializing_if = "is_none")]
    pub unrepeated: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl AuditVerdict {
    /// Begins a verdict without findings.
    pub fn new(subject: CheckSubject) -> AuditVerdict {
        AuditVerdict {
            subject,
            entries: 0,
            letters: 0,
            sent: 0,
            house_turns_of_other_versions: 0,
            rulings_by_procedure: BTreeMap::new(),
            house_failures: Vec::new(),
            own_templates: BTreeMap::new(),
            head: Head::default(),
            findings: Vec::new(),
            withheld: None,
            withheld_letters: 0,
            unrepeated: 0,
        }
    }

    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}
