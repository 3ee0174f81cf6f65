//! The account with which letters are sent, as the server's answers show it, and what follows from each
//! answer.
//!
//! Most refusals say nothing about the letter: a quota is used up, a login has expired, a relay is closed.
//! Then nothing is given up, and the outbox stops trying for a while instead of trying each letter in turn. A
//! refusal at RCPT or after DATA may be about either; letters to three domains that are refused in a row show
//! that it is the account.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::desk::outbox::returned::Event;
use crate::post::outbox::SendError;
use crate::post::refusal::{EnhancedCode, RefusalClass};
use crate::referee::{DispatchKind, TOLERATED_DELAY};
use crate::store::{Claimed, SendOutcome};

/// The key under which a daemon remembers the account.
pub const ACCOUNT: &str = "outbox";

/// The shortest and the longest pause between two attempts, unless the server names a time.
const MIN_PAUSE: TimeDelta = TimeDelta::minutes(1);
const MAX_PAUSE: TimeDelta = TimeDelta::hours(1);

/// The same if the server said nothing, because the network failed: to try again costs nobody anything.
const MIN_SILENT_PAUSE: TimeDelta = TimeDelta::seconds(2);
const MAX_SILENT_PAUSE: TimeDelta = TimeDelta::minutes(1);

/// Different domains refused in a row that show that our account is meant.
const DOMAINS_IN_A_ROW: usize = 3;

/// Letters tried at a time after the network failed: a connection that breaks often lets some of them
/// through.
const SILENT_PROBES: usize = 8;

/// Duration of an outage after which the GM is told of it, unless the server refuses for good.
const TELL_AFTER: TimeDelta = TimeDelta::minutes(3);

/// Time before the GM is told again that the server refuses everything for the same reason: an hourly quota
/// does so every hour.
const TELL_AGAIN_AFTER: TimeDelta = TimeDelta::hours(24);

/// Times that a letter given up in a run can be queued again and still count as evidence against the account.
/// Otherwise three dead addresses would cause one outage after the other.
const MAX_REVIVALS: u32 = 3;

/// Maximum refusals of a run that are remembered.
const MAX_RUN: usize = 1000;

/// The codes of a refusal for good.
type Status = (u16, Option<EnhancedCode>);

/// The state of the account with which the outbox sends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The server takes nothing at the moment.
    pub outage: Option<Outage>,
    /// Refusals since a letter was last taken.
    run: Vec<RunEntry>,
    /// Times that each unsent dispatch was queued again because the account was to blame for its run.
    revivals: BTreeMap<i64, u32>,
    /// Work left to do about dispatches, oldest first.
    pub follow_ups: Vec<FollowUp>,
    /// The time at which the GM was last told of an outage, and the codes that caused it.
    told: Option<(DateTime<Utc>, Option<Status>)>,
}

/// A time during which the server takes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    pub since: DateTime<Utc>,
    /// The time of the last attempt.
    tried_at: DateTime<Utc>,
    /// The time of the next attempt.
    pub until: DateTime<Utc>,
    /// Failed attempts.
    pub failures: u32,
    /// The last words of the server.
    pub error: String,
    /// Letters to several domains were refused in a row, and not the account by itself.
    is_of_run: bool,
    /// The network failed at the last attempt.
    is_silent: bool,
    /// The next attempt tries the letter that was tried least often, and not the most urgent one.
    tries_another: bool,
    /// The refusal for good that all letters met, whatever it says about each of them.
    status: Option<Status>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RunEntry {
    id: i64,
    message_id: String,
    domain: String,
    class: RefusalClass,
    status: Option<Status>,
    /// Whether the seat is marked, or is going to be.
    marked: bool,
}

/// Work left to do about a dispatch whose outcome is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUp {
    pub message_id: String,
    pub event: Event,
}

impl Outage {
    /// Returns the codes of the refusal that all letters met, such as `550.5.4.5`, or `0`.
    pub fn codes(&self) -> String {
        match self.status {
            Some((code, Some(enhanced))) => format!("{code}.{enhanced}"),
            Some((code, None)) => code.to_string(),
            None => "0".to_owned(),
        }
    }

    /// Whether the refusal is what the outage is about.
    fn is_confirmed_by(&self, error: &SendError) -> bool {
        match error.class() {
            RefusalClass::Account | RefusalClass::NotNow => true,
            RefusalClass::Recipient | RefusalClass::Letter => {
                error.status().is_some() && error.status() == self.status
            }
        }
    }
}

impl RunEntry {
    fn gave_up(&self) -> bool {
        is_for_good(self.class)
    }
}

