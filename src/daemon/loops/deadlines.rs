//! Enforces deadlines: rules on due matches, the one that has waited longest first.
//!
//! Deadlines and ends of seasons that zone data of a newer edition move: each stays at the local time that players read.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::watch;

use super::upkeep;
use crate::daemon::clock::{HEARTBEAT, OUTAGE_SINCE};
use crate::daemon::commit::{self, is_transient};
use crate::daemon::heartbeat::Loop;
use crate::daemon::items::{self, DueMatches};
use crate::daemon::sending::resend;
use crate::daemon::waiting::{RetryPause, pause};
use crate::daemon::{Office, away, clock, events, load, ratings, rulings};
use crate::desk::matches::acts::{CauseOf, by_program};
use crate::desk::matches::offers;
use crate::post::{Health, ShutdownSignal};
use crate::referee::{Act, Stage};
use crate::store::{Changes, Invitation, InvitationStage, RESTORED, StoreError, TO_BE_READ_AGAIN};
use crate::zone;

/// Matches ruled on in one transaction.
const BATCH_SIZE: u32 = 100;

/// Time between checks of the clock.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// A longer gap between two checks is an outage, and deadlines that fell into it are extended.
const OUTAGE: TimeDelta = TimeDelta::minutes(15);

/// Time that players have at least for deadlines that passed between a backup and its restore.
const AFTER_RESTORE: TimeDelta = TimeDelta::days(1);

/// The longest grace that a match can have.
const MAX_GRACE: TimeDelta = TimeDelta::days(30);

/// Enforces deadlines until shutdown. While the mailbox cannot be read, nobody is late: the clock is not
/// checked, and afterwards that time counts as an outage. Returns if an older database was put in place of the one
/// that this daemon works on, so that the mailbox is opened anew and its processed letters are read again.
pub async fn watch_clock_until(
    office: Arc<Office>,
    shutdown: ShutdownSignal,
    mut health: watch::Receiver<Health>,
) -> anyhow::Result<()> {
    let mut backoff = RetryPause::new();
    // Another daemon may have checked the clock in the meantime, by a clock that differs a little.
    office.heartbeat.note_check(None);
    while !shutdown.is_set() {
        office.heartbeat.beat(Loop::Clock);
        // Keep watching the clock while the mailbox cannot be read: a long outage must not look like a jump.
        if let Err(error) = clock::is_trusted(&office).await {
            backoff.wait("failed to check the clock", &error, &shutdown).await;
        }
        let is_readable = becomes_readable(&mut health, &shutdown).await;
        let checked = if is_readable {
            match note_if_put_back(&office).await {
                Ok(true) => return Ok(()),
                Ok(false) => clock_all(&office, OUTAGE).await,
                Err(error) => Err(error),
            }
        } else {
            Ok(())
        };
        let told = match checked {
            Ok(()) => away::tell(&office).await,
            failed => failed,
        };
        match told {
            Ok(()) => backoff = RetryPause::new(),
            Err(error) => {
                away::note_failure(&office, &error);
                backoff.wait("failed to enforce deadlines", &error, &shutdown).await;
            }
        }
        if is_readable {
            pause(CHECK_INTERVAL, &shutdown).await;
        }
    }
    Ok(())
}

/// Notes that an older database was put in place of this one if the last check of the clock is earlier than the one
/// that this daemon has written. Returns whether it is.
async fn note_if_put_back(office: &Office) -> anyhow::Result<bool> {
    let is_put_back = is_before_check(office, clock::remembered_time(office, HEARTBEAT).await?);
    if is_put_back {
        tracing::warn!("an older database was put in place of this one");
        office.store.remember(RESTORED, TO_BE_READ_AGAIN).await?;
    }
    Ok(is_put_back)
}

