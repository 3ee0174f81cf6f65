//! Records what became of attempts to send, and does what follows: marks seats whose letters were given up, and tells the
//! GM of them, or of an outage.

use std::sync::Arc;

use anyhow::bail;

use super::outbox::{ClaimedLetter, InFlight};
use crate::daemon::Office;
use crate::daemon::batch::commit::is_transient;
use crate::daemon::decide::context::RulingContext;
use crate::daemon::decide::returned::{note_given_up, note_revived, note_sent_late};
use crate::daemon::decide::sending::{ACCOUNT, Account, Attempt, Outage, Refused};
use crate::daemon::decide::settings::Settings;
use crate::daemon::decide::undecided::Decided;
use crate::daemon::decide::{alarm, sending};
use crate::post::outbox::SendError;
use crate::post::without_addresses;
use crate::referee::{DispatchKind, TOLERATED_DELAY};
use crate::store::{Claim, SendOutcome, SendRecord, Settlement, StoreError, Urgency};

/// Maximum attempts to mark the seat of a dispatch that was given up, while others change the match.
const MAX_TRIES: usize = 20;

impl Office {
    /// Returns what was recorded of the account that sends letters.
    pub(super) async fn load_account(&self) -> anyhow::Result<Account> {
        Ok(sending::read(self.store.remembered(ACCOUNT).await?.as_deref()))
    }

    /// Decides what becomes of a letter that was tried.
    pub(super) fn note_sending(
        &self,
        in_flight: &mut InFlight,
        letter: ClaimedLetter,
        sent: Result<String, SendError>,
    ) {
        let dispatch = &letter.dispatch;
        let attempt = Attempt {
            id: dispatch.id,
            message_id: &dispatch.message_id,
            recipient: &dispatch.recipient,
            tries: dispatch.tries,
        };
        match sent {
            Ok(answer) => {
                let answer = without_addresses(&answer);
                tracing::debug!(dispatch_id = dispatch.id, kind = %dispatch.kind, answer, "sent");
                self.heartbeat.note_sent(self.now());
                let was_out = in_flight.account.outage.is_some();
                let outcome = match letter.is_before_outage {
                    true => in_flight.account.note_taken_before_outage(&attempt),
                    false => in_flight.account.note_taken(&attempt),
                };
                if was_out && in_flight.account.outage.is_none() {
                    tracing::info!("the mail server takes letters again");
                }
                in_flight.outcomes.push((dispatch.id, outcome));
                let delay = self.now() - dispatch.created_at;
                let may_open_a_phase =
                    matches!(dispatch.kind, DispatchKind::Invitation | DispatchKind::Report);
                if dispatch.seat.is_some() && may_open_a_phase && delay > TOLERATED_DELAY {
                    in_flight.account.note_late(&dispatch.message_id);
                }
                *in_flight.taken.entry(dispatch.urgency).or_default() += 1;
            }
            // It was not tried, so it is due as before.
            Err(SendError::Suspended) => {}
            Err(error) => {
                let was_out = in_flight.account.outage.is_some();
                let refused = Refused::of(&error);
                let outcomes = in_flight.account.note_refused(self.now(), &attempt, &refused);
                log_refusal(&letter, &refused, &outcomes);
                match &in_flight.account.outage {
                    Some(outage) if !was_out => {
                        let error = without_addresses(&outage.error);
                        tracing::error!(error, until = %outage.until, "the mail server refuses everything; all letters wait");
                        in_flight.letters.values_mut().for_each(|letter| letter.is_before_outage = true);
                    }
                    Some(_) | None => {}
                }
                in_flight.outcomes.extend(outcomes);
            }
        }
        in_flight.done.push(letter);
    }

    /// Records all outcomes, and does what follows from them.
    pub(super) async fn record_all(&self, in_flight: &mut InFlight) -> anyhow::Result<()> {
        if in_flight.done.is_empty() {
            return Ok(());
        }
        self.record(in_flight).await?;
        in_flight.record_by = None;
        // The claims end here, so that nobody else sends the same letters before their outcomes are recorded.
        in_flight.done.clear();
        self.follow_up(in_flight).await?;
        Ok(())
    }

    async fn record(&self, in_flight: &mut InFlight) -> anyhow::Result<()> {
        let account = match in_flight.account == in_flight.recorded {
            true => None,
            false => Some(serde_json::to_string(&in_flight.account)?),
        };
        let memo = account.as_deref().map(|account| (ACCOUNT, account));
        let taken: Vec<(Urgency, u32)> =
            in_flight.taken.iter().map(|(urgency, sent)| (*urgency, *sent)).collect();
        let record = SendRecord { outcomes: &in_flight.outcomes, memo, taken: &taken };
        self.store.record_sending(Claim::default(), self.now(), &record).await?;
        in_flight.recorded = in_flight.account.clone();
        in_flight.outcomes.clear();
        in_flight.taken.clear();
        Ok(())
    }

