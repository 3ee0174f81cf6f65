//! Letters are kept before anybody looks at them, and before the mailbox is told anything.

use anyhow::Context;
use chrono::{DateTime, Utc};
use mail_parser::MessageParser;
use tokio::sync::mpsc;

use super::{Office, Pause};
use crate::letter::Digest;
use crate::post::{Arrived, Batch, Stop};
use crate::store::{NewLetter, RESTORED, TO_BE_READ_AGAIN};

impl Office {
    /// Keeps batch after batch until the inbox has closed its end.
    pub(super) async fn take_in_until_closed(&self, mut batches: mpsc::Receiver<Batch>) {
        while let Some(batch) = batches.recv().await {
            let letters: Vec<_> = batch.letters.into_iter().map(new_letter).collect();
            match self.store.take_in(&letters).await {
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
    pub(super) async fn read_again_until(&self, stop: &Stop) {
        let mut pause = Pause::new();
        while let Err(error) = self.read_again_if_restored().await {
            pause.after_failure("processed letters cannot be read again", &error, stop).await;
            if stop.is_set() {
                return;
            }
        }
        stop.wait().await;
    }
}

/// A letter as it is kept. Only what tells a repeated letter is read from it here.
pub fn new_letter(arrived: Arrived) -> NewLetter {
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
        whence: arrived.whence,
        raw: arrived.raw,
    }
}

fn received_at(at: DateTime<Utc>) -> DateTime<Utc> {
    crate::ledger::to_millis(at)
}
