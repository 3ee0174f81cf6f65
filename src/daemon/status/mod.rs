//! The club's status: queues, daemons and faults. Counts and times only: no address, no name of a person, no
//! part of a letter.
//!
//! Each daemon notes its status in the database. `fogpost status` and the monitoring pages need no more than
//! that and the queues.

pub mod note;
pub mod service;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use self::note::LoginStatus;
use super::audit::{Unsound, remembered_unsound};
use super::clock::{self, MAX_DEFERRAL, MAX_SLEEP, STATUS_KEYS};
use super::house::{StuckHouse, stuck_houses};
use super::intake::outage::{MAILBOX, MailboxOutage, MailboxState};
use super::sending::account::{ACCOUNT, Account};
use super::site::SiteState;
use crate::config::{Config, DatabaseSection, Quota, SharedMailbox};
use crate::desk::gm::alarm::time_apart;
use crate::desk::matches::applicants::{APPLICANT, Applicant};
use crate::post::{host_name, oauth, without_addresses};
use crate::referee::{Ask, MatchOverview, Stage};
use crate::report::{count_of, format_duration};
use crate::store::{Database, LatestTimes, Queues, Restoring};

/// Default time of silence after which a daemon counts as not running.
pub const SILENT_AFTER: TimeDelta = TimeDelta::minutes(2);

/// The gap that counts as an outage for a program that is started now and then, at least every hour.
pub const OUTAGE_BETWEEN_RUNS: TimeDelta = TimeDelta::hours(2);

/// Time without reading the mailbox that counts as a fault.
const MAX_UNREAD: TimeDelta = TimeDelta::minutes(15);

/// The beginning of the text of that fault.
const UNREAD: &str = "the mailbox has not been read for";

/// Reported while the processed letters have to be read again, and then until they are decided.
const OLDER: &str = "the database is older than its mailbox; fogpost run reads the processed letters again";
const RESTORING: &str = "a backup was restored, and the letters that came since are not all decided again yet; nothing \
                         else is decided before that; if it takes long, the daemon's log says why";

/// Duration of an outage of the mailbox that counts as a fault, unless a person must end it. Connections
/// break now and then.
const MIN_OUTAGE: TimeDelta = TimeDelta::seconds(30);

/// Time that a letter or a dispatch may wait before that counts as a fault.
const MAX_WAIT: TimeDelta = TimeDelta::hours(1);

/// Time for which a dispatch of a program that is started now and then may be tried in vain.
const MAX_REFUSED: TimeDelta = TimeDelta::days(1);

/// Delay of the clock that counts as a fault.
const MAX_CLOCK_DELAY: TimeDelta = TimeDelta::minutes(15);

/// The status of one daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonStatus {
    /// `pid 4711 on turing`.
    pub who: String,
    pub version: String,
    pub since: DateTime<Utc>,
    pub at: DateTime<Utc>,
    /// The last time it read its mailbox to the end.
    pub fetched: Option<DateTime<Utc>>,
    /// The last time it sent a letter.
    pub sent: Option<DateTime<Utc>>,
    /// The logins of its machine.
    pub logins: Vec<LoginStatus>,
    /// Its connections to the database, if the server permits fewer than the config.
    pub few_connections: Option<u32>,
    /// The matches and letters that wait for a lock of another session of the database.
    #[serde(default)]
    pub locked: Vec<String>,
    /// Whether it shut down cleanly.
    pub ended: bool,
    /// The edition of its zone data.
    pub zone_data: String,
    /// The seconds between the latest runs, oldest first, of a program that is started for single runs; `None` for a daemon
    /// that stays.
    pub gaps: Option<Vec<i64>>,
}

impl DaemonStatus {
    /// Whether it has neither ended nor been silent for longer than this.
    fn runs(&self, now: DateTime<Utc>, silent_after: TimeDelta) -> bool {
        !self.ended && now - self.at <= self.longest_silence(silent_after)
    }

    /// Whether it is a daemon, and not a program that is started for single runs.
    pub fn stays(&self) -> bool {
        self.gaps.is_none()
    }

