//! Notes the daemon's status in the database, and feeds systemd's watchdog.
//!
//! Logins at mail providers: their status, and their weekly renewal. Each machine has its own, and its daemon
//! renews them even on standby.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::{DaemonStatus, daemon_statuses, is_ahead, service, this_daemon};
use crate::daemon::clock::STATUS_KEYS;
use crate::daemon::heartbeat::STALLED_AFTER;
use crate::daemon::waiting::{pause, until_shutdown};
use crate::daemon::{Office, away};
use crate::post::{Error, Health, ShutdownSignal, host_name, oauth, without_addresses};
use crate::report::format_duration;
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
        status.logins = logins(&office);
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
    status.logins = logins(office);
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

/// Age of a renewal that counts as a fault: by then a running daemon has tried for a day.
const MAX_AGE: TimeDelta = TimeDelta::days(7);

/// Interval at which to check whether a login is due to be renewed.
const LOOK_INTERVAL: Duration = Duration::from_secs(3600);

/// A login as the status lists it, without its tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoginStatus {
    /// The machine that has logged in.
    pub host: String,
    pub token_file: PathBuf,
    pub renewed_at: Option<DateTime<Utc>>,
    /// The fault that needs a person.
    pub fault: Option<String>,
}

impl LoginStatus {
    /// Returns the status of one of this machine's logins.
    pub fn of(login: &oauth::OauthLogin, now: DateTime<Utc>) -> LoginStatus {
        let state = login.state();
        let renewed_at = state.as_ref().ok().and_then(|state| Some(state.as_ref()?.renewed_at));
        let age = renewed_at.map(|at| now - at).filter(|age| *age > MAX_AGE);
        let fault = match state {
            Ok(Some(state)) if state.has_ended => {
                Some("the provider has ended the login to the mailbox; run: fogpost login".to_owned())
            }
            Ok(Some(_)) => age.map(|age| {
                let age = format_duration(age);
                format!("the login to the mailbox has not been renewed for {age}; the daemon's log says why")
            }),
            Ok(None) => Some("nobody has logged in to the mailbox yet; run: fogpost login".to_owned()),
            Err(Error::Login(why)) => Some(format!("the login to the mailbox cannot be read: {why}")),
            Err(error) => Some(format!("the login to the mailbox cannot be read: {error}")),
        };
        LoginStatus { host: host_name(), token_file: login.token_file.clone(), renewed_at, fault }
    }

    /// Returns the fault, with the machine's name unless it is this one.
    pub fn named_fault(&self) -> Option<String> {
        let fault = self.fault.as_ref()?;
        let is_here = self.host == host_name();
        Some(if is_here { fault.clone() } else { format!("on {}: {fault}", self.host) })
    }
}

/// Returns the status of this machine's logins.
pub fn logins(office: &Office) -> Vec<LoginStatus> {
    office.config.oauth_logins().into_iter().map(|login| LoginStatus::of(login, office.now())).collect()
}

/// Renews this machine's logins that have not been used for days.
pub async fn renew_logins_when_due(office: &Office) {
    for login in office.config.oauth_logins() {
        if let Err(error) = login.renew_weekly().await {
            let error = without_addresses(&error.to_string());
            tracing::warn!(error, "failed to renew a login; it will be tried again");
        }
    }
}

/// Renews this machine's logins each week until shutdown.
pub async fn renew_logins_until(office: Arc<Office>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
    while !shutdown.is_set() {
        let renewed = async {
            renew_logins_when_due(&office).await;
            Ok(())
        };
        until_shutdown(&shutdown, renewed).await?;
        pause(LOOK_INTERVAL, &shutdown).await;
    }
    Ok(())
}
