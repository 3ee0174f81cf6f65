//! Remembered times that turn out to be wrong.
//!
//! A computer that starts with a wrong clock may note that it last did something in ten years. Believing that would
//! silently stop the work that depends on it until then.

use chrono::{DateTime, TimeDelta, Utc};

use super::Office;
use crate::desk::matches::acts::by_clock;

/// The key under which a daemon remembers its last search for items that are deferred too far.
const LAST_CORRECTION: &str = "deferred times corrected";

/// Maximum deferral of letters, dispatches and players' digests.
pub const MAX_DEFERRAL: TimeDelta = TimeDelta::days(7);

/// Maximum time until the clock has something to decide in a running match: a phase lasts 365 days at most, and each
/// extension adds up to 366.
pub const MAX_SLEEP: TimeDelta = TimeDelta::days(5 * 366);

/// Matches ruled on together.
const BATCH_SIZE: u32 = 100;

impl Office {
    /// Returns a time that was remembered. One in the future counts as now, and is remembered as now.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub(super) async fn remembered_time(&self, key: &str) -> anyhow::Result<Option<DateTime<Utc>>> {
        let now = self.now();
        let Some(noted) = self.noted_time(key).await? else { return Ok(None) };
        if noted <= now {
            return Ok(Some(noted));
        }
        tracing::warn!(key, %noted, "a remembered time is in the future; it counts as now");
        self.store.remember(key, &now.to_rfc3339()).await?;
        Ok(Some(now))
    }

    /// Whether a remembered time is in the future: the clock was set back since.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub(super) async fn is_remembered_ahead(&self, key: &str) -> anyhow::Result<bool> {
        Ok(self.noted_time(key).await?.is_some_and(|noted| noted > self.now()))
    }

    async fn noted_time(&self, key: &str) -> anyhow::Result<Option<DateTime<Utc>>> {
        let text = self.store.remembered(key).await?;
        Ok(text.and_then(|text| text.parse().ok()))
    }

    /// Once an hour, makes due everything that is deferred further than possible.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub(super) async fn correct_deferred_when_due(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        if !self.is_upkeep_due(LAST_CORRECTION, now).await? {
            return Ok(());
        }
        self.store.retry_deferred(now, now + MAX_DEFERRAL).await?;
        let asleep = self.store.matches_asleep(now + MAX_SLEEP, BATCH_SIZE).await?;
        self.rule_on_many(asleep, &by_clock(), now).await?;
        Ok(self.store.remember(LAST_CORRECTION, &now.to_rfc3339()).await?)
    }
}
