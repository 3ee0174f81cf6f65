//! Hourly work that no letter and no deadline causes: deletes the bytes of old letters and pictures that can
//! be drawn again, lists the last letters of ended matches, reports suppressed alarms, and corrects times
//! that are deferred too far.
//!
//! Sends each GM a digest once a day, and the digests that players have asked for.

use chrono::{DateTime, TimeDelta, Timelike, Utc};

use crate::config::{Gm, GmIndex};
use crate::daemon::clock::{MAX_DEFERRAL, MAX_SLEEP};
use crate::daemon::{Office, away, clock, commit, rulings};
use crate::desk::gm::digest::{LastDigest, daily, since_key, told_key};
use crate::desk::matches::acts::{by_clock, by_program};
use crate::desk::outbox::alarms;
use crate::desk::people::player_settings::digest_for;
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
    let last = clock::remembered_time(office, key).await?;
    Ok(last.is_none_or(|last| now >= last + UPKEEP_INTERVAL))
}

/// The key under which a daemon remembers its last digest for the first GM, and the prefix of the keys for
/// the others.
const LAST_DIGEST: &str = "digest";

/// Maximum players whose digests are made at a time.
const PLAYERS: u32 = 100;

/// Queues the players' digests that are due, and schedules the next ones.
pub async fn player_digests_when_due(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    for (player, due) in office.store.digests_due(now, PLAYERS).await? {
        let next = player.settings.next_digest(now, office.config.terms.zone);
        let id = player.id;
        if let Some(due) = due
            && let Err(error) =
                commit::decide_and_commit(office, move |desk| digest_for(desk, &player, due)).await
        {
            // The GMs and the other players must not wait for this digest.
            tracing::error!(player = id, error = format!("{error:#}"), "failed to make a digest");
        }
        // Schedule the next one even after a failure, which would otherwise recur at every check of the
        // clock.
        office.store.schedule_digest(id, next).await?;
    }
    Ok(())
}

/// Queues the digest of each GM whose hour has come, if there is any news.
pub async fn digest_when_due(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    for (place, gm) in office.config.club.gm.all().iter().enumerate() {
        let key = match place {
            0 => LAST_DIGEST.to_owned(),
            _ => format!("{LAST_DIGEST} {}", gm.address),
        };
        digest_of(office, GmIndex(place), gm, &key, now).await?;
    }
    Ok(())
}

async fn digest_of(
    office: &Office,
    index: GmIndex,
    gm: &Gm,
    key: &str,
    now: DateTime<Utc>,
) -> anyhow::Result<()> {
    let Some(made_at) = clock::remembered_time(office, key).await? else {
        // The first period begins when the club does.
        return Ok(office.store.remember(key, &now.to_rfc3339()).await?);
    };
    let zone = office.config.terms.zone;
    let local = now.with_timezone(&zone);
    let is_made = made_at.with_timezone(&zone).date_naive() >= local.date_naive();
    if is_made || local.hour() < gm.digest_hour {
        return Ok(());
    }
    let since = clock::remembered_time(office, &since_key(key)).await?.unwrap_or(made_at);
    let told = office.store.remembered(&told_key(key)).await?;
    // An unreadable note must not prevent the digest.
    let told = told.and_then(|told| serde_json::from_str(&told).ok()).unwrap_or_default();
    let locked = away::waiting(office);
    let last = LastDigest { key: key.to_owned(), made_at, since, told };
    commit::decide_and_commit(office, move |desk| daily(desk, index, &last, &locked)).await?;
    // Counts older than two days no longer matter.
    Ok(office.store.delete_past_restraints(now - TimeDelta::days(3), now).await?)
}
