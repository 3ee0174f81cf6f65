//! Hourly work that no letter and no deadline causes: deletes the bytes of old letters and pictures that can
//! be drawn again, lists the last letters of ended matches, reports suppressed alarms, and corrects times
//! that are deferred too far.

use chrono::{DateTime, TimeDelta, Utc};

use crate::daemon::remembered::{self, MAX_DEFERRAL, MAX_SLEEP};
use crate::daemon::{Office, commit, rulings};
use crate::desk::matches::acts::{by_clock, by_program};
use crate::desk::outbox::alarms;
use crate::referee::Act;

/// The key under which a daemon remembers its last deletion of old letters.
const LAST_DELETION: &str = "unruled letters deleted";

/// Time between deletions of old letters and pictures.
const UPKEEP_INTERVAL: TimeDelta = TimeDelta::hours(1);

/// Letters deleted in one transaction, during which other writers wait.
const BATCH_SIZE: u32 = 500;

/// Maximum transactions in a row, before the clock goes on.
const MAX_BATCHES: usize = 20;

/// The key under which a daemon remembers its last listing of the letters of ended matches.
const LAST_LISTING: &str = "letters listed";

/// Maximum time that a match that is over waits for its last letters to be sent or given up, before an entry
/// lists them.
const LISTED_AFTER: TimeDelta = TimeDelta::days(1);

/// The key under which a daemon remembers its last deletion of old pictures.
const LAST_DROPPING: &str = "pictures dropped";

/// Pictures deleted in one transaction. They are read for their digests, and each takes some 20 to 60 kB.
const PICTURES: u32 = 100;

/// Matches in which letters are listed in one transaction.
const LISTED_TOGETHER: usize = 100;

/// The key under which a daemon remembers when it last reported suppressed alarms.
const LAST_ALARMS: &str = "alarms told";

/// The key under which a daemon remembers its last search for items that are deferred too far.
const LAST_CORRECTION: &str = "deferred times corrected";

/// Matches whose next time is too far ahead, corrected in one transaction.
const RULED_TOGETHER: u32 = 100;

/// Once an hour, makes everything due now that is deferred beyond the maximum.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn correct_deferred_when_due(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    if !is_upkeep_due(office, LAST_CORRECTION, now).await? {
        return Ok(());
    }
    office.store.retry_deferred(now, now + MAX_DEFERRAL).await?;
    let asleep = office.store.matches_asleep(now + MAX_SLEEP, RULED_TOGETHER).await?;
    rulings::decide_on_matches(office, asleep, &by_clock(), now).await?;
    Ok(office.store.remember(LAST_CORRECTION, &now.to_rfc3339()).await?)
}

/// Once an hour, deletes the bytes of letters that caused no ledger entry and are older than
/// `letters.keep_unruled_days`. Letters of the GM stay: they are the evidence of what the GM asked for.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn delete_unruled_when_due(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    let days = office.config.letters.keep_unruled_days;
    if days == 0 || !is_upkeep_due(office, LAST_DELETION, now).await? {
        return Ok(());
    }
    let gms = office.config.club.gm.addresses();
    let kept_senders: Vec<String> = gms.map(|address| address.as_str().to_lowercase()).collect();
    let before = now - TimeDelta::days(i64::from(days));
    let mut deleted = 0;
    for _ in 0..MAX_BATCHES {
        let batch = office.store.delete_unruled(now, before, &kept_senders, BATCH_SIZE).await?;
        deleted += batch;
        if batch < u64::from(BATCH_SIZE) {
            // Only now is the deletion complete. If more letters are left, the next check of the clock
            // continues.
            office.store.remember(LAST_DELETION, &now.to_rfc3339()).await?;
            break;
        }
    }
    if deleted > 0 {
        tracing::info!(letters = deleted, days, "deleted the bytes of old letters that caused no entry");
    }
    Ok(())
}

/// Once an hour, adds an entry to each match that is over and whose last letters no entry lists: otherwise no
/// chain would contain their pins and deliveries.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn list_letters_when_due(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    if !is_upkeep_due(office, LAST_LISTING, now).await? {
        return Ok(());
    }
    let ids = office.store.matches_to_list(now - LISTED_AFTER).await?;
    for chunk in ids.chunks(LISTED_TOGETHER) {
        rulings::decide_on_matches(
            office,
            office.store.matches(chunk).await?,
            &by_program(Act::ListLetters),
            now,
        )
        .await?;
    }
    Ok(office.store.remember(LAST_LISTING, &now.to_rfc3339()).await?)
}

/// Once an hour, deletes the pictures of letters that were sent at least seven days ago.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn drop_pictures_when_due(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    if !is_upkeep_due(office, LAST_DROPPING, now).await? {
        return Ok(());
    }
    let mut dropped = 0;
    for _ in 0..MAX_BATCHES {
        let batch = office.store.drop_pictures(now, PICTURES).await?;
        dropped += batch;
        if batch < u64::from(PICTURES) {
            office.store.remember(LAST_DROPPING, &now.to_rfc3339()).await?;
            break;
        }
    }
    if dropped > 0 {
        tracing::info!(pictures = dropped, "deleted the pictures of letters that were sent a week ago");
    }
    Ok(())
}

/// Once an hour, tells the GMs of alarms that were suppressed.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn tell_of_alarms_when_due(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    if !is_upkeep_due(office, LAST_ALARMS, now).await? {
        return Ok(());
    }
    commit::decide_and_commit(office, alarms::tell_left_out).await?;
    Ok(office.store.remember(LAST_ALARMS, &now.to_rfc3339()).await?)
}

/// Whether hourly work is due again. The time of the last run is remembered under `key`.
async fn is_upkeep_due(office: &Office, key: &str, now: DateTime<Utc>) -> anyhow::Result<bool> {
    let last = remembered::time(office, key).await?;
    Ok(last.is_none_or(|last| now >= last + UPKEEP_INTERVAL))
}