/// Whether the last check of the clock that a database tells is earlier than the one that this daemon has written.
fn is_before_check(office: &Office, found: Option<DateTime<Utc>>) -> bool {
    // The clock may have been set back.
    let noted = office.heartbeat.last_check().filter(|noted| *noted <= office.now());
    noted.is_some_and(|noted| found.is_none_or(|found| found < noted))
}

/// Waits until the mailbox can be read, at most [`CHECK_INTERVAL`]: a daemon that has just started rules on what
/// is due as soon as its mailbox is open.
async fn becomes_readable(health: &mut watch::Receiver<Health>, shutdown: &ShutdownSignal) -> bool {
    tokio::select! {
        Ok(()) = async { health.wait_for(is_readable).await.map(drop) } => true,
        () = pause(CHECK_INTERVAL, shutdown) => false,
    }
}

fn is_readable(health: &Health) -> bool {
    health.last_ok.is_some() && health.trouble.is_none()
}

/// Decides everything that is due, unless the clock is in doubt. A gap of more than `outage` since the last
/// check counts as an outage.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn clock_all(office: &Office, outage: TimeDelta) -> anyhow::Result<()> {
    if !clock::is_trusted(office).await? {
        return Ok(());
    }
    // Nobody is late, and no offer lapses, before the letters from after a restored backup are decided.
    if office.store.restoring().await?.is_some() {
        return Ok(());
    }
    let now = office.now();
    keep_local_deadlines(office, now).await?;
    // This tells the GM if space is short, even while no letters arrive.
    away::has_room(office).await;
    extend_after_outage(office, now, outage).await?;
    upkeep::correct_deferred_when_due(office, now).await?;
    lapse_offers(office, now).await?;
    // While a letter waits for the DNS to show whether it is signed, nobody is late in its match.
    let skipped = office.store.matches_with_deferred_letters(now).await?.into_iter().collect();
    items::settle_until(office, now, Some(DueMatches::new(now, skipped))).await?;
    events::run_when_due(office, now).await?;
    ratings::rate_anew_when_due(office, now).await?;
    upkeep::delete_unruled_when_due(office, now).await?;
    upkeep::list_letters_when_due(office, now).await?;
    upkeep::drop_pictures_when_due(office, now).await?;
    upkeep::tell_of_alarms_when_due(office, now).await?;
    resend::tell_when_due(office, now).await?;
    upkeep::player_digests_when_due(office, now).await?;
    upkeep::digest_when_due(office, now).await
}

/// Notes that the clock was checked. After an outage, extends the deadlines that fell into it by its length,
/// and at least by the grace. If the clock was ahead, resets the deadlines that it moved.
async fn extend_after_outage(office: &Office, now: DateTime<Utc>, outage: TimeDelta) -> anyhow::Result<()> {
    if let Some(ahead) = clock::remembered_time_ahead(office, HEARTBEAT).await? {
        tracing::warn!("the clock was set back; retrying everything deferred now");
        office.store.retry_deferred(now, now).await?;
        office.letters_arrived.notify_one();
        office.dispatches_queued.notify_one();
        if ahead - now > OUTAGE {
            sweep(office, ahead + clock::MAX_SLEEP, now, &by_program(Act::ClockSetBack)).await?;
        }
    }
    let last = clock::remembered_time(office, HEARTBEAT).await?;
    // To note this check would hide that the database was replaced since the last one.
    ensure!(!is_before_check(office, last), "an older database was put in place of this one");
    if let Some(last) = last.filter(|last| now - *last > outage) {
        // After a restore, players may have read of later deadlines than the backup knows.
        let is_restored = office.store.restores().await?.iter().any(|restore| restore.at >= last);
        let since = if is_restored { last - AFTER_RESTORE } else { last };
        // Settle the letters first: a player who wrote in the meantime has filed and needs no extension.
        items::settle_until(office, now, None).await?;
        // Look ahead by the longest grace period: a deadline during the outage may still have all of its
        // grace left.
        let matches = sweep(office, now + MAX_GRACE, now, &by_program(Act::Slide { since })).await?;
        events::slide_after_outage(office, since, now).await?;
        office.store.remember(OUTAGE_SINCE, &last.to_rfc3339()).await?;
        tracing::warn!(%since, matches, "deadlines extended after an outage");
    }
    office.store.remember(HEARTBEAT, &now.to_rfc3339()).await?;
    office.heartbeat.note_check(Some(now));
    Ok(())
}

