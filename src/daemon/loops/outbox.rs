//! Sends dispatches: each is retried until a server accepts it, or until it is given up.
//!
//! More are claimed as soon as there is room, so that a slow server delays nobody but its own reader.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use chrono::TimeDelta;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;

use super::waiting::{Backoff, wait_for_work};
use crate::daemon::Office;
use crate::daemon::decide::returned::note_given_up;
use crate::daemon::heartbeat::Loop;
use crate::post::outbox::{Outgoing, SendError};
use crate::post::{ShutdownSignal, without_addresses};
use crate::store::{Claim, Claimed, SendOutcome, StoreError};

/// Maximum letters in flight, including those that wait for an earlier letter to the same reader.
const MAX_IN_FLIGHT: usize = 256;

/// Maximum claims held at a time: each may hold a database connection.
const MAX_CLAIMS: usize = 6;

/// Outcomes recorded at a time: a multiple of the store's `CHUNK`. Fewer are recorded when nothing else is in flight.
const OUTCOMES_AT_ONCE: usize = 128;

/// Maximum time until an outcome is recorded: if a daemon is killed before that, the letter is sent again.
const RECORD_WITHIN: Duration = Duration::from_millis(50);

/// Attempts after which a dispatch is given up: with the pauses between them, almost four days.
const MAX_ATTEMPTS: u32 = 32;

/// The longest pause between two attempts.
const MAX_PAUSE: TimeDelta = TimeDelta::hours(4);

/// Maximum attempts to mark the seat of a dispatch that was given up, while others change the match.
const MAX_TRIES: usize = 20;

/// Letters that are being sent: to different readers concurrently, to one reader one after the other, so that a receipt
/// arrives before the report that it brought.
#[derive(Default)]
struct InFlight {
    sending: JoinSet<Result<String, SendError>>,
    /// What each task sends.
    letters: HashMap<Id, ClaimedLetter>,
    /// The readers to whom a letter is being sent, each with the letters that wait for it.
    behind: BTreeMap<String, VecDeque<ClaimedLetter>>,
    /// Outcomes that are not recorded yet.
    outcomes: Vec<(ClaimedLetter, SendOutcome)>,
    /// When the first of them must be recorded.
    record_by: Option<Instant>,
    /// Claims of which not all outcomes are recorded. (Threads can share a claim only behind a lock.)
    claims: Vec<Weak<Mutex<Claim>>>,
    /// Whether the last claim found nothing else that is due.
    none_due: bool,
}

struct ClaimedLetter {
    dispatch: Arc<Claimed>,
    /// Ends when the outcomes of all its letters are recorded.
    _claim: Arc<Mutex<Claim>>,
}

impl InFlight {
    /// Returns how many more letters can be claimed now: many or none, because each claim costs a transaction.
    fn room(&mut self) -> usize {
        self.claims.retain(|claim| claim.strong_count() > 0);
        let unsent = self.letters.len() + self.behind.values().map(VecDeque::len).sum::<usize>();
        if self.none_due || unsent > MAX_IN_FLIGHT / 2 || self.claims.len() >= MAX_CLAIMS {
            return 0;
        }
        MAX_IN_FLIGHT - unsent
    }

    fn is_empty(&self) -> bool {
        self.letters.is_empty() && self.outcomes.is_empty()
    }
}

impl Office {
    /// Sends dispatches until shutdown, then completes those in flight.
    pub async fn send_until(self: Arc<Self>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
        let mut backoff = Backoff::new();
        let mut in_flight = InFlight::default();
        while !shutdown.is_set() {
            self.heartbeat.beat(Loop::Outbox);
            match self.send_some(&mut in_flight, &shutdown).await {
                Ok(()) => backoff = Backoff::new(),
                Err(error) => backoff.wait("cannot read the outbox", &error, &shutdown).await,
            }
        }
        in_flight.behind.clear();
        while !in_flight.is_empty() {
            self.record_all(&mut in_flight).await?;
            if !in_flight.letters.is_empty() {
                self.next_outcome(&mut in_flight).await;
            }
        }
        Ok(())
    }

    async fn send_some(&self, in_flight: &mut InFlight, shutdown: &ShutdownSignal) -> anyhow::Result<()> {
        self.claim_some(in_flight).await?;
        let record_by = in_flight.record_by;
        tokio::select! {
            () = self.next_outcome(in_flight) => return self.record_if_many(in_flight).await,
            () = sleep_until(record_by) => {}
            () = wait_for_work(&self.dispatches, shutdown) => in_flight.none_due = false,
        }
        self.record_all(in_flight).await
    }

