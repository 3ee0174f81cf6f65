//! Enforces deadlines: rules on due matches, the one that has waited longest first.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::watch;

use crate::daemon::batch::commit::is_transient;
use crate::daemon::decide::clock::{CauseOf, by_clock, by_program};
use crate::daemon::decide::offers::lapse_offer;
use crate::daemon::heartbeat::Loop;
use crate::daemon::waiting::{Backoff, pause};
use crate::daemon::{Office, remembered};
use crate::post::{Health, ShutdownSignal};
use crate::referee::Act;
use crate::store::{Invitation, InvitationStage, MatchRow, Settlement, StoreError};

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
        // A letter that was received in time counts, even if it is read late.
        self.settle_received_by(now).await?;
        self.extend_after_outage(now, outage).await?;
        self.correct_deferred_when_due(now).await?;
        self.lapse_offers(now).await?;
        // A letter may still wait, because another daemon is settling it or it has just arrived. It may be about any
        // match, so whatever fell due after it was received waits for it.
        let until = match self.store.oldest_waiting(now).await? {
            Some(received_at) => now.min(received_at - TimeDelta::milliseconds(1)),
            None => now,
        };
        // While the DNS does not answer whether a letter is signed, nobody is late in its match.
        let spared = self.store.matches_with_deferred_letters(now).await?;
        let spared: BTreeSet<String> = spared.into_iter().collect();
        let is_the_clocks = |row: &MatchRow| !row.overview.awaits_house();
        // The clock decides nothing while the house is to move.
        while self.sweep(until, now, &by_clock(), is_the_clocks, &mut spared.clone()).await? {}
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
            let mut done = BTreeSet::new();
            let slide = by_program(Act::Slide { since });
            // A deadline that fell into the outage may have all of its grace still ahead.
            self.sweep(now + MAX_GRACE, now, &slide, |_| true, &mut done).await?;
            tracing::warn!(%since, matches = done.len(), "deadlines extended after an outage");
        }
        self.store.remember(HEARTBEAT, &now.to_rfc3339()).await?;
        Ok(())
    }

    /// Rules on all matches that are due by `until` and `concerned`, and returns whether any changed. Skips those that are
    /// `done`, and adds the others to `done`.
    async fn sweep(
        &self,
        until: DateTime<Utc>,
        now: DateTime<Utc>,
        cause_of: &CauseOf,
        concerned: impl Fn(&MatchRow) -> bool,
        done: &mut BTreeSet<String>,
    ) -> anyhow::Result<bool> {
        let mut changed = false;
        let mut last = None;
        loop {
            let mut due = self.store.matches_due(until, last.as_ref(), BATCH_SIZE).await?;
            let Some(behind) = due.last().cloned() else { return Ok(changed) };
            last = Some(behind);
            due.retain(|row| done.insert(row.id.clone()) && concerned(row));
            self.heartbeat.beat(Loop::Clock);
            changed |= self.rule_on_many(due, cause_of, now).await?;
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
        let context = self.new_context().await?;
        let deciding = self.decide(context, move |settings, context, _| lapse_offer(settings, context, &row));
        let (settlement, _) = deciding.await?;
        match self.store.commit(&settlement).await {
            Ok(()) => self.dispatches.notify_one(),
            // Somebody has just taken up the offer or closed it.
            Err(StoreError::Stale(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
