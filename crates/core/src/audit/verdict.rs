//! The result of checking a match.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::ledger::Head;
use crate::letter::Digest;

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

/// The result of checking one match.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AuditVerdict {
    #[serde(rename = "match")]
    pub match_id: String,
    pub entries: u64,
    pub letters: u64,
    /// Our letters that were compared with their pins.
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
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}
