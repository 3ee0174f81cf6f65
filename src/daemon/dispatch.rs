//! The outbox: every dispatch is tried until it is taken over or cannot be.
//!
//! More are claimed as soon as there is room: one that a slow server keeps waiting holds up nobody but its own reader.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use chrono::TimeDelta;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;

use super::pulse::Loop;
use super::{Office, Pause, rest};
use crate::post::outbox::{Outgoing, SendError};
use crate::post::{ShutdownSignal, without_addresses};
use crate::store::{Claim, Claimed, SendOutcome};

/// Letters on their way at the same time, those that wait for their reader's among them.
const AT_ONCE: usize = 256;

/// Claims held at the same time: each may be a connection to the database.
const CLAIMS_AT_ONCE: usize = 6;

/// So many that are through are noted at once, some times as many as the store writes with one statement, and fewer when
/// nothing else is to be done.
const NOTED_TOGETHER: usize = 128;

/// None that is through waits longer to be noted: whoever is killed before sends it again.
const NOTED_WITHIN: Duration = Duration::from_millis(50);

/// After so many tries a dispatch is given up: with the pauses between them, about five days.
const TRIES_AT_MOST: u32 = 32;

/// The longest pause between two tries.
const LONGEST_PAUSE: TimeDelta = TimeDelta::hours(4);

/// Letters that are being sent: those to different readers side by side, those to one reader one after the other, a
/// receipt before the report that it brought.
#[derive(Default)]
struct OnTheWay {
    sending: JoinSet<Result<String, SendError>>,
    /// What each of the tasks sends.
    letters: HashMap<Id, Letter>,
    /// The readers to whom a letter is being sent, and what waits behind it.
    behind: BTreeMap<String, VecDeque<Letter>>,
    /// What came of those that are through, until it is noted.
    through: Vec<(Letter, SendOutcome)>,
    /// When the first of them is to be noted.
    note_by: Option<Instant>,
    /// Those whose letters are not all noted. (A claim may be shared by threads only behind a lock.)
    claims: Vec<Weak<Mutex<Claim>>>,
    /// Whether nothing else was due when it was last asked.
    none_due: bool,
}

struct Letter {
    dispatch: Arc<Claimed>,
    /// Ends when all letters of the claim are noted.
    _claim: Arc<Mutex<Claim>>,
}

impl OnTheWay {
    /// How many letters more can be sent now; many or none, since each claim costs.
    fn room(&mut self) -> usize {
        self.claims.retain(|claim| claim.strong_count() > 0);
        let unsent = self.letters.len() + self.behind.values().map(VecDeque::len).sum::<usize>();
        match self.none_due || unsent > AT_ONCE / 2 || self.claims.len() >= CLAIMS_AT_ONCE {
            true => 0,
            false => AT_ONCE - unsent,
        }
    }

    fn is_empty(&self) -> bool {
        self.letters.is_empty() && self.through.is_empty()
    }
}

impl Office {
    /// Sends what waits to be sent, until `stop`; then what has begun is finished.
    pub(super) async fn dispatch_until(self: Arc<Self>, stop: ShutdownSignal) -> anyhow::Result<()> {
        let mut pause = Pause::new();
        let mut way = OnTheWay::default();
        while !stop.is_set() {
            self.pulse.beat(Loop::Dispatch);
            let gone_on = async {
                self.claim_some(&mut way).await?;
                let note_by = way.note_by;
                tokio::select! {
                    () = self.next_through(&mut way) => return self.note_many(&mut way).await,
                    () = at(note_by) => {}
                    () = rest(&self.dispatches, &stop) => way.none_due = false,
                }
                self.note_all(&mut way).await
            };
            match gone_on.await {
                Ok(()) => pause = Pause::new(),
                Err(error) => pause.after_failure("the outbox cannot be read", &error, &stop).await,
            }
        }
        way.behind.clear();
        while !way.is_empty() {
            self.note_all(&mut way).await?;
            if !way.letters.is_empty() {
                self.next_through(&mut way).await;
            }
        }
        Ok(())
    }

