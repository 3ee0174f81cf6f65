//! The loops: each waits for work, calls the steps that do it, and backs off on failure.
//! They run together until shutdown, or once.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::daemon::heartbeat::Loop;
use crate::daemon::intake::outage;
use crate::daemon::status::{OUTAGE_BETWEEN_RUNS, note};
use crate::daemon::waiting::{RetryPause, flatten, wait_for_work, wind_down};
use crate::daemon::{Office, Settled, audit, away, house, intake, items, sending, site, suspects};
use crate::post::{Health, ShutdownSignal};
use crate::store::Wakeup;

pub mod clock;
mod mailbox;
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
    for _ in 0..letters::SETTLERS {
        loops.spawn(settle_letters_until(Arc::clone(&office), until.clone()));
    }
    loops.spawn(sending::send_until(Arc::clone(&office), until.clone()));
    loops.spawn(house::play_house_until(Arc::clone(&office), until.clone()));
    loops.spawn(pass_on_wakeups_until(Arc::clone(&office), until.clone()));
    loops.spawn(note::note_status_until(Arc::clone(&office), until.clone(), watched));
    // Renew logins even on standby: a standby daemon does not use its login, and providers end unused ones.
    loops.spawn(note::renew_logins_until(Arc::clone(&office), until.clone()));
    loops.spawn(note::feed_watchdog_until(Arc::clone(&office), until.clone()));
    loops.spawn(mailbox::read_mailbox_until(office, until, health));
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
        clock::clock_all(office, OUTAGE_BETWEEN_RUNS).await?;
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
