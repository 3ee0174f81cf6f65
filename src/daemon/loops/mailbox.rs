//! Reads the mailbox while this daemon has its lease, watches the clock and audits the matches.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::clock;
use crate::daemon::heartbeat::Loop;
use crate::daemon::intake::outage;
use crate::daemon::waiting::{RetryPause, flatten, pause, wind_down};
use crate::daemon::{Office, audit, away, intake, site};
use crate::post::{Health, LeftLetters, ShutdownSignal, without_addresses};
use crate::store::StoreError;

/// Time between a daemon's attempts to get or renew the mailbox's lease.
const LEASE_INTERVAL: Duration = Duration::from_secs(1);

/// Reads the mailbox whenever this daemon has its lease, until shutdown. The daemon that reads it also
/// watches the clock, since nobody is late while the mailbox cannot be read, and audits the matches.
///
/// # Errors
/// Returns the error that ended one of its loops for good.
pub async fn read_mailbox_until(
    office: Arc<Office>,
    shutdown: ShutdownSignal,
    health: watch::Sender<Health>,
) -> anyhow::Result<()> {
    let lease = office.config.inbox.name();
    let mut backoff = RetryPause::new();
    while !shutdown.is_set() {
        office.heartbeat.beat(Loop::Clock);
        match office.store.try_acquire_lease(&lease).await {
            Ok(true) => match intake::left_letters(&office).await {
                Ok(left) => {
                    backoff = RetryPause::new();
                    read_under_lease(&office, &lease, left, &shutdown, &health).await?;
                    health.send_replace(Health::default());
                    // The next holder of the lease may be another daemon, or this one with another mailbox.
                    office.store.release_lease(&lease).await;
                }
                Err(error) => fails(&office, &mut backoff, &error, &shutdown).await,
            },
            Ok(false) => pause(LEASE_INTERVAL, &shutdown).await,
            Err(StoreError::Replaced) => return Err(StoreError::Replaced.into()),
            Err(error) => fails(&office, &mut backoff, &error.into(), &shutdown).await,
        }
    }
    Ok(())
}

async fn fails(office: &Office, backoff: &mut RetryPause, error: &anyhow::Error, shutdown: &ShutdownSignal) {
    away::note_failure(office, error);
    backoff.wait("the database does not answer", error, shutdown).await;
}

async fn read_under_lease(
    office: &Arc<Office>,
    lease: &str,
    left: LeftLetters,
    shutdown: &ShutdownSignal,
    health: &watch::Sender<Health>,
) -> anyhow::Result<()> {
    tracing::info!(mailbox = without_addresses(lease), "reading the mailbox");
    let (stopper, until) = ShutdownSignal::new();
    // A small capacity, so that no more letters are fetched than can be stored soon.
    let (to, messages) = mpsc::channel(2);
    let inbox = office.config.inbox.clone();
    let inbox_health = health.clone();
    let inbox_until = until.clone();
    let mut loops = JoinSet::new();
    loops.spawn(clock::watch_clock_until(Arc::clone(office), until.clone(), health.subscribe()));
    loops.spawn(async move {
        inbox.run(left, to, inbox_until, inbox_health).await.context("failed to read the mailbox")
    });
    loops.spawn(audit::audit_until(Arc::clone(office), until.clone()));
    loops.spawn(outage::watch_mailbox_until(Arc::clone(office), until.clone(), health.subscribe()));
    loops.spawn(site::build_until(Arc::clone(office), until));
    let storing = Arc::clone(office);
    let notes = lease.to_owned();
    loops.spawn(async move {
        intake::store_until_closed(&storing, &notes, messages).await;
        Ok(())
    });
    let ended = tokio::select! {
        ended = loops.join_next() => flatten(ended),
        () = lose_lease(office, lease) => {
            tracing::warn!(mailbox = without_addresses(lease), "lost the lease; another daemon may read the mailbox");
            Ok(())
        }
        () = shutdown.wait() => Ok(()),
    };
    stopper.stop();
    wind_down(loops).await;
    ended
}

/// Returns when this daemon loses the lease, or may have.
async fn lose_lease(office: &Office, lease: &str) {
    // An error counts as a loss, too: two daemons must not read one mailbox.
    while let Ok(true) = office.store.try_acquire_lease(lease).await {
        tokio::time::sleep(LEASE_INTERVAL).await;
    }
}
