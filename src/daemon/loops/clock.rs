//! Enforces deadlines: rules on due matches, the one that has waited longest first.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::watch;

use crate::daemon::batch::commit::is_transient;
use crate::daemon::batch::items::DueMatches;
use crate::daemon::heartbeat::Loop;
use crate::daemon::waiting::{Backoff, pause};
use crate::daemon::{Office, remembered};
use crate::desk::matches::acts::{CauseOf, by_program};
use crate::desk::matches::offers::lapse_offer;
use crate::post::{Health, ShutdownSignal};
use crate::referee::Act;
use crate::store::{Invitation, InvitationStage, Settlement, StoreError};

/// The key under which a daemon remembers the last check of the clock.
const HEARTBEAT: &str = "heartbeat";

/// Matches ruled on in one transaction.
const BATCH_SIZE: u32 = 100;

/// Time between checks of the clock.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// A longer gap between two checks is an outage, and deadlines that fell into it are extended.
const OUTAGE: TimeDelta = TimeDelta::minutes(15);

/// The gap that counts as an outage for a program that is started now and then, at least every hour.
pub const OUTAGE_BETWEEN_RUNS: TimeDelta = TimeDelta::hours(2);

/// The longest grace that a match can have.
const MAX_GRACE: TimeDelta = TimeDelta::days(30);

impl Office {
    /// Enforces deadlines until shutdown. While the mailbox cannot be read, nobody is late: the clock is not checked,
    /// and afterwards that time counts as an outage.
    pub async fn watch_clock_until(
        self: Arc<Self>,
        shutdown: ShutdownSignal,
        health: watch::Receiver<Health>,
    ) -> anyhow::Result<()> {
        let mut backoff = Backoff::new();
        while !shutdown.is_set() {
            self.heartbeat.beat(Loop::Clock);
            let is_readable = health.borrow().last_ok.is_some() && health.borrow().trouble.is_none();
            if is_readable {
                match self.clock_all(OUTAGE).await {
                    Ok(()) => backoff = Backoff::new(),
                    Err(error) => backoff.wait("failed to enforce deadlines", &error, &shutdown).await,
                }
            }
            pause(CHECK_INTERVAL, &shutdown).await;
        }
        Ok(())
    }

    /// Decides everything that is due. A gap of more than `outage` since the last check counts as an outage.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn clock_all(&self, outage: TimeDelta) -> anyhow::Result<()> {
        let now = self.now();
        // Tells the GM if space is short, even while no letters arrive.
        self.has_room().await;
        self.extend_after_outage(now, outage).await?;
        self.correct_deferred_when_due(now).await?;
        self.lapse_offers(now).await?;
        // While the DNS does not answer whether a letter is signed, nobody is late in its match.
        let skipped = self.store.matches_with_deferred_letters(now).await?.into_iter().collect();
        self.settle_until(now, Some(DueMatches { until: now, skipped })).await?;
        self.delete_unruled_when_due(now).await?;
        self.list_letters_when_due(now).await?;
        self.drop_pictures_when_due(now).await?;
        self.player_digests_when_due(now).await?;
        self.digest_when_due(now).await
    }

    /// Notes that the clock was checked. After an outage, extends the deadlines that fell into it by its length, and at
    /// least by the grace.
    async fn extend_after_outage(&self, now: DateTime<Utc>, outage: TimeDelta) -> anyhow::Result<()> {
        if remembered::is_ahead(self, HEARTBEAT).await? {
            tracing::warn!("the clock was set back; retrying everything deferred now");
            self.store.retry_deferred(now, now).await?;
            self.letters.notify_one();
            self.dispatches.notify_one();
        }
        let last = remembered::time(self, HEARTBEAT).await?;
        if let Some(since) = last.filter(|last| now - *last > outage) {
            // Whoever wrote in the meantime has filed, and needs no extension.
            self.settle_until(now, None).await?;
            let mut done = BTreeSet::new();
            let slide = by_program(Act::Slide { since });
            // A deadline that fell into the outage may have all of its grace still ahead.
            self.sweep(now + MAX_GRACE, now, &slide, &mut done).await?;
            tracing::warn!(%since, matches = done.len(), "deadlines extended after an outage");
        }
        self.store.remember(HEARTBEAT, &now.to_rfc3339()).await?;
        Ok(())
    }

    /// Rules on all matches that are due by `until`, and adds them to `done`. Skips those that are `done` already.
    async fn sweep(
        &self,
        until: DateTime<Utc>,
        now: DateTime<Utc>,
        cause_of: &CauseOf,
        done: &mut BTreeSet<String>,
    ) -> anyhow::Result<()> {
        let mut last = None;
        loop {
            let mut due = self.store.matches_due(until, last.as_ref(), BATCH_SIZE).await?;
            let Some(behind) = due.last().cloned() else { return Ok(()) };
            last = Some(behind);
            due.retain(|row| done.insert(row.id.clone()));
            self.heartbeat.beat(Loop::Clock);
            self.rule_on_many(due, cause_of, now).await?;
        }
    }

    /// Closes expired offers, and tells their authors.
    async fn lapse_offers(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        for row in self.store.open_invitations(Some(now)).await? {
            match self.lapse_offer(row.clone()).await {
                Ok(()) => {}
                Err(error) if is_transient(&error) => return Err(error),
                // Deadlines must not wait for it, now or the next time.
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::error!(
                        error,
                        "failed to tell the author of an expired offer; closing it anyway"
                    );
                    let invitations = vec![Invitation { stage: InvitationStage::Lapsed, ..row }];
                    self.store.commit(&Settlement { at: now, invitations, ..Settlement::default() }).await?;
                }
            }
        }
        Ok(())
    }

    async fn lapse_offer(&self, row: Invitation) -> anyhow::Result<()> {
        let ((), settlement) =
            self.decide(self.new_rows().await?, move |desk| lapse_offer(desk, &row)).await?;
        match self.store.commit(&settlement).await {
            Ok(()) => self.dispatches.notify_one(),
            // Somebody has just taken up the offer or closed it.
            Err(StoreError::Stale(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
