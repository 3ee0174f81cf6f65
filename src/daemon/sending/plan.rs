//! Chooses the letters to claim, and the one that goes next: the most urgent one whose reader is sent nothing
//! else at that moment, so that a receipt arrives before the report that follows it. While the server refuses
//! everything, none goes, or only one now and then; while the provider's quota is used up, none is claimed.
//!
//! It has no clock, no database and no async code, so that its invariant can be tested over random sequences
//! of refusals: once the server takes mail again, every letter arrives unless the recipient's own server
//! refuses it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::account::{Account, AttemptOutcome};
use crate::config::Quota;
use crate::post::outbox::SendError;
use crate::store::{ClaimOrder, Claimed, DispatchScope, Reach, SendOutcome, SentCounts, Urgency};

/// Maximum letters claimed ahead, in flight or not.
const MAX_CLAIMED: usize = 256;

/// The same if the config limits how many are sent: claimed letters must not use up the limit before a more
/// urgent letter that is written in the meantime.
const MAX_CLAIMED_IF_LIMITED: usize = 16;

/// Divisor of `per_day` that gives the share of answers to letters without a token: strangers cannot use up
/// the players' mail.
const STRANGERS_PART: u32 = 10;

/// Divisor of `per_day` that gives the share kept for alarms to the GM, which is at least one letter.
const ALARMS_PART: u32 = 20;

/// The claimed letters, the outcomes of those that were tried, and the account that sends them.
#[derive(Default)]
pub struct SendingPlan {
    pub account: Account,
    /// Maximum letters sent at a time.
    connections: usize,
    /// Letters whose outcomes are not recorded yet.
    pub claimed: BTreeMap<i64, Urgency>,
    /// Letters that wait for a connection: the most urgent first, and of these the oldest.
    waiting: BTreeMap<(Urgency, i64), Claimed>,
    /// The readers of letters in flight, and whether the letter is a probe: sent during an outage to see
    /// whether it is over.
    pub in_flight: BTreeMap<String, bool>,
    /// Outcomes that are not recorded yet.
    pub outcomes: Vec<AttemptOutcome>,
}

impl SendingPlan {
    pub fn new(account: Account, connections: usize) -> SendingPlan {
        SendingPlan { account, connections, ..SendingPlan::default() }
    }

    /// Returns how many more letters to claim now: many or none, because each claim costs a transaction.
    pub fn room(&self, now: DateTime<Utc>, quota: &Quota) -> usize {
        let most = if quota.is_unlimited() { MAX_CLAIMED } else { MAX_CLAIMED_IF_LIMITED };
        let most = self.account.probes(now).unwrap_or(most);
        let unsent = self.waiting.len() + self.in_flight.len();
        if unsent <= most / 2 { most - unsent } else { 0 }
    }

    /// Returns which letters to claim, at most `room`, so that no part of the quota is exceeded, whatever
    /// their kinds. `sent` counts the letters whose outcomes are recorded.
    pub fn scope(&self, quota: &Quota, sent: SentCounts, room: usize) -> DispatchScope {
        let order = match self.account.tries_another() {
            true => ClaimOrder::FewestTries,
            false => ClaimOrder::MostUrgent,
        };
        let (reach, allowed) = allowance(quota, sent.and(self.claimed.values().copied()));
        DispatchScope { limit: allowed.min(u32::try_from(room).unwrap_or(u32::MAX)), order, reach }
    }

    /// Adds claimed letters. One that is claimed twice, because the database dropped the first claim, is sent
    /// once, and one that has lapsed is not sent. If an outage began while they were claimed, they are given
    /// back: a more urgent one may be the next to be tried.
    pub fn add(&mut self, now: DateTime<Utc>, letters: Vec<Claimed>) {
        for letter in letters {
            if self.claimed.insert(letter.id, letter.urgency).is_some() {
                continue;
            }
            self.account.note_claimed(&letter);
            if letter.has_lapsed {
                let Claimed { id, message_id, .. } = letter;
                self.outcomes.push(AttemptOutcome { id, message_id, sent: SendOutcome::Lapsed, event: None });
            } else {
                self.waiting.insert((letter.urgency, letter.id), letter);
            }
        }
        if self.account.probes(now).is_some_and(|letters| self.waiting.len() > letters) {
            self.put_back();
        }
    }

