//! The outbox: every dispatch is tried until it is taken over or cannot be.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use tokio::task::JoinSet;

use super::pulse::Loop;
use super::{Office, Pause, rest};
use crate::post::outbox::{Outgoing, SendError};
use crate::post::{Stop, without_addresses};
use crate::store::{Claimed, Sent};

/// Dispatches claimed together.
const CLAIM: u32 = 64;

/// Sending has time limits of its own, which may add up to more than a loop may take to come round.
const BEAT_EVERY: Duration = Duration::from_secs(10);

/// After so many tries a dispatch is given up: with the pauses between them, about five days.
const TRIES_AT_MOST: u32 = 32;

impl Office {
    /// Sends what waits to be sent, until `stop`.
    pub(super) async fn dispatch_until(self: Arc<Self>, stop: Stop) -> anyhow::Result<()> {
        let mut pause = Pause::new();
        while !stop.is_set() {
            self.pulse.beat(Loop::Dispatch);
            match self.dispatch_some().await {
                Ok(0) => {
                    pause = Pause::new();
                    rest(&self.dispatches, &stop).await;
                }
                Ok(_) => pause = Pause::new(),
                Err(error) => pause.after_failure("the outbox cannot be read", &error, &stop).await,
            }
        }
        Ok(())
    }

    /// Sends everything that is due to be sent now.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn dispatch_all(&self) -> anyhow::Result<()> {
        while self.dispatch_some().await? > 0 {}
        Ok(())
    }

    async fn dispatch_some(&self) -> anyhow::Result<usize> {
        let now = self.now();
        let (claimed, claim) = self.store.claim_dispatches(now, CLAIM).await?;
        if claimed.is_empty() {
            return Ok(0);
        }
        let count = claimed.len();
        // One reader's letters go one after the other: a receipt before the report that it brought.
        let mut by_reader: BTreeMap<String, Vec<Claimed>> = BTreeMap::new();
        for dispatch in claimed {
            by_reader.entry(dispatch.recipient.clone()).or_default().push(dispatch);
        }
        let mut sending = JoinSet::new();
        for dispatches in by_reader.into_values() {
            let poster = Arc::clone(&self.poster);
            let return_path = self.config.club.return_path().as_str().to_owned();
            sending.spawn(async move {
                let mut sent = Vec::with_capacity(dispatches.len());
                for dispatch in dispatches {
                    let letter = Outgoing {
                        return_path: Some(&return_path),
                        to: &dispatch.recipient,
                        bytes: &dispatch.bytes,
                    };
                    let outcome = poster.send(&letter).await;
                    sent.push((dispatch, outcome));
                }
                sent
            });
        }
        let mut results = Vec::with_capacity(count);
        let mut given_up = Vec::new();
        let mut beats = tokio::time::interval(BEAT_EVERY);
        loop {
            let joined = tokio::select! {
                joined = sending.join_next() => joined,
                _ = beats.tick() => {
                    self.pulse.beat(Loop::Dispatch);
                    continue;
                }
            };
            let Some(joined) = joined else { break };
            // Of a task that panicked nothing is noted: its dispatches are tried again.
            for (dispatch, sent) in joined.unwrap_or_default() {
                let outcome = self.outcome(&dispatch, sent);
                if let Sent::GivenUp { error } = &outcome {
                    given_up.push((dispatch.clone(), error.clone()));
                }
                results.push((dispatch.id, outcome));
            }
        }
        self.store.note_sent(claim, self.now(), &results).await?;
        for (dispatch, error) in given_up {
            self.note_given_up(&dispatch, &error).await?;
        }
        Ok(count)
    }

    fn outcome(&self, dispatch: &Claimed, sent: Result<String, SendError>) -> Sent {
        let (dispatch_id, tries) = (dispatch.id, dispatch.tries + 1);
        match sent {
            Ok(said) => {
                let said = without_addresses(&said);
                tracing::debug!(dispatch_id, kind = dispatch.kind, said, "sent");
                self.pulse.note_sent(self.now());
                Sent::Taken
            }
            Err(error) if error.is_transient() && tries < TRIES_AT_MOST => {
                let (at, told) = (self.now() + pause_after(tries), without_addresses(&error.to_string()));
                tracing::warn!(dispatch_id, kind = dispatch.kind, tries, error = told, again_at = %at, "not sent yet");
                Sent::Later { at, error: error.to_string() }
            }
            Err(error) => {
                let told = without_addresses(&error.to_string());
                tracing::error!(dispatch_id, kind = dispatch.kind, tries, error = told, "given up");
                Sent::GivenUp { error: error.to_string() }
            }
        }
    }
}

/// Half a minute, doubled with each try, at most four hours.
fn pause_after(tries: u32) -> TimeDelta {
    TimeDelta::seconds((30_i64 << (tries - 1).min(9)).min(4 * 3600))
}
