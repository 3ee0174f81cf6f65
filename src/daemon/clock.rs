//! The clock: matches whose moment has come, the one that has waited longest first.

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::watch;

use super::pulse::Loop;
use super::settle::rulable;
use super::write::{both_seats, match_row};
use super::{Office, Pause};
use crate::post::{Health, Stop};
use crate::referee::{self, Act, Cause};
use crate::store::{MatchRow, Settlement, StoreError};

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
    pub(super) async fn watch_clock_until(&self, stop: &Stop, health: watch::Receiver<Health>) {
        let mut pause = Pause::new();
        while !stop.is_set() {
            self.pulse.beat(Loop::Clock);
            let readable = health.borrow().last_ok.is_some() && health.borrow().trouble.is_none();
            if readable {
                match self.clock_all(OUTAGE).await {
                    Ok(()) => pause = Pause::new(),
                    Err(error) => pause.after_failure("the clock cannot be asked", &error, stop).await,
                }
            }
            tokio::select! {
                () = tokio::time::sleep(ASK_EVERY) => {}
                () = stop.wait() => {}
            }
        }
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
        loop {
            let due = self.store.matches_due(now, TOGETHER).await?;
            let mut changed = false;
            for row in due {
                let cause = |m: &referee::Match| Cause::Clock { phase_no: m.phase_no };
                changed |= self.rule_on(row, cause, now).await?.is_some();
            }
            if !changed {
                break;
            }
        }
        self.digest_when_due(now).await
    }

    /// Notes that the program is alive. Where it was not, deadlines that fell into the outage slide by as long,
    /// and by the grace at least.
    async fn make_good(&self, now: DateTime<Utc>, outage: TimeDelta) -> anyhow::Result<()> {
        let last =
            self.store.remembered(HEARTBEAT).await?.and_then(|text| text.parse::<DateTime<Utc>>().ok());
        if let Some(since) = last.filter(|last| now - *last > outage) {
            let act = Act::Slide { since };
            let rows = self.store.matches_due(now + LONGEST_GRACE, u32::MAX).await?;
            tracing::warn!(%since, matches = rows.len(), "was not running; deadlines since then slide");
            for row in rows {
                let cause = |m: &referee::Match| Cause::House { phase_no: m.phase_no, act: &act };
                self.rule_on(row, cause, now).await?;
            }
        }
        self.store.remember(HEARTBEAT, &now.to_rfc3339()).await?;
        Ok(())
    }

    /// Rules on one match and commits. `None`: nothing was to be decided; or somebody else has changed the match
    /// meanwhile, or it cannot be ruled on, and it is left for the next time.
    pub(super) async fn rule_on<'a>(
        &self,
        row: MatchRow,
        cause: impl Fn(&referee::Match) -> Cause<'a>,
        now: DateTime<Utc>,
    ) -> anyhow::Result<Option<referee::Match>> {
        self.pulse.beat(Loop::Clock);
        let Some(m) = rulable(&row) else { return Ok(None) };
        let seats = both_seats(self.store.seats_of(std::slice::from_ref(&row.id)).await?, &row.id)?;
        let mut ruling = self.rule(&m, &cause(&m), now);
        if ruling.after == m {
            return Ok(None);
        }
        let (entries, dispatches) = self.rows(&mut ruling, &seats, None, None, &[], now).await?;
        tracing::info!(
            match_id = row.id,
            entries = entries.len(),
            dispatches = dispatches.len(),
            "ruled on a match"
        );
        let settlement = Settlement {
            at: now,
            matches: vec![match_row(&ruling.after, row.version)?],
            entries,
            dispatches,
            ..Settlement::default()
        };
        match self.store.commit(&settlement).await {
            Ok(()) => {
                self.dispatches.notify_one();
                Ok(Some(ruling.after))
            }
            Err(StoreError::Stale(match_id)) => {
                tracing::debug!(match_id, "ruled on by another");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}
