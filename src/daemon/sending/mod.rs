//! Sends dispatches: each is retried until a server accepts it, or until its recipient turns out to be wrong.
//!
//! A task for each connection takes the most urgent letter that may go now, sends it, and takes the next, as
//! the [`Plan`] decides. It never waits for the database. The dispatcher does: it claims letters ahead,
//! records many outcomes at a time, and does what follows from them. So a slow server delays nobody but its
//! own reader, and a slow database delays only claims. A letter leaves its claim when its outcome is
//! recorded; a daemon that is killed before that sends it again.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::account::{ACCOUNT, Account, FollowUp, Outage};
use self::plan::Plan;
use super::commit::{self, is_transient};
use super::heartbeat::Loop;
use super::load::random;
use super::traffic::UnderWay;
use super::waiting::{Backoff, wait_for_work};
use super::{Clock, Office};
use crate::config::Config;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::gm::alarm;
use crate::desk::outbox::returned::{Event, follow_up};
use crate::ledger::truncate_to_millis;
use crate::letter::ReturnId;
use crate::letter::pictures::without_pictures;
use crate::post::outbox::{Outbox, Outgoing, SendError};
use crate::post::refusal::RefusalClass;
use crate::post::{ShutdownSignal, without_addresses};
use crate::store::{Claim, Claimed, SendOutcome, SentCounts};

pub(super) mod account;
mod plan;
pub mod resend;

/// Maximum claims held at a time: each may hold a database connection.
const MAX_CLAIMS: usize = 6;

/// Time between two records of outcomes, unless nothing else is in flight: each costs a transaction.
const RECORD_INTERVAL: Duration = Duration::from_millis(50);

/// The part that the connections share with the dispatcher.
struct Shared {
    config: Arc<Config>,
    outbox: Arc<Outbox>,
    clock: Clock,
    plan: Mutex<Plan>,
    /// Wakes the dispatcher when there is an outcome.
    finished: Notify,
}

impl Shared {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().expect("nothing panics while it is held")
    }

    /// Sends letters over one connection, this one first, until no more may go now.
    async fn send_over_one_connection(self: Arc<Self>, first: Claimed, _under_way: UnderWay) {
        let mut next = Some(first);
        while let Some(letter) = next {
            next = self.finish(&letter, send(&self.config, &self.outbox, &letter)).await;
        }
    }

    /// Sends a letter, notes what became of it, and returns the next one.
    async fn finish(
        &self,
        letter: &Claimed,
        sending: impl Future<Output = Result<String, SendError>>,
    ) -> Option<Claimed> {
        // After a panic it is tried again later; at once, it would panic again.
        let sent = AssertUnwindSafe(sending).catch_unwind().await;
        let sent = sent.unwrap_or_else(|_| Err(SendError::NotNow("sending it failed".into())));
        let now = truncate_to_millis((self.clock)());
        let mut plan = self.plan();
        let was_out = plan.account.outage.is_some();
        let outcomes = plan.finish(now, letter, sent.as_ref().map(drop));
        match &sent {
            Ok(answer) => {
                let answer = without_addresses(answer);
                tracing::info!(
                    dispatch_id = letter.id,
                    kind = %letter.kind,
                    match_id = letter.match_id.as_deref(),
                    seat = letter.seat.map(tracing::field::display),
                    "letter sent"
                );
                tracing::debug!(dispatch_id = letter.id, answer, "the mail server's answer");
            }
            Err(error) => log_refusal(letter, error, outcomes),
        }
        match &plan.account.outage {
            None if was_out => tracing::info!("the mail server takes letters again"),
            Some(outage) if !was_out => {
                let error = without_addresses(&outage.error);
                tracing::error!(error, until = %outage.until, "the mail server refuses everything; all letters wait");
            }
            None | Some(_) => {}
        }
        // Chosen before the dispatcher looks, so that it sees this connection either at work or free.
        let next = plan.next(now);
        self.finished.notify_one();
        next
    }
}

/// Claims letters, starts connections, records what became of the letters, and does what follows.
struct Dispatcher<'a> {
    office: &'a Office,
    shared: Arc<Shared>,
    connections: JoinSet<()>,
    /// Claims on letters whose outcomes are not recorded yet.
    claims: Vec<(Vec<i64>, Claim)>,
    /// Whether the last claim may have left letters that are due.
    is_more_due: bool,
    /// The account as it was recorded last.
    recorded: Account,
    recorded_at: Instant,
}

