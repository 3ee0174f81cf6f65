//! Resends letters that were given up, or that a server accepted but nobody received.
//!
//! Letters that a mail server keeps refusing while it takes others, or while there are no others. None of them is given
//! up, so only the GM can end this, above all if the server refuses the club's domain.

use std::borrow::Cow;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::timeout;

use super::account::{ACCOUNT, Account};
use crate::daemon::load::{ledger_entries, random};
use crate::daemon::waiting::run_blocking;
use crate::daemon::{Office, clock, commit, rulings};
use crate::desk::frame::stored::snapshot;
use crate::desk::gm::alarm;
use crate::desk::outbox::resend::{copy, is_copy};
use crate::letter::ReturnId;
use crate::letter::pictures::{dropped_from, without_pictures};
use crate::post::dns;
use crate::post::refusal::doubts_domain;
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
    let letter = bytes.to_vec();
    let message_id = row.message_id.clone();
    let drawing = move || redraw(&letter, &message_id, seat, &game_match, &entries);
    Ok(run_blocking(drawing).await?.map(Cow::Owned))
}

/// Age of a refused letter from which the GM is told. Greylisting and busy servers let it go before that.
const TELL_AFTER: TimeDelta = TimeDelta::hours(12);

/// Time between two letters to the GM about it: less than a day, so that a program that is started once a day
/// tells it each time.
const TELL_INTERVAL: TimeDelta = TimeDelta::hours(20);

/// Maximum letters that are looked at.
const MAX_LETTERS: u32 = 1000;

/// Maximum time for asking the DNS, because the clock waits for it.
const DNS_LIMIT: Duration = Duration::from_secs(15);

/// The key under which a daemon remembers when it last told the GM.
const LAST_TOLD: &str = "refused letters told";

/// Once a day, tells the GM of letters that are still refused.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn tell_when_due(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    let last = clock::remembered_time(office, LAST_TOLD).await?;
    if last.is_some_and(|last| now < last + TELL_INTERVAL) {
        return Ok(());
    }
    // While the server refuses everything, the GM is told of that.
    if Account::read(office.store.remembered(ACCOUNT).await?.as_deref()).outage.is_some() {
        return Ok(());
    }
    let mut waiting = office.store.refused_since(now - TELL_AFTER, MAX_LETTERS).await?;
    if waiting.is_empty() {
        return Ok(());
    }
    waiting.sort_by_key(|row| row.id);
    let dns = if waiting.iter().any(|row| doubts_domain(&row.error)) {
        state_of_domain(office).await
    } else {
        Vec::new()
    };
    commit::decide_and_commit(office, move |desk| alarm::keeps_refusing(desk, &waiting, &dns)).await?;
    Ok(office.store.remember(LAST_TOLD, &now.to_rfc3339()).await?)
}

/// Says what the DNS shows of the club's domain, as `fogpost doctor` does.
async fn state_of_domain(office: &Office) -> Vec<String> {
    let domain = office.config.club.address.domain();
    if dns::is_reserved(domain) {
        return Vec::new();
    }
    let looked_up = timeout(DNS_LIMIT, dns::Records::of(domain, office.config.dkim_selectors())).await;
    let Ok(Some(records)) = looked_up else {
        return vec![format!("the DNS does not answer about {domain}; `fogpost doctor` asks it again")];
    };
    let faults = records.faults(domain);
    if !faults.is_empty() {
        return faults;
    }
    vec![format!(
        "{domain} has SPF and DMARC records, so the letters probably go out unsigned, or by a server that the SPF \
         record does not name"
    )]
}