    /// Returns how long it may be silent. Of single runs, one may be missed, and the longest gap may have been an outage.
    fn longest_silence(&self, silent_after: TimeDelta) -> TimeDelta {
        let Some(gaps) = &self.gaps else { return silent_after };
        let mut gaps = gaps.clone();
        gaps.sort_unstable();
        match gaps[..] {
            [.., usual, _] if gaps.len() >= note::MIN_GAPS => after_missed_run(usual, silent_after),
            [.., longest] => OUTAGE_BETWEEN_RUNS.max(after_missed_run(longest, silent_after)),
            [] => OUTAGE_BETWEEN_RUNS.max(silent_after),
        }
    }
}

fn after_missed_run(gap: i64, silent_after: TimeDelta) -> TimeDelta {
    TimeDelta::seconds(2 * gap) + silent_after
}

/// The club's status at one moment.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    pub at: DateTime<Utc>,
    pub letters_waiting: u64,
    pub oldest_letter: Option<DateTime<Utc>>,
    pub letters_set_aside: u64,
    pub dispatches_waiting: u64,
    pub oldest_dispatch: Option<DateTime<Utc>>,
    /// The error of the oldest dispatch that was tried in vain, without addresses.
    pub dispatch_error: Option<String>,
    pub dispatches_given_up: u64,
    /// Dispatches given up that nobody has acknowledged.
    pub given_up_unseen: u64,
    /// Letters sent in the last 24 hours, and how many the config allows.
    pub sent_in_a_day: u64,
    pub per_day: Option<u32>,
    pub matches_running: u64,
    /// Matches past their deadline and within their grace.
    pub matches_late: u64,
    /// Matches in which a GM was asked, protests included.
    pub matches_waiting_for_gm: u64,
    pub protests: u64,
    /// Newcomers who wait to be admitted.
    pub applicants_waiting: u64,
    /// Delay of the match that has waited longest for the clock.
    pub clock_late_seconds: i64,
    pub last_fetch: Option<DateTime<Utc>>,
    pub last_send: Option<DateTime<Utc>>,
    /// The running daemons, or else the one that was heard from last.
    pub daemons: Vec<DaemonStatus>,
    pub daemons_working: usize,
    /// The present outage of the mail server, if there is one.
    pub outage: Option<OutageStatus>,
    /// The logins at mail providers, of each machine.
    pub logins: Vec<LoginStatus>,
    /// Logins that need a person; until then, mail waits.
    pub logins_broken: u64,
    /// The present outage of the mailbox, if there is one.
    pub mailbox_outage: Option<MailboxOutage>,
    /// Free megabytes on the disk of the database, unless a server stores it.
    pub free_mb: Option<u64>,
    /// The configured site, if a daemon builds it.
    pub site: Option<SiteState>,
    /// The faults, one line each.
    pub faults: Vec<String>,
}

/// A period in which the mail server accepts no letters.
#[derive(Clone, Debug, Serialize)]
pub struct OutageStatus {
    pub since: DateTime<Utc>,
    /// The time of the next attempt.
    pub until: DateTime<Utc>,
    /// The latest error, without addresses.
    pub error: String,
}

/// The matches that are late, wait for a GM, or are protested.
#[derive(Clone, Copy, Debug, Default)]
struct MatchCounts {
    late: u64,
    waiting: u64,
    protests: u64,
}

impl MatchCounts {
    /// Counts a match that is not over.
    fn add(&mut self, game_match: &MatchOverview, now: DateTime<Utc>) {
        let ask = game_match.ask(now);
        self.late += u64::from(ask == Some(Ask::Late));
        self.waiting += u64::from(matches!(ask, Some(Ask::Protest { .. } | Ask::Decision)));
        self.protests += u64::from(matches!(ask, Some(Ask::Protest { .. })));
    }
}

