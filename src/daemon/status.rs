//! How the club's post stands: what waits and since when, who works, and what is wrong. Counts and times only: no
//! address, no name of a person, nothing of a letter.
//!
//! Each daemon notes its own state in the database now and then. From that and from the queues anybody can tell how
//! it stands: `fogpost status`, and the page for monitors.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::Office;
use super::pulse::STUCK_AFTER;
use crate::post::{Health, ShutdownSignal, host_name};
use crate::report::format_duration;
use crate::store::{Queues, Store};

/// How often a daemon notes its state.
const NOTE_EVERY: Duration = Duration::from_secs(15);

/// A daemon that has been silent for so long is taken for dead, where nothing else is said.
pub const SILENT_AFTER: TimeDelta = TimeDelta::minutes(2);

/// The note of a daemon that has been silent for so long is thrown away.
const FORGOTTEN_AFTER: TimeDelta = TimeDelta::hours(1);

/// A mailbox that is well is read more often than this.
const UNREAD_AFTER: TimeDelta = TimeDelta::minutes(15);

/// Nothing waits longer than this while all is well.
const WAITS_TOO_LONG: TimeDelta = TimeDelta::hours(1);

/// Later than this the clock is not while all is well.
const LATE_AFTER: TimeDelta = TimeDelta::minutes(15);

/// Under keys that begin so daemons note their state.
const NOTES: &str = "daemon: ";

/// What one daemon notes of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// `pid 4711 on turing`.
    pub who: String,
    pub version: String,
    pub since: DateTime<Utc>,
    pub at: DateTime<Utc>,
    /// When it last read its mailbox to the end.
    pub fetched: Option<DateTime<Utc>>,
    /// When it last sent a letter.
    pub sent: Option<DateTime<Utc>>,
    /// It was stopped in good order.
    pub ended: bool,
}

/// How things stand at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    pub at: DateTime<Utc>,
    pub letters_waiting: u64,
    pub oldest_letter: Option<DateTime<Utc>>,
    pub letters_set_aside: u64,
    pub dispatches_waiting: u64,
    pub oldest_dispatch: Option<DateTime<Utc>>,
    pub dispatches_given_up: u64,
    pub matches_running: u64,
    /// How long the match that waits longest for its clock has waited.
    pub clock_late_seconds: i64,
    pub last_fetch: Option<DateTime<Utc>>,
    pub last_send: Option<DateTime<Utc>>,
    /// Those that work; when none does, the one that was heard of last.
    pub daemons: Vec<Beat>,
    pub daemons_working: usize,
    /// What is wrong, a line each; empty when all is well.
    pub faults: Vec<String>,
}

/// By what a daemon is found: `pid 4711 on turing`.
pub fn this_daemon() -> String {
    format!("pid {} on {}", std::process::id(), host_name())
}

