//! The reminders of a deadline. Each player can choose when they come.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use super::life::{Draft, Match};
use super::{Content, Reader};
use crate::game::Seat;
use crate::ledger::Fact;

/// A time at which seats that have not filed are reminded.
pub(super) struct Reminder {
    pub at: DateTime<Utc>,
    seats: Vec<Seat>,
}

impl Match {
    /// Returns the time zone of the times that a seat's player reads.
    pub fn zone_of(&self, seat: Seat) -> Tz {
        self.settings[seat].zone.unwrap_or(self.terms.zone)
    }

    /// Returns the reminders for `deadline`, earliest first.
    pub(super) fn reminders(&self, deadline: DateTime<Utc>) -> Vec<Reminder> {
        let own = |seat: Seat| self.settings[seat].reminders_hours.as_ref();
        if Seat::BOTH.iter().all(|seat| own(*seat).is_none()) {
            let moments = self.terms.reminders(deadline).into_iter();
            return moments.map(|at| Reminder { at, seats: Seat::BOTH.to_vec() }).collect();
        }
        let hours_of = |seat: Seat| own(seat).unwrap_or(&self.terms.reminders_hours);
        let hours: BTreeSet<u32> = Seat::BOTH.into_iter().flat_map(|seat| hours_of(seat).clone()).collect();
        let reminders = hours.into_iter().rev().map(|hours| Reminder {
            at: deadline - TimeDelta::hours(i64::from(hours)),
            seats: Seat::BOTH.into_iter().filter(|seat| hours_of(*seat).contains(&hours)).collect(),
        });
        reminders.collect()
    }

    /// Returns when the next reminder is due that somebody gets.
    pub(super) fn next_reminder(&self, deadline: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let reminders = self.reminders(deadline).into_iter().skip(self.reminders_sent);
        let mut wanted = reminders.filter(|one| one.seats.iter().any(|seat| self.awaits(*seat)));
        wanted.next().map(|one| one.at)
    }

    /// Counts the reminders that are past at this time as sent.
    pub(super) fn skip_past_reminders(&mut self, at: DateTime<Utc>) {
        let Some(deadline) = self.deadline else { return };
        self.reminders_sent = self.reminders(deadline).iter().filter(|one| one.at <= at).count();
    }

    /// Changes the deadline. Reminders that are past at this time are skipped, and filings that wait for the deadline
    /// move with it.
    pub fn move_deadline(&mut self, deadline: DateTime<Utc>, at: DateTime<Utc>) {
        self.deadline = Some(deadline);
        self.skip_past_reminders(at);
        let waits = Seat::BOTH.iter().any(|seat| self.held[*seat].as_ref().is_some_and(|held| held.wait));
        if waits && self.settle_at.is_some() {
            self.settle_at = self.deadline;
        }
    }

    /// Whether a seat's digest comes between `at` and the deadline, and so brings the reminder.
    fn leaves_reminder_to_digest(&self, seat: Seat, at: DateTime<Utc>, deadline: DateTime<Utc>) -> bool {
        let digest = self.settings[seat].next_digest(at, self.terms.zone);
        digest.is_some_and(|digest| digest < deadline)
    }
}

/// Reminds the seats that have not filed. One letter covers all reminders that have come due since the last check.
pub(super) fn remind(draft: &mut Draft) {
    let Some((deadline, due)) = draft.game_match.deadline.zip(draft.game_match.due()) else { return };
    let reminders = draft.game_match.reminders(deadline);
    let sent = draft.game_match.reminders_sent;
    let behind = reminders.iter().filter(|one| one.at <= draft.at).count();
    if behind <= sent {
        return;
    }
    // We were down until after the deadline: a reminder would be useless, but the ledger shows why there is none.
    if draft.at >= deadline {
        draft.game_match.reminders_sent = behind;
        draft.record(Fact::ReminderPassed { turn: due.turn });
        return;
    }
    let mut reminded = draft.game_match.awaited();
    reminded.retain(|seat| reminders[sent..behind].iter().any(|one| one.seats.contains(seat)));
    // The count changes only together with an entry, or the audit would not find the change.
    if reminded.is_empty() {
        return;
    }
    draft.game_match.reminders_sent = behind;
    for seat in reminded {
        if draft.game_match.leaves_reminder_to_digest(seat, draft.at, deadline) {
            draft.record(Fact::ReminderLeftToDigest { seat, turn: due.turn });
        } else {
            draft.record(Fact::ReminderSent { seat, turn: due.turn });
            draft.dispatch(Reader::Seat(seat), Content::Reminder);
        }
    }
}
