//! Logins at mail providers: their status, and their weekly renewal. Each machine has its own, and its daemon
//! renews them even on standby.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::daemon::Office;
use crate::daemon::waiting::{pause, until_shutdown};
use crate::post::{Error, ShutdownSignal, host_name, oauth, without_addresses};
use crate::report::format_duration;

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
