//! Deadlines after an outage, and after a clock that was ahead, which looked like an outage.

use chrono::{DateTime, TimeDelta, Utc};

use super::late::phase_began;
use crate::ledger::Fact;
use crate::referee::play::deadline;
use crate::referee::play::dispatch::{Content, Notice};
use crate::referee::play::game_match::{Match, Stage};
use crate::referee::play::kept::ClockMove;
use crate::referee::play::ruling::Draft;

/// A phase that began at most this far in the future keeps its deadline, which gives the players that much
/// more time.
const FAR_AHEAD: TimeDelta = TimeDelta::days(7);

/// Extends a deadline hit by an outage, so that nobody is late because we were down.
pub fn extend(draft: &mut Draft, since: DateTime<Utc>) {
    let Some(deadline) = running_deadline(&draft.game_match) else { return };
    let Some(moved) = after_outage(&draft.game_match, deadline, since, draft.at) else { return };
    let clock_move =
        ClockMove { at: draft.at, seconds: (moved - deadline).num_seconds(), since: Some(since) };
    draft.game_match.clock_moves.push(clock_move);
    draft.game_match.delay_firm(since, draft.at);
    set(draft, moved);
    draft.record(Fact::DeadlineSlid { deadline: moved });
    draft.dispatch_to_both(Content::Notice(Notice::Slid));
}

/// Resets a deadline that was moved while the clock was ahead. The rest of the outage still counts.
pub fn set_again(draft: &mut Draft) {
    let at = draft.at;
    let Some(deadline) = running_deadline(&draft.game_match) else { return };
    if draft.game_match.vanished.is_none() && phase_began(&draft.game_match) > at + FAR_AHEAD {
        // The phase began while the clock was ahead, so give it all its days again, from now.
        deadline::start(draft);
        draft.dispatch_to_both(Content::Notice(Notice::SetAgain));
        return;
    }
    let (void, kept): (Vec<ClockMove>, Vec<ClockMove>) =
        draft.game_match.clock_moves.iter().partition(|clock_move| clock_move.at > at);
    if void.is_empty() {
        return;
    }
    let seconds = void.iter().map(|clock_move| clock_move.seconds).sum();
    let restored = deadline - TimeDelta::seconds(seconds);
    let since = void.iter().filter_map(|clock_move| clock_move.since).min();
    let moved = since.and_then(|since| after_outage(&draft.game_match, restored, since, at));
    draft.game_match.clock_moves = kept;
    if let Some(moved) = moved {
        let seconds = (moved - restored).num_seconds();
        draft.game_match.clock_moves.push(ClockMove { at, seconds, since });
    }
    draft.game_match.sent_late = None;
    let deadline = moved.unwrap_or(restored);
    set(draft, deadline);
    draft.record(Fact::DeadlineRestored { deadline });
    draft.dispatch_to_both(Content::Notice(Notice::SetAgain));
}

/// Returns the running deadline: for a choice about a player who has vanished, or for the open phase.
fn running_deadline(game_match: &Match) -> Option<DateTime<Utc>> {
    let choice = game_match.vanished.map(|vanished| vanished.until);
    choice.or(game_match.deadline).filter(|_| game_match.stage == Stage::Running)
}

/// Returns the deadline after an outage from `since` until now, or `None` if the outage did not hit it.
fn after_outage(
    game_match: &Match,
    deadline: DateTime<Utc>,
    since: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Option<DateTime<Utc>> {
    let grace = game_match.terms.grace();
    let had_grace = if game_match.vanished.is_some() { TimeDelta::zero() } else { grace };
    let is_hit = deadline + had_grace > since && deadline <= now;
    is_hit.then(|| (deadline + (now - since)).max(now + grace))
}

fn set(draft: &mut Draft, deadline: DateTime<Utc>) {
    match &mut draft.game_match.vanished {
        Some(vanished) => vanished.until = deadline,
        None => deadline::move_deadline(&mut draft.game_match, deadline, draft.at),
    }
}
