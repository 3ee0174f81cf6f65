//! Refused orders, and the reminder of a seat's last refused letter, at the deadline and before grace ends.

use chrono::{DateTime, TimeDelta, Utc};

use super::faults::{self, OrdersRefusal};
use super::{conditions, doubtful, filing};
use crate::game::condition::Conditions;
use crate::game::{Fault, Line, Seat};
use crate::ledger::Fact;
use crate::referee::answer::{Answer, PartOutcome};
use crate::referee::matter::SeatLetter;
use crate::referee::play::dispatch::{Content, Reader};
use crate::referee::play::game_match::Match;
use crate::referee::play::kept::RefusedLetter;
use crate::referee::play::ruling::Draft;
use crate::request::Request;

/// Time before the end of grace at which a seat is reminded for the last time.
const BEFORE_GRACE_ENDS: TimeDelta = TimeDelta::hours(6);

/// Notes that the orders of a letter were refused, if they were.
pub fn note(draft: &mut Draft, letter: &SeatLetter, answer: &Answer) {
    let (seat, request) = (letter.cause.seat, &letter.request);
    let has_orders = !request.orders.is_empty() || !request.doubts.is_empty();
    let is_due = draft.game_match.due().is_some_and(|due| due.seats.contains(&seat));
    if request.check || !has_orders || !is_due || answer.outcome() != PartOutcome::NotFiled {
        return;
    }
    draft.game_match.refused[seat] = Some(RefusedLetter {
        cause: letter.cause.clone(),
        lines: request.lines().to_vec(),
        thread_turn: letter.thread_turn,
        other_match: letter.other_match.clone(),
        told_at: draft.at,
    });
}

impl Match {
    /// Checks the orders of a seat's last refused letter again. Returns their faults, and the lines that
    /// these quote, as written. `None` if no letter of the seat was refused in this phase.
    pub fn refused_faults(&self, seat: Seat) -> Option<(Vec<Fault>, Vec<Line>)> {
        let (refused, due) = self.refused[seat].as_ref().zip(self.due())?;
        let request = Request::read_with_texts(&refused.lines, self.game, &refused.cause.withheld_for)
            .hold_back(refused.cause.beside);
        let letter = SeatLetter {
            thread_turn: refused.thread_turn,
            other_match: refused.other_match.clone(),
            ..SeatLetter::new(refused.cause.clone(), request)
        };
        let request = &letter.request;
        let refusal = if request.orders.is_empty() {
            let about = doubtful::match_fault(&letter, self).filter(|_| !request.sections.is_empty());
            let faults = doubtful::faults_of(self, seat, request).into_iter().chain(about).collect();
            Some(OrdersRefusal { faults, ..OrdersRefusal::default() })
        } else if Conditions::are_in(self.game, &request.orders) {
            conditions::read(self, &letter, &due).err()
        } else {
            let replaced = self.game.replaced(&request.orders);
            filing::check_orders(self, &letter, &due, &replaced).err()
        };
        let faults = refusal?.faults;
        let quoted = faults::quoted_lines(request, faults.iter());
        Some((faults, quoted)).filter(|(faults, _)| !faults.is_empty())
    }
}

/// Returns when a seat is next reminded that its last letter was refused.
pub fn next_refusal(game_match: &Match, seat: Seat) -> Option<DateTime<Utc>> {
    let (refused, deadline) =
        game_match.refused[seat].as_ref().zip(game_match.deadline.filter(|_| !game_match.asked_gm))?;
    let last = deadline + game_match.terms.grace() - BEFORE_GRACE_ENDS;
    [deadline, last].into_iter().filter(|moment| *moment >= deadline && *moment > refused.told_at).min()
}

/// Reminds the seats whose last letter was refused, if it is time.
pub fn tell_again(draft: &mut Draft) {
    let Some(due) = draft.game_match.due() else { return };
    for seat in due.seats {
        let is_time = next_refusal(&draft.game_match, seat).is_some_and(|moment| moment <= draft.at);
        if let Some(refused) = draft.game_match.refused[seat].as_mut().filter(|_| is_time) {
            refused.told_at = draft.at;
            draft.record(Fact::ReminderSent { seat, turn: due.turn });
            draft.dispatch(Reader::Seat(seat), Content::Reminder);
        }
    }
}
