//! The loops: each waits for work, calls the steps that do it, and backs off on failure.
//! They run together until shutdown, or once.
//!
//! Reads the mailbox while this daemon has its lease, watches the clock and audits the matches.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::daemon::heartbeat::Loop;
use crate::daemon::intake::outage;
use crate::daemon::status::{OUTAGE_BETWEEN_RUNS, note};
use crate::daemon::waiting::{RetryPause, flatten, pause, wait_for_work, wind_down};
use crate::daemon::{Office, Settled, audit, away, clock, house, intake, items, sending, site, suspects};
use crate::post::{Health, LeftLetters, ShutdownSignal, without_addresses};
use crate::store::{StoreError, Wakeup};

pub mod deadlines;
pub mod upkeep;

/// Runs every loop until `shutdown`. Work that the loops cannot finish in time is rolled back, and done after
/// the next start.
///
/// # Errors
/// Returns the error that ended one of the loops for good.
pub async fn run(office: Arc<Office>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
    let (stopper, until) = ShutdownSignal::new();
    // Only the daemon that reads the mailbox knows its health.
    let (health, watched) = watch::channel(Health::default());
    let mut loops = JoinSet::new();
    for _ in 0..SETTLERS {
        loops.spawn(settle_letters_until(Arc::clone(&office), until.clone()));
    }
    loops.spawn(sending::send_until(Arc::clone(&office), until.clone()));
    loops.spawn(house::play_house_until(Arc::clone(&office), until.clone()));
    loops.spawn(pass_on_wakeups_until(Arc::clone(&office), until.clone()));
    loops.spawn(note::note_status_until(Arc::clone(&office), until.clone(), watched));
    // Renew logins even on standby: a standby daemon does not use its login, and providers end unused ones.
    loops.spawn(note::renew_logins_until(Arc::clone(&office), until.clone()));
    loops.spawn(note::feed_watchdog_until(Arc::clone(&office), until.clone()));
    loops.spawn(read_mailbox_until(office, until, health));
    let ended = tokio::select! {
        ended = loops.join_next() => flatten(ended),
        () = shutdown.wait() => Ok(()),
    };
    stopper.stop();
    wind_down(loops).await;
    ended
}

/// Stores the letters in the mailbox. If it cannot be read, notes that, and sends the letters to the GM about
/// it.
async fn read_mailbox(office: &Office) -> anyhow::Result<()> {
    if let Err(pause) = outage::check_login_pause(office).await {
        sending::send_due(office).await?;
        return Err(pause.context("failed to read the mailbox"));
    }
    let inbox = office.config.inbox.clone();
    let left = intake::left_letters(office).await?;
    let name = inbox.name();
    let (to, messages) = mpsc::channel(2);
    let (health, found) = watch::channel(Health::default());
    let (drained, ()) =
        tokio::join!(inbox.drain(left, to, health), intake::store_until_closed(office, &name, messages));
    outage::note_one_run(office, drained.as_ref().map(|_| found.borrow().clone())).await?;
    if let Err(error) = drained {
        sending::send_due(office).await?;
        return Err(
            anyhow::anyhow!(office.config.inbox.explain(&error)).context("failed to read the mailbox")
        );
    }
    Ok(())
}

/// Runs each step once: stores the letters in the mailbox, settles them, enforces deadlines, builds the site, and
/// sends. While the clock is in doubt, only sends alarms. Returns whether enough space is free to read the mailbox.
///
/// # Errors
/// Returns an error if the mailbox cannot be read, or if the database does not answer.
pub async fn once(office: &Office) -> anyhow::Result<bool> {
    // Check the clock before reading the mailbox, which may fail for days.
    clock::is_trusted(office).await?;
    let has_room = away::has_room(office).await;
    if has_room {
        let read = read_mailbox(office).await;
        // A letter in the mailbox may have ended the doubt.
        if !clock::is_trusted(office).await? {
            sending::send_due(office).await?;
            note::note_one_run(office, false).await?;
            return Ok(true);
        }
        if read.is_err() {
            // Answer the letters stored before the mailbox failed. While it is not read, nobody is late.
            items::settle_all(office).await?;
            site::build_once(office).await?;
            sending::send_due(office).await?;
            note::note_one_run(office, false).await?;
            return read.map(|()| true);
        }
    }
    items::settle_all(office).await?;
    // While the mailbox is not read, nobody is late.
    if has_room {
        deadlines::clock_all(office, OUTAGE_BETWEEN_RUNS).await?;
    }
    house::house_all(office).await?;
    // An audit that fails must not keep letters from being sent.
    let audited = audit::audit_when_due(office).await;
    // Letters link pages of the site, so build it before they are sent.
    site::build_once(office).await?;
    sending::send_due(office).await?;
    note::renew_logins_when_due(office).await;
    note::note_one_run(office, has_room).await?;
    audited.map(|()| has_room)
}

/// The number of these loops: one decides on the next batch while the other commits.
pub const SETTLERS: usize = 2;

/// Decides on waiting letters until shutdown.
pub async fn settle_letters_until(office: Arc<Office>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
    let mut backoff = RetryPause::new();
    while !shutdown.is_set() {
        office.heartbeat.beat(Loop::Settle);
        suspects::ensure_few_threads_hang(&office)?;
        match settle_if_trusted(&office).await {
            Ok(settled) if settled.is_nothing() => {
                backoff = RetryPause::new();
                wait_for_work(&office.letters_arrived, &shutdown).await;
            }
            Ok(_) => backoff = RetryPause::new(),
            Err(error) => backoff.wait("failed to settle letters", &error, &shutdown).await,
        }
    }
    Ok(())
}

/// Decides on some letters, unless the clock is in doubt.
async fn settle_if_trusted(office: &Office) -> anyhow::Result<Settled> {
    if !clock::is_trusted(office).await? {
        return Ok(Settled::default());
    }
    items::settle_some(office, None).await
}

/// Wakes this daemon's loops when another process queues work.
pub async fn pass_on_wakeups_until(office: Arc<Office>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
    let mut backoff = RetryPause::new();
    while !shutdown.is_set() {
        let wakeup = tokio::select! {
            wakeup = office.store.next_wakeup() => wakeup,
            () = shutdown.wait() => break,
        };
        match wakeup {
            Ok(Wakeup::Letters) => office.letters_arrived.notify_one(),
            Ok(Wakeup::Dispatches) => office.dispatches_queued.notify_one(),
            Err(error) => {
                backoff.wait("failed to listen for work from other daemons", &error.into(), &shutdown).await;
                continue;
            }
        }
        backoff = RetryPause::new();
    }
    Ok(())
}

/// Time between a daemon's attempts to get or renew the mailbox's lease.
const LEASE_INTERVAL: Duration = Duration::from_secs(1);

/// Reads the mailbox whenever this daemon has its lease, until shutdown. The daemon that reads it also
/// watches the clock, since nobody is late while the mailbox cannot be read, and audits the matches.
///
/// # Errors
/// Returns the error that ended one of its loops for good.
async fn read_mailbox_until(
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
    loops.spawn(deadlines::watch_clock_until(Arc::clone(office), until.clone(), health.subscribe()));
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