impl Status {
    /// How it stands now. A daemon that has noted nothing for `silent_after` does not work.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn of(store: &dyn Store, now: DateTime<Utc>, silent_after: TimeDelta) -> anyhow::Result<Self> {
        let beats = beats(store).await?;
        Ok(Status::sum_up(store.queues().await?, beats, now, silent_after))
    }

    fn sum_up(queues: Queues, beats: Vec<Beat>, now: DateTime<Utc>, silent_after: TimeDelta) -> Self {
        let (last_fetch, last_send) = (
            beats.iter().filter_map(|beat| beat.fetched).max(),
            beats.iter().filter_map(|beat| beat.sent).max(),
        );
        let last = beats.iter().max_by_key(|beat| beat.at).cloned();
        let working: Vec<_> =
            beats.into_iter().filter(|beat| !beat.ended && now - beat.at <= silent_after).collect();
        let daemons_working = working.len();
        let daemons = if working.is_empty() { last.into_iter().collect() } else { working };
        let late = queues.next_wake.map_or(TimeDelta::zero(), |wake| (now - wake).max(TimeDelta::zero()));
        let mut status = Status {
            at: now,
            letters_waiting: queues.letters_waiting,
            oldest_letter: queues.oldest_letter,
            letters_set_aside: queues.set_aside,
            dispatches_waiting: queues.dispatches_waiting,
            oldest_dispatch: queues.oldest_dispatch,
            dispatches_given_up: queues.given_up,
            matches_running: queues.matches_running,
            clock_late_seconds: late.num_seconds(),
            last_fetch,
            last_send,
            daemons,
            daemons_working,
            faults: Vec::new(),
        };
        status.faults = status.find_faults();
        status
    }

    fn find_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let over = |since: Option<DateTime<Utc>>, limit| {
            since.map(|since| self.at - since).filter(|age| *age > limit).map(format_duration)
        };
        if self.daemons_working == 0 {
            faults.push(match self.daemons.first() {
                Some(last) => {
                    format!(
                        "no daemon works; the last was heard of {} ago",
                        format_duration(self.at - last.at)
                    )
                }
                None => "no daemon has ever worked on this database; `fogpost run` would".to_owned(),
            });
        } else {
            let begun = self.daemons.iter().map(|beat| beat.since).min();
            if let Some(age) = over(self.last_fetch.max(begun), UNREAD_AFTER) {
                faults.push(format!("the mailbox has not been read for {age}; the daemon's log says why"));
            }
        }
        if let Some(age) = over(self.oldest_letter, WAITS_TOO_LONG) {
            faults.push(format!("a letter has waited for {age} to be ruled on"));
        }
        if let Some(age) = over(self.oldest_dispatch, WAITS_TOO_LONG) {
            faults
                .push(format!("a letter of ours has waited for {age} to be sent: fogpost letters --unsent"));
        }
        let late = TimeDelta::seconds(self.clock_late_seconds);
        if late > LATE_AFTER {
            faults.push(format!("the clock is late by {}", format_duration(late)));
        }
        faults
    }

    /// The same in the text format of Prometheus, version 0.0.4.
    pub fn metrics(&self) -> String {
        let age = |since: Option<DateTime<Utc>>| since.map(|since| (self.at - since).num_seconds().max(0));
        let newest = self.daemons.iter().map(|beat| beat.at).max();
        let count = |count: u64| Some(i64::try_from(count).unwrap_or(i64::MAX));
        let gauges = [
            ("letters_waiting", "Letters that wait to be ruled on", count(self.letters_waiting)),
            (
                "letters_oldest_age_seconds",
                "Age of the oldest of them",
                Some(age(self.oldest_letter).unwrap_or(0)),
            ),
            ("letters_set_aside", "Letters that could not be ruled on", count(self.letters_set_aside)),
            ("dispatches_waiting", "Letters of ours that wait to be sent", count(self.dispatches_waiting)),
            (
                "dispatches_oldest_age_seconds",
                "Age of the oldest of them",
                Some(age(self.oldest_dispatch).unwrap_or(0)),
            ),
            (
                "dispatches_given_up",
                "Letters of ours that could not be sent",
                count(self.dispatches_given_up),
            ),
            ("matches_running", "Matches that are being played", count(self.matches_running)),
            ("clock_late_seconds", "How late the clock is", Some(self.clock_late_seconds)),
            ("last_fetch_age_seconds", "Since the mailbox was read", age(self.last_fetch)),
            ("last_send_age_seconds", "Since a letter was sent", age(self.last_send)),
            ("heartbeat_age_seconds", "Since a daemon was heard of", age(newest)),
            ("daemons_working", "Daemons that work", count(self.daemons_working as u64)),
            ("faults", "How many things are wrong: see fogpost status", count(self.faults.len() as u64)),
        ];
        let mut text = String::new();
        for (name, help, value) in gauges {
            // What has never happened has no age.
            let Some(value) = value else { continue };
            let _ = writeln!(
                text,
                "# HELP fogpost_{name} {help}.\n# TYPE fogpost_{name} gauge\nfogpost_{name} {value}"
            );
        }
        text
    }
}

/// What each daemon has noted of itself last.
async fn beats(store: &dyn Store) -> anyhow::Result<Vec<Beat>> {
    let notes = store.remembered_under(NOTES).await?;
    // A note of another version of this program may look otherwise.
    Ok(notes.into_iter().filter_map(|(_, note)| serde_json::from_str(&note).ok()).collect())
}

impl Office {
    /// Notes the daemon's state until `stop`, and then that it has ended.
    pub(super) async fn note_state_until(
        self: Arc<Self>,
        stop: ShutdownSignal,
        health: watch::Receiver<Health>,
    ) -> anyhow::Result<()> {
        let mut known_stuck = None;
        let mut beat = self.first_beat().await.unwrap_or_else(|_| self.beat());
        loop {
            beat.at = self.now();
            beat.ended = stop.is_set();
            beat.fetched = health.borrow().last_ok.max(beat.fetched);
            beat.sent = self.pulse.sent().max(beat.sent);
            let stuck = self.pulse.stuck(Instant::now(), STUCK_AFTER);
            if stuck != known_stuck {
                known_stuck = stuck;
                match stuck {
                    Some(which) => tracing::error!(?which, "a loop does not come round"),
                    None => tracing::warn!("every loop comes round again"),
                }
            }
            // Who is stuck is not heard of. A database that does not answer is told of by the loops that need it.
            if stuck.is_none() || beat.ended {
                let _ = self.note(&beat).await;
            }
            if beat.ended {
                return Ok(());
            }
            tokio::select! {
                () = tokio::time::sleep(NOTE_EVERY) => {}
                () = stop.wait() => {}
            }
        }
    }

