//! Sends each GM a digest once a day, and the digests that players have asked for.

use chrono::{DateTime, TimeDelta, Timelike, Utc};

use crate::config::Gm;
use crate::config::GmIndex;
use crate::daemon::{Office, away, commit, remembered};
use crate::desk::gm::digest::{LastDigest, daily, since_key, told_key};
use crate::desk::people::player_settings::digest_for;

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
    let Some(made_at) = remembered::time(office, key).await? else {
        // The first period begins when the club does.
        return Ok(office.store.remember(key, &now.to_rfc3339()).await?);
    };
    let zone = office.config.terms.zone;
    let local = now.with_timezone(&zone);
    let is_made = made_at.with_timezone(&zone).date_naive() >= local.date_naive();
    if is_made || local.hour() < gm.digest_hour {
        return Ok(());
    }
    let since = remembered::time(office, &since_key(key)).await?.unwrap_or(made_at);
    let told = office.store.remembered(&told_key(key)).await?;
    // An unreadable note must not prevent the digest.
    let told = told.and_then(|told| serde_json::from_str(&told).ok()).unwrap_or_default();
    let locked = away::waiting(office);
    let last = LastDigest { key: key.to_owned(), made_at, since, told };
    commit::decide_and_commit(office, move |desk| daily(desk, index, &last, &locked)).await?;
    // Counts older than two days no longer matter.
    Ok(office.store.delete_past_restraints(now - TimeDelta::days(3), now).await?)
}
