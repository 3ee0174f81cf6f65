//! The bank of days: a late seat takes a day from it instead of missing the turn.

use chrono::{DateTime, Utc};

use crate::game::Seat;
use crate::ledger::Fact;
use crate::referee::play::deadline;
use crate::referee::play::dispatch::{Content, Notice, Reader};
use crate::referee::play::game_match::Match;
use crate::referee::play::ruling::Draft;

impl Match {
    /// Returns the days that are left in a seat's bank: the days that the terms give, minus those taken in
    /// turns that stand.
    pub fn bank_left(&self, seat: Seat) -> u32 {
        let taken = u32::try_from(self.bank_days[seat].len()).unwrap_or(u32::MAX);
        self.terms.bank.saturating_sub(taken)
    }

    /// Gives back the days that were taken in turns that a correction voids: all from `turn` on, or after it
    /// if the turn itself stands.
    pub(in crate::referee) fn restore_bank(&mut self, turn: u32, turn_stands: bool) {
        for seat in Seat::BOTH {
            self.bank_days[seat].retain(|taken| *taken < turn || turn_stands && *taken == turn);
        }
    }
}

/// Returns the deadline after the next day that a seat takes at `at`.
fn next_deadline(game_match: &Match, seat: Seat, at: DateTime<Utc>) -> DateTime<Utc> {
    game_match.terms.deadline(at, 0, &game_match.absences[seat])
}

/// Returns the last deadline that a seat can reach with `left` more days, from this one on.
fn latest(game_match: &Match, seat: Seat, left: u32, mut deadline: DateTime<Utc>) -> DateTime<Utc> {
    for _ in 0..left {
        deadline = next_deadline(game_match, seat, deadline + game_match.terms.grace());
    }
    deadline
}

/// Takes a day of each of these seats, whose grace is over. Both sides are notified of the first day taken in
/// a turn, and the late seat is notified of its last one.
pub fn take_days(draft: &mut Draft, turn: u32, seats: &[Seat]) {
    let at = draft.at;
    let deadlines = seats.iter().map(|seat| next_deadline(&draft.game_match, *seat, at));
    let Some(deadline) = deadlines.max() else { return };
    deadline::move_deadline(&mut draft.game_match, deadline, at);
    for &seat in seats {
        let is_first = !draft.game_match.bank_days[seat].contains(&turn);
        draft.game_match.bank_days[seat].push(turn);
        let left = draft.game_match.bank_left(seat);
        draft.record(Fact::BankDayTaken { seat, left, deadline });
        let latest = latest(&draft.game_match, seat, left, deadline);
        let notice = Content::Notice(Notice::BankDay { seat, left, deadline, latest });
        if is_first {
            draft.dispatch_to_both(notice);
        } else if left == 0 {
            draft.dispatch(Reader::Seat(seat), notice);
        }
    }
}

/// Whether a seat takes a day now: it has one left, has not already missed the phase, and receives our
/// letters.
pub fn takes_day(game_match: &Match, seat: Seat) -> bool {
    game_match.bank_left(seat) > 0 && !game_match.missed_phase[seat]
}