    /// Sends everything that is due to be sent now.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn dispatch_all(&self) -> anyhow::Result<()> {
        let mut way = OnTheWay::default();
        loop {
            self.claim_some(&mut way).await?;
            if way.is_empty() {
                return Ok(());
            }
            self.next_through(&mut way).await;
            self.note_many(&mut way).await?;
            // What is noted may have brought other letters.
            way.none_due &= !way.is_empty();
        }
    }

    /// Claims what is due, as far as there is room, and begins to send it.
    async fn claim_some(&self, way: &mut OnTheWay) -> anyhow::Result<()> {
        let room = way.room();
        if room == 0 {
            return Ok(());
        }
        let (claimed, claim) =
            self.store.claim_dispatches(self.now(), u32::try_from(room).unwrap_or(u32::MAX)).await?;
        way.none_due = claimed.len() < room;
        let claim = Arc::new(Mutex::new(claim));
        way.claims.push(Arc::downgrade(&claim));
        for dispatch in claimed {
            let letter = Letter { dispatch: Arc::new(dispatch), _claim: Arc::clone(&claim) };
            match way.behind.get_mut(&letter.dispatch.recipient) {
                Some(behind) => behind.push_back(letter),
                None => {
                    way.behind.insert(letter.dispatch.recipient.clone(), VecDeque::new());
                    self.send(way, letter);
                }
            }
        }
        Ok(())
    }

    fn send(&self, way: &mut OnTheWay, letter: Letter) {
        let return_path = self.config.club.return_path().as_str().to_owned();
        let (poster, dispatch) = (Arc::clone(&self.poster), Arc::clone(&letter.dispatch));
        let task = way.sending.spawn(async move {
            let Claimed { recipient, bytes, .. } = &*dispatch;
            poster.send(&Outgoing { return_path: Some(&return_path), to: recipient, bytes }).await
        });
        way.letters.insert(task.id(), letter);
    }

    /// Waits until a letter is through, for ever if none is on its way. It can be broken off anywhere.
    async fn next_through(&self, way: &mut OnTheWay) {
        match way.sending.join_next_with_id().await {
            Some(joined) => self.is_through(way, joined),
            None => std::future::pending().await,
        }
        while let Some(joined) = way.sending.try_join_next_with_id() {
            self.is_through(way, joined);
        }
    }

    fn is_through(&self, way: &mut OnTheWay, joined: Result<(Id, Result<String, SendError>), JoinError>) {
        let (id, sent) = match joined {
            Ok((id, sent)) => (id, Some(sent)),
            // Of a task that panicked nothing is noted: its letter is tried again.
            Err(error) => (error.id(), None),
        };
        let Some(letter) = way.letters.remove(&id) else { return };
        let reader = letter.dispatch.recipient.clone();
        if let Some(sent) = sent {
            let outcome = self.outcome(&letter.dispatch, sent);
            way.through.push((letter, outcome));
            way.note_by.get_or_insert_with(|| Instant::now() + NOTED_WITHIN);
        }
        match way.behind.get_mut(&reader).and_then(VecDeque::pop_front) {
            Some(next) => self.send(way, next),
            None => drop(way.behind.remove(&reader)),
        }
    }

    /// Notes what came of those that are through, when they are many or all.
    async fn note_many(&self, way: &mut OnTheWay) -> anyhow::Result<()> {
        if way.through.len() >= NOTED_TOGETHER || way.letters.is_empty() {
            self.note_all(way).await?;
        }
        Ok(())
    }

    async fn note_all(&self, way: &mut OnTheWay) -> anyhow::Result<()> {
        if way.through.is_empty() {
            return Ok(());
        }
        let results: Vec<_> =
            way.through.iter().map(|(letter, sent)| (letter.dispatch.id, sent.clone())).collect();
        // Their claims end when this is done: nobody else may try them before.
        self.store.record_outcomes(Claim::default(), self.now(), &results).await?;
        way.note_by = None;
        for (letter, sent) in std::mem::take(&mut way.through) {
            if let SendOutcome::GivenUp { error } = sent {
                // The GM is told.
                way.none_due = false;
                self.note_given_up(&letter.dispatch, &error).await?;
            }
        }
        Ok(())
    }

    fn outcome(&self, dispatch: &Claimed, sent: Result<String, SendError>) -> SendOutcome {
        let (dispatch_id, tries) = (dispatch.id, dispatch.tries + 1);
        match sent {
            Ok(said) => {
                let said = without_addresses(&said);
                tracing::debug!(dispatch_id, kind = %dispatch.kind, said, "sent");
                self.pulse.record_outcomes(self.now());
                SendOutcome::Taken
            }
            Err(error) if error.is_transient() && tries < TRIES_AT_MOST => {
                let (at, told) = (self.now() + pause_after(tries), without_addresses(&error.to_string()));
                tracing::warn!(dispatch_id, kind = %dispatch.kind, tries, error = told, again_at = %at, "not sent yet");
                SendOutcome::Later { at, error: error.to_string() }
            }
            Err(error) => {
                let told = without_addresses(&error.to_string());
                tracing::error!(dispatch_id, kind = %dispatch.kind, tries, error = told, "given up");
                SendOutcome::GivenUp { error: error.to_string() }
            }
        }
    }
}

/// Waits until then, for ever if there is no such moment.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Half a minute, doubled with each try, at most four hours.
fn pause_after(tries: u32) -> TimeDelta {
    TimeDelta::seconds(30_i64 << (tries - 1).min(9)).min(LONGEST_PAUSE)
}
