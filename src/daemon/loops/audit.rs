//! Checks all matches against their ledgers, on a schedule.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::waiting::{Backoff, pause, until_shutdown};
use crate::audit::AuditVerdict;
use crate::club::{BookFact, Verified};
use crate::daemon::Office;
use crate::daemon::decide::alarm::{alarm, audit_report};
use crate::daemon::decide::clock::Trigger;
use crate::daemon::verify::{HouseTurns, unreadable};
use crate::ledger::{PauseReason, Source};
use crate::post::ShutdownSignal;
use crate::referee::{Act, Match, Stage};

/// The key under which a daemon remembers when it began the last audit that it completed.
pub const AUDITED: &str = "audited";

/// The key under which a daemon remembers when it began the last audit that told the GM of something wrong. An audit that
/// cannot be noted in the club's book, because the book is damaged, ends with that.
const ALARMED: &str = "audit alarmed";

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
        // The audit tells the GM why a book cannot be anchored.
        let anchored = self.anchor_when_due(self.now()).await;
        self.audit_when_due().await?;
        anchored
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
        let Some(audited) = self.remembered_time(AUDITED).await? else {
            // A database that was just created holds nothing to check.
            return Ok(self.store.remember(AUDITED, &now.to_rfc3339()).await?);
        };
        let alarmed = self.remembered_time(ALARMED).await?;
        let last = alarmed.map_or(audited, |alarmed| alarmed.max(audited));
        if now - last < interval {
            return Ok(());
        }
        self.audit_all(now).await
    }

    /// Checks what is new in each match, and the matches in which nothing is, as many as time allows.
    async fn audit_all(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        let unverified = self.store.unverified().await?;
        let mut quiet = self.store.match_ids().await?;
        quiet.retain(|id| unverified.binary_search(id).is_err());
        let unverified = in_turn(unverified, self.store.remembered(NEW_UNTIL).await?);
        let quiet = in_turn(quiet, self.store.remembered(QUIET_UNTIL).await?);
        let matches = (unverified.len() + quiet.len()) as u64;
        let mut failed = Vec::new();
        // The GM must be told what is wrong even if the book cannot be written. A match that could not be noted is checked
        // again by the next audit.
        let mut noted = Ok(());
        for ids in unverified.chunks(NOTED_TOGETHER) {
            let verdicts = self.audit_new(ids).await?;
            noted = noted.and(self.note_verified(&verdicts, now).await);
            failed.extend(self.pause_unsound(verdicts, now).await);
        }
        self.remember_turn(NEW_UNTIL, &unverified).await?;
        for id in &quiet {
            let verdict = self.verify_match(id, HouseTurns::AsPlayed, &|_| ()).await?;
            failed.extend(self.pause_unsound(vec![verdict], now).await);
        }
        self.remember_turn(QUIET_UNTIL, &quiet).await?;
        let audited = BookFact::Audited { began: now, matches, unsound: failed.len() as u64 };
        let club = self.verify_club().await?;
        if !club.is_sound() {
            tracing::error!("the club's book does not verify");
            failed.push(club);
        }
        if !failed.is_empty() {
            self.tell_gm(failed, now).await?;
        }
        let remembered = [(AUDITED.to_owned(), now.to_rfc3339())];
        noted.and(self.note_in_club(&[audited], Source::Clock, &remembered, now).await)
    }

    /// Checks what is new in these matches since the club's book verified them. Checks the whole of those that are over.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn audit_new(&self, ids: &[String]) -> anyhow::Result<Vec<AuditVerdict>> {
        let mut verdicts = Vec::new();
        for id in ids {
            verdicts.push(match self.new_turns(id).await {
                Ok(turns) => self.verify_match(id, turns, &|_| ()).await?,
                Err(error) => unreadable(id, error)?,
            });
        }
        Ok(verdicts)
    }

    async fn new_turns(&self, id: &str) -> anyhow::Result<HouseTurns> {
        let is_over = self.match_row(id).await?.overview.stage == Stage::Over;
        let last = self.verified_entries(id).await?.last().map(|entry| entry.verified.head.seq);
        Ok(last.filter(|_| !is_over).map_or(HouseTurns::ALL, HouseTurns::After))
    }

    /// Notes in the club's book which of these matches this version of the program has verified.
    ///
    /// # Errors
    /// Returns an error if the database does not answer, or if the book cannot be written.
    pub async fn note_verified(&self, verdicts: &[AuditVerdict], now: DateTime<Utc>) -> anyhow::Result<()> {
        let mut facts = Vec::new();
        for verdict in verdicts {
            if !verdict.is_sound() || verdict.withheld.is_some() {
                continue;
            }
            let game = self.match_row(&verdict.match_id).await?.overview.game;
            facts.push(BookFact::Verified(Verified {
                match_id: verdict.match_id.clone(),
                head: verdict.head,
                house: Some(game.house_version()),
            }));
        }
        if facts.is_empty() {
            return Ok(());
        }
        self.note_in_club(&facts, Source::Clock, &[], now).await
    }

    /// Remembers which of these matches an audit checked last.
    async fn remember_turn(&self, key: &str, ids: &[String]) -> anyhow::Result<()> {
        if let Some(last) = ids.last() {
            self.store.remember(key, last).await?;
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

    /// Pauses those of these matches that do not verify, if that is still possible, and returns their verdicts.
    async fn pause_unsound(&self, mut verdicts: Vec<AuditVerdict>, now: DateTime<Utc>) -> Vec<AuditVerdict> {
        verdicts.retain(|verdict| !verdict.is_sound());
        for AuditVerdict { match_id, .. } in &verdicts {
            tracing::error!(match_id, "the ledger does not verify; pausing the match");
            if let Err(error) = self.try_to_pause(match_id, now).await {
                tracing::error!(match_id, error = format!("{error:#}"), "failed to pause the match");
            }
        }
        verdicts
    }

    async fn try_to_pause(&self, match_id: &str, now: DateTime<Utc>) -> anyhow::Result<Option<Match>> {
        let act = Act::Pause { reason: PauseReason::Unsound };
        let row = self.match_row(match_id).await?;
        self.rule_on(row, &Trigger::Referee { act, phase_no: None }, now).await
    }

    /// Tells the GM what does not verify, and remembers that.
    async fn tell_gm(&self, failed: Vec<AuditVerdict>, now: DateTime<Utc>) -> anyhow::Result<()> {
        let mut context = self.new_context().await?;
        context.at = now;
        let deciding = self.decide(context, move |settings, context, _| alarm(settings, context, &failed));
        let (mut settlement, _) = deciding.await?;
        settlement.remembered.push((ALARMED.to_owned(), now.to_rfc3339()));
        self.store.commit(&settlement).await?;
        self.dispatches.notify_one();
        Ok(())
    }
}

/// Chooses the matches to audit today from all, which are sorted: at most [`MAX_TOGETHER`], beginning after the `last` one
/// of yesterday.
fn in_turn(mut ids: Vec<String>, last: Option<String>) -> Vec<String> {
    if ids.len() > MAX_TOGETHER {
        let last = last.unwrap_or_default();
        let next = ids.partition_point(|id| *id <= last) % ids.len();
        ids.rotate_left(next);
        ids.truncate(MAX_TOGETHER);
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_matches_take_turns() {
        let few = vec!["QD-1".to_owned(), "QD-2".to_owned()];
        assert_eq!(in_turn(few.clone(), Some("QD-1".to_owned())), few);
        let many: Vec<String> = (0..3000).map(|n| format!("QD-{n:04}")).collect();
        let first = in_turn(many.clone(), None);
        assert_eq!(first, many[..2000]);
        let next = in_turn(many.clone(), first.last().cloned());
        assert_eq!(next, [&many[2000..], &many[..1000]].concat());
        assert_eq!(in_turn(many.clone(), Some("QD-2999".to_owned())), first);
    }
}
