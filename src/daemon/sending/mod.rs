//! Sends dispatches: each is retried until a server accepts it, or until its recipient turns out to be wrong.
//!
//! A task for each connection takes the most urgent letter that may go now, sends it, and takes the next, as
//! the [`SendingPlan`] decides. It never waits for the database. The dispatcher does: it claims letters ahead, and
//! records many outcomes at a time, with their effects, in one transaction. So a slow server delays nobody
//! but its own reader, and a slow database delays only claims. A letter leaves its claim when its outcome is
//! recorded; a daemon that is killed before that sends it again.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::account::{ACCOUNT, Account, AttemptOutcome, Outage};
use self::plan::SendingPlan;
use super::commit::{self, is_locked, is_transient};
use super::heartbeat::{Loop, UnderWay};
use super::waiting::{RetryPause, wait_for_work};
use super::{Clock, Office, clock};
use crate::config::Config;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, Undecided};
use crate::desk::gm::alarm;
use crate::desk::outbox::returned::follow_up;
use crate::ledger::truncate_to_millis;
use crate::letter::pictures::without_pictures;
use crate::post::outbox::{Outbox, Outgoing, SendError};
use crate::post::refusal::RefusalClass;
use crate::post::{ShutdownSignal, without_addresses};
use crate::store::{Changes, Claim, Claimed, Reach, SendOutcome, SentCounts};

pub(super) mod account;
mod plan;
pub mod resend;

/// Maximum claims held at a time.
const MAX_CLAIMS: usize = 6;

/// Time until outcomes are recorded again whose rows another session of the database holds.
const LOCKED_RETRY: Duration = Duration::from_secs(30);

/// Time between two records of outcomes, unless nothing else is in flight: each costs a transaction.
const RECORD_INTERVAL: Duration = Duration::from_millis(50);

/// The state that the connections share with the dispatcher.
struct Shared {
    config: Arc<Config>,
    outbox: Arc<Outbox>,
    clock: Clock,
    plan: Mutex<SendingPlan>,
    /// Wakes the dispatcher when there is an outcome.
    finished: Notify,
}

impl Shared {
    fn plan(&self) -> MutexGuard<'_, SendingPlan> {
        self.plan.lock().expect("nothing panics while it is held")
    }

    /// Sends letters over one connection, this one first, until no more may go now.
    async fn send_over_one_connection(self: Arc<Self>, first: Claimed, _under_way: UnderWay) {
        let mut next = Some(first);
        while let Some(letter) = next {
            next = self.finish(&letter, send(&self.config, &self.outbox, &letter)).await;
        }
    }

    /// Sends a letter, notes its outcome, and returns the next one.
    async fn finish(
        &self,
        letter: &Claimed,
        sending: impl Future<Output = Result<String, SendError>>,
    ) -> Option<Claimed> {
        // Retry the letter later after a panic: an immediate retry would panic again.
        let sent = AssertUnwindSafe(sending).catch_unwind().await;
        let sent = sent.unwrap_or_else(|_| Err(SendError::NotNow("sending it failed".into())));
        let now = truncate_to_millis((self.clock)());
        let mut plan = self.plan();
        let was_out = plan.account.outage.is_some();
        plan.finish(now, letter, sent.as_ref().map(drop));
        log(letter, &sent);
        match &plan.account.outage {
            None if was_out => tracing::info!("mail can be sent again"),
            Some(outage) if !was_out => {
                let error = without_addresses(&outage.error);
                tracing::error!(error, until = %outage.until, "cannot send mail; all letters wait");
            }
            None | Some(_) => {}
        }
        // Choose the next letter before waking the dispatcher, so that it sees this connection either busy or
        // free.
        let next = plan.next(now);
        self.finished.notify_one();
        next
    }
}

/// Claims letters, starts connections, records the outcomes of letters, and applies their effects.
struct Dispatcher<'a> {
    office: &'a Office,
    shared: Arc<Shared>,
    connections: JoinSet<()>,
    /// Claims on letters whose outcomes are not recorded yet.
    claims: Vec<(Vec<i64>, Claim)>,
    /// Whether the last claim may have left letters that are due.
    is_more_due: bool,
    /// The account as last recorded; `None` until it is read.
    recorded: Option<Account>,
    recorded_at: Instant,
    /// Outcomes that are not recorded, because another session of the database holds a lock.
    unrecorded: Vec<AttemptOutcome>,
    /// When they were tried last.
    tried_at: Instant,
}

