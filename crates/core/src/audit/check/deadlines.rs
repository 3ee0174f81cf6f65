//! Accepts deadlines computed with other versions of the time zone data: a country that changes its rules
//! must not make ledgers look forged.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};

use super::state::Check;
use crate::ledger::{ChainedEntry, Entry, Fact};
use crate::referee::{Match, Ruling, move_deadline};
use crate::zone;

/// The maximum difference between local clocks: a day may begin up to 26 hours earlier or later elsewhere.
const MOST: TimeDelta = TimeDelta::hours(26);

/// Replaces the deadlines of a repeated ruling with the recorded ones, if the recorded ruling was made with
/// other time zone data and they differ by no more than clocks can.
pub(super) fn adopt_recorded(check: &Check, ruling: &mut Ruling) {
    // The entry that opens a match names the version of the time zone data itself.
    let then = check.current.as_ref().unwrap_or(&ruling.after);
    if then.mail_identity.tzdata == zone::edition() {
        return;
    }
    let mut previous = None;
    for (repeated, recorded) in ruling.entries.iter_mut().zip(&check.pending) {
        let mut entry = repeated.entry.clone();
        if let Some(previous) = previous {
            entry.prev = previous;
        }
        if let Ok(recorded) = serde_json::from_str::<Entry>(&recorded.json) {
            adopt_deadline(&mut entry.fact, recorded.fact, &mut ruling.after, entry.at);
        }
        *repeated = ChainedEntry::from(entry);
        previous = Some(repeated.hash);
    }
    if let Some(last) = ruling.entries.last() {
        ruling.after.head.hash = last.hash;
    }
}

/// Replaces the local time of the deadline, and of the end of a choice, with the stored one, if other zone data were in
/// force before and they differ by no more than clocks can. No ruling depends on it: the cause of one that keeps it names
/// the deadline.
pub(super) fn adopt_local(check: &Check, repeated: &mut Match) {
    let Some(stored) = check.snapshot.as_ref().filter(|_| check.has_other_zones) else { return };
    let adopt = |here: &mut Option<NaiveDateTime>, there: Option<NaiveDateTime>| {
        if here.zip(there).is_some_and(|(here, there)| (here - there).abs() <= MOST) {
            *here = there;
        }
    };
    adopt(&mut repeated.local_deadline, stored.local_deadline);
    if let Some(vanished) = &mut repeated.vanished {
        adopt(&mut vanished.local_until, stored.vanished.and_then(|stored| stored.local_until));
    }
}

/// Moves the deadline that a fact of a ruling at `at` sets, also in the match after it.
fn adopt_deadline(repeated: &mut Fact, mut recorded: Fact, after: &mut Match, at: DateTime<Utc>) {
    let (Some(repeated), Some(recorded)) = (deadline_in(repeated), deadline_in(&mut recorded)) else {
        return;
    };
    if (*recorded - *repeated).abs() > MOST {
        return;
    }
    if after.deadline == Some(*repeated) {
        move_deadline(after, *recorded, at);
    }
    if let Some(vanished) = after.vanished.as_mut().filter(|vanished| vanished.until == *repeated) {
        vanished.until = *recorded;
    }
    *repeated = *recorded;
}

/// Returns the deadline that a fact sets by a local time.
fn deadline_in(fact: &mut Fact) -> Option<&mut DateTime<Utc>> {
    match fact {
        Fact::DeadlineSet { deadline, .. }
        | Fact::DeadlineExtended { deadline, .. }
        | Fact::BankDayTaken { deadline, .. } => Some(deadline),
        Fact::SubstituteOffered { until, .. } => Some(until),
        Fact::MatchResumed { deadline } => deadline.as_mut(),
        _ => None,
    }
}
