//! Notes the daemon's status in the database, and feeds systemd's watchdog.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use tokio::sync::watch;

use super::{DaemonStatus, daemon_statuses, is_ahead, logins, service, this_daemon};
use crate::daemon::heartbeat::STALLED_AFTER;
use crate::daemon::remembered::STATUS_KEYS;
use crate::daemon::waiting::pause;
use crate::daemon::{Office, away};
use crate::post::{Health, ShutdownSignal, host_name};
use crate::zone;

/// Time between a daemon's notes of its status.
const NOTE_INTERVAL: Duration = Duration::from_secs(15);

/// Time after which the status of a silent daemon is deleted.
const FORGET_AFTER: TimeDelta = TimeDelta::hours(1);

/// Gaps between single runs after which the usual one is known: a person who sets the club up runs it a few times in a row.
pub const MIN_GAPS: usize = 5;

/// Gaps between single runs that are kept: those of some days, if the program rests at night.
const MAX_GAPS: usize = 48;

/// Notes the daemon's status until shutdown, and then that it ended.
pub async fn note_status_until(
    office: Arc<Office>,
    shutdown: ShutdownSignal,
    mut health: watch::Receiver<Health>,
) -> anyhow::Result<()> {
    let mut logged = None;
    let mut status = first_status(&office).await.unwrap_or_else(|_| new_status(&office));
    loop {
        let now = office.now();
        status = DaemonStatus { at: now, ended: shutdown.is_set(), ..status.known_at(now) };
        status.fetched = health.borrow().last_ok.max(status.fetched);
        status.sent = office.heartbeat.last_sent().max(status.sent);
        status.logins = logins::logins(&office);
        status.locked = away::waiting(&office);
        let stalled = office.heartbeat.stalled(Instant::now(), STALLED_AFTER);
        if stalled != logged {
            logged = stalled;
            match stalled {
                Some(which) => tracing::error!(?which, "loop stalled"),
                None => tracing::warn!("all loops are running again"),
            }
        }
        // A daemon that stalls falls silent, so that others notice it. If the database does not answer, the
        // loops that need it log that.
        if stalled.is_none() || status.ended {
            let _ = note(&office, &status).await;
        }
        if status.ended {
            return Ok(());
        }
        tokio::select! {
            () = pause(NOTE_INTERVAL, &shutdown) => {}
            // Note at once that the mailbox was read for the first time.
            Ok(_) = health.wait_for(|health| health.last_ok.is_some()), if status.fetched.is_none() => {}
        }
    }
}

/// Feeds systemd's watchdog while no loop stalls, until shutdown.
pub async fn feed_watchdog_until(office: Arc<Office>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
    let Some(timeout) = sd_notify::watchdog_enabled() else {
        shutdown.wait().await;
        return Ok(());
    };
    while !shutdown.is_set() {
        if office.heartbeat.stalled(Instant::now(), STALLED_AFTER).is_none() {
            service::notify_watchdog();
        }
        // Stay well below half of the timeout, which sd_watchdog_enabled(3) recommends.
        pause(timeout / 3, &shutdown).await;
    }
    Ok(())
}

/// Notes that the program ran once, and whether it `fetched` the letters in its mailbox. All single runs on a machine are one
/// daemon, whose gaps tell how often it is started.
pub async fn note_one_run(office: &Office, fetched: bool) -> anyhow::Result<()> {
    let who = format!("run --once on {}", host_name());
    let runs = daemon_statuses(&office.store, office.now()).await?;
    let last = runs.into_iter().find(|daemon| daemon.who == who);
    let mut status = DaemonStatus { who, ..first_status(office).await? };
    let mut gaps = last.as_ref().and_then(|last| last.gaps.clone()).unwrap_or_default();
    gaps.extend(last.map(|last| (status.at - last.at).num_seconds().max(0)));
    gaps.drain(..gaps.len().saturating_sub(MAX_GAPS));
    status.gaps = Some(gaps);
    status.logins = logins::logins(office);
    status.locked = away::waiting(office);
    if fetched {
        status.fetched = Some(status.at);
    }
    status.sent = office.heartbeat.last_sent().max(status.sent);
    note(office, &status).await
}

async fn note(office: &Office, status: &DaemonStatus) -> anyhow::Result<()> {
    let note = serde_json::to_string(status)?;
    Ok(office.store.remember(&format!("{STATUS_KEYS}{}", status.who), &note).await?)
}

/// Returns this daemon's first status, with the last times at which any daemon fetched and sent letters.
/// Deletes the statuses of daemons that have been silent for [`FORGET_AFTER`].
async fn first_status(office: &Office) -> anyhow::Result<DaemonStatus> {
    let mut first = new_status(office);
    for status in daemon_statuses(&office.store, first.at).await? {
        first.fetched = first.fetched.max(status.fetched);
        first.sent = first.sent.max(status.sent);
        if first.at - status.at > FORGET_AFTER || is_ahead(status.at, first.at) {
            office.store.forget(&format!("{STATUS_KEYS}{}", status.who)).await?;
        }
    }
    Ok(first)
}

fn new_status(office: &Office) -> DaemonStatus {
    let now = office.now();
    DaemonStatus {
        who: this_daemon(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        since: now,
        at: now,
        few_connections: office
            .store
            .connections()
            .filter(|connections| *connections < office.config.database.max_connections),
        zone_data: zone::edition().to_owned(),
        ..DaemonStatus::default()
    }
}
