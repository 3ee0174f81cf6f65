//! The state of the mailbox, as all processes see it: a period in which it cannot be read, and letters that
//! cannot be moved out of it.
//!
//! The daemon that reads the mailbox remembers it in the database, where `fogpost status` and the monitoring
//! pages find it, and tells the GM through the outbox, because otherwise nobody would notice that no letters
//! arrive.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::daemon::sending::account::{ACCOUNT, Account};
use crate::daemon::waiting::pause;
use crate::daemon::{Office, commit};
use crate::desk::gm::alarm;
use crate::post::backoff::pause_after_refusals;
use crate::post::{Error, Health, ShutdownSignal, Trouble, without_addresses};

/// The key under which a daemon remembers the state of the mailbox.
pub const MAILBOX: &str = "mailbox";

/// Refused logins after which the GM is told.
const TELL_AFTER_REFUSALS: u32 = 3;

/// Duration of any other outage after which the GM is told.
const TELL_AFTER: TimeDelta = TimeDelta::minutes(15);

/// Time before the GM is told of another outage: a mailbox may fail, and recover, all day.
const TELL_AGAIN_AFTER: TimeDelta = TimeDelta::hours(24);

/// Time between notes of the state.
const NOTE_INTERVAL: Duration = Duration::from_secs(5);

/// The state of the mailbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailboxState {
    pub outage: Option<MailboxOutage>,
    /// The reason why stored letters cannot be moved out of it.
    pub unfiled: Option<String>,
    /// The letters in it that cannot be read, and why.
    #[serde(default)]
    pub left_unread: Option<String>,
    /// The last time that the GM was told of an outage.
    pub told: Option<DateTime<Utc>>,
}

/// A period in which the mailbox cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailboxOutage {
    pub since: DateTime<Utc>,
    /// The latest reason, without addresses.
    pub reason: String,
    /// Whether a person must change something.
    pub is_lasting: bool,
    /// Whether it can be read, but its letters could not be stored.
    pub is_unstored: bool,
    /// Logins that the server has refused.
    pub refusals: u32,
    /// The last time that the server refused a login.
    pub refused: Option<DateTime<Utc>>,
}

impl MailboxOutage {
    /// Returns the time until which programs that run once leave the mailbox alone: providers ban clients
    /// that keep trying a refused login. A login that was changed since is tried at once.
    fn left_alone_until(&self, login_changed: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
        let refused = self.refused.filter(|at| login_changed.is_none_or(|changed| changed <= *at))?;
        Some(refused + pause_after_refusals(self.refusals))
    }
}

