//! The deadline of the open phase, and its reminders. Each player can choose when reminders come.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use super::dispatch::{Content, Notice};
use super::game_match::Match;
use super::ruling::Draft;
use crate::game::{BySeat, Due, Seat};
use crate::ledger::Fact;
use crate::referee::rejection::Rejection;
use crate::referee::schedule::Absence;

/// Starts the phase that has just opened: clears requests and offers, and sets the deadline by the terms
/// in force from then on.
pub fn open_phase(draft: &mut Draft) {
    if let Some(terms) = draft.game_match.next_terms.take() {
        draft.game_match.terms = terms;
    }
    draft.game_match.settle_at = None;
    draft.game_match.asked_gm = false;
    draft.game_match.draw_offer = None;
    draft.game_match.extension = None;
    draft.game_match.offered = BySeat::default();
    draft.game_match.refused = BySeat::default();
    draft.game_match.missed_phase = BySeat::default();
    start(draft);
}

/// Gives the open phase its days from now on, or no deadline if no player owes orders.
pub fn start(draft: &mut Draft) {
    draft.game_match.vanished = None;
    draft.game_match.clock_moves.clear();
    let Some(due) = draft.game_match.due_from_players() else {
        clear(&mut draft.game_match);
        return;
    };
    let absences = absences_of(&draft.game_match, &due);
    let end = |began| draft.game_match.terms.deadline(began, draft.game_match.phase_days(), &absences);
    let deadline = end(draft.at);
    draft.game_match.lag_seconds = (deadline - end(draft.began)).num_seconds();
    // Resuming a paused match adds the time since `paused_at`, none of which has counted for this new
    // deadline.
    draft.game_match.paused_at = draft.game_match.paused_at.map(|_| draft.at);
    move_deadline(&mut draft.game_match, deadline, draft.at);
    draft.record(Fact::DeadlineSet { phase: due.phase, turn: due.turn, seats: due.seats, deadline });
}

/// Moves the deadline by whole days, counted from now if it has passed. Returns the new one, or `None` if
/// there is no deadline to move.
pub fn extend(draft: &mut Draft, days: u32) -> Option<DateTime<Utc>> {
    let (due, deadline) = draft.game_match.due().zip(draft.game_match.deadline)?;
    let absences = absences_of(&draft.game_match, &due);
    let deadline = if deadline > draft.at {
        draft.game_match.terms.extended(deadline, days, &absences)
    } else {
        draft.game_match.terms.deadline(draft.at, days, &absences)
    };
    move_deadline(&mut draft.game_match, deadline, draft.at);
    draft.game_match.asked_gm = false;
    draft.game_match.vanished = None;
    draft.game_match.extension = None;
    draft.record(Fact::DeadlineExtended { days, deadline });
    Some(deadline)
}

/// Changes the deadline. Reminders that are past at this time are skipped, and filings that wait for the
/// deadline move with it.
pub fn move_deadline(game_match: &mut Match, deadline: DateTime<Utc>, at: DateTime<Utc>) {
    game_match.deadline = Some(deadline);
    game_match.local_deadline = Some(deadline.with_timezone(&game_match.terms.zone).naive_local());
    skip_past_reminders(game_match, at);
    if game_match.waits() && game_match.settle_at.is_some() {
        game_match.settle_at = game_match.wait_ends();
    }
}

/// Removes the deadline.
pub fn clear(game_match: &mut Match) {
    (game_match.deadline, game_match.local_deadline) = (None, None);
}

/// Sets the deadline again at the same local time, which is at another moment because zone data of another edition are in
/// force; or the end of the time in which the opponent of a player who has vanished can choose. Nothing moves into the
/// past.
///
/// # Errors
/// [`Rejection::NoDeadline`] if that moves neither.
pub fn keep_local(draft: &mut Draft, deadline: DateTime<Utc>) -> Result<(), Rejection> {
    let before = draft.game_match.vanished.map(|vanished| vanished.until).or(draft.game_match.deadline);
    if before.is_none_or(|before| before == deadline) || deadline <= draft.at {
        return Err(Rejection::NoDeadline);
    }
    if let Some(vanished) = &mut draft.game_match.vanished {
        vanished.choose_by(deadline, draft.game_match.terms.zone);
        let seat = vanished.seat;
        draft.record(Fact::SubstituteOffered { seat, until: deadline });
    } else {
        move_deadline(&mut draft.game_match, deadline, draft.at);
        draft.record(Fact::ZonesChanged { deadline });
    }
    draft.dispatch_to_both(Content::Notice(Notice::ZonesChanged));
    Ok(())
}

/// Returns the absences of the seats that `due` names.
pub fn absences_of(game_match: &Match, due: &Due) -> Vec<Absence> {
    due.seats.iter().flat_map(|seat| game_match.absences[*seat].iter().copied()).collect()
}

/// A time at which seats that have not filed are reminded.
pub struct Reminder {
    pub at: DateTime<Utc>,
    pub seats: Vec<Seat>,
}

/// Returns the reminders for `deadline`, earliest first.
pub fn reminders(game_match: &Match, deadline: DateTime<Utc>) -> Vec<Reminder> {
    let own = |seat: Seat| game_match.settings[seat].reminders_hours.as_ref();
    if Seat::BOTH.iter().all(|seat| own(*seat).is_none()) {
        let moments = game_match.terms.reminders(deadline).into_iter();
        return moments.map(|at| Reminder { at, seats: Seat::BOTH.to_vec() }).collect();
    }
    let hours_of = |seat: Seat| own(seat).unwrap_or(&game_match.terms.reminders_hours);
    let hours: BTreeSet<u32> = Seat::BOTH.into_iter().flat_map(|seat| hours_of(seat).clone()).collect();
    let reminders = hours.into_iter().rev().map(|hours| Reminder {
        at: deadline - TimeDelta::hours(i64::from(hours)),
        seats: Seat::BOTH.into_iter().filter(|seat| hours_of(*seat).contains(&hours)).collect(),
    });
    reminders.collect()
}

/// Returns when somebody next gets a reminder.
pub fn next_reminder(game_match: &Match, deadline: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let reminders = reminders(game_match, deadline).into_iter().skip(game_match.reminders_sent);
    let mut wanted = reminders.filter(|one| one.seats.iter().any(|seat| game_match.owes_word(*seat)));
    wanted.next().map(|one| one.at)
}

/// Counts the reminders that are past at this time as sent.
pub fn skip_past_reminders(game_match: &mut Match, at: DateTime<Utc>) {
    let Some(deadline) = game_match.deadline else { return };
    game_match.reminders_sent = reminders(game_match, deadline).iter().filter(|one| one.at <= at).count();
}