impl Status {
    /// Returns the status at `now`. A daemon that has noted nothing for `silent_after` counts as not running.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn of(
        store: &Database,
        config: &DatabaseSection,
        quota: &Quota,
        now: DateTime<Utc>,
        silent_after: TimeDelta,
    ) -> anyhow::Result<Self> {
        let mut counts = MatchCounts::default();
        for stage in [Stage::Running, Stage::Paused] {
            store.list_matches(Some(stage), &mut |game_match| counts.add(&game_match, now)).await?;
        }
        let mut daemons = daemon_statuses(store, now).await?;
        daemons.retain(|daemon| !is_ahead(daemon.at, now));
        let queues = store.queues().await?;
        let latest = queues.latest;
        let mut status = Status::sum_up(queues, daemons, now, silent_after);
        status.note_times_ahead(&store.remembered_under("").await?, latest);
        status.note_clock(clock::doubted_since(store, now).await?);
        status.note_space(store.free_bytes()?, config);
        status.sent_in_a_day = store.sent_counts(now).await?.day.into();
        // A daemon notes its status only every few seconds, and one that was told to send and exit may have
        // ended before that.
        status.last_send = status.last_send.max(store.last_sent(now).await?);
        let MatchCounts { late, waiting, protests } = counts;
        (status.matches_late, status.matches_waiting_for_gm, status.protests) = (late, waiting, protests);
        let applicants = store.remembered_under(APPLICANT).await?;
        status.applicants_waiting = Applicant::read_all(&applicants).len() as u64;
        status.per_day = quota.per_day;
        status.note_stuck(stuck_houses(store).await?.values());
        status.note_unsound(remembered_unsound(store).await?.values());
        status.note_outage(&Account::read(store.remembered(ACCOUNT).await?.as_deref()));
        status.site = SiteState::of(store).await?;
        status.faults.extend(status.site.as_ref().and_then(|site| site.fault(now)));
        status.note_mailbox(MailboxState::read(store.remembered(MAILBOX).await?.as_deref()));
        status.faults.extend(store.server_faults().await?);
        let restoring = store.restoring().await?;
        status.note_left(store.rejected_letters().await?, restoring);
        Ok(status)
    }

    /// Adds this machine's logins, and those that daemons on other machines have noted.
    pub fn note_logins(&mut self, logins: &[&oauth::OauthLogin]) {
        let here = logins.iter().map(|login| LoginStatus::of(login, self.at)).collect();
        self.logins = of_all_machines(&self.daemons, here);
        let faults: Vec<String> = self.logins.iter().filter_map(LoginStatus::named_fault).collect();
        self.logins_broken = faults.len() as u64;
        self.faults.extend(faults);
    }

    /// Adds the faults of the config that need a person but leave the program running.
    pub fn note_config(&mut self, config: &Config) {
        if let Some(SharedMailbox::Taken(_)) = config.shared_mailbox() {
            self.faults.push(
                "a GM's address and the club's are one mailbox, so the program takes the letters to the GM out of it; \
                 fogpost doctor names the ways out"
                    .to_owned(),
            );
        }
    }

    fn note_mailbox(&mut self, state: MailboxState) {
        self.faults.extend(state.unfiled);
        self.faults.extend(state.left_unread);
        let is_short = |outage: &MailboxOutage| !outage.is_lasting && self.at - outage.since < MIN_OUTAGE;
        let Some(outage) = state.outage.filter(|outage| !is_short(outage)) else { return };
        // The reason says more than the time of the last fetch.
        self.faults.retain(|fault| !fault.starts_with(UNREAD));
        let duration = format_duration(self.at - outage.since);
        self.faults.push(if outage.is_unstored {
            format!("letters in the mailbox cannot be stored ({duration} so far); the daemon's log says why")
        } else {
            format!("the mailbox cannot be read ({duration} so far): {}", outage.reason)
        });
        self.mailbox_outage = Some(outage);
    }

    /// Adds the letters that the database rejects, and those that it has lost.
    fn note_left(&mut self, rejected: u64, restoring: Option<Restoring>) {
        if rejected > 0 {
            let letters = count_of(usize::try_from(rejected).unwrap_or(usize::MAX), "letter", "letters");
            self.faults.push(format!(
                "the database rejects {letters}, and leaves them in the mailbox; the daemon's log says why, and a restart \
                 tries again"
            ));
        }
        let words = match restoring {
            Some(Restoring::ToBeRead { .. }) => OLDER,
            Some(Restoring::ToBeDecided(_)) => RESTORING,
            None => return,
        };
        self.faults.push(words.to_owned());
    }

    fn note_outage(&mut self, account: &Account) {
        let Some(outage) = &account.outage else { return };
        // Another daemon has sent letters since.
        if self.last_send.is_some_and(|sent| sent > outage.since) {
            return;
        }
        let error = without_addresses(&outage.error);
        self.faults.push(format!(
            "the mail server has accepted no letters for {}: {error}; nothing is given up, and the next attempt is {}",
            format_duration(self.at - outage.since),
            match outage.until - self.at {
                left if left > TimeDelta::zero() => format!("in {}", format_duration(left)),
                _ => "due".to_owned(),
            }
        ));
        self.outage = Some(OutageStatus { since: outage.since, until: outage.until, error });
    }

    fn note_stuck<'a>(&mut self, houses: impl Iterator<Item = &'a StuckHouse>) {
        let since: Vec<DateTime<Utc>> = houses.map(|stuck| stuck.since).collect();
        if let Some(first) = since.iter().min() {
            let matches = count_of(since.len(), "match", "matches");
            self.faults.push(format!(
                "the house has been unable to play its turn in {matches} for {}; the daemon's log says where and why",
                format_duration(self.at - *first)
            ));
        }
    }

    /// Adds faults for remembered times that are in the future, and for items that are deferred beyond the
    /// maximum.
    fn note_times_ahead(&mut self, memos: &[(String, String)], latest: LatestTimes) {
        for (key, value) in memos {
            let noted = value.parse::<DateTime<Utc>>().ok();
            let noted =
                noted.or_else(|| serde_json::from_str::<DaemonStatus>(value).ok().map(|daemon| daemon.at));
            if let Some(noted) = noted.filter(|noted| is_ahead(*noted, self.at)) {
                self.faults.push(format!(
                    "`{key}` was noted at {noted}, which is in the future; it is treated as now"
                ));
            }
        }
        for (column, at, longest) in [
            ("letter.wait_until", latest.letter, MAX_DEFERRAL),
            ("dispatch.due_at", latest.dispatch, MAX_DEFERRAL),
            ("player.digest_at", latest.digest, MAX_DEFERRAL),
            ("match.wake_at", latest.wake, MAX_SLEEP),
        ] {
            if let Some(at) = at.filter(|at| *at - self.at > longest) {
                self.faults.push(format!(
                    "`{column}` reaches to {at}, which is too far away; the daemon corrects it"
                ));
            }
        }
    }

    fn note_unsound<'a>(&mut self, unsound: impl Iterator<Item = &'a Unsound>) {
        let since: Vec<DateTime<Utc>> =
            unsound.filter(|unsound| !unsound.acknowledged).map(|unsound| unsound.since).collect();
        if let Some(first) = since.iter().min() {
            let unsound = match since.len() {
                1 => "1 match or event has not verified".to_owned(),
                number => format!("{number} matches or events have not verified"),
            };
            self.faults.push(format!(
                "{unsound} for {}: run fogpost audit verify --all, then fogpost audit acknowledge",
                format_duration(self.at - *first)
            ));
        }
    }

    fn note_clock(&mut self, last_trusted: Option<DateTime<Utc>>) {
        if let Some(last) = last_trusted {
            self.faults.push(format!(
                "the clock is in doubt: it says {}, and was last trusted {}; letters wait in the mailbox, \
                 and nothing is decided or moved until a witness agrees: if it is right, run \
                 fogpost clock confirm",
                self.at.format("%Y-%m-%d %H:%M UTC"),
                time_apart(self.at - last)
            ));
        }
    }

    fn note_space(&mut self, free_bytes: Option<u64>, config: &DatabaseSection) {
        self.free_mb = free_bytes.map(|free| free / 1_000_000);
        if let Some(free_mb) = free_bytes.and_then(|free| config.shortage(free)) {
            self.faults.push(format!(
                "only {free_mb} MB are free (database.min_free_mb is {}); the mailbox is not emptied further",
                config.min_free_mb
            ));
        }
    }

    fn sum_up(
        queues: Queues,
        statuses: Vec<DaemonStatus>,
        now: DateTime<Utc>,
        silent_after: TimeDelta,
    ) -> Self {
        let last_fetch = statuses.iter().filter_map(|daemon| daemon.fetched).max();
        let last_send = statuses.iter().filter_map(|daemon| daemon.sent).max();
        let last = statuses.iter().max_by_key(|daemon| daemon.at).cloned();
        let running: Vec<DaemonStatus> =
            statuses.into_iter().filter(|daemon| daemon.runs(now, silent_after)).collect();
        let daemons_working = running.len();
        let daemons = if running.is_empty() { last.into_iter().collect() } else { running };
        let delay = queues.next_wake.map_or(TimeDelta::zero(), |wake| (now - wake).max(TimeDelta::zero()));
        let mut status = Status {
            at: now,
            letters_waiting: queues.letters_waiting,
            oldest_letter: queues.oldest_letter,
            letters_set_aside: queues.set_aside,
            dispatches_waiting: queues.dispatches_waiting,
            oldest_dispatch: queues.oldest_dispatch,
            dispatch_error: queues.dispatch_error.as_deref().map(without_addresses),
            dispatches_given_up: queues.given_up,
            given_up_unseen: queues.given_up_unseen,
            matches_running: queues.matches_running,
            clock_late_seconds: delay.num_seconds(),
            last_fetch,
            last_send,
            daemons,
            daemons_working,
            ..Status::default()
        };
        status.faults = status.find_faults(silent_after);
        status
    }

    fn find_faults(&self, silent_after: TimeDelta) -> Vec<String> {
        let mut faults = Vec::new();
        // Between single runs, everything waits for the next one.
        let between_runs = self.daemons.iter().filter(|daemon| !daemon.stays());
        let between_runs =
            between_runs.map(|daemon| daemon.longest_silence(silent_after)).max().unwrap_or_default();
        if self.daemons_working == 0 {
            faults.push(match self.daemons.first() {
                Some(last) => {
                    format!(
                        "no daemon runs; the last was heard from {} ago",
                        format_duration(self.at - last.at)
                    )
                }
                None => "no daemon has ever run on this database; start one with `fogpost run`".to_owned(),
            });
        } else {
            let started = self.daemons.iter().map(|daemon| daemon.since).min();
            // A daemon that has just started may not have fetched letters yet.
            if let Some(age) = age_over(MAX_UNREAD.max(between_runs), self.last_fetch.max(started), self.at) {
                faults.push(format!("{UNREAD} {age}; the daemon's log says why"));
            }
        }
        for locked in
            self.daemons.iter().filter(|_| self.daemons_working > 0).flat_map(|daemon| &daemon.locked)
        {
            let wait = if locked.contains(' ') { "wait" } else { "waits" };
            faults.push(format!("{locked} {wait}, because another session of the database holds a lock"));
        }
        if let Some(age) = age_over(MAX_WAIT.max(between_runs), self.oldest_letter, self.at) {
            faults.push(format!("a letter has waited {age} to be ruled on"));
        }
        // What was tried in vain does not merely wait for the next run.
        let next_run =
            if self.dispatch_error.is_some() { between_runs.min(MAX_REFUSED) } else { between_runs };
        if let Some(age) = age_over(MAX_WAIT.max(next_run), self.oldest_dispatch, self.at) {
            let error = self.dispatch_error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
            faults.push(format!("a dispatch has waited {age} to be sent{error}: fogpost letters --unsent"));
        }
        if self.given_up_unseen > 0 {
            let number = self.given_up_unseen;
            let letters = if number == 1 { "letter was" } else { "letters were" };
            faults.push(format!(
                "{number} {letters} given up: look at fogpost letters given-up, then add --seen"
            ));
        }
        let late = TimeDelta::seconds(self.clock_late_seconds);
        if late > between_runs.max(MAX_CLOCK_DELAY) {
            faults.push(format!("the clock is late by {}", format_duration(late)));
        }
        faults
    }

    /// Returns the status in the text format of Prometheus, version 0.0.4.
    pub fn metrics(&self) -> String {
        let newest = self.daemons.iter().map(|daemon| daemon.at).max();
        let count = |count: u64| Some(i64::try_from(count).unwrap_or(i64::MAX));
        let gauges = [
            ("letters_waiting", "Letters waiting to be ruled on", count(self.letters_waiting)),
            (
                "letters_oldest_age_seconds",
                "Age of the oldest waiting letter",
                Some(seconds_since(self.oldest_letter, self.at).unwrap_or(0)),
            ),
            ("letters_set_aside", "Letters that could not be ruled on", count(self.letters_set_aside)),
            ("dispatches_waiting", "Dispatches waiting to be sent", count(self.dispatches_waiting)),
            (
                "dispatches_oldest_age_seconds",
                "Age of the oldest waiting dispatch",
                Some(seconds_since(self.oldest_dispatch, self.at).unwrap_or(0)),
            ),
            ("sent_in_a_day", "Letters sent in the last 24 hours", count(self.sent_in_a_day)),
            ("dispatches_given_up", "Dispatches that could not be sent", count(self.dispatches_given_up)),
            ("matches_running", "Running matches", count(self.matches_running)),
            ("matches_late", "Matches past the deadline, within the grace", count(self.matches_late)),
            ("matches_waiting_for_gm", "Matches that wait for a GM", count(self.matches_waiting_for_gm)),
            ("applicants_waiting", "Newcomers who wait to be admitted", count(self.applicants_waiting)),
            ("protests", "Matches with a protest", count(self.protests)),
            ("clock_late_seconds", "Delay of the clock", Some(self.clock_late_seconds)),
            (
                "last_fetch_age_seconds",
                "Time since the mailbox was read",
                seconds_since(self.last_fetch, self.at),
            ),
            ("last_send_age_seconds", "Time since a letter was sent", seconds_since(self.last_send, self.at)),
            ("heartbeat_age_seconds", "Time since a daemon was heard from", seconds_since(newest, self.at)),
            ("free_megabytes", "Free space on the disk of the database", self.free_mb.and_then(count)),
            ("logins_broken", "Logins at mail providers that need a person", count(self.logins_broken)),
            ("daemons_working", "Running daemons", count(self.daemons_working as u64)),
            ("faults", "Number of faults; fogpost status names them", count(self.faults.len() as u64)),
        ];
        let mut text = String::new();
        for (name, help, value) in gauges {
            // Something that never happened has no age.
            let Some(value) = value else { continue };
            let _ = writeln!(
                text,
                "# HELP fogpost_{name} {help}.\n# TYPE fogpost_{name} gauge\nfogpost_{name} {value}"
            );
        }
        text
    }
}

