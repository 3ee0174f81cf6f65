//! The consequences if the mail server was late to accept the letter that opened a phase.

use chrono::{DateTime, TimeDelta, Utc};

use crate::game::Seat;
use crate::ledger::Fact;
use crate::referee::play::deadline;
use crate::referee::play::game_match::{Match, Stage};
use crate::referee::play::kept::{ClockMove, SentLate};
use crate::referee::play::ruling::Draft;
use crate::referee::rejection::Rejection;

/// A delay up to this length does not move the deadline, because mail always takes some time.
pub const TOLERATED_DELAY: TimeDelta = TimeDelta::hours(1);

/// Returns when the open phase began.
pub(super) fn phase_began(game_match: &Match) -> DateTime<Utc> {
    game_match.adjudicated.last().map_or(game_match.opened_at, |(_, _, at)| *at)
}

/// Moves the deadline by the delay of the letter that opened the phase to the seat, written at `written` and
/// accepted by the mail server only now.
///
/// No letter announces this, because it would wait behind the others. Receipts and reminders name the new
/// deadline. Both sides have one deadline, so it moves by the longer delay. It moves whether or not the seat
/// has filed, because the other side must not learn that.
pub fn note_sent_late(draft: &mut Draft, seat: Seat, written: DateTime<Utc>) -> Result<(), Rejection> {
    let game_match = &draft.game_match;
    let delay = draft.at - written;
    let is_due = game_match.due().is_some_and(|due| due.seats.contains(&seat));
    let is_open = game_match.stage == Stage::Running && game_match.enforces_deadline() && is_due;
    let Some(deadline) = game_match.deadline.filter(|_| is_open) else { return Err(Rejection::Passed) };
    if written < phase_began(game_match) {
        return Err(Rejection::Passed);
    }
    let phase_no = game_match.phase_no;
    let moved = game_match.sent_late.filter(|late| late.phase_no == phase_no).map_or(0, |late| late.seconds);
    let seconds = delay.num_seconds();
    if delay <= TOLERATED_DELAY || seconds <= moved {
        return Err(Rejection::Already);
    }
    draft.game_match.sent_late = Some(SentLate { phase_no, seconds });
    let (at, seconds) = (draft.at, seconds - moved);
    draft.game_match.clock_moves.push(ClockMove { at, seconds, since: None });
    let deadline = deadline + TimeDelta::seconds(seconds);
    deadline::move_deadline(&mut draft.game_match, deadline, draft.at);
    draft.record(Fact::OpeningSentLate { seat, deadline });
    Ok(())
}
