//! Sends letters again that were given up, or that a server took and nobody received.

use std::borrow::Cow;

use super::Office;
use super::decide::resend::copy;
use crate::report::pin::lacks_picture;
use crate::store::{Claim, DispatchFilter, DispatchRow, SendOutcome, Settlement};

/// Maximum letters sent again at a time, newest first.
pub const MAX_RESENT: u32 = 500;

/// What was sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resent {
    /// Given up before, and queued again under their own Message-ID.
    pub queued: usize,
    /// Sent before, and queued as copies.
    pub copied: usize,
    /// Queued already.
    pub waiting: usize,
}

impl Office {
    /// Sends the letters that match the filter again, at most [`MAX_RESENT`].
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn resend(&self, filter: &DispatchFilter) -> anyhow::Result<Resent> {
        let now = self.now();
        let found = self.store.find_dispatches(filter, MAX_RESENT).await?;
        let mut resent = Resent::default();
        let mut outcomes = Vec::new();
        let mut dispatches = Vec::new();
        // Oldest first, so that they arrive in order.
        for (row, bytes) in found.iter().rev() {
            match row.sent_at {
                Some(_) => {
                    let redrawn = self.with_picture(row, bytes).await?;
                    dispatches.push(copy(row, &redrawn, self.config.club.address.as_str(), now));
                }
                None if row.given_up => {
                    outcomes.push((row.id, SendOutcome::Later { at: now, error: row.error.clone() }));
                }
                None => resent.waiting += 1,
            }
        }
        (resent.queued, resent.copied) = (outcomes.len(), dispatches.len());
        if !outcomes.is_empty() {
            self.store.record_outcomes(Claim::default(), now, &outcomes).await?;
        }
        if !dispatches.is_empty() {
            self.store.commit(&Settlement { at: now, dispatches, ..Settlement::default() }).await?;
        }
        self.dispatches.notify_one();
        Ok(resent)
    }

    /// Returns the bytes of a letter, with its picture if that was dropped. One that cannot be drawn again is left as it is.
    async fn with_picture<'a>(&self, row: &DispatchRow, bytes: &'a [u8]) -> anyhow::Result<Cow<'a, [u8]>> {
        let Some(match_id) = row.match_id.as_ref().filter(|_| lacks_picture(bytes)) else {
            return Ok(Cow::Borrowed(bytes));
        };
        let redrawn = self.redraw(match_id, &row.message_id).await?;
        Ok(redrawn.map_or(Cow::Borrowed(bytes), Cow::Owned))
    }
}