fn seconds_since(since: Option<DateTime<Utc>>, at: DateTime<Utc>) -> Option<i64> {
    since.map(|since| (at - since).num_seconds().max(0))
}

fn age_over(limit: TimeDelta, since: Option<DateTime<Utc>>, at: DateTime<Utc>) -> Option<String> {
    since.map(|since| at - since).filter(|age| *age > limit).map(format_duration)
}

impl DaemonStatus {
    /// Returns the status without actions dated in the future: the clock was wrong when they were noted.
    pub fn known_at(self, now: DateTime<Utc>) -> DaemonStatus {
        let fetched = self.fetched.filter(|at| !is_ahead(*at, now));
        let sent = self.sent.filter(|at| !is_ahead(*at, now));
        DaemonStatus { fetched, sent, ..self }
    }
}

/// Returns the process and machine of this daemon: `pid 4711 on turing`.
pub fn this_daemon() -> String {
    format!("pid {} on {}", std::process::id(), host_name())
}

/// Returns the last status of each daemon, without actions dated in the future.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn daemon_statuses(store: &Database, now: DateTime<Utc>) -> anyhow::Result<Vec<DaemonStatus>> {
    let notes = store.remembered_under(STATUS_KEYS).await?;
    // Ignore statuses in the format of another version.
    let statuses = notes.into_iter().filter_map(|(_, note)| serde_json::from_str::<DaemonStatus>(&note).ok());
    Ok(statuses.map(|status| status.known_at(now)).collect())
}

