//! Sends the GM's digest once a day.

use chrono::{DateTime, TimeDelta, Timelike, Utc};

use crate::daemon::Office;
use crate::daemon::decide::digest::daily;

/// The key under which a daemon remembers when it last made a digest.
const LAST_DIGEST: &str = "digest";

impl Office {
    /// Queues the digest when its hour has come, if there is any news.
    pub async fn digest_when_due(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        let last = self.store.remembered(LAST_DIGEST).await?;
        let Some(last) = last.and_then(|text| text.parse::<DateTime<Utc>>().ok()) else {
            // The first period begins when the club does.
            return Ok(self.store.remember(LAST_DIGEST, &now.to_rfc3339()).await?);
        };
        let zone = self.config.terms.zone;
        let local = now.with_timezone(&zone);
        let today = local.date_naive();
        let is_made = last.with_timezone(&zone).date_naive() >= today;
        if is_made || local.hour() < self.config.club.gm.digest_hour {
            return Ok(());
        }
        let context = self.new_context().await?;
        let deciding =
            self.decide(context, move |settings, context, _| daily(settings, context, last, today));
        if let Some(settlement) = deciding.await?.0 {
            self.store.commit(&settlement).await?;
            self.dispatches.notify_one();
        }
        // Counts matter for two days at most.
        self.store.delete_past_restraints(now - TimeDelta::days(3), now).await?;
        Ok(self.store.remember(LAST_DIGEST, &now.to_rfc3339()).await?)
    }
}
