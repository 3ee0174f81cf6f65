//! Times that daemons have noted, when the clock turns out to have been wrong then.
//!
//! A computer that starts with a wrong clock may note that it last did something in ten years. Taken at its word, that
//! would silently stop what it times until then.

use chrono::{DateTime, TimeDelta, Utc};

use super::Office;
use super::decide::clock::by_clock;

/// The key under which a daemon remembers when it last looked for items that are deferred too far.
const LAST_CORRECTION: &str = "deferred times corrected";

/// Letters, dispatches and digests of players never wait longer.
pub const MAX_DEFERRAL: TimeDelta = TimeDelta::days(7);

/// The clock always has something to decide in a running match before that: a phase has 365 days at most, and every
/// extension 366.
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

    /// Makes due, once an hour, what is deferred further than anything ever is.
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
