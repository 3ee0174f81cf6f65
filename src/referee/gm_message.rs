//! What a GM tells one side or both while a match runs. The ledger names a text by its digest; the match keeps it until
//! the result, in which both sides read what only one was told.

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

impl GmMessage {
    /// The digest under which the ledger names the text.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }
}