    /// Removes and returns the letter to send now, if any. Its reader is sent nothing else until
    /// [`SendingPlan::finish`].
    pub fn next(&mut self, now: DateTime<Utc>) -> Option<Claimed> {
        let probes = self.account.probes(now).unwrap_or(usize::MAX);
        if self.in_flight.len() >= self.connections.min(probes) {
            return None;
        }
        let mut free = self.waiting.iter().filter(|(_, one)| !self.in_flight.contains_key(&one.recipient));
        let place = *free.next()?.0;
        let letter = self.waiting.remove(&place)?;
        self.in_flight.insert(letter.recipient.clone(), self.account.outage.is_some());
        Some(letter)
    }

    /// Notes that a letter was taken or refused, and the outcomes for it and for others.
    pub fn finish(&mut self, now: DateTime<Utc>, letter: &Claimed, sent: Result<(), &SendError>) {
        let is_probe = self.in_flight.remove(&letter.recipient).unwrap_or_default();
        self.outcomes.extend(match sent {
            Ok(()) => self.account.note_taken(now, letter, is_probe),
            Err(error) => self.account.note_refused(now, letter, error),
        });
        // In an outage, a more urgent letter may be the next to be tried, so give the others back.
        if self.account.outage.is_some() {
            self.put_back();
        }
    }

    /// Gives back the letters that wait. They were not tried, so they are due as before.
    pub fn put_back(&mut self) {
        for letter in std::mem::take(&mut self.waiting).into_values() {
            self.claimed.remove(&letter.id);
        }
    }

    /// Notes that the first outcomes are recorded, and returns those that are not, because their rows are `locked`.
    /// The claims on the letters end only with the record, so that no other daemon sends them in the meantime.
    pub fn note_recorded(&mut self, outcomes: usize, locked: &[i64]) -> Vec<AttemptOutcome> {
        let mut unrecorded = Vec::new();
        for outcome in self.outcomes.drain(..outcomes) {
            if locked.contains(&outcome.id) {
                unrecorded.push(outcome);
            } else {
                self.claimed.remove(&outcome.id);
            }
        }
        unrecorded
    }

    /// Whether nothing is in flight and every outcome is recorded. Before that, gives up the permanently
    /// refused letters: no other letter will show that the server refuses the account.
    pub fn is_done(&mut self) -> bool {
        if self.is_idle() {
            self.outcomes.extend(self.account.give_up());
        }
        self.is_idle()
    }

    /// Whether nothing is in flight and every outcome is recorded.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty() && self.outcomes.is_empty()
    }
}

/// Returns which letters may be sent within the quota, and how many of them, whatever their kinds.
fn allowance(quota: &Quota, sent: SentCounts) -> (Reach, u32) {
    let now = quota.per_minute.map_or(u32::MAX, |limit| limit.saturating_sub(sent.minute));
    let Some(per_day) = quota.per_day else { return (Reach::All, now) };
    // With a limit of one letter a day, a reserve would leave nothing for anybody but the GM.
    let reserve = if per_day > 1 { (per_day / ALARMS_PART).max(1) } else { 0 };
    let alarms = now.min(per_day.saturating_sub(sent.day));
    let others = now.min((per_day - reserve).saturating_sub(sent.day));
    let strangers = others.min((per_day / STRANGERS_PART).max(1).saturating_sub(sent.strangers));
    match (strangers, others) {
        (0, 0) => (Reach::Alarms, alarms),
        (0, _) => (Reach::AllButStrangers, others),
        _ => (Reach::All, strangers),
    }
}

#[cfg(test)]
mod tests;
