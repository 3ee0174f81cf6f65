//! Reminds a seat of its last refused letter, at the deadline and before grace ends.

use chrono::{DateTime, TimeDelta, Utc};

use super::life::{Draft, Match};
use super::refused::RefusedLetter;
use super::{Answer, Content, PartOutcome, Reader, SeatLetter};
use crate::game::Seat;
use crate::ledger::Fact;

/// How long before grace ends a seat is told for the last time.
const BEFORE_GRACE_ENDS: TimeDelta = TimeDelta::hours(6);

/// Notes that the orders of a letter were refused, if they were.
pub(super) fn note(draft: &mut Draft, letter: &SeatLetter, answer: &Answer) {
    let (seat, request) = (letter.seat, &letter.request);
    let has_orders = !request.orders.is_empty() || !request.doubts.is_empty();
    let is_due = draft.game_match.due().is_some_and(|due| due.seats.contains(&seat));
    if request.check || !has_orders || !is_due || answer.outcome() != PartOutcome::NotFiled {
        return;
    }
    draft.game_match.refused[seat] = Some(RefusedLetter {
        faults: answer.all_faults().cloned().collect(),
        quoted: answer.quoted.clone(),
        told_at: draft.at,
    });
}

impl Match {
    /// Returns when a seat is told next that its last letter was refused.
    pub(super) fn next_refusal(&self, seat: Seat) -> Option<DateTime<Utc>> {
        let (refused, deadline) =
            self.refused[seat].as_ref().zip(self.deadline.filter(|_| !self.asked_gm))?;
        let last = deadline + self.terms.grace() - BEFORE_GRACE_ENDS;
        [deadline, last].into_iter().filter(|moment| *moment >= deadline && *moment > refused.told_at).min()
    }
}

/// Tells the seats again whose last letter was refused, if it is time.
pub(super) fn tell_again(draft: &mut Draft) {
    let Some(due) = draft.game_match.due() else { return };
    for seat in due.seats {
        let is_time = draft.game_match.next_refusal(seat).is_some_and(|moment| moment <= draft.at);
        if let Some(refused) = draft.game_match.refused[seat].as_mut().filter(|_| is_time) {
            refused.told_at = draft.at;
            draft.record(Fact::ReminderSent { seat, turn: due.turn });
            draft.dispatch(Reader::Seat(seat), Content::Reminder);
        }
    }
}
