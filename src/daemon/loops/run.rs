//! All loops together: until shutdown, or once.

use std::sync::Arc;

use anyhow::Context as _;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::clock::OUTAGE_BETWEEN_RUNS;
use crate::daemon::waiting::{flatten, wind_down};
use crate::daemon::{Office, sending};
use crate::post::{Batch, Health, ShutdownSignal};

impl Office {
    /// Runs every loop until `shutdown`. Work that the loops cannot finish in time is rolled back, and done after the
    /// next start.
    ///
    /// # Errors
    /// Returns the error that ended one of the loops for good.
    pub async fn run(self: Arc<Self>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
        let (stopper, until) = ShutdownSignal::new();
        // Only the daemon that reads the mailbox knows its health.
        let (health, watched) = watch::channel(Health::default());
        let mut loops = JoinSet::new();
        loops.spawn(Arc::clone(&self).settle_letters_until(until.clone()));
        loops.spawn(sending::send_until(Arc::clone(&self), until.clone()));
        loops.spawn(Arc::clone(&self).play_house_until(until.clone()));
        loops.spawn(Arc::clone(&self).pass_on_wakeups_until(until.clone()));
        loops.spawn(Arc::clone(&self).note_status_until(until.clone(), watched));
        loops.spawn(Arc::clone(&self).renew_logins_until(until.clone()));
        loops.spawn(Arc::clone(&self).feed_watchdog_until(until.clone()));
        loops.spawn(self.read_mailbox_until(until, health));
        let ended = tokio::select! {
            ended = loops.join_next() => flatten(ended),
            () = shutdown.wait() => Ok(()),
        };
        stopper.stop();
        wind_down(loops).await;
        ended
    }

    /// Runs each step once: stores the letters in the mailbox, settles them, enforces deadlines, and sends.
    ///
    /// # Errors
    /// Returns an error if the mailbox cannot be read, or if the database does not answer.
    pub async fn once(&self) -> anyhow::Result<()> {
        let has_room = self.has_room().await;
        if has_room {
            self.read_again_if_restored().await?;
            let (to, batches) = mpsc::channel::<Batch>(2);
            let (drained, ()) =
                tokio::join!(self.config.inbox.clone().drain(to), self.store_until_closed(batches));
            drained.context("the mailbox")?;
        }
        self.settle_all().await?;
        // While the mailbox is not read, nobody is late.
        if has_room {
            self.clock_all(OUTAGE_BETWEEN_RUNS).await?;
        }
        self.house_all().await?;
        // An audit that fails must not keep letters from being sent.
        let audited = self.audit_when_due().await;
        sending::send_due(self).await?;
        self.renew_logins_when_due().await;
        self.note_one_run(has_room).await?;
        audited
    }
}
