//! Checks all matches against their ledgers, on a schedule.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::waiting::{Backoff, pause, until_shutdown};
use crate::audit::AuditVerdict;
use crate::daemon::Office;
use crate::daemon::decide::alarm::{alarm, audit_report};
use crate::daemon::decide::clock::Trigger;
use crate::daemon::verify::Depth;
use crate::post::ShutdownSignal;
use crate::referee::{Act, Match};

/// The key under which a daemon remembers when it began the last audit that it completed.
const AUDITED: &str = "audited";

/// How often the daemon checks whether an audit is due.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

impl Office {
    /// Anchors and audits on the schedule, until shutdown.
    pub async fn audit_until(self: Arc<Self>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
        let mut backoff = Backoff::new();
        while !shutdown.is_set() {
            // Cancel-safe: an audit that was interrupted begins again.
            match until_shutdown(&shutdown, self.work_on_club()).await {
                Ok(()) => backoff = Backoff::new(),
                Err(error) => backoff.wait("cannot audit the matches", &error, &shutdown).await,
            }
            pause(CHECK_INTERVAL, &shutdown).await;
        }
        Ok(())
    }

    /// Anchors all ledgers, and checks the matches, if either is due.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn work_on_club(&self) -> anyhow::Result<()> {
        self.anchor_when_due(self.now()).await?;
        self.audit_when_due().await
    }

    /// Checks every match if an audit is due, without finding the house's turns again. A match that fails is paused,
    /// and the GM is told.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn audit_when_due(&self) -> anyhow::Result<()> {
        let interval = TimeDelta::hours(i64::from(self.config.audit.every_hours));
        if interval.is_zero() {
            return Ok(());
        }
        let now = self.now();
        let last = self.store.remembered(AUDITED).await?.and_then(|text| text.parse::<DateTime<Utc>>().ok());
        if last.is_some_and(|last| now - last < interval) {
            return Ok(());
        }
        // A database that was just created holds nothing to check.
        if last.is_some() {
            self.audit_all(now).await?;
        }
        Ok(self.store.remember(AUDITED, &now.to_rfc3339()).await?)
    }

    async fn audit_all(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        let mut failed = Vec::new();
        for id in self.store.match_ids().await? {
            let verdict = self.verify_match(&id, Depth::WithoutHouse, &|_| ()).await?;
            if !verdict.findings.is_empty() {
                self.pause_unsound(&id, now).await;
                failed.push(verdict);
            }
        }
        if !failed.is_empty() {
            self.tell_gm(failed, now).await?;
        }
        Ok(())
    }

    /// Tells the GM the result of an audit of `checked` matches, in which these were not sound.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn report_audit(&self, checked: usize, failed: Vec<AuditVerdict>) -> anyhow::Result<()> {
        let context = self.new_context().await?;
        let deciding = self
            .decide(context, move |settings, context, _| audit_report(settings, context, checked, &failed));
        let (settlement, _) = deciding.await?;
        self.store.commit(&settlement).await?;
        self.dispatches.notify_one();
        Ok(())
    }

    /// Pauses a match that does not verify, if that is still possible.
    async fn pause_unsound(&self, match_id: &str, now: DateTime<Utc>) {
        tracing::error!(match_id, "the ledger does not verify; pausing the match");
        if let Err(error) = self.try_to_pause(match_id, now).await {
            tracing::error!(match_id, error = format!("{error:#}"), "failed to pause the match");
        }
    }

    async fn try_to_pause(&self, match_id: &str, now: DateTime<Utc>) -> anyhow::Result<Option<Match>> {
        let act = Act::Pause { reason: "its ledger does not verify, and the GM was told".to_owned() };
        let row = self.match_row(match_id).await?;
        self.rule_on(row, &Trigger::Referee { act, phase_no: None }, now).await
    }

    /// Tells the GM what does not verify.
    async fn tell_gm(&self, failed: Vec<AuditVerdict>, now: DateTime<Utc>) -> anyhow::Result<()> {
        let mut context = self.new_context().await?;
        context.at = now;
        let deciding = self.decide(context, move |settings, context, _| alarm(settings, context, &failed));
        let (settlement, _) = deciding.await?;
        self.store.commit(&settlement).await?;
        self.dispatches.notify_one();
        Ok(())
    }
}
