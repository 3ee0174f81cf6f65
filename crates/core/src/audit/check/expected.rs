//! Compares letters that we sent with their pins in the chain, and with the data in their rows.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use mail_parser::MessageParser;

use crate::audit::verdict::{Finding, Place};
use crate::audit::witness;
use crate::game::Seat;
use crate::ledger::{Head, PlaceInMatch, SealKey};
use crate::letter::Digest;
use crate::referee::{Dispatch, DispatchKind, Match, Reader};
use crate::report::envelope;
use crate::report::pin::pin_of;

/// One of our letters as it is stored.
#[derive(Clone, Debug)]
pub struct StoredDispatch {
    pub message_id: String,
    pub recipient: String,
    pub kind: DispatchKind,
    pub seat: Option<Seat>,
    pub sent_at: Option<DateTime<Utc>>,
    pub bytes: Vec<u8>,
}

impl StoredDispatch {
    /// Returns the place in the match that its Message-ID names.
    pub(super) fn place(&self, match_id: &str, key: &SealKey) -> Option<PlaceInMatch<'_>> {
        PlaceInMatch::read(&self.message_id, match_id, key)
    }
}

/// A letter that a ruling must have sent, with the one that was sent.
pub struct ExpectedDispatch {
    pub(super) stored: StoredDispatch,
    /// Its pin according to the ledger.
    pub(super) pin: Digest,
    pub(super) match_id: Arc<str>,
    /// The last entry of the ruling that sent it.
    pub(super) head: Head,
    pub(super) at: DateTime<Utc>,
    /// The reply token at the start of its Message-ID; empty if there is none.
    pub(super) token: String,
    /// The dispatch of the repeated ruling, and the match after it. `None` if the ruling was not repeated.
    pub(super) repeated: Option<(Arc<Match>, Dispatch)>,
    /// The club's own templates that may have shaped it.
    pub(super) own_templates: Vec<String>,
}

impl ExpectedDispatch {
    /// Compares the letter with its pin, its ledger line with the chain, and the data in its row with its own
    /// header.
    ///
    /// # Errors
    /// [`Finding`] if the letter was changed or is stored under wrong data.
    pub fn compare(&self) -> Result<(), Finding> {
        let bytes = &self.stored.bytes[..];
        let mail = MessageParser::default().parse(bytes);
        let text = mail.as_ref().and_then(|mail| mail.body_text(0)).unwrap_or_default();
        let names_head = witness::in_text(&text)
            .last()
            .is_some_and(|line| (&*line.chain, line.hash) == (&*self.match_id, self.head.hash));
        if !names_head {
            return self.finding("its ledger line differs from the ledger: it was changed");
        }
        if mail.as_ref().map(|mail| pin_of(bytes, mail)) != Some(self.pin) {
            return self.finding("it was changed: the ledger pins another letter");
        }
        if self.expected_kind().is_some_and(|expected| expected != (self.stored.seat, self.stored.kind)) {
            return self.finding("it is stored as a letter of another kind or to another seat");
        }
        let to = mail.as_ref().and_then(|mail| mail.to()?.first()?.address());
        if (mail.as_ref().and_then(|mail| mail.message_id()), to)
            != (Some(self.stored.message_id.as_str()), Some(self.stored.recipient.as_str()))
        {
            return self.finding("it is stored under a Message-ID or recipient other than its own");
        }
        Ok(())
    }

    /// Returns the seat and the kind under which the repeated ruling sends it.
    fn expected_kind(&self) -> Option<(Option<Seat>, DispatchKind)> {
        let (_, dispatch) = self.repeated.as_ref()?;
        let seat = match dispatch.to {
            Reader::Seat(seat) => Some(seat),
            Reader::Former(_) | Reader::Gm => None,
        };
        Some((seat, envelope::kind(&dispatch.content)))
    }

    fn finding<T>(&self, what: &str) -> Result<T, Finding> {
        Err(Finding::at(Place::Sent(self.stored.message_id.clone()), what))
    }
}
