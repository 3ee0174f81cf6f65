//! Checks all matches against their ledgers, on a schedule.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::waiting::{Backoff, pause, until_shutdown};
use crate::audit::{AuditResult, AuditVerdict};
use crate::club::{BookFact, Verified};
use crate::daemon::Office;
use crate::daemon::decide::alarm::{alarm, audit_report};
use crate::daemon::decide::clock::Trigger;
use crate::daemon::verify::Depth;
use crate::ledger::Source;
use crate::post::ShutdownSignal;
use crate::referee::{Act, Match, Stage};

/// The key under which a daemon remembers when it began the last audit that it completed.
pub const AUDITED: &str = "audited";

/// The keys under which a daemon remembers the last match that it checked, of those with and without new rulings, if there
/// are too many for one audit.
const NEW_UNTIL: &str = "audited new until";
const QUIET_UNTIL: &str = "audited quiet until";

/// How often the daemon checks whether an audit is due.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Matches with new rulings, and matches without, that one audit checks, so that a club with very many is not audited all
/// day.
const MAX_TOGETHER: usize = 2000;

/// Entries that are written to the club's book together.
const NOTED_TOGETHER: usize = 100;

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

    /// Checks the matches if an audit is due. A match that fails is paused, and the GM is told.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn audit_when_due(&self) -> anyhow::Result<()> {
        let interval = TimeDelta::hours(i64::from(self.config.audit.every_hours));
        if interval.is_zero() {
            return Ok(());
        }
        let now = self.now();
        match self.remembered_time(AUDITED).await? {
            Some(last) if now - last < interval => Ok(()),
            Some(_) => self.audit_all(now).await,
            // A database that was just created holds nothing to check.
            None => Ok(self.store.remember(AUDITED, &now.to_rfc3339()).await?),
        }
    }

    /// Checks what is new in each match, and the matches in which nothing is, as many as time allows.
    async fn audit_all(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        let (mut failed, mut noted, mut matches) = (Vec::new(), Vec::new(), 0);
        let unverified = self.store.unverified().await?;
        let mut quiet = self.store.match_ids().await?;
        quiet.retain(|id| unverified.binary_search(id).is_err());
        let quiet = self.next_in_turn(quiet, QUIET_UNTIL).await?;
        for id in &self.next_in_turn(unverified, NEW_UNTIL).await? {
            let verdict = self.audit_new(id).await?;
            matches += 1;
            if verdict.result() == AuditResult::Wrong {
                self.pause_unsound(id, now).await;
                failed.push(verdict);
            } else if verdict.unable.is_none() && verdict.withheld.is_none() {
                noted.push(self.verified(id, &verdict).await?);
            }
            if noted.len() >= NOTED_TOGETHER {
                self.note_in_club(&std::mem::take(&mut noted), Source::Clock, &[], now).await?;
            }
        }
        for id in &quiet {
            let verdict = self.verify_match(id, Depth::WithoutHouse, &|_| ()).await?;
            matches += 1;
            if verdict.result() == AuditResult::Wrong {
                self.pause_unsound(id, now).await;
                failed.push(verdict);
            }
        }
        let unsound = failed.len() as u64;
        let club = self.verify_club().await?;
        if club.result() == AuditResult::Wrong {
            tracing::error!("the club's book does not verify");
            failed.push(club);
        }
        if !failed.is_empty() {
            self.tell_gm(failed, now).await?;
        }
        noted.push(BookFact::Audited { began: now, matches, unsound });
        let remembered = [(AUDITED.to_owned(), now.to_rfc3339())];
        self.note_in_club(&noted, Source::Clock, &remembered, now).await
    }

    /// Checks what is new in a match since the club's book verified it. Once it is over, checks the whole of it.
    async fn audit_new(&self, id: &str) -> anyhow::Result<AuditVerdict> {
        let is_over = self.match_row(id).await?.overview.stage == Stage::Over;
        let last = self.verified_entries(id).await?.last().map(|entry| entry.verified.head.seq);
        let depth = match last.filter(|_| !is_over) {
            Some(after) => Depth::New { after },
            None => Depth::Words,
        };
        self.verify_match(id, depth, &|_| ()).await
    }

    /// The fact that a match was verified by this version of the program.
    async fn verified(&self, id: &str, verdict: &AuditVerdict) -> anyhow::Result<BookFact> {
        let (identity, game) = (&self.settings.identity, self.match_row(id).await?.overview.game);
        Ok(BookFact::Verified(Verified {
            match_id: id.to_owned(),
            head: verdict.head,
            program: identity.program,
            wording: identity.wording,
            house: Some(game.house_version()),
            unchecked: verdict.unchecked,
        }))
    }

    /// Returns those of these matches, which are sorted, whose turn it is: at most [`MAX_TOGETHER`], beginning after the last
    /// one of the audit before, which is remembered under `key`.
    async fn next_in_turn(&self, mut ids: Vec<String>, key: &str) -> anyhow::Result<Vec<String>> {
        if ids.len() > MAX_TOGETHER {
            let last = self.store.remembered(key).await?.unwrap_or_default();
            let next = ids.partition_point(|id| *id <= last) % ids.len();
            ids.rotate_left(next);
            ids.truncate(MAX_TOGETHER);
            let until = ids.last().cloned().unwrap_or_default();
            self.store.remember(key, &until).await?;
        }
        Ok(ids)
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
