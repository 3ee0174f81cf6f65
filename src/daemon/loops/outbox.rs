//! Sends dispatches: each is retried until a server accepts it, or until its recipient turns out to be wrong.
//!
//! The loop claims letters, sends as many at a time as the outbox has connections, and records what became of them. A
//! connection that is free gets the most urgent letter, and a slow server delays nobody but its own reader. While the
//! server refuses everything, one letter is tried now and then.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;

use super::queue::Queue;
use super::waiting::{Backoff, wait_for_work};
use crate::daemon::Office;
use crate::daemon::batch::load::random;
use crate::daemon::decide::sending::quota::{scope, with_under_way};
use crate::daemon::decide::sending::{Account, Gate};
use crate::daemon::heartbeat::Loop;
use crate::letter::ReturnId;
use crate::letter::pictures::without_pictures;
use crate::post::ShutdownSignal;
use crate::post::outbox::{Outbox, Outgoing, SendError};
use crate::post::refusal::RefusalClass;
use crate::store::{Claim, ClaimOrder, Claimed, DispatchScope, SendOutcome, Urgency};

/// Maximum letters claimed ahead, in flight or not.
const MAX_CLAIMED: usize = 256;

/// The same where the config limits how many are sent: a more urgent letter that is written meanwhile must not find the
/// limit used up by those.
const MAX_CLAIMED_IF_LIMITED: usize = 16;

/// Maximum claims held at a time: each may hold a database connection.
const MAX_CLAIMS: usize = 6;

/// Outcomes recorded at a time: a multiple of the store's `CHUNK`. Fewer are recorded when nothing else is in flight.
const OUTCOMES_AT_ONCE: usize = 128;

/// Maximum time until an outcome is recorded: if a daemon is killed before that, the letter is sent again.
const RECORD_WITHIN: Duration = Duration::from_millis(50);

/// Letters that are being sent, and the account that sends them.
#[derive(Default)]
pub(super) struct Sending {
    pub(super) account: Account,
    /// The account as it was recorded last.
    pub(super) recorded: Account,
    /// Claims on letters whose outcomes are not recorded yet.
    claims: Vec<HeldClaim>,
    pub(super) queue: Queue,
    /// A task for each letter in flight.
    tasks: JoinSet<Result<String, SendError>>,
    pub(super) in_flight: HashMap<Id, InFlight>,
    /// Outcomes that are not recorded yet.
    pub(super) outcomes: Vec<(i64, SendOutcome)>,
    /// The letters that led to them. Others have outcomes, too, if they are queued again.
    pub(super) tried: Vec<i64>,
    /// When the first of them must be recorded.
    pub(super) record_by: Option<Instant>,
    /// Whether the last claim found nothing else that is due.
    pub(super) none_due: bool,
}

/// A claim, and the letters for which it is still held.
struct HeldClaim {
    letters: BTreeMap<i64, Urgency>,
    _claim: Claim,
}

/// A letter in flight.
pub(super) struct InFlight {
    pub(super) dispatch: Arc<Claimed>,
    /// It was in flight when the server began to refuse everything.
    pub(super) is_before_outage: bool,
}

impl Sending {
    pub(super) fn of(account: Account) -> Sending {
        Sending { recorded: account.clone(), account, ..Sending::default() }
    }

    /// Returns how many more letters to claim now if there may be `most`: many or none, because each claim costs a
    /// transaction.
    fn room(&self, most: usize) -> Option<usize> {
        let unsent = self.queue.len() + self.tasks.len();
        let is_wanted = !self.none_due && self.claims.len() < MAX_CLAIMS && unsent <= most / 2;
        is_wanted.then(|| most - unsent).filter(|room| *room > 0)
    }

    /// Ends the claims on these letters.
    pub(super) fn release(&mut self, letters: &[i64]) {
        for claim in &mut self.claims {
            claim.letters.retain(|id, _| !letters.contains(id));
        }
        self.claims.retain(|claim| !claim.letters.is_empty());
    }

    /// Returns the urgency of each letter that is not counted as sent yet.
    fn urgencies_under_way(&self) -> impl Iterator<Item = Urgency> {
        self.claims.iter().flat_map(|claim| claim.letters.values().copied())
    }

    fn start(
        &mut self,
        dispatch: Arc<Claimed>,
        send: impl Future<Output = Result<String, SendError>> + Send + 'static,
    ) {
        let task = self.tasks.spawn(send).id();
        self.in_flight.insert(task, InFlight { dispatch, is_before_outage: false });
    }