impl<'a> Dispatcher<'a> {
    fn new(office: &'a Office) -> Dispatcher<'a> {
        let shared = Shared {
            config: Arc::clone(&office.config),
            outbox: Arc::clone(&office.outbox),
            clock: Arc::clone(&office.clock),
            plan: Mutex::new(SendingPlan::new(Account::default(), office.outbox.concurrency())),
            finished: Notify::new(),
        };
        Dispatcher {
            office,
            shared: Arc::new(shared),
            connections: JoinSet::new(),
            claims: Vec::new(),
            is_more_due: true,
            recorded: None,
            recorded_at: Instant::now(),
            unrecorded: Vec::new(),
            tried_at: Instant::now(),
        }
    }

    /// Records outcomes, and starts sending due letters. Returns whether nothing is left to do now.
    async fn start_due(&mut self) -> anyhow::Result<bool> {
        if self.recorded.is_none() {
            let account = Account::read(self.office.store.remembered(ACCOUNT).await?.as_deref());
            self.shared.plan().account = account.clone();
            self.recorded = Some(account);
        }
        if self.tried_at.elapsed() >= LOCKED_RETRY {
            self.retry_unrecorded();
        }
        loop {
            self.record_when_due().await?;
            self.claim_some().await?;
            self.connect();
            let mut plan = self.shared.plan();
            if plan.is_done() {
                return Ok(true);
            }
            if !plan.in_flight.is_empty() {
                return Ok(false);
            }
        }
    }

    /// Waits until there is an outcome, or until outcomes must be recorded. Cancel-safe.
    async fn wait_for_outcome(&self) {
        let has_outcomes = !self.shared.plan().outcomes.is_empty();
        tokio::select! {
            () = self.shared.finished.notified() => {}
            () = tokio::time::sleep_until(self.recorded_at + RECORD_INTERVAL), if has_outcomes => {}
        }
    }

    /// Claims due letters, as many as there is room for and the quota allows.
    async fn claim_some(&mut self) -> anyhow::Result<()> {
        let now = self.office.now();
        let quota = &self.office.config.outbox.quota;
        // A letter that goes out late moves deadlines, which must not move while the clock is in doubt.
        let is_trusted = clock::is_trusted(self.office).await?;
        let room = {
            let mut plan = self.shared.plan();
            if !is_trusted {
                plan.put_back();
            }
            self.claims.retain(|(letters, _)| letters.iter().any(|id| plan.claimed.contains_key(id)));
            plan.room(now, quota)
        };
        if !self.is_more_due || room == 0 || self.claims.len() >= MAX_CLAIMS {
            return Ok(());
        }
        let sent = if quota.is_unlimited() {
            SentCounts::default()
        } else {
            self.office.store.sent_counts(now).await?
        };
        let mut scope = self.shared.plan().scope(quota, sent, room);
        if !is_trusted {
            scope.reach = Reach::Alarms;
        }
        if scope.limit == 0 {
            // The next poll looks again for letters that the quota holds back.
            self.is_more_due = false;
            return Ok(());
        }
        let (claimed, claim) = self.office.store.claim_dispatches_of(now, &scope).await?;
        self.is_more_due = claimed.len() >= scope.limit as usize;
        if !claimed.is_empty() {
            self.claims.push((claimed.iter().map(|letter| letter.id).collect(), claim));
            self.shared.plan().add(self.office.now(), claimed);
        }
        Ok(())
    }

    /// Starts a connection for each letter that may go now and that no connection takes.
    fn connect(&mut self) {
        while self.connections.try_join_next().is_some() {}
        while let Some(letter) = self.next() {
            let shared = Arc::clone(&self.shared);
            self.connections.spawn(shared.send_over_one_connection(letter, self.office.traffic.enter()));
        }
    }

    fn next(&self) -> Option<Claimed> {
        self.shared.plan().next(self.office.now())
    }

    /// Records outcomes if the last record is old enough, or if nothing else is in flight.
    async fn record_when_due(&mut self) -> anyhow::Result<()> {
        let is_due = {
            let plan = self.shared.plan();
            let is_time = plan.in_flight.is_empty() || self.recorded_at.elapsed() >= RECORD_INTERVAL;
            is_time && !plan.outcomes.is_empty()
        };
        if is_due { self.record().await } else { Ok(()) }
    }

    /// Records outcomes and the account, applies the effects, and tells the GM of an outage.
    async fn record(&mut self) -> anyhow::Result<()> {
        let now = self.office.now();
        let (outcomes, mut account) = {
            let plan = self.shared.plan();
            (plan.outcomes.clone(), plan.account.clone())
        };
        let alarm = account.alarm(now);
        let mut changes = Changes { at: now, ..Changes::default() };
        changes.outcomes.extend(outcomes.iter().map(|one| (one.id, one.sent.clone())));
        if self.recorded.as_ref() != Some(&account) {
            changes.remembered.push((ACCOUNT.to_owned(), serde_json::to_string(&account)?));
        }
        let recorded = outcomes.len();
        let has_sent = outcomes.iter().any(|one| one.sent == SendOutcome::Taken);
        let mut locked = Vec::new();
        match self.commit(outcomes.clone(), alarm, changes).await {
            Ok(()) => {
                self.shared.plan().account.told = account.told;
                self.recorded = Some(account);
            }
            // What is locked waits alone. The account is recorded with the next outcomes.
            Err(error) if is_locked(&error) => locked = self.record_one_by_one(outcomes).await?,
            Err(error) => return Err(error),
        }
        if has_sent {
            self.office.heartbeat.note_sent(now);
        }
        self.unrecorded.extend(self.shared.plan().note_recorded(recorded, &locked));
        self.recorded_at = Instant::now();
        Ok(())
    }

    /// Records each outcome alone, and returns the dispatches for which another session of the database holds a lock.
    async fn record_one_by_one(&mut self, outcomes: Vec<AttemptOutcome>) -> anyhow::Result<Vec<i64>> {
        let mut locked = Vec::new();
        for outcome in outcomes {
            let sent = vec![(outcome.id, outcome.sent.clone())];
            let id = outcome.id;
            let changes = Changes { at: self.office.now(), outcomes: sent, ..Changes::default() };
            match self.commit(vec![outcome], None, changes).await {
                Ok(()) => {}
                Err(error) if is_locked(&error) => {
                    tracing::warn!(dispatch_id = id, "another session of the database holds a lock");
                    self.tried_at = Instant::now();
                    locked.push(id);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(locked)
    }

    /// Commits changes together with the effects of outcomes.
    async fn commit(
        &mut self,
        outcomes: Vec<AttemptOutcome>,
        alarm: Option<Outage>,
        changes: Changes,
    ) -> anyhow::Result<()> {
        if alarm.is_some() || outcomes.iter().any(|one| one.event.is_some()) {
            follow(self.office, outcomes, alarm, changes).await?;
            // A letter to the GM may be due.
            self.is_more_due = true;
        } else {
            self.office.store.commit(&changes).await?;
        }
        Ok(())
    }

    /// Puts outcomes that could not be recorded before the others.
    fn retry_unrecorded(&mut self) {
        self.shared.plan().outcomes.splice(0..0, std::mem::take(&mut self.unrecorded));
    }
}

/// Sends dispatches until shutdown, then completes those in flight.
///
/// # Errors
/// Returns an error if the last outcomes cannot be recorded.
pub async fn send_until(office: Arc<Office>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
    let mut backoff = RetryPause::new();
    let mut dispatcher = Dispatcher::new(&office);
    while !shutdown.is_set() {
        office.heartbeat.beat(Loop::Outbox);
        match dispatcher.start_due().await {
            Ok(_) => {
                backoff = RetryPause::new();
                tokio::select! {
                    () = dispatcher.wait_for_outcome() => {}
                    () = wait_for_work(&office.dispatches_queued, &shutdown) => dispatcher.is_more_due = true,
                }
            }
            Err(error) => {
                // The database may have dropped the claims, so another daemon may send the waiting letters.
                dispatcher.shared.plan().put_back();
                backoff.wait("cannot read the outbox", &error, &shutdown).await;
            }
        }
    }
    dispatcher.shared.plan().put_back();
    dispatcher.retry_unrecorded();
    while !dispatcher.shared.plan().is_idle() {
        dispatcher.wait_for_outcome().await;
        dispatcher.record_when_due().await?;
    }
    Ok(())
}

/// Sends everything that is due now.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn send_due(office: &Office) -> anyhow::Result<()> {
    let mut dispatcher = Dispatcher::new(office);
    while !dispatcher.start_due().await? {
        dispatcher.wait_for_outcome().await;
    }
    dispatcher.retry_unrecorded();
    dispatcher.record_when_due().await
}

/// Sends a letter, and retries without its pictures if the letter itself is refused, because it may be too
/// large.
async fn send(config: &Config, outbox: &Outbox, letter: &Claimed) -> Result<String, SendError> {
    let return_path = config.club.return_path_of(letter.return_id.as_ref());
    let return_path = Some(return_path.as_str());
    let outgoing = Outgoing { return_path, to: &letter.recipient, bytes: &letter.bytes };
    let sent = outbox.send(&outgoing).await;
    match &sent {
        Err(error) if error.class() == RefusalClass::Letter => match without_pictures(&letter.bytes) {
            Some(bytes) => outbox.send(&Outgoing { bytes: &bytes, ..outgoing }).await,
            None => sent,
        },
        Ok(_) | Err(_) => sent,
    }
}

/// Commits the changes together with the effects of outcomes: seats are marked, deadlines move, and the GM is
/// told of what was given up, and of an outage.
async fn follow(
    office: &Office,
    outcomes: Vec<AttemptOutcome>,
    outage: Option<Outage>,
    changes: Changes,
) -> anyhow::Result<()> {
    let waiting = office.store.queues().await?.dispatches_waiting;
    let alone = changes.clone();
    let decided = commit::decide_and_commit(office, move |desk| {
        for outcome in &outcomes {
            let Some(event) = &outcome.event else { continue };
            one_at_a_time(desk, |desk| match desk.rows.dispatch(&outcome.message_id)? {
                Some(row) => follow_up(desk, row, event),
                None => Ok(()),
            });
        }
        if let Some(outage) = &outage {
            one_at_a_time(desk, |desk| {
                alarm::cannot_send(desk, outage.since, &outage.codes(), &outage.error, waiting)
            });
        }
        desk.draft.changes.absorb(changes.clone());
        desk.rows.check()
    });
    match decided.await {
        Err(error) if !is_transient(&error) => {
            tracing::error!(error = format!("{error:#}"), "failed to apply the outcomes of letters");
            Ok(office.store.commit(&alone).await?)
        }
        decided => decided,
    }
}

/// Isolates a decision from the others: one that fails would fail again, and must not stop the rest.
fn one_at_a_time(desk: &mut Desk<'_>, decide: impl FnOnce(&mut Desk<'_>) -> Decided<()>) {
    match decide(desk) {
        Ok(()) => desk.accept(),
        Err(undecided) => {
            desk.reject();
            if let Undecided::Failed(error) = undecided {
                tracing::error!(error = format!("{error:#}"), "failed to apply the outcome of a letter");
            }
        }
    }
}

fn log(letter: &Claimed, sent: &Result<String, SendError>) {
    let dispatch_id = letter.id;
    let kind = letter.kind;
    let attempts = letter.tries + 1;
    match sent {
        Ok(answer) => {
            let seat = letter.seat.map(tracing::field::display);
            tracing::info!(dispatch_id, %kind, match_id = letter.match_id.as_deref(), seat, "letter sent");
            tracing::debug!(dispatch_id, answer = without_addresses(answer), "the mail server's answer");
        }
        Err(error) => {
            let error = without_addresses(&error.to_string());
            tracing::warn!(dispatch_id, %kind, attempts, error, "not sent yet");
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
