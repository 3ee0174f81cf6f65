//! Sends dispatches: each is retried until a server accepts it, or until its recipient turns out to be wrong.
//!
//! More are claimed as soon as there is room, so that a slow server delays nobody but its own reader. While the server
//! refuses everything, one letter is tried now and then.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;

use super::queue::Queue;
use super::waiting::{Backoff, wait_for_work};
use crate::daemon::Office;
use crate::daemon::batch::load::random;
use crate::daemon::decide::sending::quota::{Allowance, UrgencyGroup, with_under_way};
use crate::daemon::decide::sending::{Account, Gate};
use crate::daemon::heartbeat::Loop;
use crate::letter::ReturnId;
use crate::letter::pictures::without_pictures;
use crate::post::ShutdownSignal;
use crate::post::outbox::{Outbox, Outgoing, SendError, SendPermit};
use crate::post::refusal::RefusalClass;
use crate::store::{Claim, ClaimOrder, Claimed, DispatchScope, SendOutcome, Urgency};

/// Maximum letters in flight, including those that wait for an earlier letter to the same reader.
const MAX_IN_FLIGHT: usize = 256;

/// The same where the config limits how many are sent: a more urgent letter that is written meanwhile must not find the
/// limit used up by those.
const MAX_IN_FLIGHT_IF_LIMITED: usize = 16;

/// Maximum claims held at a time: each may hold a database connection.
const MAX_CLAIMS: usize = 6;

/// Outcomes recorded at a time: a multiple of the store's `CHUNK`. Fewer are recorded when nothing else is in flight.
const OUTCOMES_AT_ONCE: usize = 128;

/// Maximum time until an outcome is recorded: if a daemon is killed before that, the letter is sent again.
const RECORD_WITHIN: Duration = Duration::from_millis(50);

/// Letters that are being sent: to different readers concurrently, to one reader one after the other, so that a receipt
/// arrives before the report that it brought.
#[derive(Default)]
pub(super) struct InFlight {
    /// What is known of the account that sends them.
    pub(super) account: Account,
    /// That, as it was recorded last.
    pub(super) recorded: Account,
    /// A task for each letter in the queue, without an outcome if the queue was cleared.
    sending: JoinSet<Option<Result<String, SendError>>>,
    queue: Arc<Queue>,
    /// What waits in the queue or is being sent, by number.
    pub(super) letters: HashMap<i64, ClaimedLetter>,
    /// Outcomes that are not recorded yet.
    pub(super) outcomes: Vec<(i64, SendOutcome)>,
    /// How many of them were taken, by urgency.
    pub(super) taken: BTreeMap<Urgency, u32>,
    /// The letters whose outcomes are not recorded yet.
    pub(super) done: Vec<ClaimedLetter>,
    /// When the first of them must be recorded.
    pub(super) record_by: Option<Instant>,
    /// Claims of which not all outcomes are recorded. (Threads can share a claim only behind a lock.)
    claims: Vec<Weak<Mutex<Claim>>>,
    /// Whether the last claim found nothing else that is due.
    pub(super) none_due: bool,
}

pub(super) struct ClaimedLetter {
    pub(super) dispatch: Arc<Claimed>,
    /// It was under way when the server began to refuse everything.
    pub(super) is_before_outage: bool,
    /// Ends when the outcomes of all its letters are recorded.
    _claim: Arc<Mutex<Claim>>,
}

impl ClaimedLetter {
    fn new(dispatch: &Arc<Claimed>, claim: &Arc<Mutex<Claim>>) -> ClaimedLetter {
        ClaimedLetter { dispatch: Arc::clone(dispatch), is_before_outage: false, _claim: Arc::clone(claim) }
    }
}

impl InFlight {
    /// Returns how many more letters can be claimed now if there may be `most`: many or none, because each claim costs a
    /// transaction.
    fn room(&mut self, most: usize) -> usize {
        self.claims.retain(|claim| claim.strong_count() > 0);
        let unsent = self.unsent();
        if self.none_due || unsent > most / 2 || self.claims.len() >= MAX_CLAIMS {
            return 0;
        }
        most - unsent
    }

    pub(super) fn of(account: Account) -> InFlight {
        InFlight { recorded: account.clone(), account, ..InFlight::default() }
    }

    /// Returns the urgency of each letter that is not counted as sent yet.
    fn urgencies_under_way(&self) -> impl Iterator<Item = Urgency> {
        self.letters.values().chain(&self.done).map(|letter| letter.dispatch.urgency)
    }

