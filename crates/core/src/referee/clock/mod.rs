//! Rulings caused by the clock: reminders, the end of the settle time, deadlines, and the consequences for
//! seats that miss one.

use chrono::{DateTime, Utc};

use self::enforcement::{Consequence, Enforcement, enforcement};
use crate::game::record::Ending;
use crate::game::{BySeat, Due, Seat};
use crate::ledger::Fact;
use crate::referee::letter::refusal;
use crate::referee::play::dispatch::{Content, Notice, Reader};
use crate::referee::play::game_match::{Match, Stage};
use crate::referee::play::ruling::Draft;
use crate::referee::play::{adjudication, deadline, firm, substitute};

pub mod bank;
pub mod bounce;
pub mod enforcement;
pub mod late;
pub mod outage;

impl Match {
    /// Returns when the clock next has something to decide.
    pub fn wake_at(&self) -> Option<DateTime<Utc>> {
        if self.stage != Stage::Running {
            return None;
        }
        // The house has been due since the last adjudication.
        if self.house_due().is_some() {
            return Some(self.adjudicated.last().map_or(self.opened_at, |(_, _, at)| *at));
        }
        let settle_at = self.settle_at.map(|end| end.at);
        if let Some(vanished) = self.vanished {
            return [settle_at, self.next_firm(), Some(vanished.until)].into_iter().flatten().min();
        }
        let deadline = self.deadline.filter(|_| !self.asked_gm);
        let reminder = deadline.and_then(|due| deadline::next_reminder(self, due));
        let refusals = Seat::BOTH.map(|seat| refusal::next_refusal(self, seat));
        let enforced = deadline.map(|due| due + self.terms.grace());
        [settle_at, self.next_firm(), reminder, enforced].into_iter().chain(refusals).flatten().min()
    }
}

/// Rules on everything that is due in phase `phase_no`. Does nothing if another phase is open.
pub fn apply_time(draft: &mut Draft, phase_no: u32) {
    // Nobody is late while the house has to move.
    if draft.game_match.phase_no != phase_no
        || draft.game_match.stage != Stage::Running
        || draft.game_match.house_due().is_some()
    {
        return;
    }
    firm::become_firm(draft);
    if draft.game_match.phase_no != phase_no {
        return;
    }
    if draft.game_match.settle_at.is_some_and(|end| end.at <= draft.at) {
        adjudication::adjudicate(draft, Vec::new());
        return;
    }
    if substitute::lapse(draft) {
        return;
    }
    let Some(deadline) = draft.game_match.deadline.filter(|_| !draft.game_match.asked_gm) else { return };
    if deadline + draft.game_match.terms.grace() <= draft.at {
        enforce_deadline(draft);
    } else {
        remind(draft);
        refusal::tell_again(draft);
    }
}

/// Reminds the seats that have not filed. One letter covers all reminders that have come due since the last
/// check.
fn remind(draft: &mut Draft) {
    let Some((deadline, due)) = draft.game_match.deadline.zip(draft.game_match.due()) else { return };
    let reminders = deadline::reminders(&draft.game_match, deadline);
    let sent = draft.game_match.reminders_sent;
    let behind = reminders.iter().filter(|one| one.at <= draft.at).count();
    if behind <= sent {
        return;
    }
    // We were down until after the deadline: a reminder would be useless, but the ledger shows why there is
    // none.
    if draft.at >= deadline {
        draft.game_match.reminders_sent = behind;
        draft.record(Fact::ReminderPassed { turn: due.turn });
        return;
    }
    let mut reminded: Vec<Seat> =
        Seat::BOTH.into_iter().filter(|seat| draft.game_match.owes_word(*seat)).collect();
    reminded.retain(|seat| reminders[sent..behind].iter().any(|one| one.seats.contains(seat)));
    // The count changes only together with an entry, or the audit would not find the change.
    if reminded.is_empty() {
        return;
    }
    draft.game_match.reminders_sent = behind;
    for seat in reminded {
        // A player in trouble always gets the last reminder.
        let is_last = !reminders[behind..].iter().any(|one| one.seats.contains(&seat));
        let is_kept = is_last && draft.game_match.in_trouble[seat];
        if !is_kept && leaves_reminder_to_digest(&draft.game_match, seat, draft.at, deadline) {
            draft.record(Fact::ReminderLeftToDigest { seat, turn: due.turn });
        } else {
            draft.record(Fact::ReminderSent { seat, turn: due.turn });
            draft.dispatch(Reader::Seat(seat), Content::Reminder);
        }
    }
}

/// Whether a seat's digest is sent between `at` and the deadline, and so contains the reminder.
fn leaves_reminder_to_digest(
    game_match: &Match,
    seat: Seat,
    at: DateTime<Utc>,
    deadline: DateTime<Utc>,
) -> bool {
    let digest = game_match.settings[seat].next_digest(at, game_match.terms.zone);
    digest.is_some_and(|digest| digest < deadline)
}

/// Applies the terms to the seats that have not filed when the grace is over.
fn enforce_deadline(draft: &mut Draft) {
    let Some(due) = draft.game_match.due() else { return };
    let late = draft.game_match.awaited();
    if late.is_empty() {
        adjudication::adjudicate(draft, Vec::new());
        return;
    }
    let Enforcement { missed, consequence } = enforcement(&draft.game_match, &late);
    record_missed(draft, &due, &missed);
    match consequence {
        Consequence::AskGm { bouncing } => ask_gm(draft, late, bouncing),
        Consequence::TakeDays { takers } => {
            for seat in missed {
                draft.game_match.missed_phase[seat] = true;
            }
            bank::take_days(draft, due.turn, &takers);
        }
        Consequence::OfferSubstitute(seat) => substitute::offer(draft, seat),
        Consequence::Forfeit(seat) => adjudication::close(draft, Ending::Forfeit(seat)),
        Consequence::BothForfeit => adjudication::close(draft, Ending::BothForfeit),
        Consequence::Assume => adjudicate_by_default(draft, late),
    }
}

/// Records that seats missed the phase.
fn record_missed(draft: &mut Draft, due: &Due, seats: &[Seat]) {
    if seats.is_empty() {
        return;
    }
    draft.record(Fact::DeadlineMissed { phase: due.phase, turn: due.turn, seats: seats.to_vec() });
    for seat in seats {
        draft.game_match.missed[*seat] += 1;
    }
}

/// Adjudicates with the filings that the rules assume for the late seats. If a side must move itself there is
/// no such filing, so it gets a new deadline.
pub fn adjudicate_by_default(draft: &mut Draft, late: Vec<Seat>) {
    if !adjudication::adjudicate_assumed(draft, late.clone()) {
        draft.game_match.missed_phase = BySeat::default();
        deadline::start(draft);
        draft.dispatch_to_both(Content::Missed { seats: late });
    }
}

/// Asks the GM to decide. Deadlines are not enforced until the GM has done so.
fn ask_gm(draft: &mut Draft, seats: Vec<Seat>, bouncing: Vec<Seat>) {
    draft.game_match.asked_gm = true;
    draft.record(Fact::GmAsked { seats: seats.clone(), bouncing: bouncing.clone() });
    let can_adjudicate = draft.game_match.can_adjudicate();
    let notice = Notice::Overdue { seats: seats.clone(), bouncing, can_adjudicate };
    draft.dispatch(Reader::Gm, Content::Notice(notice));
    draft.dispatch_to_both(Content::Missed { seats });
}
