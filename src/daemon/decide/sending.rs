//! What follows from each attempt to send: for its letter, and for the outbox as a whole.
//!
//! Most refusals say nothing about the letter: a quota is used up, a login has expired, a relay is closed. Then nothing
//! is given up, and the outbox stops trying for a while instead of trying each letter in turn. A refusal at RCPT or
//! after DATA may be about either; letters to three domains that are refused in a row show that it is the account.
//!
//! This is pure, so that its law can be tested over random sequences of refusals: when the server takes mail again,
//! every letter arrives that the recipient's own server does not refuse.

pub mod quota;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::post::outbox::SendError;
use crate::post::refusal::{EnhancedCode, RefusalClass};
use crate::referee::{DispatchKind, TOLERATED_DELAY};
use crate::store::{Claimed, SendOutcome};

/// The key under which a daemon remembers what it knows of the account.
pub const ACCOUNT: &str = "outbox";

/// The shortest and the longest pause between two attempts, unless the server names a time.
const MIN_PAUSE: TimeDelta = TimeDelta::minutes(1);
const MAX_PAUSE: TimeDelta = TimeDelta::hours(1);

/// Different domains refused in a row that show that our account is meant.
const DOMAINS_IN_A_ROW: usize = 3;

/// The same if the server said nothing, because the network failed: to try again costs nobody anything.
const MIN_SILENT_PAUSE: TimeDelta = TimeDelta::seconds(2);
const MAX_SILENT_PAUSE: TimeDelta = TimeDelta::minutes(1);

/// How many letters are tried at a time where the network failed: one that breaks often lets some of them through.
const SILENT_PROBES: usize = 8;

/// How long an outage lasts until the GM is told of it, unless the server says that it is for good.
const TELL_AFTER: TimeDelta = TimeDelta::minutes(3);

/// How long the GM is not told again that the server refuses everything for the same reason: an hourly quota does so
/// every hour.
const TELL_AGAIN_AFTER: TimeDelta = TimeDelta::hours(24);

/// How often a letter that was given up in a run can be queued again and still count as evidence against the account.
/// Otherwise three dead addresses would cause one outage after the other.
const MAX_REVIVALS: u32 = 3;

/// Maximum refusals of a run that are remembered.
const MAX_RUN: usize = 1000;

/// The codes of a refusal for good.
type Status = (u16, Option<EnhancedCode>);

/// What the outbox knows of the account with which it sends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The server takes nothing at the moment.
    pub outage: Option<Outage>,
    /// Refusals since a letter was last taken.
    run: Vec<RunEntry>,
    /// How often each unsent dispatch was queued again because its run turned out to be the account's.
    revivals: BTreeMap<i64, u32>,
    /// Work left to do about dispatches, oldest first.
    pub follow_ups: Vec<FollowUp>,
    /// When the GM was last told of an outage, and the codes that caused it.
    told: Option<(DateTime<Utc>, Option<Status>)>,
}

/// A time during which the server takes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    pub since: DateTime<Utc>,
    /// When a letter was last tried.
    tried_at: DateTime<Utc>,
    /// When the next letter is tried.
    pub until: DateTime<Utc>,
    /// Failed attempts.
    pub failures: u32,
    /// What the server said last.
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
    fn is_confirmed_by(&self, refused: &Refused) -> bool {
        match refused.class {
            RefusalClass::Account | RefusalClass::NotNow => true,
            RefusalClass::Recipient | RefusalClass::Letter => {
                refused.status.is_some() && refused.status == self.status
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RunEntry {
    id: i64,
    message_id: String,
    domain: String,
    class: RefusalClass,
    status: Option<Status>,
    gave_up: bool,
    /// Whether the seat is marked, or is going to be.
    marked: bool,
}

/// Work left to do about a dispatch whose outcome is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUp {
    pub message_id: String,
    pub event: Event,
}

/// An outcome that concerns others than the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The dispatch was given up. The GM is told, and the seat is marked if the recipient is to blame, and not the letter.
    GivenUp { is_undeliverable: bool },
    /// The seat was marked, but the dispatch is queued again.
    Revived,
    /// The dispatch opened a phase, and the server took it late.
    Late,
}

/// One attempt to send a letter.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    pub id: i64,
    pub message_id: &'a str,
    pub recipient: &'a str,
    /// Earlier attempts.
    pub tries: u32,
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub class: RefusalClass,
    pub status: Option<Status>,
    /// How long the server asks us to wait.
    pub wait: Option<TimeDelta>,
    /// The server said nothing: it could not be reached, or the connection broke.
    pub is_silent: bool,
    pub error: String,
}

/// Whether letters may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    Open,
    /// So many letters may be tried.
    Probe(usize),
    Closed,
}