    /// Does what follows when nothing is in flight or due. Returns whether that may have queued a letter.
    pub(super) async fn note_idle(&self, in_flight: &mut InFlight) -> anyhow::Result<bool> {
        in_flight.account.note_idle();
        self.follow_up(in_flight).await
    }

    /// Marks the seats of letters that were given up, clears the marks of those that are queued again after all, and tells
    /// the GM of an outage. Returns whether there was anything to do.
    pub(super) async fn follow_up(&self, in_flight: &mut InFlight) -> anyhow::Result<bool> {
        // The account forgets what is to be done only once it is done: the database may not answer.
        let mut account = in_flight.account.clone();
        let unmarked = std::mem::take(&mut account.unmarked);
        let to_restore = std::mem::take(&mut account.to_restore);
        let late = std::mem::take(&mut account.late);
        let outage = account.take_alarm(self.now());
        if unmarked.is_empty() && to_restore.is_empty() && late.is_empty() && outage.is_none() {
            return Ok(false);
        }
        let ids: Vec<String> = unmarked.iter().map(|given_up| given_up.message_id.clone()).collect();
        for row in self.store.dispatches_named(&ids).await?.into_iter().filter(|row| row.given_up) {
            let found = unmarked.iter().find(|given_up| given_up.message_id == row.message_id);
            let is_undeliverable = found.is_some_and(|given_up| given_up.is_undeliverable);
            let decide = move |settings: &Settings, context: &RulingContext| {
                note_given_up(settings, context, &row, is_undeliverable)
            };
            self.settle_sending(decide).await?;
        }
        for row in self.store.dispatches_named(&to_restore).await? {
            self.settle_sending(move |settings, context| note_revived(settings, context, &row)).await?;
        }
        for row in self.store.dispatches_named(&late).await? {
            self.settle_sending(move |settings, context| note_sent_late(settings, context, &row)).await?;
        }
        if let Some(outage) = outage {
            self.tell_of_outage(outage).await?;
        }
        in_flight.account = account;
        self.record(in_flight).await?;
        // A letter to the GM is due.
        in_flight.none_due = false;
        Ok(true)
    }

    /// Tells the GM that nothing can be sent; the letter is the first that goes when the server takes mail again.
    pub(super) async fn tell_of_outage(&self, outage: Outage) -> anyhow::Result<()> {
        let waiting = self.store.queues().await?.dispatches_waiting;
        self.settle_sending(move |settings, context| alarm::cannot_send(settings, context, &outage, waiting))
            .await
    }

    /// Decides what follows from an attempt to send, and commits it.
    async fn settle_sending(
        &self,
        decide: impl Fn(&Settings, &RulingContext) -> Decided<Settlement> + Send + Sync + 'static,
    ) -> anyhow::Result<()> {
        let decide = Arc::new(decide);
        for _ in 0..MAX_TRIES {
            let context = self.new_context().await?;
            let decide = Arc::clone(&decide);
            let deciding = self.decide(context, move |settings, context, _| decide(settings, context));
            let settlement = match deciding.await {
                Ok((settlement, _)) => settlement,
                Err(error) if is_transient(&error) => return Err(error),
                // It would fail again, and other letters must not wait for it.
                Err(error) => {
                    tracing::error!(error = format!("{error:#}"), "cannot decide what follows from a letter");
                    return Ok(());
                }
            };
            match self.store.commit(&settlement).await {
                Ok(()) => return Ok(()),
                Err(StoreError::Stale(_)) => {}
                Err(error) if error.is_transient() => return Err(error.into()),
                // If the program was killed after this commit and before it was recorded, the letter to the GM is queued
                // already, and its Message-ID is taken.
                Err(error) => {
                    tracing::error!(%error, "cannot note what became of a letter");
                    return Ok(());
                }
            }
        }
        bail!("others keep changing the match of a letter");
    }
}

fn log_refusal(letter: &ClaimedLetter, refused: &Refused, outcomes: &[(i64, SendOutcome)]) {
    let dispatch = &letter.dispatch;
    let (dispatch_id, attempts) = (dispatch.id, dispatch.tries + 1);
    let error = without_addresses(&refused.error);
    for (id, outcome) in outcomes {
        match outcome {
            SendOutcome::GivenUp { .. } => {
                tracing::error!(dispatch_id, kind = %dispatch.kind, attempts, error, "gave up sending");
            }
            SendOutcome::Later { at, .. } if *id == dispatch_id => {
                tracing::warn!(dispatch_id, kind = %dispatch.kind, attempts, error, retry_at = %at, "not sent yet");
            }
            SendOutcome::Later { .. } => tracing::info!(dispatch_id = id, "queued again"),
            SendOutcome::Taken => {}
        }
    }
}