    /// Sends everything that is due now.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn dispatch_all(&self) -> anyhow::Result<()> {
        let mut in_flight = InFlight::default();
        loop {
            self.claim_some(&mut in_flight).await?;
            if in_flight.is_empty() {
                return Ok(());
            }
            self.next_outcome(&mut in_flight).await;
            self.record_if_many(&mut in_flight).await?;
            // An outcome may have queued a letter to the GM.
            in_flight.none_due &= !in_flight.is_empty();
        }
    }

    /// Claims what is due, as far as there is room, and starts sending it.
    async fn claim_some(&self, in_flight: &mut InFlight) -> anyhow::Result<()> {
        let room = in_flight.room();
        if room == 0 {
            return Ok(());
        }
        let limit = u32::try_from(room).unwrap_or(u32::MAX);
        let (claimed, claim) = self.store.claim_dispatches(self.now(), limit).await?;
        in_flight.none_due = claimed.len() < room;
        let claim = Arc::new(Mutex::new(claim));
        in_flight.claims.push(Arc::downgrade(&claim));
        for dispatch in claimed {
            let letter = ClaimedLetter { dispatch: Arc::new(dispatch), _claim: Arc::clone(&claim) };
            match in_flight.behind.get_mut(&letter.dispatch.recipient) {
                Some(behind) => behind.push_back(letter),
                None => {
                    in_flight.behind.insert(letter.dispatch.recipient.clone(), VecDeque::new());
                    self.send(in_flight, letter);
                }
            }
        }
        Ok(())
    }

    fn send(&self, in_flight: &mut InFlight, letter: ClaimedLetter) {
        let return_path = self.config.club.return_path().as_str().to_owned();
        let outbox = Arc::clone(&self.outbox);
        let dispatch = Arc::clone(&letter.dispatch);
        let task = in_flight.sending.spawn(async move {
            let Claimed { recipient, bytes, .. } = &*dispatch;
            outbox.send(&Outgoing { return_path: Some(&return_path), to: recipient, bytes }).await
        });
        in_flight.letters.insert(task.id(), letter);
    }

    /// Waits for the outcome of a letter, or forever if none is in flight. Cancel-safe.
    async fn next_outcome(&self, in_flight: &mut InFlight) {
        match in_flight.sending.join_next_with_id().await {
            Some(joined) => self.note_outcome(in_flight, joined),
            None => std::future::pending().await,
        }
        while let Some(joined) = in_flight.sending.try_join_next_with_id() {
            self.note_outcome(in_flight, joined);
        }
    }

    fn note_outcome(
        &self,
        in_flight: &mut InFlight,
        joined: Result<(Id, Result<String, SendError>), JoinError>,
    ) {
        let (id, sent) = match joined {
            Ok((id, sent)) => (id, Some(sent)),
            // A task that panicked has no outcome; its dispatch is retried.
            Err(error) => (error.id(), None),
        };
        let Some(letter) = in_flight.letters.remove(&id) else { return };
        let reader = letter.dispatch.recipient.clone();
        if let Some(sent) = sent {
            let outcome = self.outcome(&letter.dispatch, sent);
            in_flight.outcomes.push((letter, outcome));
            in_flight.record_by.get_or_insert_with(|| Instant::now() + RECORD_WITHIN);
        }
        match in_flight.behind.get_mut(&reader).and_then(VecDeque::pop_front) {
            Some(next) => self.send(in_flight, next),
            None => drop(in_flight.behind.remove(&reader)),
        }
    }

    /// Records outcomes once they are many, or nothing else is in flight.
    async fn record_if_many(&self, in_flight: &mut InFlight) -> anyhow::Result<()> {
        if in_flight.outcomes.len() >= OUTCOMES_AT_ONCE || in_flight.letters.is_empty() {
            self.record_all(in_flight).await?;
        }
        Ok(())
    }

    async fn record_all(&self, in_flight: &mut InFlight) -> anyhow::Result<()> {
        if in_flight.outcomes.is_empty() {
            return Ok(());
        }
        let outcomes: Vec<(i64, SendOutcome)> = in_flight
            .outcomes
            .iter()
            .map(|(letter, outcome)| (letter.dispatch.id, outcome.clone()))
            .collect();
        // The claims end after this, so that nobody else sends the same letters before their outcomes are recorded.
        self.store.record_outcomes(Claim::default(), self.now(), &outcomes).await?;
        in_flight.record_by = None;
        for (letter, outcome) in std::mem::take(&mut in_flight.outcomes) {
            if let SendOutcome::GivenUp { error } = outcome {
                self.note_given_up(&letter.dispatch, error).await?;
                // The letter that tells the GM is due.
                in_flight.none_due = false;
            }
        }
        Ok(())
    }

    /// Marks the seat of a dispatch that was given up, and tells the GM.
    async fn note_given_up(&self, claimed: &Arc<Claimed>, error: String) -> anyhow::Result<()> {
        for _ in 0..MAX_TRIES {
            let context = self.new_context().await?;
            let (claimed, error) = (Arc::clone(claimed), error.clone());
            let deciding = self.decide(context, move |settings, context, _| {
                note_given_up(settings, context, &claimed, &error)
            });
            let (settlement, _) = deciding.await?;
            match self.store.commit(&settlement).await {
                Ok(()) => return Ok(()),
                Err(StoreError::Stale(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn outcome(&self, dispatch: &Claimed, sent: Result<String, SendError>) -> SendOutcome {
        let dispatch_id = dispatch.id;
        let attempts = dispatch.tries + 1;
        match sent {
            Ok(answer) => {
                let answer = without_addresses(&answer);
                tracing::debug!(dispatch_id, kind = %dispatch.kind, answer, "sent");
                self.heartbeat.note_sent(self.now());
                SendOutcome::Taken
            }
            Err(error) if error.is_transient() && attempts < MAX_ATTEMPTS => {
                let at = self.now() + pause_after(attempts);
                let reason = without_addresses(&error.to_string());
                tracing::warn!(
                    dispatch_id, kind = %dispatch.kind, attempts, error = reason, retry_at = %at, "not sent yet"
                );
                SendOutcome::Later { at, error: error.to_string() }
            }
            Err(error) => {
                let reason = without_addresses(&error.to_string());
                tracing::error!(dispatch_id, kind = %dispatch.kind, attempts, error = reason, "gave up sending");
                SendOutcome::GivenUp { error: error.to_string() }
            }
        }
    }
}

/// Sleeps until the moment, or forever if there is none.
async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Returns half a minute, doubled with each attempt, but at most [`MAX_PAUSE`].
fn pause_after(attempts: u32) -> TimeDelta {
    TimeDelta::seconds(30_i64 << (attempts - 1).min(9)).min(MAX_PAUSE)
}
