//! Records what became of attempts to send, and does what follows: marks seats whose letters were given up, and tells the
//! GM of them, or of an outage.

use super::outbox::{InFlight, Sending};
use crate::daemon::Office;
use crate::daemon::batch::commit::is_transient;
use crate::daemon::decide::sending::{self, ACCOUNT, Account, Event, FollowUp, Outage, Refused};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::gm::alarm;
use crate::desk::outbox::returned::follow_up;
use crate::post::outbox::SendError;
use crate::post::without_addresses;
use crate::store::{Claim, Claimed, SendOutcome};

impl Office {
    /// Returns what was recorded of the account that sends letters.
    pub(super) async fn load_account(&self) -> anyhow::Result<Account> {
        Ok(sending::read(self.store.remembered(ACCOUNT).await?.as_deref()))
    }

    /// Notes that the server took a letter.
    pub(super) fn note_taken(&self, sending: &mut Sending, letter: &InFlight, answer: &str) {
        let dispatch = &*letter.dispatch;
        let answer = without_addresses(answer);
        tracing::debug!(dispatch_id = dispatch.id, kind = %dispatch.kind, answer, "sent");
        self.heartbeat.note_sent(self.now());
        let account = &mut sending.account;
        let was_out = account.outage.is_some();
        let outcome = match letter.is_before_outage {
            true => account.note_taken_before_outage(&dispatch.into()),
            false => account.note_taken(&dispatch.into()),
        };
        if was_out && account.outage.is_none() {
            tracing::info!("the mail server takes letters again");
        }
        account.note_when_taken(self.now(), dispatch);
        sending.outcomes.push((dispatch.id, outcome));
    }

    /// Decides what becomes of a letter that was not taken.
    pub(super) fn note_refused(&self, sending: &mut Sending, letter: &InFlight, error: &SendError) {
        let dispatch = &*letter.dispatch;
        let refused = Refused::of(error);
        let was_out = sending.account.outage.is_some();
        let outcomes = sending.account.note_refused(self.now(), &dispatch.into(), &refused);
        log_refusal(dispatch, &refused, &outcomes);
        if let Some(outage) = sending.account.outage.as_ref().filter(|_| !was_out) {
            let error = without_addresses(&outage.error);
            tracing::error!(error, until = %outage.until, "the mail server refuses everything; all letters wait");
            sending.in_flight.values_mut().for_each(|letter| letter.is_before_outage = true);
        }
        sending.outcomes.extend(outcomes);
    }

    /// Records all outcomes, and does what follows from them.
    pub(super) async fn record_all(&self, sending: &mut Sending) -> anyhow::Result<()> {
        if sending.outcomes.is_empty() {
            return Ok(());
        }
        self.record(sending).await?;
        self.follow_up(sending).await?;
        Ok(())
    }

    async fn record(&self, sending: &mut Sending) -> anyhow::Result<()> {
        let account = match sending.account == sending.recorded {
            true => None,
            false => Some(serde_json::to_string(&sending.account)?),
        };
        let memo = account.as_deref().map(|account| (ACCOUNT, account));
        self.store.record_sending(Claim::default(), self.now(), &sending.outcomes, memo).await?;
        sending.recorded = sending.account.clone();
        sending.record_by = None;
        // The claims end here, so that nobody else sends the same letters before their outcomes are recorded.
        sending.outcomes.clear();
        let tried = std::mem::take(&mut sending.tried);
        sending.release(&tried);
        Ok(())
    }

    /// Does what follows when nothing is in flight or due. Returns whether that may have queued a letter.
    pub(super) async fn note_idle(&self, sending: &mut Sending) -> anyhow::Result<bool> {
        sending.account.note_idle();
        self.follow_up(sending).await
    }

    /// Does what is left to do about letters, and tells the GM of an outage. Returns whether there was anything to do.
    pub(super) async fn follow_up(&self, sending: &mut Sending) -> anyhow::Result<bool> {
        // The account forgets what is to be done only once it is done: the database may not answer.
        let mut account = sending.account.clone();
        let follow_ups = std::mem::take(&mut account.follow_ups);
        let outage = account.take_alarm(self.now());
        if follow_ups.is_empty() && outage.is_none() {
            return Ok(false);
        }
        for FollowUp { message_id, event } in follow_ups {
            for row in self.store.dispatches_named(&[message_id]).await? {
                if matches!(event, Event::GivenUp { .. }) && !row.given_up {
                    // It was queued again by hand.
                    continue;
                }
                self.settle_sending(move |desk| follow_up(desk, &row, event)).await?;
            }
        }
        if let Some(outage) = outage {
            self.tell_of_outage(outage).await?;
        }
        sending.account = account;
        self.record(sending).await?;
        // A letter to the GM is due.
        sending.none_due = false;
        Ok(true)
    }

    /// Tells the GM that nothing can be sent; the letter is the first that goes when the server takes mail again.
    pub(super) async fn tell_of_outage(&self, outage: Outage) -> anyhow::Result<()> {
        let waiting = self.store.queues().await?.dispatches_waiting;
        self.settle_sending(move |desk| alarm::cannot_send(desk, &outage, waiting)).await
    }

    /// Decides what follows from an attempt to send, and commits it.
    async fn settle_sending(
        &self,
        decide: impl Fn(&mut Desk<'_>) -> Decided<()> + Send + Sync + 'static,
    ) -> anyhow::Result<()> {
        match self.decide_and_commit(decide).await {
            Err(error) if is_transient(&error) => Err(error),
            // It would fail again, and other letters must not wait for it. If the program was killed after this commit and
            // before it was recorded, the letter to the GM is queued already, and its Message-ID is taken.
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "failed to follow up what became of a letter");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}

fn log_refusal(dispatch: &Claimed, refused: &Refused, outcomes: &[(i64, SendOutcome)]) {
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
