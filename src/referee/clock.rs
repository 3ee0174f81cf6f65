//! What the clock brings: reminders, the end of the settle time, deadlines and what the terms say of those who miss them.

use super::life::{Draft, FiledOrders, Stage};
use super::schedule::Forfeit;
use super::{Content, Notice, Reader};
use crate::game::Seat;
use crate::game::record::Ending;
use crate::ledger::Fact;

/// Decides what has come due by now in the phase `phase_no`; nothing, if another one is open.
pub(super) fn rule(draft: &mut Draft, phase_no: u32) {
    // While the house is to move, nobody is late.
    if draft.m.phase_no != phase_no || draft.m.stage != Stage::Running || draft.m.house_due().is_some() {
        return;
    }
    if draft.m.settle_at.is_some_and(|moment| moment <= draft.at) {
        draft.adjudicate(Vec::new());
        return;
    }
    let Some(deadline) = draft.m.deadline.filter(|_| !draft.m.asked_gm) else { return };
    if deadline + draft.m.terms.grace() <= draft.at {
        enforce(draft);
    } else {
        remind(draft);
    }
}

fn remind(draft: &mut Draft) {
    let Some((deadline, due)) = draft.m.deadline.zip(draft.m.due()) else { return };
    let moments = draft.m.terms.reminders(deadline);
    let behind = moments.iter().filter(|moment| **moment <= draft.at).count();
    if behind <= draft.m.reminders_sent {
        return;
    }
    draft.m.reminders_sent = behind;
    // After the deadline itself a reminder would come too late to be one.
    if draft.at >= deadline {
        draft.note(Fact::ReminderPassed { turn: due.turn });
        return;
    }
    for seat in draft.m.awaited() {
        draft.note(Fact::ReminderSent { seat, turn: due.turn });
        draft.write(Reader::Seat(seat), Content::Reminder);
    }
}

/// The grace is over: what the terms say of those who have not filed.
fn enforce(draft: &mut Draft) {
    let Some(due) = draft.m.due() else { return };
    let late = draft.m.awaited();
    if late.is_empty() {
        draft.adjudicate(Vec::new());
        return;
    }
    let bouncing: Vec<Seat> = late.iter().copied().filter(|seat| draft.m.bouncing[*seat]).collect();
    if !bouncing.is_empty() {
        ask_gm(draft, late, bouncing);
        return;
    }
    draft.note(Fact::DeadlineMissed { phase: due.phase, turn: due.turn, seats: late.clone() });
    for seat in &late {
        draft.m.missed[*seat] += 1;
    }
    let limit = draft.m.terms.forfeit_after;
    let over: Vec<Seat> = late.iter().copied().filter(|seat| draft.m.missed[*seat] >= limit).collect();
    match (over[..].first(), draft.m.terms.forfeit) {
        (Some(seat), Forfeit::Lose) if over.len() == 1 => draft.close(Ending::Forfeit(*seat)),
        (Some(_), _) => ask_gm(draft, late, Vec::new()),
        (None, _) => take_for_filed(draft, late),
    }
}

/// `hold`: what the rules take as filed, or the deadline anew where a side must move itself.
fn take_for_filed(draft: &mut Draft, late: Vec<Seat>) {
    let at = draft.at;
    let taken: Option<Vec<_>> =
        late.iter().map(|seat| draft.m.state.missed(*seat).map(|f| (*seat, f))).collect();
    match taken {
        Some(taken) => {
            for (seat, filing) in taken {
                draft.m.held[seat] = Some(FiledOrders { filing, at, wait: false });
            }
            draft.adjudicate(late);
        }
        None => {
            draft.set_deadline(draft.m.days());
            draft.write_both(Content::Missed { seats: late });
        }
    }
}

/// The GM decides: adjudicates on what is there, with what the rules take as filed for the others.
///
/// # Errors
/// The seats that must move themselves.
pub(super) fn adjudicate_now(draft: &mut Draft) -> Result<(), Vec<Seat>> {
    let late = draft.m.awaited();
    let must: Vec<Seat> = late.iter().copied().filter(|seat| draft.m.state.missed(*seat).is_none()).collect();
    if !must.is_empty() {
        return Err(must);
    }
    take_for_filed(draft, late);
    Ok(())
}

fn ask_gm(draft: &mut Draft, seats: Vec<Seat>, bouncing: Vec<Seat>) {
    draft.m.asked_gm = true;
    draft.note(Fact::GmAsked { seats: seats.clone(), bouncing: bouncing.clone() });
    draft.write(Reader::Gm, Content::Notice(Notice::Overdue { seats: seats.clone(), bouncing }));
    draft.write_both(Content::Missed { seats });
}
