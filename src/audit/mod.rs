//! Whether a match is what its ledger, its letters and the rules make of it, for somebody who trusts nobody.
//!
//! [`LedgerReader`] walks the chain and reads every letter again; [`Check`] rules on every cause again and compares what
//! comes of it with what is kept, byte for byte; [`ExpectedDispatch`] does the same for what was sent: its bytes by their digest in the
//! chain, its words by wording it again. [`witness`] holds the ledger line of a player's own mail against the chain.
//! Nothing here loads, or knows where things are kept.

pub mod account;
mod check;
pub mod dossier;
mod expected;
pub mod witness;

use serde::Serialize;

pub use check::{Check, LedgerBatch, LedgerReader, LedgerRow, ParsedLetter, StoredDispatch, StoredMatch};
pub use expected::{CurrentWording, ExpectedDispatch};

use crate::ledger::Head;
use crate::letter::Digest;

/// Something that is not as it should be, and the first place where it shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    #[serde(flatten)]
    pub place: Place,
    /// A sentence. It tells no orders: the GM may be a player.
    pub what: String,
}

/// Where something is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The match as it is kept beside its ledger.
    Kept(&'static str),
    /// An entry, by its number.
    Entry(u64),
    Letter(Digest),
    /// A letter of ours, by its Message-ID.
    Sent(String),
    /// The ledger line of this number in a player's own mail.
    Mail(u64),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Kept(what) => f.write_str(what),
            Place::Entry(seq) => write!(f, "entry #{seq}"),
            Place::Letter(digest) => write!(f, "letter {digest}"),
            Place::Sent(id) => write!(f, "our letter <{id}>"),
            Place::Mail(seq) => write!(f, "the mail's ledger line #{seq}"),
        }
    }
}

/// What came of checking one match.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AuditVerdict {
    #[serde(rename = "match")]
    pub match_id: String,
    pub entries: u64,
    pub letters: u64,
    /// Letters of ours that were worded again.
    pub sent: u64,
    /// Letters of ours of which the bytes were compared, but not the words: those are of another time.
    pub sent_in_other_words: u64,
    pub head: Head,
    pub findings: Vec<Finding>,
    /// What could not be checked, though nothing was found wrong.
    pub unable: Option<String>,
}

impl AuditVerdict {
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty() && self.unable.is_none()
    }
}
