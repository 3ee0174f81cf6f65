//! Conditional orders: a seat that is not due sends its answer to an expected move ahead (rules page `records.md`).

use chrono::{DateTime, Utc};

use super::confirmation::superseded;
use super::earlier::repeat_fault;
use super::life::Draft;
use super::turn::turn_fault;
use super::{Orders, Reply, SeatLetter, doubtful};
use crate::game::any;
use crate::game::condition::{self, ConditionNews, Conditions};
use crate::game::{Due, Fault, Seat};
use crate::ledger::{self, Fact};

/// Seals the conditional orders of a letter, all or none.
pub(super) fn seal(draft: &mut Draft, letter: &SeatLetter, due: &Due) -> Orders {
    let (seat, check, wait) = (letter.seat, letter.request.check, letter.request.wait);
    let (phase, turn) = (due.phase, due.turn);
    let is_elsewhere = letter.other_match.is_some();
    let written = letter.request.orders.iter().filter(|_| !is_elsewhere);
    let orders = written.map(|line| line.text.clone()).collect();
    let conditions = match read(draft, letter, due) {
        Ok(conditions) => conditions,
        Err(faults) => {
            draft.record(match check {
                true => Fact::OrdersChecked { seat, phase, turn, orders, faults: faults.clone() },
                false => Fact::OrdersRefused { seat, phase, turn, orders, faults: faults.clone() },
            });
            return Orders::Refused { faults, check };
        }
    };
    let lines = conditions.lines();
    if check {
        draft.record(Fact::OrdersChecked { seat, phase, turn, orders, faults: Vec::new() });
        return Orders::Conditions { lines, sealed: None, replaced: false, wait };
    }
    let sealed = ledger::seal_digest(&draft.next_salt(), &lines);
    draft.record(Fact::ConditionsSealed { seat, turn, conditions: conditions.clone(), sealed });
    let replaced = draft.game_match.conditions[seat].replace(conditions).is_some();
    Orders::Conditions { lines, sealed: Some(sealed), replaced, wait }
}

fn read(draft: &Draft, letter: &SeatLetter, due: &Due) -> Result<Conditions, Vec<Fault>> {
    let faults = letter.request.all_faults();
    if !faults.is_empty() {
        return Err(faults);
    }
    let elsewhere = doubtful::match_fault(letter, &draft.game_match);
    if let Some(fault) = elsewhere.or_else(|| turn_fault(draft, letter, due)) {
        return Err(vec![fault]);
    }
    if due.seats.contains(&letter.seat) {
        return Err(vec![Fault::whole(condition::NOT_NOW)]);
    }
    if let Some(fault) = letter.came_earlier().and_then(|arrived| too_late(draft, letter.seat, due, arrived))
    {
        return Err(vec![fault]);
    }
    let conditions = Conditions::read(draft.game_match.game, &letter.request.orders)?;
    match repeat_fault(letter, due, &conditions.lines()) {
        Some(fault) => Err(vec![fault]),
        None => Ok(conditions),
    }
}

/// Refuses conditions that are ruled on too late. When those in force came is not kept, so they are not replaced.
fn too_late(draft: &Draft, seat: Seat, due: &Due, arrived: DateTime<Utc>) -> Option<Fault> {
    let stand = draft.game_match.conditions[seat].as_ref();
    superseded(draft, seat, due, arrived).or_else(|| {
        stand.map(|_| Fault::whole("Other conditions of yours stand. To replace them, send these again."))
    })
}

/// Takes back the conditional orders of a seat.
pub(super) fn withdraw(draft: &mut Draft, seat: Seat, turn: u32) -> Reply {
    if draft.game_match.conditions[seat].take().is_none() {
        return Reply::NothingToWithdraw;
    }
    draft.record(Fact::ConditionsWithdrawn { seat, turn });
    Reply::Withdrawn
}

impl Draft {
    /// Decides what becomes of conditional orders after an adjudication in which `due` were due. The answer to a move that
    /// has come is filed.
    pub(super) fn follow_conditions(&mut self, due: &[Seat]) -> Vec<ConditionNews> {
        let game_match = &mut self.game_match;
        let mut news = Vec::new();
        for (seat, followed) in any::follow(&mut game_match.conditions, due, &game_match.state) {
            self.record(Fact::ConditionsFollowed { seat, outcome: followed.outcome.clone() });
            news.push(ConditionNews { seat, outcome: followed.outcome });
            if let Some(filing) = followed.filing {
                self.game_match.missed[seat] = 0;
                self.file(seat, filing);
            }
        }
        news
    }
}
