//! The account with which letters are sent, as the server's answers show it, and the consequences of each
//! answer.
//!
//! Most refusals say nothing about the letter: a quota is used up, a login has expired, a relay is closed.
//! Then nothing is given up, and the outbox stops trying for a while instead of trying each letter in turn. A
//! refusal at RCPT or after DATA may be about either; refusals of letters to three domains in a row show that
//! it is the account.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::desk::outbox::returned::SendingOutcome;
use crate::post::outbox::SendError;
use crate::post::refusal::{EnhancedCode, RefusalClass};
use crate::referee::{DispatchKind, TOLERATED_DELAY};
use crate::store::{Claimed, SendOutcome};

/// The outcome of an attempt to send a letter, and its effects outside the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptOutcome {
    pub id: i64,
    pub message_id: String,
    pub sent: SendOutcome,
    pub event: Option<SendingOutcome>,
}

/// The key under which a daemon remembers the account.
pub const ACCOUNT: &str = "outbox";

/// The shortest and the longest pause between two attempts, unless the server names a time.
const MIN_PAUSE: TimeDelta = TimeDelta::minutes(1);
const MAX_PAUSE: TimeDelta = TimeDelta::hours(1);

/// The same bounds if the network failed and the server said nothing: such a retry bothers nobody.
const MIN_SILENT_PAUSE: TimeDelta = TimeDelta::seconds(2);
const MAX_SILENT_PAUSE: TimeDelta = TimeDelta::minutes(1);

/// The number of different domains, refused in a row, that shows that the server refuses our account.
const DOMAINS_IN_A_ROW: usize = 3;

/// Letters tried at a time after the network failed: a connection that breaks often lets some of them
/// through.
const SILENT_PROBES: usize = 8;

/// Duration of an outage after which the GM is told of it, unless the refusal is permanent.
const TELL_AFTER: TimeDelta = TimeDelta::minutes(3);

/// Time before the GM is told again that the server refuses everything for the same reason: an hourly quota
/// does so every hour.
const TELL_AGAIN_AFTER: TimeDelta = TimeDelta::hours(24);

/// Maximum outages that the permanent refusal of one letter can help to cause. Otherwise three dead addresses
/// would cause one outage after another.
const MAX_OUTAGES: u32 = 3;

/// Maximum refusals of a run that are remembered.
const MAX_RUN: usize = 1000;

/// The codes of a permanent refusal.
type Status = (u16, Option<EnhancedCode>);

/// The state of the account with which the outbox sends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The present outage, during which the server takes nothing.
    pub outage: Option<Outage>,
    /// Refusals since a letter was last taken.
    run: Vec<Refused>,
    /// For each unsent letter, the number of outages that began with its permanent refusal.
    outages: BTreeMap<i64, u32>,
    /// The time at which the GM was last told of an outage, and the codes that caused it.
    pub told: Option<(DateTime<Utc>, Option<Status>)>,
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
    /// The latest error.
    pub error: String,
    /// Whether it began because letters to several domains were refused in a row, rather than the account
    /// itself.
    is_of_run: bool,
    /// Whether the network failed at the last attempt.
    is_silent: bool,
    /// Whether to try next the letter that was tried least often, rather than the most urgent one.
    tries_another: bool,
    /// The permanent refusal that all letters got, whatever it says about each of them.
    status: Option<Status>,
}

/// A letter of the run, and its last refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Refused {
    id: i64,
    message_id: String,
    domain: String,
    class: RefusalClass,
    status: Option<Status>,
    error: String,
    given_up: bool,
}

impl Outage {
    /// Returns the codes of the refusal that all letters got, such as `550.5.4.5`, or `0`.
    pub fn codes(&self) -> String {
        match self.status {
            Some((code, Some(enhanced))) => format!("{code}.{enhanced}"),
            Some((code, None)) => code.to_string(),
            None => "0".to_owned(),
        }
    }

    /// Whether the refusal has the same cause as the outage.
    fn is_confirmed_by(&self, error: &SendError) -> bool {
        match error.class() {
            RefusalClass::Account | RefusalClass::NotNow => true,
            RefusalClass::Recipient | RefusalClass::Letter => {
                error.status().is_some() && error.status() == self.status
            }
        }
    }
}

impl Refused {
    fn is_for_good(&self) -> bool {
        matches!(self.class, RefusalClass::Recipient | RefusalClass::Letter)
    }

    fn outcome(&self, sent: SendOutcome, event: SendingOutcome) -> AttemptOutcome {
        AttemptOutcome { id: self.id, message_id: self.message_id.clone(), sent, event: Some(event) }
    }