impl<'a> Dispatcher<'a> {
    async fn open(office: &'a Office) -> anyhow::Result<Dispatcher<'a>> {
        let account = Account::read(office.store.remembered(ACCOUNT).await?.as_deref());
        let shared = Shared {
            config: Arc::clone(&office.config),
            outbox: Arc::clone(&office.outbox),
            clock: Arc::clone(&office.clock),
            plan: Mutex::new(Plan::new(account.clone(), office.outbox.concurrency())),
            finished: Notify::new(),
        };
        Ok(Dispatcher {
            office,
            shared: Arc::new(shared),
            connections: JoinSet::new(),
            claims: Vec::new(),
            is_more_due: true,
            recorded: account,
            recorded_at: Instant::now(),
        })
    }

    /// Records outcomes, and starts sending what is due. Returns whether nothing is left to do now.
    async fn start_due(&mut self) -> anyhow::Result<bool> {
        loop {
            self.record_when_due().await?;
            self.claim_some().await?;
            self.connect();
            if !self.shared.plan().is_idle() {
                return Ok(false);
            }
            // What was given up may queue a letter to the GM.
            self.shared.plan().account.mark_given_up();
            if !self.follow_up().await? {
                return Ok(true);
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

    /// Claims what is due, as far as there is room and the quota allows.
    async fn claim_some(&mut self) -> anyhow::Result<()> {
        let (now, quota) = (self.office.now(), &self.office.config.outbox.quota);
        let room = {
            let plan = self.shared.plan();
            self.claims.retain(|(letters, _)| letters.iter().any(|id| plan.claimed.contains_key(id)));
            plan.room(now, quota)
        };
        if !self.is_more_due || room == 0 || self.claims.len() >= MAX_CLAIMS {
            return Ok(());
        }
        let sent = match quota.is_unlimited() {
            true => SentCounts::default(),
            false => self.office.store.sent_counts(now).await?,
        };
        let scope = self.shared.plan().scope(quota, sent, room);
        if scope.limit == 0 {
            // What the quota holds back is looked for again at the next poll.
            self.is_more_due = false;
            return Ok(());
        }
        let (mut claimed, claim) = self.office.store.claim_dispatches_of(now, &scope).await?;
        self.is_more_due = claimed.len() >= scope.limit as usize;
        give_return_ids(self.office, &mut claimed).await?;
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

    /// Records outcomes once the last record is some time ago, or nothing else is in flight, and does what
    /// follows.
    async fn record_when_due(&mut self) -> anyhow::Result<()> {
        let is_due = {
            let plan = self.shared.plan();
            let is_time = plan.in_flight.is_empty() || self.recorded_at.elapsed() >= RECORD_INTERVAL;
            is_time && !plan.outcomes.is_empty()
        };
        if is_due {
            self.record().await?;
            self.follow_up().await?;
        }
        Ok(())
    }

    async fn record(&mut self) -> anyhow::Result<()> {
        let (outcomes, account) = {
            let plan = self.shared.plan();
            (plan.outcomes.to_vec(), plan.account.clone())
        };
        let changed = if account == self.recorded { None } else { Some(serde_json::to_string(&account)?) };
        let memo = changed.as_deref().map(|account| (ACCOUNT, account));
        let now = self.office.now();
        self.office.store.record_sending(Claim::default(), now, &outcomes, memo).await?;
        if outcomes.iter().any(|(_, outcome)| *outcome == SendOutcome::Taken) {
            self.office.heartbeat.note_sent(now);
        }
        (self.recorded, self.recorded_at) = (account, Instant::now());
        self.shared.plan().note_recorded(outcomes.len());
        Ok(())
    }

    /// Does what is left to do about letters, and tells the GM of an outage. Returns whether there was
    /// anything to do.
    async fn follow_up(&mut self) -> anyhow::Result<bool> {
        let mut was_needed = false;
        while let Some(todo) = self.take_follow_up() {
            if let Err(error) = carry_out(self.office, &todo).await {
                // The account forgets it only once it is done: the database may not answer.
                self.shared.plan().account.follow_ups.insert(0, todo);
                return Err(error);
            }
            was_needed = true;
        }
        let now = self.office.now();
        let alarm = self.shared.plan().account.alarm(now);
        if let Some(outage) = alarm {
            tell_of_outage(self.office, &outage).await?;
            self.shared.plan().account.note_told(now, &outage);
            was_needed = true;
        }
        if was_needed {
            self.record().await?;
            // A letter to the GM is due.
            self.is_more_due = true;
        }
        Ok(was_needed)
    }

    fn take_follow_up(&self) -> Option<FollowUp> {
        let follow_ups = &mut self.shared.plan().account.follow_ups;
        (!follow_ups.is_empty()).then(|| follow_ups.remove(0))
    }
}

/// Sends dispatches until shutdown, then completes those in flight.
///
/// # Errors
/// Returns an error if the last outcomes cannot be recorded.
pub async fn send_until(office: Arc<Office>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
    let mut backoff = Backoff::new();
    let mut opened = None;
    while !shutdown.is_set() {
        office.heartbeat.beat(Loop::Outbox);
        match send_some(&office, &mut opened, &shutdown).await {
            Ok(()) => backoff = Backoff::new(),
            Err(error) => {
                // The database may have dropped the claims, and another daemon may send what waits.
                opened.iter().for_each(|dispatcher| dispatcher.shared.plan().put_back());
                backoff.wait("cannot read the outbox", &error, &shutdown).await;
            }
        }
    }
    let Some(mut dispatcher) = opened else { return Ok(()) };
    dispatcher.shared.plan().put_back();
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
    let mut dispatcher = Dispatcher::open(office).await?;
    while !dispatcher.start_due().await? {
        dispatcher.wait_for_outcome().await;
    }
    Ok(())
}

async fn send_some<'a>(
    office: &'a Office,
    opened: &mut Option<Dispatcher<'a>>,
    shutdown: &ShutdownSignal,
) -> anyhow::Result<()> {
    let dispatcher = match opened {
        Some(dispatcher) => dispatcher,
        None => opened.insert(Dispatcher::open(office).await?),
    };
    dispatcher.start_due().await?;
    tokio::select! {
        () = dispatcher.wait_for_outcome() => {}
        () = wait_for_work(&office.dispatches, shutdown) => dispatcher.is_more_due = true,
    }
    Ok(())
}

/// Gives each letter an ID for its return path, if the config asks for that. The ID is stored before the
/// letter is sent.
async fn give_return_ids(office: &Office, claimed: &mut [Claimed]) -> anyhow::Result<()> {
    if !office.config.club.has_return_ids() {
        return Ok(());
    }
    let mut given = Vec::new();
    for dispatch in claimed.iter_mut().filter(|dispatch| dispatch.return_id.is_none()) {
        let id = ReturnId::from_random(random()?);
        given.push((dispatch.id, id.clone()));
        dispatch.return_id = Some(id);
    }
    if !given.is_empty() {
        office.store.set_return_ids(&given).await?;
    }
    Ok(())
}

/// Sends a letter, and once more without its pictures if the letter itself is refused: it may be too large.
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

/// Marks the seat of a letter and tells the GM, or whatever else the event requires.
async fn carry_out(office: &Office, todo: &FollowUp) -> anyhow::Result<()> {
    let event = todo.event;
    for row in office.store.dispatches_named(std::slice::from_ref(&todo.message_id)).await? {
        // It may have been queued again by hand.
        if row.given_up || !matches!(event, Event::GivenUp { .. }) {
            settle(office, move |desk| follow_up(desk, &row, event)).await?;
        }
    }
    Ok(())
}

/// Tells the GM that nothing can be sent; the letter is the first that goes when the server takes mail again.
async fn tell_of_outage(office: &Office, outage: &Outage) -> anyhow::Result<()> {
    let waiting = office.store.queues().await?.dispatches_waiting;
    let (since, codes, error) = (outage.since, outage.codes(), outage.error.clone());
    settle(office, move |desk| alarm::cannot_send(desk, since, &codes, &error, waiting)).await
}

/// Decides what follows from an attempt to send, and commits it.
async fn settle(
    office: &Office,
    decide: impl Fn(&mut Desk<'_>) -> Decided<()> + Send + Sync + 'static,
) -> anyhow::Result<()> {
    match commit::decide_and_commit(office, decide).await {
        Err(error) if !is_transient(&error) => {
            // It would fail again, and other letters must not wait for it. If the program was killed after
            // this commit and before it was recorded, the letter to the GM is queued already, and its
            // Message-ID is taken.
            tracing::error!(error = format!("{error:#}"), "failed to follow up what became of a letter");
            Ok(())
        }
        settled => settled,
    }
}

fn log_refusal(letter: &Claimed, error: &SendError, outcomes: &[(i64, SendOutcome)]) {
    let (dispatch_id, attempts) = (letter.id, letter.tries + 1);
    let error = without_addresses(&error.to_string());
    for (id, outcome) in outcomes {
        match outcome {
            SendOutcome::GivenUp { .. } => {
                tracing::error!(dispatch_id, kind = %letter.kind, attempts, error, "gave up sending");
            }
            SendOutcome::Later { at, .. } if *id == dispatch_id => {
                tracing::warn!(dispatch_id, kind = %letter.kind, attempts, error, retry_at = %at, "not sent yet");
            }
            SendOutcome::Later { .. } => tracing::info!(dispatch_id = id, "queued again"),
            SendOutcome::Taken => {}
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
