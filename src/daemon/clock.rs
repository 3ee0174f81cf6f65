//! The clock: matches whose moment has come, the one that has waited longest first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::watch;

use super::parallel::{side_by_side, wait_for};
use super::pulse::Loop;
use super::settle::snapshot;
use super::write::{both_seats, match_row};
use super::{Office, Pause};
use crate::post::{Health, ShutdownSignal};
use crate::referee::{Act, Cause, Match};
use crate::store::{MatchRow, Settlement, StoreError, TokenRow};

/// Matches looked at together.
const TOGETHER: u32 = 100;

/// How often the clock is asked.
const ASK_EVERY: std::time::Duration = std::time::Duration::from_secs(5);

/// The key under which the daemon remembers when it was last alive.
const HEARTBEAT: &str = "heartbeat";

/// A heartbeat older than this was an outage: deadlines that fell into it slide.
const OUTAGE: TimeDelta = TimeDelta::minutes(15);

/// The same for a program that is started now and then.
pub(super) const OUTAGE_BETWEEN_RUNS: TimeDelta = TimeDelta::hours(2);

/// The longest grace that a match can have.
const LONGEST_GRACE: TimeDelta = TimeDelta::days(30);

impl Office {
    /// Asks the clock until `stop`. While the mailbox cannot be read nobody is late: the clock is not asked, and
    /// the time counts as an outage afterwards.
    pub(super) async fn watch_clock_until(
        self: Arc<Self>,
        stop: ShutdownSignal,
        health: watch::Receiver<Health>,
    ) -> anyhow::Result<()> {
        let mut pause = Pause::new();
        while !stop.is_set() {
            self.pulse.beat(Loop::Clock);
            let readable = health.borrow().last_ok.is_some() && health.borrow().trouble.is_none();
            if readable {
                match self.clock_all(OUTAGE).await {
                    Ok(()) => pause = Pause::new(),
                    Err(error) => pause.after_failure("the clock cannot be asked", &error, &stop).await,
                }
            }
            tokio::select! {
                () = tokio::time::sleep(ASK_EVERY) => {}
                () = stop.wait() => {}
            }
        }
        Ok(())
    }