/// Reads what was remembered of the account. Another version of this program may have written it in another form.
pub fn read(remembered: Option<&str>) -> Account {
    remembered.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

impl<'a> From<&'a Claimed> for Attempt<'a> {
    fn from(dispatch: &'a Claimed) -> Attempt<'a> {
        let Claimed { id, message_id, recipient, tries, .. } = dispatch;
        Attempt { id: *id, message_id, recipient, tries: *tries }
    }
}

impl Refused {
    pub fn of(error: &SendError) -> Refused {
        Refused {
            class: error.class(),
            status: error.status(),
            wait: error.named_wait(),
            is_silent: error.is_silent(),
            error: error.to_string(),
        }
    }
}

impl Account {
    /// Returns whether letters may be sent now.
    pub fn gate(&self, now: DateTime<Utc>) -> Gate {
        match &self.outage {
            None => Gate::Open,
            // Before the last attempt only if the clock was set back.
            Some(outage) if (outage.tried_at..outage.until).contains(&now) => Gate::Closed,
            Some(outage) => Gate::Probe(if outage.is_silent { SILENT_PROBES } else { 1 }),
        }
    }

    /// Whether the next attempt of an outage tries the letter that was tried least often, and not the most urgent one.
    pub fn tries_another(&self) -> bool {
        self.outage.as_ref().is_some_and(|outage| outage.tries_another)
    }

    /// Notes that the server took a letter.
    pub fn note_taken(&mut self, attempt: &Attempt<'_>) -> SendOutcome {
        self.outage = None;
        self.end_run(attempt)
    }

    /// Notes that the server took a letter that was under way when the outage began. If it has refused the account itself
    /// since, it still does.
    pub fn note_taken_before_outage(&mut self, attempt: &Attempt<'_>) -> SendOutcome {
        self.outage.take_if(|outage| outage.is_of_run);
        self.end_run(attempt)
    }

    fn end_run(&mut self, attempt: &Attempt<'_>) -> SendOutcome {
        self.mark_given_up();
        self.run.clear();
        self.revivals.remove(&attempt.id);
        SendOutcome::Taken
    }

    /// Notes when the server took a dispatch: if that is late, the deadline of the phase that it opened moves.
    pub fn note_when_taken(&mut self, now: DateTime<Utc>, dispatch: &Claimed) {
        let may_open_a_phase = matches!(dispatch.kind, DispatchKind::Invitation | DispatchKind::Report);
        if dispatch.seat.is_some() && may_open_a_phase && now - dispatch.created_at > TOLERATED_DELAY {
            self.follow_ups.push(FollowUp { message_id: dispatch.message_id.clone(), event: Event::Late });
        }
    }

    /// Notes that no other letter is under way or due, so that no run will show that an address is not to blame for its
    /// refusal.
    pub fn note_idle(&mut self) {
        self.mark_given_up();
    }

    fn mark_given_up(&mut self) {
        for entry in self.run.iter_mut().filter(|entry| entry.gave_up && !entry.marked) {
            entry.marked = true;
            let event = Event::GivenUp { is_undeliverable: entry.class == RefusalClass::Recipient };
            self.follow_ups.push(FollowUp { message_id: entry.message_id.clone(), event });
        }
    }

    /// Notes that a letter was refused, and returns what becomes of it and of others.
    pub fn note_refused(
        &mut self,
        now: DateTime<Utc>,
        attempt: &Attempt<'_>,
        refused: &Refused,
    ) -> Vec<(i64, SendOutcome)> {
        if let Some(outage) = self.outage.clone().filter(|outage| outage.is_confirmed_by(refused)) {
            let until = self.prolong(now, &outage, refused);
            return vec![(attempt.id, later(until, &refused.error))];
        }
        self.remember(attempt, refused);
        let evidence = self.evidence();
        if refused.class == RefusalClass::Account || evidence.is_some() {
            let until = self.start_outage(now, refused, evidence.flatten());
            let mut outcomes = match evidence {
                Some(_) => self.revive(attempt.id, until),
                None => Vec::new(),
            };
            outcomes.push((attempt.id, later(until, &refused.error)));
            return outcomes;
        }
        // In an outage the server spoke about this letter alone: the gate stays open for another one.
        let outcome = match refused.class {
            RefusalClass::Recipient | RefusalClass::Letter => {
                SendOutcome::GivenUp { error: refused.error.clone() }
            }
            RefusalClass::NotNow | RefusalClass::Account => {
                later(now + pause(attempt.tries + 1, refused), &refused.error)
            }
        };
        vec![(attempt.id, outcome)]
    }

    /// Returns the outage if the GM must be told of it now.
    pub fn take_alarm(&mut self, now: DateTime<Utc>) -> Option<Outage> {
        let outage = self.outage.as_ref()?;
        let is_told = self.told.as_ref().is_some_and(|(at, status)| {
            // A time in the future comes from a clock that was set back since.
            let is_lately = (*at..*at + TELL_AGAIN_AFTER).contains(&now);
            *at <= now && *at >= outage.since || is_lately && *status == outage.status
        });
        if is_told || (outage.tried_at - outage.since < TELL_AFTER && outage.status.is_none()) {
            return None;
        }
        self.told = Some((now, outage.status));
        Some(outage.clone())
    }

    /// Notes a refusal during an outage, and returns when the letter is due again. Letters that were under way when the
    /// outage began do not count as attempts of their own.
    ///
    /// Where the server refuses recipients or letters, one that it dislikes must not stand for all. So after the most urgent
    /// letter another one is tried: at once, because otherwise that one would be the first to go when the server takes
    /// letters again, before more urgent ones.
    fn prolong(&mut self, now: DateTime<Utc>, before: &Outage, refused: &Refused) -> DateTime<Utc> {
        if self.gate(now) == Gate::Closed {
            return before.until;
        }
        let until = self.start_outage(now, refused, refused.status.or(before.status));
        if let Some(outage) = &mut self.outage {
            outage.tries_another = outage.is_of_run && !before.tries_another;
            // Where the network fails, several letters are tried at a time; where the server names a time, it is left
            // alone.
            if outage.tries_another && !outage.is_silent && refused.wait.is_none() {
                (outage.failures, outage.until) = (before.failures, now);
            }
        }
        until
    }

    /// Begins an outage, or another attempt of one, and returns when the letter is due again.
    fn start_outage(
        &mut self,
        now: DateTime<Utc>,
        refused: &Refused,
        status: Option<Status>,
    ) -> DateTime<Utc> {
        let before = self.outage.as_ref();
        let failures = before.map_or(1, |outage| outage.failures + 1);
        let until = now + pause(failures, refused);
        self.outage = Some(Outage {
            since: before.map_or(now, |outage| outage.since),
            tried_at: now,
            until,
            failures,
            error: refused.error.clone(),
            is_of_run: refused.class != RefusalClass::Account,
            is_silent: refused.is_silent,
            tries_another: false,
            status: status.or(refused.status),
        });
        until
    }

    /// Adds a refusal to the run. Of refusals for now, one for each domain is enough.
    fn remember(&mut self, attempt: &Attempt<'_>, refused: &Refused) {
        let domain = attempt.recipient.rsplit('@').next().unwrap_or_default().to_lowercase();
        let gave_up = matches!(refused.class, RefusalClass::Recipient | RefusalClass::Letter);
        self.run.retain(|entry| {
            entry.id != attempt.id
                && (gave_up || entry.gave_up || entry.domain != domain || entry.status != refused.status)
        });
        if self.run.len() >= MAX_RUN {
            // What is forgotten is not queued again.
            self.mark_given_up();
            self.run.remove(0);
        }
        self.run.push(RunEntry {
            id: attempt.id,
            message_id: attempt.message_id.to_owned(),
            domain,
            class: refused.class,
            status: refused.status,
            gave_up,
            marked: false,
        });
    }

    /// Returns whether the run shows that our account is meant, and if so, the codes that all letters met.
    fn evidence(&self) -> Option<Option<Status>> {
        let mut by_status: BTreeMap<(u16, String), (Status, BTreeSet<&str>)> = BTreeMap::new();
        let mut not_now = BTreeSet::new();
        for entry in &self.run {
            if entry.class == RefusalClass::NotNow {
                not_now.insert(entry.domain.as_str());
            }
            let Some(status) = entry.status else { continue };
            if self.revivals.get(&entry.id).is_some_and(|revivals| *revivals >= MAX_REVIVALS) {
                continue;
            }
            let key = (status.0, status.1.map(|code| code.to_string()).unwrap_or_default());
            by_status.entry(key).or_insert((status, BTreeSet::new())).1.insert(&entry.domain);
        }
        let same = by_status.into_values().find(|(_, domains)| domains.len() >= DOMAINS_IN_A_ROW);
        match same {
            Some((status, _)) => Some(Some(status)),
            None => (not_now.len() >= DOMAINS_IN_A_ROW).then_some(None),
        }
    }

    /// Queues again what the run gave up, except the dispatch `current`, whose outcome is not recorded yet.
    fn revive(&mut self, current: i64, until: DateTime<Utc>) -> Vec<(i64, SendOutcome)> {
        let mut outcomes = Vec::new();
        for entry in std::mem::take(&mut self.run).into_iter().filter(|entry| entry.gave_up) {
            *self.revivals.entry(entry.id).or_default() += 1;
            if entry.id == current {
                continue;
            }
            outcomes.push((entry.id, later(until, "refused like all others")));
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

fn later(at: DateTime<Utc>, error: &str) -> SendOutcome {
    SendOutcome::Later { at, error: error.to_owned() }
}

/// Returns the pause after the attempt with this number, which doubles each time up to a limit. It is longer if the server
/// asks for that.
fn pause(attempt: u32, refused: &Refused) -> TimeDelta {
    let (least, most) = match refused.is_silent {
        true => (MIN_SILENT_PAUSE, MAX_SILENT_PAUSE),
        false => (MIN_PAUSE, MAX_PAUSE),
    };
    let doubled = least * (1 << attempt.saturating_sub(1).min(6));
    refused.wait.map_or(doubled.min(most), |wait| wait.max(least))
}

#[cfg(test)]
mod tests;