    /// Whether nothing is in flight and every outcome is recorded.
    fn is_idle(&self) -> bool {
        self.tasks.is_empty() && self.outcomes.is_empty()
    }
}

impl Office {
    /// Sends dispatches until shutdown, then completes those in flight.
    pub async fn send_until(self: Arc<Self>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
        let mut backoff = Backoff::new();
        let mut loaded = None;
        while !shutdown.is_set() {
            self.heartbeat.beat(Loop::Outbox);
            match self.send_some(&mut loaded, &shutdown).await {
                Ok(()) => backoff = Backoff::new(),
                Err(error) => backoff.wait("cannot read the outbox", &error, &shutdown).await,
            }
        }
        let Some(mut sending) = loaded else { return Ok(()) };
        while !sending.is_idle() {
            self.next_outcome(&mut sending).await;
            self.record_when_due(&mut sending).await?;
        }
        Ok(())
    }

    async fn send_some(&self, loaded: &mut Option<Sending>, shutdown: &ShutdownSignal) -> anyhow::Result<()> {
        let sending = match loaded {
            Some(sending) => sending,
            None => loaded.insert(Sending::of(self.load_account().await?)),
        };
        self.start_some(sending).await?;
        if sending.is_idle() {
            self.note_idle(sending).await?;
        }
        let record_by = sending.record_by;
        tokio::select! {
            () = self.next_outcome(sending), if !sending.tasks.is_empty() => {}
            () = sleep_until(record_by) => {}
            () = wait_for_work(&self.dispatches, shutdown) => sending.none_due = false,
        }
        self.record_when_due(sending).await
    }

    /// Sends everything that is due now.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn dispatch_all(&self) -> anyhow::Result<()> {
        let mut sending = Sending::of(self.load_account().await?);
        loop {
            self.start_some(&mut sending).await?;
            if !sending.is_idle() {
                self.next_outcome(&mut sending).await;
                self.record_when_due(&mut sending).await?;
            // What was given up may have queued a letter to the GM.
            } else if !self.note_idle(&mut sending).await? {
                return Ok(());
            }
        }
    }

    /// Starts sending letters, as many as have a connection: the most urgent ones that are due.
    pub(super) async fn start_some(&self, sending: &mut Sending) -> anyhow::Result<()> {
        let most = match sending.account.gate(self.now()) {
            Gate::Open if self.config.outbox.quota.is_unlimited() => MAX_CLAIMED,
            Gate::Open => MAX_CLAIMED_IF_LIMITED,
            Gate::Probe(letters) => letters,
            Gate::Closed => 0,
        };
        self.claim_some(sending, most).await?;
        while sending.tasks.len() < self.outbox.concurrency().min(most)
            && let Some(dispatch) = sending.queue.next()
        {
            let (config, outbox) = (Arc::clone(&self.config), Arc::clone(&self.outbox));
            let (letter, under_way) = (Arc::clone(&dispatch), self.traffic.enter());
            sending.start(dispatch, async move {
                let _under_way = under_way;
                let return_path = config.club.return_path_of(letter.return_id.as_ref());
                send_smaller_if_refused(&outbox, return_path.as_str(), &letter).await
            });
        }
        Ok(())
    }

    /// Claims what is due, as far as there is room and the quota allows.
    async fn claim_some(&self, sending: &mut Sending, most: usize) -> anyhow::Result<()> {
        let quota = &self.config.outbox.quota;
        let order = match sending.account.tries_another() {
            true => ClaimOrder::FewestTries,
            false => ClaimOrder::MostUrgent,
        };
        while let Some(room) = sending.room(most) {
            let sent = match quota.is_unlimited() {
                true => Vec::new(),
                false => self.store.sent_counts(self.now()).await?,
            };
            let sent = with_under_way(sent, sending.urgencies_under_way());
            let room = u32::try_from(room).unwrap_or(u32::MAX);
            let scope = scope(quota, &sent, room, order);
            // What the quota holds back is looked for again at the next poll.
            sending.none_due = scope.limit == 0 || self.claim(sending, &scope).await? < scope.limit;
        }
        Ok(())
    }

    /// Claims letters, queues them, and returns how many.
    async fn claim(&self, sending: &mut Sending, scope: &DispatchScope) -> anyhow::Result<u32> {
        let (mut claimed, claim) = self.store.claim_dispatches_of(self.now(), scope).await?;
        self.give_return_ids(&mut claimed).await?;
        let letters: BTreeMap<i64, Urgency> = claimed.iter().map(|one| (one.id, one.urgency)).collect();
        let number = u32::try_from(letters.len()).unwrap_or(u32::MAX);
        if number > 0 {
            sending.claims.push(HeldClaim { letters, _claim: claim });
            claimed.into_iter().for_each(|dispatch| sending.queue.add(dispatch));
        }
        Ok(number)
    }

    /// Gives each letter an ID for its return path, if the config asks for that. The ID is stored before the letter is sent.
    async fn give_return_ids(&self, claimed: &mut [Claimed]) -> anyhow::Result<()> {
        if !self.config.club.has_return_ids() {
            return Ok(());
        }
        let mut given = Vec::new();
        for dispatch in claimed.iter_mut().filter(|dispatch| dispatch.return_id.is_none()) {
            let id = ReturnId::from_random(random()?);
            given.push((dispatch.id, id.clone()));
            dispatch.return_id = Some(id);
        }
        if !given.is_empty() {
            self.store.set_return_ids(&given).await?;
        }
        Ok(())
    }

    /// Waits for the outcome of a letter, if one is in flight, and notes those that are there as well. Cancel-safe.
    async fn next_outcome(&self, sending: &mut Sending) {
        let mut joined = sending.tasks.join_next_with_id().await;
        while let Some(outcome) = joined {
            self.note_joined(sending, outcome);
            joined = sending.tasks.try_join_next_with_id();
        }
    }

    fn note_joined(&self, sending: &mut Sending, joined: Result<(Id, Result<String, SendError>), JoinError>) {
        let (task, sent) = match joined {
            Ok(ended) => ended,
            // Its letter is tried again later; at once, it would panic again.
            Err(error) => (error.id(), Err(SendError::NotNow("sending it failed".into()))),
        };
        let Some(letter) = sending.in_flight.remove(&task) else { return };
        sending.queue.finish(&letter.dispatch.recipient);
        sending.tried.push(letter.dispatch.id);
        match sent {
            Ok(answer) => self.note_taken(sending, &letter, &answer),
            Err(error) => self.note_refused(sending, &letter, &error),
        }
        sending.record_by.get_or_insert_with(|| Instant::now() + RECORD_WITHIN);
        if sending.account.outage.is_some() {
            // They were not tried, so they are due as before.
            let untried = sending.queue.clear();
            sending.release(&untried);
        }
    }

    /// Records outcomes once they are many, or the first has waited, or nothing else is in flight.
    async fn record_when_due(&self, sending: &mut Sending) -> anyhow::Result<()> {
        let is_late = sending.record_by.is_some_and(|moment| moment <= Instant::now());
        if is_late || sending.outcomes.len() >= OUTCOMES_AT_ONCE || sending.tasks.is_empty() {
            self.record_all(sending).await?;
        }
        Ok(())
    }
}