impl Account {
    /// Reads what was remembered of the account. Another version of this program may have written it in
    /// another form.
    pub fn read(remembered: Option<&str>) -> Account {
        remembered.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// Returns how many letters may be tried now in an outage, or `None` if there is no outage.
    pub fn probes(&self, now: DateTime<Utc>) -> Option<usize> {
        let outage = self.outage.as_ref()?;
        // Before the last attempt only if the clock was set back.
        let is_paused = (outage.tried_at..outage.until).contains(&now);
        Some(match (is_paused, outage.is_silent) {
            (true, _) => 0,
            (false, true) => SILENT_PROBES,
            (false, false) => 1,
        })
    }

    /// Whether the next attempt of an outage tries the letter that was tried least often, and not the most
    /// urgent one.
    pub fn tries_another(&self) -> bool {
        self.outage.as_ref().is_some_and(|outage| outage.tries_another)
    }

    /// Notes that the server took a letter. One that was in flight before the outage began (no probe) does
    /// not end it if the server has refused the account itself since: it still does.
    pub fn note_taken(&mut self, now: DateTime<Utc>, letter: &Claimed, is_probe: bool) {
        self.outage.take_if(|outage| is_probe || outage.is_of_run);
        self.mark_given_up();
        self.run.clear();
        self.revivals.remove(&letter.id);
        let may_open_a_phase = matches!(letter.kind, DispatchKind::Invitation | DispatchKind::Report);
        if letter.seat.is_some() && may_open_a_phase && now - letter.created_at > TOLERATED_DELAY {
            self.follow_ups.push(FollowUp { message_id: letter.message_id.clone(), event: Event::Late });
        }
    }

    /// Reports what the run gave up: no further letter will show that an address is not to blame for its
    /// refusal, because one was taken, or because none is in flight or due.
    pub fn mark_given_up(&mut self) {
        for entry in self.run.iter_mut().filter(|entry| entry.gave_up() && !entry.marked) {
            entry.marked = true;
            let event = Event::GivenUp { is_undeliverable: entry.class == RefusalClass::Recipient };
            self.follow_ups.push(FollowUp { message_id: entry.message_id.clone(), event });
        }
    }

    /// Notes that a letter was refused, and returns what becomes of it and of others.
    pub fn note_refused(
        &mut self,
        now: DateTime<Utc>,
        letter: &Claimed,
        error: &SendError,
    ) -> Vec<(i64, SendOutcome)> {
        if self.outage.as_ref().is_some_and(|outage| outage.is_confirmed_by(error)) {
            return vec![(letter.id, later(self.prolong(now, error), error))];
        }
        self.remember(letter, error);
        let is_of_run = self.is_run_of_account();
        if is_of_run || error.class() == RefusalClass::Account {
            let until = self.fail(now, error);
            let mut outcomes = if is_of_run { self.revive(letter.id, until) } else { Vec::new() };
            outcomes.push((letter.id, later(until, error)));
            return outcomes;
        }
        // In an outage the server spoke about this letter alone: another one may be tried.
        let outcome = match is_for_good(error.class()) {
            true => SendOutcome::GivenUp { error: error.to_string() },
            false => later(now + pause(letter.tries + 1, error), error),
        };
        vec![(letter.id, outcome)]
    }

    /// Returns the outage if the GM must be told of it now.
    pub fn alarm(&self, now: DateTime<Utc>) -> Option<Outage> {
        let outage = self.outage.as_ref()?;
        let is_told = self.told.as_ref().is_some_and(|(at, status)| {
            // A time in the future comes from a clock that was set back since.
            let is_lately = (*at..*at + TELL_AGAIN_AFTER).contains(&now);
            *at <= now && *at >= outage.since || is_lately && *status == outage.status
        });
        let is_brief = outage.tried_at - outage.since < TELL_AFTER && outage.status.is_none();
        (!is_told && !is_brief).then(|| outage.clone())
    }

    /// Notes that the GM was told of the outage.
    pub fn note_told(&mut self, now: DateTime<Utc>, outage: &Outage) {
        self.told = Some((now, outage.status));
    }

    /// Notes a refusal during an outage, and returns when the letter is due again. Letters that were in
    /// flight when the outage began do not count as attempts of their own.
    ///
    /// One letter that the server dislikes must not stand for all, if it refuses recipients or letters. So after
    /// the most urgent letter another one is tried: at once, because otherwise that one would be the first to
    /// go when the server takes letters again, before more urgent ones.
    fn prolong(&mut self, now: DateTime<Utc>, error: &SendError) -> DateTime<Utc> {
        let paused_until = self.outage.as_ref().map(|outage| outage.until);
        if let Some(until) = paused_until.filter(|_| self.probes(now) == Some(0)) {
            return until;
        }
        let tried_another = self.tries_another();
        let until = self.fail(now, error);
        if let Some(outage) = &mut self.outage {
            outage.tries_another = outage.is_of_run && !tried_another;
            // Where the network fails, several letters are tried at a time; where the server names a time, it
            // is left alone.
            if outage.tries_another && !outage.is_silent && error.named_wait().is_none() {
                (outage.failures, outage.until) = (outage.failures - 1, now);
            }
        }
        until
    }

    /// Begins an outage, or notes another failed attempt of one, and returns when the letter is due again.
    fn fail(&mut self, now: DateTime<Utc>, error: &SendError) -> DateTime<Utc> {
        let before = self.outage.take();
        let failures = before.as_ref().map_or(1, |outage| outage.failures + 1);
        let until = now + pause(failures, error);
        self.outage = Some(Outage {
            since: before.as_ref().map_or(now, |outage| outage.since),
            tried_at: now,
            until,
            failures,
            error: error.to_string(),
            is_of_run: error.class() != RefusalClass::Account,
            is_silent: error.is_silent(),
            tries_another: false,
            status: error.status().or(before.and_then(|outage| outage.status)),
        });
        until
    }

    /// Adds a refusal to the run. Of refusals for now, one for each domain is enough.
    fn remember(&mut self, letter: &Claimed, error: &SendError) {
        let new = RunEntry {
            id: letter.id,
            message_id: letter.message_id.clone(),
            domain: letter.recipient.rsplit('@').next().unwrap_or_default().to_lowercase(),
            class: error.class(),
            status: error.status(),
            marked: false,
        };
        self.run.retain(|entry| {
            let says_more = entry.domain != new.domain || entry.status != new.status;
            entry.id != new.id && (new.gave_up() || entry.gave_up() || says_more)
        });
        if self.run.len() >= MAX_RUN {
            // What is forgotten is not queued again.
            self.mark_given_up();
            self.run.remove(0);
        }
        self.run.push(new);
    }

    /// Whether the run shows that our account is meant: several domains met the latest refusal for good, or
    /// were refused for now.
    fn is_run_of_account(&self) -> bool {
        let status = self.run.last().and_then(|latest| latest.status);
        let is_evidence =
            |entry: &&RunEntry| self.revivals.get(&entry.id).is_none_or(|revivals| *revivals < MAX_REVIVALS);
        let alike = self.run.iter().filter(|entry| status.is_some() && entry.status == status);
        let not_now = self.run.iter().filter(|entry| entry.class == RefusalClass::NotNow);
        are_of_many_domains(alike.filter(is_evidence)) || are_of_many_domains(not_now)
    }

    /// Queues again what the run gave up, except the dispatch `current`, whose outcome is not recorded yet.
    fn revive(&mut self, current: i64, until: DateTime<Utc>) -> Vec<(i64, SendOutcome)> {
        let mut outcomes = Vec::new();
        for entry in std::mem::take(&mut self.run).into_iter().filter(RunEntry::gave_up) {
            *self.revivals.entry(entry.id).or_default() += 1;
            if entry.id == current {
                continue;
            }
            let error = "refused like all others".to_owned();
            outcomes.push((entry.id, SendOutcome::Later { at: until, error }));
            if entry.marked {
                let is_its_mark = |todo: &FollowUp| {
                    todo.message_id == entry.message_id && matches!(todo.event, Event::GivenUp { .. })
                };
                // If the mark is still to be set, it is not.
                match self.follow_ups.iter().position(is_its_mark) {
                    Some(place) => drop(self.follow_ups.remove(place)),
                    None => {
                        let event = Event::Revived;
                        self.follow_ups.push(FollowUp { message_id: entry.message_id, event });
                    }
                }
            }
        }
        while self.revivals.len() > MAX_RUN {
            self.revivals.pop_first();
        }
        outcomes
    }
}

/// Whether a letter that is refused so is given up.
fn is_for_good(class: RefusalClass) -> bool {
    match class {
        RefusalClass::Recipient | RefusalClass::Letter => true,
        RefusalClass::NotNow | RefusalClass::Account => false,
    }
}

fn are_of_many_domains<'a>(entries: impl Iterator<Item = &'a RunEntry>) -> bool {
    entries.map(|entry| entry.domain.as_str()).collect::<BTreeSet<_>>().len() >= DOMAINS_IN_A_ROW
}

fn later(at: DateTime<Utc>, error: &SendError) -> SendOutcome {
    SendOutcome::Later { at, error: error.to_string() }
}

/// Returns the pause after the attempt with this number, which doubles each time up to a limit. It is longer
/// if the server asks for that.
fn pause(attempt: u32, error: &SendError) -> TimeDelta {
    let (least, most) = match error.is_silent() {
        true => (MIN_SILENT_PAUSE, MAX_SILENT_PAUSE),
        false => (MIN_PAUSE, MAX_PAUSE),
    };
    let doubled = least * (1 << attempt.saturating_sub(1).min(6));
    error.named_wait().map_or(doubled.min(most), |wait| wait.max(least))
}

#[cfg(test)]
mod tests;
