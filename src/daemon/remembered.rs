//! Remembered times that turn out to be wrong.
//!
//! A computer that starts with a wrong clock may note that it last did something ten years from now.
//! Believing that would silently stop the work that depends on it until then.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::Office;
use crate::store::RestoredBackup;

/// The key under which a daemon remembers the last check of the clock.
pub const HEARTBEAT: &str = "heartbeat";

/// The key under which the last check of the clock before the last outage is remembered.
pub const OUTAGE_SINCE: &str = "outage since";

/// Prefix of the keys under which daemons note their status.
pub const STATUS_KEYS: &str = "daemon: ";

/// Maximum deferral of letters, dispatches and players' digests.
pub const MAX_DEFERRAL: TimeDelta = TimeDelta::days(7);

/// Maximum time until the clock has something to decide in a running match: a phase lasts 365 days at most,
/// and each extension adds up to 366.
pub const MAX_SLEEP: TimeDelta = TimeDelta::days(5 * 366);

/// Returns a remembered time. Replaces a time in the future with now.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn time(office: &Office, key: &str) -> anyhow::Result<Option<DateTime<Utc>>> {
    let now = office.now();
    let Some(noted) = noted_time(office, key).await? else { return Ok(None) };
    if noted <= now {
        return Ok(Some(noted));
    }
    tracing::warn!(key, %noted, "a remembered time is in the future; treating it as now");
    office.store.remember(key, &now.to_rfc3339()).await?;
    Ok(Some(now))
}

/// Returns a remembered time if it is in the future: the clock was set back since.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn time_ahead(office: &Office, key: &str) -> anyhow::Result<Option<DateTime<Utc>>> {
    Ok(noted_time(office, key).await?.filter(|noted| *noted > office.now()))
}

/// Returns a remembered time, which may be in the future; see [`time`].
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn noted_time(office: &Office, key: &str) -> anyhow::Result<Option<DateTime<Utc>>> {
    let text = office.store.remembered(key).await?;
    // A time that cannot be read counts as never: the work is then done once more.
    Ok(text.and_then(|text| text.parse().ok()))
}

/// The part of a status about single runs, which the note of a program that is started for them holds.
#[derive(Deserialize)]
struct SingleRuns {
    at: DateTime<Utc>,
    /// Seconds.
    gaps: Option<Vec<i64>>,
}

/// Returns the usual time between two runs, if the program was started for single runs when this backup was made: at most
/// the hour within which cron has to start it. The longest one may have been an outage.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn gap_between_runs(office: &Office, backup: &RestoredBackup) -> anyhow::Result<TimeDelta> {
    let mut usual = 0;
    for (_, note) in office.store.remembered_under(STATUS_KEYS).await? {
        let Ok(SingleRuns { at, gaps: Some(mut gaps) }) = serde_json::from_str(&note) else { continue };
        gaps.sort_unstable();
        if at >= backup.until - TimeDelta::days(1) {
            usual = usual.max(gaps.iter().rev().nth(1).or(gaps.last()).copied().unwrap_or_default());
        }
    }
    Ok(TimeDelta::seconds(usual).min(TimeDelta::hours(1)))
}