/// Sleeps until the moment, or forever if there is none.
async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Sends a letter, and once more without its pictures if the letter itself is refused: it may be too large.
async fn send_smaller_if_refused(
    outbox: &Outbox,
    return_path: &str,
    dispatch: &Claimed,
) -> Result<String, SendError> {
    let letter = Outgoing { return_path: Some(return_path), to: &dispatch.recipient, bytes: &dispatch.bytes };
    let sent = outbox.send(&letter).await;
    match &sent {
        Err(error) if error.class() == RefusalClass::Letter => match without_pictures(letter.bytes) {
            Some(bytes) => outbox.send(&Outgoing { bytes: &bytes, ..letter }).await,
            None => sent,
        },
        Ok(_) | Err(_) => sent,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOW, dispatch, office};
    use super::*;
    use crate::store::Settlement;

    #[tokio::test]
    async fn a_letter_at_which_sending_panics_is_tried_again_later() {
        let folder = tempfile::tempdir().expect("a folder");
        let office = office(folder.path(), "").await;
        let dispatches = vec![dispatch("ann", Urgency::Report)];
        let settlement = Settlement { at: NOW, dispatches, ..Settlement::default() };
        office.store.commit(&settlement).await.expect("the database answers");
        let mut sending = Sending::default();
        office.claim_some(&mut sending, 1).await.expect("the database answers");
        let letter = sending.queue.next().expect("a letter");
        sending.start(letter, async { panic!("a fault in a library") });
        office.next_outcome(&mut sending).await;
        office.record_all(&mut sending).await.expect("the database answers");
        let row = &office.store.list_dispatches(true, 1).await.expect("the database answers")[0];
        assert_eq!((row.tries, row.given_up, row.error.as_str()), (1, false, "deferred: sending it failed"));
    }
}