    /// Notes that what there was to do was done once.
    pub(super) async fn note_once(&self) -> anyhow::Result<()> {
        let mut beat = self.first_beat().await?;
        (beat.at, beat.fetched) = (self.now(), Some(self.now()));
        beat.sent = self.pulse.sent().max(beat.sent);
        self.note(&beat).await
    }

    async fn note(&self, beat: &Beat) -> anyhow::Result<()> {
        let note = serde_json::to_string(beat)?;
        Ok(self.store.remember(&format!("{NOTES}{}", beat.who), &note).await?)
    }

    /// The first note of this daemon. It takes over from those long silent when letters were fetched and sent last.
    async fn first_beat(&self) -> anyhow::Result<Beat> {
        let mut first = self.beat();
        for beat in beats(&*self.store).await? {
            (first.fetched, first.sent) = (first.fetched.max(beat.fetched), first.sent.max(beat.sent));
            if first.at - beat.at > FORGOTTEN_AFTER {
                self.store.forget(&format!("{NOTES}{}", beat.who)).await?;
            }
        }
        Ok(first)
    }

    fn beat(&self) -> Beat {
        let now = self.now();
        Beat {
            who: this_daemon(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            since: now,
            at: now,
            fetched: None,
            sent: None,
            ended: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + minutes * 60, 0).unwrap()
    }

    fn beat(heard: i64, fetched: Option<i64>) -> Beat {
        Beat {
            who: "pid 1 on turing".to_owned(),
            version: "0.1.0".to_owned(),
            since: at(0),
            at: at(heard),
            fetched: fetched.map(at),
            sent: None,
            ended: false,
        }
    }

    fn faults(queues: Queues, beats: Vec<Beat>, now: i64) -> Vec<String> {
        Status::sum_up(queues, beats, at(now), SILENT_AFTER).faults
    }

    #[test]
    fn nothing_is_wrong_while_a_daemon_reads_the_mailbox_and_nothing_waits_long() {
        let queues =
            Queues { letters_waiting: 3, oldest_letter: Some(at(90)), given_up: 2, ..Queues::default() };
        assert_eq!(faults(queues, vec![beat(99, Some(95))], 100), [""; 0]);
        // One of two daemons reads the mailbox; the other has ended.
        let ended = Beat { ended: true, ..beat(10, None) };
        assert_eq!(faults(Queues::default(), vec![ended, beat(99, Some(95))], 100), [""; 0]);
        // One that has just begun has read nothing yet.
        assert_eq!(faults(Queues::default(), vec![beat(10, None)], 10), [""; 0]);
    }

    #[test]
    fn each_thing_that_is_wrong_is_a_line() {
        let well = || vec![beat(100, Some(100))];
        assert_eq!(faults(Queues::default(), vec![], 100).len(), 1);
        assert_eq!(
            faults(Queues::default(), vec![beat(40, Some(40))], 100),
            ["no daemon works; the last was heard of 1 hour ago"]
        );
        assert_eq!(
            faults(Queues::default(), vec![beat(100, Some(70))], 100),
            ["the mailbox has not been read for 30 minutes; the daemon's log says why"]
        );
        let letter = Queues { oldest_letter: Some(at(30)), ..Queues::default() };
        assert_eq!(faults(letter, well(), 100), ["a letter has waited for 1 hour 10 minutes to be ruled on"]);
        let dispatch = Queues { oldest_dispatch: Some(at(30)), ..Queues::default() };
        assert!(faults(dispatch, well(), 100)[0].contains("to be sent"));
        let late = Queues { next_wake: Some(at(80)), ..Queues::default() };
        assert_eq!(faults(late, well(), 100), ["the clock is late by 20 minutes"]);
        let early = Queues { next_wake: Some(at(180)), ..Queues::default() };
        assert_eq!(faults(early, well(), 100), [""; 0]);
    }

    #[test]
    fn metrics_bear_help_type_and_value_and_no_name() {
        let queues = Queues {
            letters_waiting: 3,
            oldest_letter: Some(at(99)),
            matches_running: 7,
            ..Queues::default()
        };
        let text = Status::sum_up(queues, vec![beat(100, Some(98))], at(100), SILENT_AFTER).metrics();
        for line in [
            "# TYPE fogpost_letters_waiting gauge",
            "fogpost_letters_waiting 3",
            "fogpost_letters_oldest_age_seconds 60",
            "fogpost_matches_running 7",
            "fogpost_last_fetch_age_seconds 120",
            "fogpost_heartbeat_age_seconds 0",
            "fogpost_faults 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in:\n{text}");
        }
        assert!(!text.contains("last_send") && !text.contains("turing"), "{text}");
    }
}
