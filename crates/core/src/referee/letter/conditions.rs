//! Conditional orders: a seat that is not due sends its answer to an expected move in advance (rules page
//! `records.md`).

use chrono::{DateTime, Utc};

use super::faults::{self, OrdersRefusal};
use super::{doubtful, proposal};
use crate::game::condition::{self, Conditions};
use crate::game::{Due, Fault, Seat};
use crate::ledger::{self, Fact, FaultKind};
use crate::referee::answer::{Orders, Proposal, ProposalKind};
use crate::referee::matter::SeatLetter;
use crate::referee::play::game_match::Match;
use crate::referee::play::ruling::Draft;
use crate::referee::reply::Reply;

/// Seals the conditional orders of a letter, all or none.
///
/// Also returns the conditions that it offers to seal instead.
pub fn seal(draft: &mut Draft, letter: &SeatLetter, due: &Due) -> (Orders, Option<Proposal>) {
    let (seat, check, wait) = (letter.cause.seat, letter.request.check, letter.request.wait);
    let (phase, turn) = (due.phase, due.turn);
    let conditions = match read(&draft.game_match, letter, due) {
        Ok(conditions) => conditions,
        Err(refusal) => return proposal::refuse(draft, letter, due, &[], refusal),
    };
    let lines = conditions.lines();
    if check {
        let orders = proposal::written_orders(letter);
        draft.record(Fact::OrdersChecked { seat, phase, turn, orders, faults: Vec::new() });
        return (Orders::Conditions { lines, sealed: None, firm_at: None, replaced: false, wait }, None);
    }
    let sealed = ledger::seal_digest(&draft.next_salt(), &lines);
    draft.record(Fact::ConditionsSealed { seat, turn, conditions: conditions.clone(), sealed });
    let wait_end = draft.firm_at(seat, letter.cause.beside);
    let firm_at = wait_end.map(|end| end.at);
    let replaced = draft.game_match.conditions[seat].replace(conditions).is_some();
    draft.game_match.conditions_firm_at[seat] = wait_end;
    draft.game_match.offered[seat].clear();
    (Orders::Conditions { lines, sealed: Some(sealed), firm_at, replaced, wait }, None)
}

pub fn read(game_match: &Match, letter: &SeatLetter, due: &Due) -> Result<Conditions, OrdersRefusal> {
    let faults = doubtful::faults_of(game_match, letter.cause.seat, &letter.request);
    if !faults.is_empty() {
        return Err(OrdersRefusal { faults, ..OrdersRefusal::default() });
    }
    if let Some(refusal) = faults::about_another(game_match, letter, due) {
        return Err(refusal);
    }
    if due.seats.contains(&letter.cause.seat) {
        return Err(OrdersRefusal::whole(FaultKind::NotDue, Fault::whole(condition::NOT_NOW)));
    }
    let seat = letter.cause.seat;
    if let Some(fault) =
        letter.cause.came_earlier().and_then(|arrived| too_late(game_match, seat, due, arrived))
    {
        return Err(OrdersRefusal::whole(FaultKind::Superseded, fault));
    }
    let read = Conditions::read(game_match.game, &letter.request.orders);
    let conditions = read.map_err(|faults| OrdersRefusal { faults, ..OrdersRefusal::default() })?;
    match game_match.past.repeat_fault(letter, due, &conditions.lines()) {
        Some(fault) => Err(OrdersRefusal::whole(FaultKind::Repeated, fault)),
        None => Ok(conditions),
    }
}

/// Refuses conditions that are ruled on too late. The arrival time of those in force is not stored, so they
/// are not replaced.
fn too_late(game_match: &Match, seat: Seat, due: &Due, arrived: DateTime<Utc>) -> Option<Fault> {
    let stand = game_match.conditions[seat].as_ref();
    faults::came_too_late(game_match, seat, due, arrived).or_else(|| {
        stand.map(|_| Fault::whole("Other conditions of yours stand. To replace them, send these again."))
    })
}

/// Takes a seat's conditional orders back if a letter of words alone may change them or take them back, or holds orders
/// that were refused, and offers them again. They are not held as filings are: nobody owes them.
pub(super) fn doubt(draft: &mut Draft, letter: &SeatLetter, is_refused: bool) -> Option<(Reply, Proposal)> {
    let (seat, request) = (letter.cause.seat, &letter.request);
    let turn = draft.game_match.due()?.turn;
    let stand = draft.game_match.conditions[seat].is_some() && draft.game_match.filed[seat].is_none();
    let says_words_alone = request.orders.is_empty()
        && request.commands.is_empty()
        && request.faults.is_empty()
        && request.yes.is_none()
        && !request.check;
    let may_change = is_refused || says_words_alone && request.may_change_what_stands(&[]);
    if !stand || !may_change || draft.game_match.settings[seat].firm_at_once {
        return None;
    }
    let Reply::Withdrawn { orders } = withdraw(draft, seat, turn) else { return None };
    Some((Reply::ConditionsDoubted, Proposal { orders, wait: false, kind: ProposalKind::Whole }))
}

/// Withdraws the conditional orders of a seat.
pub(super) fn withdraw(draft: &mut Draft, seat: Seat, turn: u32) -> Reply {
    let Some(conditions) = draft.game_match.conditions[seat].take() else { return Reply::NothingToWithdraw };
    draft.record(Fact::ConditionsWithdrawn { seat, turn });
    Reply::Withdrawn { orders: conditions.lines() }
}