    /// Decides everything that has come due by now. A pause of more than `outage` since the last time was an outage.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn clock_all(&self, outage: TimeDelta) -> anyhow::Result<()> {
        let now = self.now();
        // A letter received in time counts, also when it is read late.
        self.settle_all().await?;
        self.make_good(now, outage).await?;
        self.lapse_offers(now).await?;
        // A letter that waits all the same, since another settles it or it has just come, may be of any match: what
        // falls due after it was received waits for it.
        let until = match self.store.oldest_waiting(now).await? {
            Some(received_at) => now.min(received_at - TimeDelta::milliseconds(1)),
            None => now,
        };
        let cause = |game_match: &Match| Cause::Clock { phase_no: game_match.phase_no };
        let spared = self.unproven_yet().await?;
        while self.sweep(until, now, cause, &mut spared.clone()).await? {}
        self.digest_when_due(now).await
    }

    /// Notes that the program is alive. Where it was not, deadlines that fell into the outage slide by as long,
    /// and by the grace at least.
    async fn make_good(&self, now: DateTime<Utc>, outage: TimeDelta) -> anyhow::Result<()> {
        let last =
            self.store.remembered(HEARTBEAT).await?.and_then(|text| text.parse::<DateTime<Utc>>().ok());
        if last.is_some_and(|last| last > now) {
            tracing::warn!("the clock was set back; what waits to be tried again is tried now");
            self.store.retry_all_now(now).await?;
            self.letters.notify_one();
            self.dispatches.notify_one();
        }
        if let Some(since) = last.filter(|last| now - *last > outage) {
            let act = Act::Slide { since };
            let mut done = BTreeSet::new();
            let cause = |game_match: &Match| Cause::House { phase_no: game_match.phase_no, act: &act };
            self.sweep(now + LONGEST_GRACE, now, cause, &mut done).await?;
            tracing::warn!(%since, matches = done.len(), "was not running; deadlines since then slide");
        }
        self.store.remember(HEARTBEAT, &now.to_rfc3339()).await?;
        Ok(())
    }

    /// Rules on all matches that are due by then, some in one transaction; says whether any was changed. Each is
    /// looked at once, and then among those that are `done`.
    async fn sweep<'a>(
        &self,
        until: DateTime<Utc>,
        now: DateTime<Utc>,
        cause: impl Fn(&Match) -> Cause<'a> + Copy + Sync,
        done: &mut BTreeSet<String>,
    ) -> anyhow::Result<bool> {
        let (mut changed, mut last) = (false, None);
        loop {
            let mut due = self.store.matches_due(until, last.as_ref(), TOGETHER).await?;
            let Some(behind) = due.last().cloned() else { return Ok(changed) };
            last = Some(behind);
            due.retain(|row| done.insert(row.id.clone()));
            changed |= self.rule_on_some(due, cause, now).await?;
        }
    }

    /// Rules on matches and commits them together, or one by one where that fails.
    async fn rule_on_some<'a>(
        &self,
        due: Vec<MatchRow>,
        cause: impl Fn(&Match) -> Cause<'a> + Copy + Sync,
        now: DateTime<Utc>,
    ) -> anyhow::Result<bool> {
        self.pulse.beat(Loop::Clock);
        let ids: Vec<String> = due.iter().map(|row| row.id.clone()).collect();
        let mut seats: BTreeMap<String, Vec<TokenRow>> = BTreeMap::new();
        for seat in self.store.seats_of(&ids).await? {
            seats.entry(seat.match_id.clone()).or_default().push(seat);
        }
        let ruled = side_by_side(&due, |row| {
            let seats = seats.get(&row.id).cloned().unwrap_or_default();
            wait_for(self.ruling_on(row, seats, cause, now))
        });
        let mut settlement = Settlement { at: now, ..Settlement::default() };
        let mut one_by_one = Vec::new();
        for (row, ruled) in due.into_iter().zip(ruled) {
            match ruled {
                Some(Ok(None)) => {}
                Some(Ok(Some((_, part)))) => settlement.absorb(part),
                Some(Err(_)) | None => one_by_one.push(row),
            }
        }
        if settlement.matches.is_empty() && one_by_one.is_empty() {
            return Ok(false);
        }
        match self.store.commit(&settlement).await {
            Ok(()) => self.committed(&settlement),
            Err(error) if error.is_transient() && !matches!(error, StoreError::Stale(_)) => {
                return Err(error.into());
            }
            Err(_) => {
                let ids: Vec<String> = settlement.matches.into_iter().map(|row| row.id).collect();
                one_by_one.extend(self.store.matches(&ids).await?);
            }
        }
        let mut changed = one_by_one.len() < ids.len();
        for row in one_by_one {
            let match_id = row.id.clone();
            match self.rule_on(row, cause, now).await {
                Ok(after) => changed |= after.is_some(),
                Err(error) if is_of_the_database(&error) => return Err(error),
                // The others are not to wait for it.
                Err(error) => {
                    tracing::error!(match_id, error = format!("{error:#}"), "a match cannot be ruled on");
                }
            }
        }
        Ok(changed)
    }

    /// What is to be committed of a ruling on one match, and the match after it; `None`: nothing is to be decided.
    async fn ruling_on<'a>(
        &self,
        row: &MatchRow,
        seats: Vec<TokenRow>,
        cause: impl Fn(&Match) -> Cause<'a>,
        now: DateTime<Utc>,
    ) -> anyhow::Result<Option<(Match, Settlement)>> {
        let game_match = snapshot(row)?;
        let seats = both_seats(seats, &row.id)?;
        let mut ruling = self.rule(&game_match, &cause(&game_match), now);
        if ruling.after == game_match {
            return Ok(None);
        }
        let (entries, dispatches) = self.rows(&mut ruling, &seats, None, None, &[], now).await?;
        tracing::info!(
            match_id = row.id,
            entries = entries.len(),
            dispatches = dispatches.len(),
            "ruled on a match"
        );
        let matches = vec![match_row(&ruling.after, row.version)?];
        Ok(Some((
            ruling.after,
            Settlement { at: now, matches, entries, dispatches, ..Settlement::default() },
        )))
    }

    /// Rules on one match and commits. `None`: nothing was to be decided, or somebody else has changed the match
    /// meanwhile and it is left for the next time.
    pub(super) async fn rule_on<'a>(
        &self,
        row: MatchRow,
        cause: impl Fn(&Match) -> Cause<'a>,
        now: DateTime<Utc>,
    ) -> anyhow::Result<Option<Match>> {
        let seats = self.store.seats_of(std::slice::from_ref(&row.id)).await?;
        let Some((after, settlement)) = self.ruling_on(&row, seats, cause, now).await? else {
            return Ok(None);
        };
        match self.store.commit(&settlement).await {
            Ok(()) => {
                self.committed(&settlement);
                Ok(Some(after))
            }
            Err(StoreError::Stale(match_id)) => {
                tracing::debug!(match_id, "ruled on by another");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether all others would fail as well.
pub(super) fn is_of_the_database(error: &anyhow::Error) -> bool {
    error.downcast_ref::<StoreError>().is_some_and(StoreError::is_transient)
}