    fn unsent(&self) -> usize {
        self.sending.len()
    }

    fn is_empty(&self) -> bool {
        self.sending.is_empty() && self.done.is_empty()
    }
}

impl Office {
    /// Sends dispatches until shutdown, then completes those in flight.
    pub async fn send_until(self: Arc<Self>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
        let mut backoff = Backoff::new();
        let mut in_flight = InFlight::default();
        let mut is_loaded = false;
        while !shutdown.is_set() {
            self.heartbeat.beat(Loop::Outbox);
            if !is_loaded {
                match self.load_account().await {
                    Ok(account) => (in_flight, is_loaded) = (InFlight::of(account), true),
                    Err(error) => {
                        backoff.wait("cannot read the outbox", &error, &shutdown).await;
                        continue;
                    }
                }
            }
            match self.send_some(&mut in_flight, &shutdown).await {
                Ok(()) => backoff = Backoff::new(),
                Err(error) => backoff.wait("cannot read the outbox", &error, &shutdown).await,
            }
        }
        for letter in in_flight.queue.clear() {
            in_flight.letters.remove(&letter.id);
        }
        while !in_flight.is_empty() {
            self.record_all(&mut in_flight).await?;
            if !in_flight.sending.is_empty() {
                self.next_outcome(&mut in_flight).await;
            }
        }
        Ok(())
    }

    async fn send_some(&self, in_flight: &mut InFlight, shutdown: &ShutdownSignal) -> anyhow::Result<()> {
        self.claim_some(in_flight).await?;
        if in_flight.is_empty() {
            self.note_idle(in_flight).await?;
        }
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
        let mut in_flight = InFlight::of(self.load_account().await?);
        loop {
            self.claim_some(&mut in_flight).await?;
            if in_flight.is_empty() {
                // What was given up may have queued a letter to the GM.
                if self.note_idle(&mut in_flight).await? {
                    continue;
                }
                return Ok(());
            }
            self.next_outcome(&mut in_flight).await;
            self.record_if_many(&mut in_flight).await?;
        }
    }

    /// Claims what is due, as far as there is room, and starts sending it.
    pub(super) async fn claim_some(&self, in_flight: &mut InFlight) -> anyhow::Result<()> {
        let gate = in_flight.account.gate(self.now());
        self.outbox.suspend(gate == Gate::Closed);
        let is_limited = !self.config.outbox.quota.is_unlimited();
        let most = if is_limited { MAX_IN_FLIGHT_IF_LIMITED } else { MAX_IN_FLIGHT };
        let room = match gate {
            Gate::Open => in_flight.room(most),
            Gate::Probe(letters) => in_flight.room(most).min(letters.saturating_sub(in_flight.unsent())),
            Gate::Closed => 0,
        };
        if room == 0 {
            return Ok(());
        }
        let order = match in_flight.account.tries_another() {
            true => ClaimOrder::FewestTries,
            false => ClaimOrder::MostUrgent,
        };
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        if !is_limited {
            let claimed = self.claim(in_flight, &DispatchScope::all(room, order)).await?;
            in_flight.none_due = claimed < room;
            return Ok(());
        }
        self.claim_within_quota(in_flight, room, order).await
    }

    /// Claims as many letters as the quota allows, in order. Each group of urgencies has its own part of a day.
    async fn claim_within_quota(
        &self,
        in_flight: &mut InFlight,
        room: u32,
        order: ClaimOrder,
    ) -> anyhow::Result<()> {
        let sent = self.store.sent_counts(self.now()).await?;
        let sent = with_under_way(sent, in_flight.urgencies_under_way());
        if order == ClaimOrder::FewestTries {
            let scope = Allowance::of(&self.config.outbox.quota, &sent).scope_of_all(room);
            in_flight.none_due = scope.limit == 0 || self.claim(in_flight, &scope).await? == 0;
            return Ok(());
        }
        let mut claimed = Vec::new();
        for group in UrgencyGroup::ALL {
            let taken = with_under_way(sent.clone(), claimed.iter().copied());
            let allowed = Allowance::of(&self.config.outbox.quota, &taken).of_group(group);
            let left = room.saturating_sub(u32::try_from(claimed.len()).unwrap_or(u32::MAX));
            let scope =
                DispatchScope { limit: allowed.min(left), order, urgencies: group.urgencies().to_vec() };
            if scope.limit > 0 {
                let more = self.claim(in_flight, &scope).await?;
                claimed.extend((0..more).map(|_| group.urgencies()[0]));
            }
        }
        // What the quota holds back is looked for again at the next poll.
        in_flight.none_due = claimed.is_empty();
        Ok(())
    }

