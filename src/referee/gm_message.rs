//! What both sides read with the result of what a GM did while the match ran: texts to one side alone, which the ledger
//! names by their digests, and what the GM was shown although the rules hide it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::game::Seat;
use crate::letter::Digest;

/// A text from a GM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GmMessage {
    /// `None` for both sides.
    pub to: Option<Seat>,
    pub at: DateTime<Utc>,
    pub text: String,
}

/// A GM was shown what the rules hide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsealing {
    /// The name of the GM.
    pub gm: String,
    pub at: DateTime<Utc>,
    /// A noun phrase, such as `the account of turn 4`.
    pub what: String,
    /// In the GM's own words, on one line.
    pub reason: String,
}

impl GmMessage {
    /// The digest under which the ledger names the text.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }
}