/// Rules once on each match that is due by `until`, and returns their number.
async fn sweep(
    office: &Office,
    until: DateTime<Utc>,
    now: DateTime<Utc>,
    cause_of: &CauseOf,
) -> anyhow::Result<usize> {
    let mut last = None;
    let mut done = BTreeSet::new();
    loop {
        let mut due = office.store.matches_due(until, last.as_ref(), BATCH_SIZE).await?;
        let Some(behind) = due.last().cloned() else { return Ok(done.len()) };
        last = Some(behind);
        // A ruling may set a time that is due as well. Rule on each match once, so that this ends.
        due.retain(|row| done.insert(row.id.clone()));
        office.heartbeat.beat(Loop::Clock);
        rulings::decide_on_matches(office, due, cause_of, now).await?;
    }
}

/// Closes expired offers, and tells their authors.
async fn lapse_offers(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    for row in office.store.open_invitations(Some(now)).await? {
        match lapse_offer(office, row.clone()).await {
            Ok(()) => {}
            // It waits alone for what another session of the database has locked.
            Err(error) if commit::is_locked(&error) => tracing::warn!("an expired offer is locked"),
            Err(error) if is_transient(&error) => return Err(error),
            // Close it anyway, because deadlines must not wait for this offer, now or the next time.
            Err(error) => {
                let error = format!("{error:#}");
                tracing::error!(error, "failed to notify the author of an expired offer; closing it anyway");
                let invitations = vec![Invitation { stage: InvitationStage::Lapsed, ..row }];
                office.store.commit(&Changes { at: now, invitations, ..Changes::default() }).await?;
            }
        }
    }
    Ok(())
}

async fn lapse_offer(office: &Office, row: Invitation) -> anyhow::Result<()> {
    let ((), changes) =
        commit::decide(office, load::new_rows(office).await?, move |desk| offers::lapse_offer(desk, &row))
            .await?;
    match office.store.commit(&changes).await {
        Ok(()) => office.dispatches_queued.notify_one(),
        // Somebody has just taken up the offer or closed it.
        Err(StoreError::Stale(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// The key under which a daemon remembers the edition of the zone data by which deadlines were set.
const ZONE_DATA: &str = "zone data";

/// If the zone data are newer than those by which deadlines were set, sets the deadlines again that they move. Of several
/// daemons, one with older data changes nothing.
///
/// # Errors
/// Returns an error if the database does not answer.
pub(super) async fn keep_local_deadlines(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    let edition = &office.club.identity.tzdata;
    let known = office.store.remembered(ZONE_DATA).await?;
    if known.as_ref().is_some_and(|known| !zone::is_newer(edition, known)) {
        return Ok(());
    }
    let mut ids = Vec::new();
    office.store.list_matches(Some(Stage::Running), &mut |listed| ids.push(listed.id)).await?;
    let cause_of: CauseOf = Arc::new(|game_match| {
        // A match without a deadline rejects any.
        let deadline = game_match.deadline_by_local_time().unwrap_or_default();
        game_match.by_program(Act::ZonesChanged { deadline })
    });
    for some in ids.chunks(BATCH_SIZE as usize) {
        office.heartbeat.beat(Loop::Clock);
        rulings::decide_on_matches(office, office.store.matches(some).await?, &cause_of, now).await?;
    }
    events::keep_local_ends(office).await?;
    if let Some(known) = known {
        tracing::info!(edition, known, "deadlines follow newer rules of the time zones");
    }
    Ok(office.store.remember(ZONE_DATA, edition).await?)
}
