//! Resends letters that were given up, or that a server accepted but nobody received.

use std::borrow::Cow;

use crate::daemon::load::{ledger_entries, random};
use crate::daemon::parallel::run_blocking;
use crate::daemon::{Office, rulings};
use crate::desk::frame::stored::snapshot;
use crate::desk::outbox::resend::{copy, is_copy};
use crate::letter::ReturnId;
use crate::letter::pictures::{dropped_from, without_pictures};
use crate::report::redraw;
use crate::store::{Changes, DispatchFilter, DispatchRow, SendOutcome};

/// Maximum letters resent at a time, newest first.
pub const MAX_RESENT: u32 = 500;

/// The result of resending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resent {
    /// Letters that were given up and are queued again under their own Message-ID.
    pub queued: usize,
    /// Letters that were sent and are queued again as copies.
    pub copied: usize,
    /// Copies whose picture was dropped and cannot be drawn again exactly.
    pub without_picture: usize,
    /// Letters that are still in the queue, and so left alone.
    pub waiting: usize,
}

/// Finds the letters that match the filter, at most [`MAX_RESENT`], newest first. Copies that were sent are left
/// out, because their originals are there.
///
/// # Errors
/// Returns an error if the database does not answer, or if there is no such match.
pub async fn find(office: &Office, filter: &DispatchFilter) -> anyhow::Result<Vec<(DispatchRow, Vec<u8>)>> {
    if let Some(match_id) = &filter.match_id {
        rulings::match_row(office, match_id).await?;
    }
    let mut found = office.store.find_dispatches(filter, MAX_RESENT).await?;
    found.retain(|(row, bytes)| row.sent_at.is_none() || !is_copy(bytes));
    Ok(found)
}

/// Sends the letters that match the filter again, at most [`MAX_RESENT`].
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn resend(office: &Office, filter: &DispatchFilter) -> anyhow::Result<Resent> {
    let now = office.now();
    let found = find(office, filter).await?;
    let mut resent = Resent::default();
    let mut outcomes = Vec::new();
    let mut dispatches = Vec::new();
    // Oldest first, so that they arrive in order.
    for (row, bytes) in found.iter().rev() {
        match row.sent_at {
            Some(_) => {
                let whole = with_picture(office, row, bytes).await?;
                resent.without_picture += usize::from(whole.is_none());
                let sent = whole.or_else(|| without_pictures(bytes).map(Cow::Owned));
                let sent = sent.unwrap_or(Cow::Borrowed(bytes));
                let mut copy = copy(row, &sent, office.config.club.address.as_str(), now);
                if office.config.club.has_return_ids() {
                    copy.return_id = Some(ReturnId::from_random(random()?));
                }
                dispatches.push(copy);
            }
            None if row.given_up_at.is_some() => {
                // No server has taken it, so nobody can get it twice under its own Message-ID.
                outcomes.push((row.id, SendOutcome::Later { at: now, error: row.error.clone() }));
            }
            None => resent.waiting += usize::from(row.waiting),
        }
    }
    (resent.queued, resent.copied) = (outcomes.len(), dispatches.len());
    office.store.commit(&Changes { at: now, dispatches, outcomes, ..Changes::default() }).await?;
    office.dispatches_queued.notify_one();
    Ok(resent)
}

/// Returns the bytes of one of our letters, with the picture that was dropped from it, or `None` if that
/// cannot be drawn again exactly.
async fn with_picture<'a>(
    office: &Office,
    row: &DispatchRow,
    bytes: &'a [u8],
) -> anyhow::Result<Option<Cow<'a, [u8]>>> {
    if dropped_from(bytes).is_none() {
        return Ok(Some(Cow::Borrowed(bytes)));
    }
    let Some((match_id, seat)) = row.match_id.as_deref().zip(row.seat) else { return Ok(None) };
    let of_match = rulings::match_row(office, match_id).await?;
    let game_match = snapshot(&of_match.id, &of_match.snapshot)?;
    let entries = ledger_entries(office, match_id).await?;
    let (letter, message_id) = (bytes.to_vec(), row.message_id.clone());
    let drawing = move || redraw(&letter, &message_id, seat, &game_match, &entries);
    Ok(run_blocking(drawing).await?.map(Cow::Owned))
}