impl MailboxState {
    /// Parses the stored state. Returns the default if there is none, or if it has the format of another
    /// version.
    pub fn read(remembered: Option<&str>) -> MailboxState {
        remembered.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// Updates the state from the health of the mailbox's reader. A reader that has just started reports
    /// nothing yet.
    fn note(&mut self, health: &Health, now: DateTime<Utc>) {
        match &health.trouble {
            Some(trouble) => self.note_trouble(trouble, now),
            None if health.last_ok.is_some() => {
                self.outage = None;
                self.unfiled = health.unfiled.as_deref().map(without_addresses);
                self.left_unread = health.left_unread.as_deref().map(without_addresses);
            }
            None => {}
        }
    }

    fn note_trouble(&mut self, trouble: &Trouble, now: DateTime<Utc>) {
        let before = self.outage.as_ref();
        // An outage that began before a restart continues.
        let since = before.map_or(trouble.since, |outage| outage.since.min(trouble.since));
        let is_refused_again = trouble.refusals > before.map_or(0, |outage| outage.refusals);
        let refused = if is_refused_again { Some(now) } else { before.and_then(|outage| outage.refused) };
        self.outage = Some(MailboxOutage {
            since,
            reason: without_addresses(&trouble.reason),
            is_lasting: trouble.is_lasting,
            is_unstored: trouble.is_unstored,
            refusals: trouble.refusals,
            refused,
        });
    }

    /// Returns the outage if the GM must be told of it now. What keeps letters from being stored is told by itself: the
    /// database, the disk or the clock.
    fn alarm(&self, now: DateTime<Utc>) -> Option<&MailboxOutage> {
        let outage = self.outage.as_ref().filter(|outage| !outage.is_unstored)?;
        // A time in the future comes from a clock that was set back since.
        let is_told = self.told.is_some_and(|at| {
            (at..at + TELL_AGAIN_AFTER).contains(&now) || (outage.since..=now).contains(&at)
        });
        let is_long = outage.refusals >= TELL_AFTER_REFUSALS || now - outage.since >= TELL_AFTER;
        (!is_told && is_long).then_some(outage)
    }
}

/// Remembers the state of the mailbox, and tells the GM of an outage, until shutdown.
pub async fn watch_mailbox_until(
    office: Arc<Office>,
    shutdown: ShutdownSignal,
    health: watch::Receiver<Health>,
) -> anyhow::Result<()> {
    while !shutdown.is_set() {
        let found = health.borrow().clone();
        if let Err(error) = note(&office, &found).await {
            // The loops that need the database log that it does not answer.
            tracing::debug!(error = format!("{error:#}"), "failed to note the state of the mailbox");
        }
        pause(NOTE_INTERVAL, &shutdown).await;
    }
    Ok(())
}

/// Returns an error while a program that runs once must leave the mailbox alone, because the last login was
/// refused.
pub async fn check_login_pause(office: &Office) -> anyhow::Result<()> {
    let state = MailboxState::read(office.store.remembered(MAILBOX).await?.as_deref());
    let Some(outage) = state.outage else { return Ok(()) };
    match outage.left_alone_until(office.config.login_changed).filter(|until| *until > office.now()) {
        Some(until) => anyhow::bail!(
            "{}; it is not tried again before {}, unless the config or the file with the secret changes",
            outage.reason,
            until.format("%H:%M UTC")
        ),
        None => Ok(()),
    }
}

/// Remembers whether a program that runs once could read the mailbox, and tells the GM of an outage.
pub async fn note_one_run(office: &Office, read: Result<Health, &Error>) -> anyhow::Result<()> {
    let before = MailboxState::read(office.store.remembered(MAILBOX).await?.as_deref());
    let refusals = before.outage.map_or(0, |outage| outage.refusals);
    let health = match read {
        Ok(health) => Health { last_ok: Some(office.now()), ..health },
        Err(error) => {
            let trouble = Trouble {
                since: office.now(),
                reason: office.config.inbox.explain(error),
                is_lasting: !error.is_transient(),
                is_unstored: matches!(error, Error::NotStored),
                refusals: refusals + u32::from(matches!(error, Error::Login(_))),
            };
            Health { trouble: Some(trouble), ..Health::default() }
        }
    };
    note(office, &health).await
}

async fn note(office: &Office, health: &Health) -> anyhow::Result<()> {
    let before = office.store.remembered(MAILBOX).await?;
    let mut state = MailboxState::read(before.as_deref());
    let now = office.now();
    state.note(health, now);
    if let Some(outage) = state.alarm(now).cloned()
        && can_send(office).await?
    {
        let since = outage.since;
        let reason = outage.reason;
        commit::decide_and_commit(office, move |desk| alarm::cannot_read(desk, since, &reason)).await?;
        // Note this only once the letter is queued: telling the GM twice is better than never.
        state.told = Some(now);
    }
    let noted = serde_json::to_string(&state)?;
    if before.as_ref() != Some(&noted) && (before.is_some() || state != MailboxState::default()) {
        office.store.remember(MAILBOX, &noted).await?;
    }
    Ok(())
}

/// Whether letters can be sent. If not, a letter about the outage would reach the GM only after its end.
async fn can_send(office: &Office) -> anyhow::Result<bool> {
    Ok(Account::read(office.store.remembered(ACCOUNT).await?.as_deref()).outage.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + minutes * 60, 0).expect("a time")
    }

    fn trouble(since: i64, refusals: u32) -> Health {
        let reason = "the login was rejected: who is gm@club.example?".to_owned();
        let trouble = Trouble { since: at(since), reason, is_lasting: true, is_unstored: false, refusals };
        Health { trouble: Some(trouble), ..Health::default() }
    }

    #[test]
    fn the_gm_is_told_once_at_the_third_refusal_or_after_a_quarter_of_an_hour() {
        let mut state = MailboxState::default();
        state.note(&trouble(0, 2), at(0));
        assert!(state.alarm(at(14)).is_none());
        assert!(state.alarm(at(15)).is_some());
        state.note(&trouble(0, 3), at(0));
        let outage = state.alarm(at(6)).expect("the third refusal").clone();
        assert_eq!(outage.reason, "the login was rejected: who is …");
        state.told = Some(at(6));
        assert!(state.alarm(at(10_000)).is_none(), "one letter for one outage");
        state.note(&Health { last_ok: Some(at(20)), ..Health::default() }, at(0));
        assert_eq!(state.outage, None);
        state.note(&trouble(30, 3), at(0));
        assert!(state.alarm(at(60)).is_none(), "none for the next one within a day");
        assert!(state.alarm(at(6 + 24 * 60)).is_some());
    }

    #[test]
    fn an_outage_goes_on_over_a_restart_until_the_mailbox_is_read() {
        let mut state = MailboxState::default();
        state.note(&trouble(0, 1), at(0));
        state.note(&Health::default(), at(0));
        state.note(&trouble(10, 1), at(0));
        assert_eq!(state.outage.as_ref().map(|outage| outage.since), Some(at(0)));
        let unfiled = Some("stored letters cannot be moved".to_owned());
        state.note(&Health { last_ok: Some(at(11)), unfiled: unfiled.clone(), ..Health::default() }, at(0));
        assert_eq!(state, MailboxState { unfiled, ..MailboxState::default() });
    }
}