    /// Gives the letter up, if its refusal is permanent.
    fn give_up(&mut self) -> Option<AttemptOutcome> {
        let is_new = self.is_for_good() && !mem::replace(&mut self.given_up, true);
        let error = self.error.clone();
        let is_undeliverable = self.class == RefusalClass::Recipient;
        let event = SendingOutcome::GivenUp { error: error.clone(), is_undeliverable };
        is_new.then(|| self.outcome(SendOutcome::GivenUp { error }, event))
    }
}

impl Account {
    /// Parses the stored account. Returns the default if there is none, or if it has the format of another
    /// version.
    pub fn read(remembered: Option<&str>) -> Account {
        remembered.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// Returns how many letters may be tried now in an outage, or `None` if there is no outage.
    pub fn probes(&self, now: DateTime<Utc>) -> Option<usize> {
        let outage = self.outage.as_ref()?;
        // A time before the last attempt means that the clock was set back; do not pause then.
        let is_paused = (outage.tried_at..outage.until).contains(&now);
        Some(match (is_paused, outage.is_silent) {
            (true, _) => 0,
            (false, true) => SILENT_PROBES,
            (false, false) => 1,
        })
    }

    /// Whether the next attempt of an outage tries the letter that was tried least often, rather than the
    /// most urgent one.
    pub fn tries_another(&self) -> bool {
        self.outage.as_ref().is_some_and(|outage| outage.tries_another)
    }

    /// Notes that the server took a letter. A letter that was in flight before the outage began (no probe)
    /// does not end the outage if the server has refused the account itself since, because the account is
    /// still refused.
    pub fn note_taken(
        &mut self,
        now: DateTime<Utc>,
        letter: &Claimed,
        is_probe: bool,
    ) -> Vec<AttemptOutcome> {
        self.outage.take_if(|outage| is_probe || outage.is_of_run);
        let mut outcomes = self.give_up();
        self.run.clear();
        self.outages.remove(&letter.id);
        let may_open_a_phase = matches!(letter.kind, DispatchKind::Invitation | DispatchKind::Report);
        let is_late = letter.seat.is_some() && may_open_a_phase && now - letter.created_at > TOLERATED_DELAY;
        let event = is_late.then_some(SendingOutcome::Late);
        outcomes.push(AttemptOutcome { event, ..outcome(letter, SendOutcome::Taken) });
        outcomes
    }

    /// Notes that a letter is about to be tried again, so its last refusal no longer counts.
    pub fn note_claimed(&mut self, letter: &Claimed) {
        self.run.retain(|one| one.id != letter.id);
    }

    /// Gives up the letters of the run whose refusal is permanent: nothing more can show that their addresses
    /// are not to blame, because a letter was taken, or because none is in flight or due.
    pub fn give_up(&mut self) -> Vec<AttemptOutcome> {
        self.run.iter_mut().filter_map(Refused::give_up).collect()
    }

    /// Notes that a letter was refused, and returns the outcomes for it and for others. Even a permanently
    /// refused letter is kept until it is clear that the server does not refuse the account.
    pub fn note_refused(
        &mut self,
        now: DateTime<Utc>,
        letter: &Claimed,
        error: &SendError,
    ) -> Vec<AttemptOutcome> {
        if self.outage.as_ref().is_some_and(|outage| outage.is_confirmed_by(error)) {
            return vec![outcome(letter, later(self.prolong(now, error), error))];
        }
        let mut outcomes = Vec::from_iter(self.remember(letter, error));
        let is_of_run = self.is_run_of_account();
        let at = if is_of_run || error.class() == RefusalClass::Account {
            self.fail(now, error)
        } else {
            // The server refused only this letter, so another one may be tried even in an outage.
            now + pause(letter.tries + 1, error)
        };
        if is_of_run {
            outcomes.extend(self.requeue(at));
        }
        outcomes.push(outcome(letter, later(at, error)));
        outcomes
    }

    /// Returns the outage if the GM must be told of it now, and notes that the GM was told.
    pub fn alarm(&mut self, now: DateTime<Utc>) -> Option<Outage> {
        let outage = self.outage.as_ref()?;
        let is_told = self.told.as_ref().is_some_and(|(at, status)| {
            // A time in the future comes from a clock that was set back since.
            let is_lately = (*at..*at + TELL_AGAIN_AFTER).contains(&now);
            *at <= now && *at >= outage.since || is_lately && *status == outage.status
        });
        let is_brief = outage.tried_at - outage.since < TELL_AFTER && outage.status.is_none();
        if is_told || is_brief {
            return None;
        }
        self.told = Some((now, outage.status));
        Some(outage.clone())
    }

    /// Notes a refusal during an outage, and returns when the letter is due again. Letters that were in
    /// flight when the outage began do not count as attempts of their own.
    ///
    /// If the server refuses recipients or letters, one letter that it dislikes must not decide for all. So
    /// after the most urgent letter another one is tried: at once, because otherwise that one would be the
    /// first to go when the server takes letters again, before more urgent ones.
    fn prolong(&mut self, now: DateTime<Utc>, error: &SendError) -> DateTime<Utc> {
        let paused_until = self.outage.as_ref().map(|outage| outage.until);
        if let Some(until) = paused_until.filter(|_| self.probes(now) == Some(0)) {
            return until;
        }
        let tried_another = self.tries_another();
        let until = self.fail(now, error);
        if let Some(outage) = &mut self.outage {
            outage.tries_another = outage.is_of_run && !tried_another;
            // If the network fails, several letters are tried at a time anyway; if the server names a time,
            // nothing is sent until then.
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

    /// Adds a refusal to the run. One temporary refusal for each domain is enough. Gives up the oldest one if
    /// there are too many.
    fn remember(&mut self, letter: &Claimed, error: &SendError) -> Option<AttemptOutcome> {
        let new = Refused {
            id: letter.id,
            message_id: letter.message_id.clone(),
            domain: letter.recipient.rsplit('@').next().unwrap_or_default().to_lowercase(),
            class: error.class(),
            status: error.status(),
            error: error.to_string(),
            given_up: false,
        };
        // Another temporary refusal with the same status at the same domain shows nothing new about the account.
        self.run.retain(|one| {
            let says_more = one.domain != new.domain || one.status != new.status;
            new.is_for_good() || one.is_for_good() || says_more
        });
        let oldest = (self.run.len() >= MAX_RUN).then(|| self.run.remove(0));
        self.run.push(new);
        oldest?.give_up()
    }

    /// Whether the run shows that the server refuses our account: several domains got the latest permanent
    /// refusal, or temporary ones.
    fn is_run_of_account(&self) -> bool {
        let status = self.run.last().and_then(|latest| latest.status);
        let is_evidence =
            |one: &&Refused| self.outages.get(&one.id).is_none_or(|caused| *caused < MAX_OUTAGES);
        let alike = self.run.iter().filter(|one| status.is_some() && one.status == status);
        let not_now = self.run.iter().filter(|one| one.class == RefusalClass::NotNow);
        are_of_many_domains(alike.filter(is_evidence)) || are_of_many_domains(not_now)
    }

    /// Ends the run, and queues its given-up letters again.
    fn requeue(&mut self, at: DateTime<Utc>) -> Vec<AttemptOutcome> {
        let mut run = mem::take(&mut self.run);
        run.retain(Refused::is_for_good);
        run.iter().for_each(|one| *self.outages.entry(one.id).or_default() += 1);
        while self.outages.len() > MAX_RUN {
            self.outages.pop_first();
        }
        run.retain(|one| one.given_up);
        let again = |one: Refused| {
            one.outcome(
                SendOutcome::Later { at, error: "refused like all others".to_owned() },
                SendingOutcome::Requeued,
            )
        };
        run.into_iter().map(again).collect()
    }
}

fn outcome(letter: &Claimed, sent: SendOutcome) -> AttemptOutcome {
    AttemptOutcome { id: letter.id, message_id: letter.message_id.clone(), sent, event: None }
}

fn are_of_many_domains<'a>(refused: impl Iterator<Item = &'a Refused>) -> bool {
    refused.map(|one| one.domain.as_str()).collect::<BTreeSet<_>>().len() >= DOMAINS_IN_A_ROW
}

fn later(at: DateTime<Utc>, error: &SendError) -> SendOutcome {
    SendOutcome::Later { at, error: error.to_string() }
}

/// Returns the pause after the attempt with this number, which doubles each time up to a limit. It is longer
/// if the server asks for that.
fn pause(attempt: u32, error: &SendError) -> TimeDelta {
    let (least, most) =
        if error.is_silent() { (MIN_SILENT_PAUSE, MAX_SILENT_PAUSE) } else { (MIN_PAUSE, MAX_PAUSE) };
    // Six doublings exceed both limits. Without a bound, the shift would overflow in a long outage.
    let doubled = least * (1 << attempt.saturating_sub(1).min(6));
    error.named_wait().map_or(doubled.min(most), |wait| wait.max(least))
}

#[cfg(test)]
mod tests;