    /// Claims letters, starts sending them, and returns how many.
    async fn claim(&self, in_flight: &mut InFlight, scope: &DispatchScope) -> anyhow::Result<u32> {
        let (mut claimed, claim) = self.store.claim_dispatches_of(self.now(), scope).await?;
        self.give_return_ids(&mut claimed).await?;
        let number = u32::try_from(claimed.len()).unwrap_or(u32::MAX);
        let claim = Arc::new(Mutex::new(claim));
        in_flight.claims.push(Arc::downgrade(&claim));
        for dispatch in claimed {
            let dispatch = Arc::new(dispatch);
            let letter = ClaimedLetter::new(&dispatch, &claim);
            in_flight.letters.insert(dispatch.id, letter);
            in_flight.queue.add(dispatch);
            self.send_next(in_flight);
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

    /// Starts a task that sends the letter whose turn it is.
    fn send_next(&self, in_flight: &mut InFlight) {
        let config = Arc::clone(&self.config);
        let outbox = Arc::clone(&self.outbox);
        let queue = Arc::clone(&in_flight.queue);
        let under_way = self.traffic.enter();
        in_flight.sending.spawn(async move {
            let _under_way = under_way;
            let (dispatch, permit) = queue.next(&outbox).await?;
            let permit = match permit {
                Ok(permit) => permit,
                Err(error) => return Some(Err(error)),
            };
            let Claimed { recipient, bytes, return_id, .. } = &*dispatch;
            let return_path = config.club.return_path_of(return_id.as_ref());
            let letter = Outgoing { return_path: Some(return_path.as_str()), to: recipient, bytes };
            let sent = send_smaller_if_refused(&outbox, &permit, &letter).await;
            queue.finish(recipient);
            Some(sent)
        });
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
        joined: Result<(Id, Option<Result<String, SendError>>), JoinError>,
    ) {
        let has_panicked = joined.is_err();
        let (id, sent) = match joined {
            Ok(ended) => ended,
            // Its letter is tried again later; at once, it would panic again.
            Err(error) => (error.id(), Some(Err(SendError::NotNow("sending it failed".into())))),
        };
        let Some(dispatch) = in_flight.queue.take(id) else { return };
        let Some((letter, sent)) = in_flight.letters.remove(&dispatch.id).zip(sent) else { return };
        if has_panicked {
            in_flight.queue.finish(&dispatch.recipient);
        }
        self.note_sending(in_flight, letter, sent);
        in_flight.record_by.get_or_insert_with(|| Instant::now() + RECORD_WITHIN);
        let gate = in_flight.account.gate(self.now());
        self.outbox.suspend(gate == Gate::Closed);
    }

    /// Records outcomes once they are many, or nothing else is in flight.
    async fn record_if_many(&self, in_flight: &mut InFlight) -> anyhow::Result<()> {
        if in_flight.done.len() >= OUTCOMES_AT_ONCE || in_flight.sending.is_empty() {
            self.record_all(in_flight).await?;
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
    permit: &SendPermit<'_>,
    letter: &Outgoing<'_>,
) -> Result<String, SendError> {
    let sent = outbox.send_with(permit, letter).await;
    match &sent {
        Err(error) if error.class() == RefusalClass::Letter => match without_pictures(letter.bytes) {
            Some(bytes) => outbox.send_with(permit, &Outgoing { bytes: &bytes, ..*letter }).await,
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
        let (claimed, claim) = office.store.claim_dispatches(NOW, 1).await.expect("the database answers");
        let mut in_flight = InFlight::default();
        let claim = Arc::new(Mutex::new(claim));
        for dispatch in claimed.into_iter().map(Arc::new) {
            let letter = ClaimedLetter::new(&dispatch, &claim);
            in_flight.letters.insert(dispatch.id, letter);
            in_flight.queue.add(dispatch);
        }
        let (queue, outbox) = (Arc::clone(&in_flight.queue), Arc::clone(&office.outbox));
        in_flight.sending.spawn(async move {
            let _letter = queue.next(&outbox).await;
            panic!("a fault in a library")
        });
        office.next_outcome(&mut in_flight).await;
        office.record_all(&mut in_flight).await.expect("the database answers");
        let row = &office.store.list_dispatches(true, 1).await.expect("the database answers")[0];
        assert_eq!((row.tries, row.given_up, row.error.as_str()), (1, false, "deferred: sending it failed"));
    }
}
