//! Letters are kept before anybody looks at them, and before the mailbox is told anything.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use chrono::{DateTime, Utc};
use mail_parser::MessageParser;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::parallel::side_by_side;
use super::pulse::Loop;
use super::{Office, Pause, flat, until, wind_up};
use crate::letter::{Digest, Letter};
use crate::post::{Batch, FetchedLetter, Health, ShutdownSignal, without_addresses};
use crate::store::{NewLetter, RESTORED, TO_BE_READ_AGAIN};

/// How often a daemon asks whether it is the one that reads the mailbox.
const ASK_EVERY: Duration = Duration::from_secs(1);

impl Office {
    /// Reads the mailbox as long as nobody else does, until `stop`. Whoever reads it also watches the clock, since
    /// nobody is late while it cannot be read, and checks the matches.
    ///
    /// # Errors
    /// What ended one of its loops for good.
    pub(super) async fn read_until(
        self: Arc<Self>,
        stop: ShutdownSignal,
        health: watch::Sender<Health>,
    ) -> anyhow::Result<()> {
        let duty = self.config.inbox.name();
        let mut pause = Pause::new();
        while !stop.is_set() {
            self.pulse.beat(Loop::Clock);
            match self.store.try_acquire_lease(&duty).await {
                Ok(true) => {
                    pause = Pause::new();
                    self.read_while_on_duty(&duty, &stop, &health).await?;
                    health.send_replace(Health::default());
                    // The next to have it may be another daemon, or another mailbox this one's.
                    self.store.release_lease(&duty).await;
                }
                Ok(false) => tokio::select! {
                    () = tokio::time::sleep(ASK_EVERY) => {}
                    () = stop.wait() => {}
                },
                Err(error) => pause.after_failure("the database does not answer", &error.into(), &stop).await,
            }
        }
        Ok(())
    }

    async fn read_while_on_duty(
        self: &Arc<Self>,
        duty: &str,
        stop: &ShutdownSignal,
        health: &watch::Sender<Health>,
    ) -> anyhow::Result<()> {
        tracing::info!(mailbox = without_addresses(duty), "reading the mailbox");
        let (stopper, until) = ShutdownSignal::new();
        let (to, batches) = mpsc::channel::<Batch>(2);
        let (inbox, health, closed) = (self.config.inbox.clone(), health.clone(), until.clone());
        let mut loops = JoinSet::new();
        loops.spawn(Arc::clone(self).watch_clock_until(until.clone(), health.subscribe()));
        loops.spawn(async move { inbox.run(to, closed, health).await.context("the mailbox") });
        loops.spawn(Arc::clone(self).audit_until(until.clone()));
        loops.spawn(Arc::clone(self).read_again_until(until));
        let office = Arc::clone(self);
        loops.spawn(async move {
            office.take_in_until_closed(batches).await;
            Ok(())
        });
        let ended = tokio::select! {
            ended = loops.join_next() => flat(ended),
            () = self.lose_duty(duty) => {
                tracing::warn!(mailbox = without_addresses(duty), "another may read the mailbox now");
                Ok(())
            }
            () = stop.wait() => Ok(()),
        };
        stopper.stop();
        wind_up(loops).await;
        ended
    }

    /// Returns when the duty is no longer this daemon's, or cannot be told to be.
    async fn lose_duty(&self, duty: &str) {
        while let Ok(true) = self.store.try_acquire_lease(duty).await {
            tokio::time::sleep(ASK_EVERY).await;
        }
    }

    /// Keeps batch after batch until the inbox has closed its end.
    pub(super) async fn take_in_until_closed(&self, mut batches: mpsc::Receiver<Batch>) {
        while let Some(batch) = batches.recv().await {
            let letters = self.as_kept(batch.letters);
            match self.store.insert_letters(&letters).await {
                Ok(new) => {
                    tracing::info!(letters = letters.len(), new, "letters taken in");
                    // The inbox may have gone meanwhile: then it meets the letters again, as repeated ones.
                    let _ = batch.stored.send(());
                    self.letters.notify_one();
                }
                // Unanswered, the letters stay in the mailbox and are met again.
                Err(error) => tracing::error!(%error, "letters could not be kept; they stay in the mailbox"),
            }
        }
    }
}