/// Returns the daemons that run, as far as the database shows.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn running_daemons(store: &Database, now: DateTime<Utc>) -> anyhow::Result<Vec<DaemonStatus>> {
    let mut statuses = daemon_statuses(store, now).await?;
    statuses.retain(|daemon| daemon.runs(now, SILENT_AFTER));
    Ok(statuses)
}

/// Whether a time of a past action is in the future. The clocks of several machines may differ a little.
pub fn is_ahead(at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    at - now > SILENT_AFTER
}

/// Returns each login once: those that daemons have noted, and those `here`, which are newer than the notes
/// of a daemon on this machine.
fn of_all_machines(daemons: &[DaemonStatus], here: Vec<LoginStatus>) -> Vec<LoginStatus> {
    let all = daemons.iter().flat_map(|daemon| daemon.logins.clone()).chain(here);
    let each: BTreeMap<_, _> =
        all.map(|login| ((login.host.clone(), login.token_file.clone()), login)).collect();
    each.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::sending::tests::{letter, login};

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + minutes * 60, 0).unwrap()
    }

    fn daemon(heard: i64, fetched: Option<i64>) -> DaemonStatus {
        DaemonStatus {
            who: "pid 1 on turing".to_owned(),
            version: "0.1.0".to_owned(),
            since: at(0),
            at: at(heard),
            fetched: fetched.map(at),
            ..DaemonStatus::default()
        }
    }

    fn faults(queues: Queues, statuses: Vec<DaemonStatus>, now: i64) -> Vec<String> {
        Status::sum_up(queues, statuses, at(now), SILENT_AFTER).faults
    }

    #[test]
    fn there_is_no_fault_while_a_daemon_reads_the_mailbox_and_nothing_waits_long() {
        let queues =
            Queues { letters_waiting: 3, oldest_letter: Some(at(90)), given_up: 2, ..Queues::default() };
        assert_eq!(faults(queues, vec![daemon(99, Some(95))], 100), [""; 0]);
        // One of two daemons reads the mailbox; the other has ended.
        let ended = DaemonStatus { ended: true, ..daemon(10, None) };
        assert_eq!(faults(Queues::default(), vec![ended, daemon(99, Some(95))], 100), [""; 0]);
        // A daemon that has just started has read nothing yet.
        assert_eq!(faults(Queues::default(), vec![daemon(10, None)], 10), [""; 0]);
    }

    #[test]
    fn single_runs_are_a_fault_only_once_one_is_missing() {
        let runs = |gaps: &[i64]| {
            let gaps = gaps.iter().map(|minutes| 60 * minutes).collect();
            DaemonStatus { gaps: Some(gaps), ..daemon(100, Some(100)) }
        };
        let queues = || Queues {
            oldest_letter: Some(at(100)),
            oldest_dispatch: Some(at(100)),
            next_wake: Some(at(101)),
            ..Queues::default()
        };
        // The gaps between the latest runs, and when a run is missing. One long gap may have been an outage; a first run
        // shows nothing yet.
        for (gaps, missing) in [
            (&[10, 10, 10, 10, 10][..], 123),
            (&[10, 600, 10, 0, 10], 123),
            (&[1440, 1440, 1440, 1440, 1440], 100 + 2883),
            (&[], 221),
            (&[0, 1], 221),
            (&[1, 1440], 100 + 2883),
            (&[60, 60, 60, 840, 60, 60, 60, 840], 100 + 1683),
        ] {
            assert_eq!(faults(queues(), vec![runs(gaps)], missing - 1), [""; 0], "{gaps:?}");
            let found = faults(queues(), vec![runs(gaps)], missing);
            assert!(found[0].starts_with("no daemon runs"), "{gaps:?}: {found:?}");
        }
        // A letter that a server refuses does not merely wait for the next run.
        let dispatch_error = Some("550 5.7.26 unauthenticated".to_owned());
        let refused =
            || Queues { oldest_dispatch: Some(at(100)), dispatch_error: dispatch_error.clone(), ..queues() };
        assert_eq!(faults(refused(), vec![runs(&[1440; 5])], 100 + 1440), [""; 0]);
        assert!(
            faults(refused(), vec![runs(&[1440; 5])], 100 + 1441)[0].starts_with("a dispatch has waited")
        );
    }

    #[test]
    fn each_fault_is_a_line() {
        let healthy = || vec![daemon(100, Some(100))];
        assert_eq!(faults(Queues::default(), vec![], 100).len(), 1);
        assert_eq!(
            faults(Queues::default(), vec![daemon(40, Some(40))], 100),
            ["no daemon runs; the last was heard from 1 hour ago"]
        );
        assert_eq!(
            faults(Queues::default(), vec![daemon(100, Some(70))], 100),
            ["the mailbox has not been read for 30 minutes; the daemon's log says why"]
        );
        let letter = Queues { oldest_letter: Some(at(30)), ..Queues::default() };
        assert_eq!(faults(letter, healthy(), 100), ["a letter has waited 1 hour 10 minutes to be ruled on"]);
        let dispatch_error = Some("550 5.7.26 <bo@home.example> unauthenticated".to_owned());
        let dispatch = Queues { oldest_dispatch: Some(at(30)), dispatch_error, ..Queues::default() };
        assert_eq!(
            faults(dispatch, healthy(), 100),
            [
                "a dispatch has waited 1 hour 10 minutes to be sent (550 5.7.26 … unauthenticated): fogpost letters --unsent"
            ]
        );
        let given_up = Queues { given_up: 3, given_up_unseen: 2, ..Queues::default() };
        assert_eq!(
            faults(given_up, healthy(), 100),
            ["2 letters were given up: look at fogpost letters given-up, then add --seen"]
        );
        let late = Queues { next_wake: Some(at(80)), ..Queues::default() };
        assert_eq!(faults(late, healthy(), 100), ["the clock is late by 20 minutes"]);
        let early = Queues { next_wake: Some(at(180)), ..Queues::default() };
        assert_eq!(faults(early, healthy(), 100), [""; 0]);
    }

    #[test]
    fn an_outage_is_a_fault_until_any_daemon_has_sent_a_letter() {
        let mut account = Account::default();
        account.note_refused(at(50), &letter(1, "ann@players.example"), &login());
        for (sent, is_out) in [(None, true), (Some(40), true), (Some(60), false)] {
            let daemon = DaemonStatus { sent: sent.map(at), ..daemon(100, Some(100)) };
            let mut status = Status::sum_up(Queues::default(), vec![daemon], at(100), SILENT_AFTER);
            status.note_outage(&account);
            assert_eq!(
                (status.outage.is_some(), status.faults.len()),
                (is_out, usize::from(is_out)),
                "{sent:?}"
            );
        }
    }

    #[test]
    fn too_little_free_space_is_a_fault() {
        let mut status =
            Status::sum_up(Queues::default(), vec![daemon(100, Some(98))], at(100), SILENT_AFTER);
        let config = DatabaseSection { min_free_mb: 200, ..DatabaseSection::default() };
        status.note_space(None, &config);
        status.note_space(Some(200_000_000), &config);
        assert_eq!((status.free_mb, status.faults.len()), (Some(200), 0));
        status.note_space(Some(199_999_999), &config);
        assert!(status.faults[0].starts_with("only 199 MB are free"), "{:?}", status.faults);
        assert!(status.metrics().contains("fogpost_free_megabytes 199"));
    }

    #[test]
    fn metrics_have_help_type_and_value_but_no_name() {
        let queues = Queues {
            letters_waiting: 3,
            oldest_letter: Some(at(99)),
            matches_running: 7,
            ..Queues::default()
        };
        let text = Status::sum_up(queues, vec![daemon(100, Some(98))], at(100), SILENT_AFTER).metrics();
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

    #[test]
    fn the_logins_of_each_machine_are_listed_once_and_a_fault_names_another_machine() {
        let now = DateTime::UNIX_EPOCH;
        let login = |host: &str, fault: &str| LoginStatus {
            host: host.to_owned(),
            token_file: "oauth.token".into(),
            renewed_at: Some(now),
            fault: Some(fault.to_owned()),
        };
        let daemon = |login: LoginStatus| DaemonStatus {
            who: "pid 1".to_owned(),
            version: "0.1.0".to_owned(),
            since: now,
            at: now,
            logins: vec![login],
            ..DaemonStatus::default()
        };
        let noted = [
            login("turing.example", "ended"),
            login("turing.example", "ended"),
            login(&host_name(), "ended"),
        ];
        let all = of_all_machines(&noted.map(daemon), vec![login(&host_name(), "not renewed")]);
        let mut faults: Vec<String> = all.iter().filter_map(LoginStatus::named_fault).collect();
        faults.sort();
        assert_eq!(faults, ["not renewed", "on turing.example: ended"]);
    }
}