impl Office {
    /// Letters as they are kept. Where several daemons share them it is asked at once which match they are about.
    fn as_kept(&self, letters: Vec<FetchedLetter>) -> Vec<NewLetter> {
        let mut letters: Vec<_> = letters.into_iter().map(new_letter).collect();
        if self.store.is_shared() {
            let tokens = side_by_side(&letters, |letter| self.tokens(&letter.raw));
            letters.iter_mut().zip(tokens).for_each(|(letter, tokens)| letter.tokens = tokens);
        }
        letters
    }

    /// The reply tokens in a letter; none where reading it panics.
    fn tokens(&self, raw: &[u8]) -> Vec<String> {
        let read = || match Letter::read(raw, &self.own, &self.config.letters.limits()) {
            Ok(letter) => letter.tokens,
            Err(unreadable) => unreadable.tokens,
        };
        let tokens = catch_unwind(AssertUnwindSafe(read)).unwrap_or_default();
        tokens.iter().map(ToString::to_string).collect()
    }

    /// After a restore: reads the letters that the mailbox has filed as processed once more. Those that the database
    /// knows are not kept again and not answered again; those that came since the backup was made are ruled on.
    pub(super) async fn read_again_if_restored(&self) -> anyhow::Result<()> {
        if self.store.remembered(RESTORED).await?.as_deref() != Some(TO_BE_READ_AGAIN) {
            return Ok(());
        }
        tracing::warn!("the database was restored: processed letters are read again");
        let processed = self.config.inbox.processed().context("the folder of processed letters")?;
        let (to, batches) = mpsc::channel::<Batch>(2);
        let (drained, ()) = tokio::join!(processed.drain(to), self.take_in_until_closed(batches));
        let letters = drained.context("the folder of processed letters")?;
        self.store.remember(RESTORED, &format!("{letters} letters read again {}", self.now())).await?;
        Ok(())
    }

    /// The same, tried until it is done; then it waits for `stop`.
    async fn read_again_until(self: Arc<Self>, stop: ShutdownSignal) -> anyhow::Result<()> {
        let mut pause = Pause::new();
        while !stop.is_set() {
            // It can be broken off anywhere.
            match until(&stop, self.read_again_if_restored()).await {
                Ok(()) => stop.wait().await,
                Err(error) => {
                    pause.after_failure("processed letters cannot be read again", &error, &stop).await
                }
            }
        }
        Ok(())
    }
}

/// A letter as it is kept. Only what tells a repeated letter is read from it here.
pub fn new_letter(arrived: FetchedLetter) -> NewLetter {
    let parsed = MessageParser::default().parse_headers(&arrived.raw);
    let message_id = parsed.as_ref().and_then(|mail| mail.message_id()).unwrap_or_default().to_owned();
    let sender = parsed.as_ref().and_then(|mail| mail.from()?.first()?.address()).unwrap_or_default();
    let subject = parsed.as_ref().and_then(|mail| mail.subject()).unwrap_or_default();
    let short = |text: &str| text.chars().filter(|c| !c.is_control()).take(200).collect::<String>();
    NewLetter {
        digest: Digest::of(&arrived.raw),
        message_id: short(&message_id),
        sender: short(sender).to_lowercase(),
        subject: short(subject),
        received_at: received_at(arrived.received_at),
        origin: arrived.origin,
        raw: arrived.raw,
        tokens: Vec::new(),
    }
}

fn received_at(at: DateTime<Utc>) -> DateTime<Utc> {
    crate::ledger::truncate_to_millis(at)
}
