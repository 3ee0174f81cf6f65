//! Files the orders of a letter, or finds the reasons why they cannot be filed.

use super::faults::{self, OrdersRefusal};
use super::{conditions, doubtful, proposal};
use crate::game::any::Filing;
use crate::game::condition::Conditions;
use crate::game::{Due, Fault, Line, Seat};
use crate::ledger::{self, Fact, FaultKind};
use crate::referee::answer::{Orders, Proposal};
use crate::referee::matter::SeatLetter;
use crate::referee::play::game_match::{FiledOrders, Match};
use crate::referee::play::ruling::Draft;
use crate::referee::play::{firm, substitute};
use crate::referee::reply::Reply;
use crate::request::Beside;

/// Seals the orders of a letter, all or none. `replaced` holds the lines that a later line overrides.
///
/// Also returns the orders that it offers to file instead, if only doubts keep the letter's own from being
/// filed.
pub(super) fn seal_orders(
    draft: &mut Draft,
    letter: &SeatLetter,
    replaced: &[Line],
) -> (Orders, Option<Proposal>) {
    let (seat, request) = (letter.cause.seat, &letter.request);
    let Some(due) = draft.game_match.due() else {
        let fault = Fault::whole("The match is over; no orders are taken any more.");
        let (faults, corrected) = (vec![fault], Vec::new());
        return (Orders::Refused { faults, check: request.check, corrected }, None);
    };
    if Conditions::are_in(draft.game_match.game, &request.orders) {
        return conditions::seal(draft, letter, &due);
    }
    let (phase, turn) = (due.phase, due.turn);
    let filing = match check_orders(&draft.game_match, letter, &due, replaced) {
        Ok(filing) => filing,
        Err(refusal) => return proposal::refuse(draft, letter, &due, replaced, refusal),
    };
    if request.check {
        let orders = proposal::written_orders(letter);
        draft.record(Fact::OrdersChecked { seat, phase, turn, orders, faults: Vec::new() });
        return (Orders::Checked { filing }, None);
    }
    let wait = request.wait;
    let orders = filing.lines();
    let sealed = ledger::seal_digest(&draft.next_salt(), &orders);
    let wait_end = draft.firm_at(seat, letter.cause.beside);
    let firm_at = wait_end.map(|end| end.at);
    draft.record(Fact::OrdersSealed { seat, phase, turn, orders, wait, firm_at, sealed });
    let other_lines = firm::other_lines(letter);
    let filed =
        FiledOrders { wait, firm_at: wait_end, other_lines, ..FiledOrders::new(filing.clone(), draft.at) };
    let before = draft.game_match.filed[seat].replace(filed);
    let is_confirmed = request.yes.is_some()
        && firm_at.is_none()
        && before.as_ref().is_some_and(|before| before.filing.lines() == filing.lines());
    let asks = letter.cause.beside == Beside::Sign && firm_at.is_some();
    let replaced = before.is_some();
    let dropped = before.map(|before| orders_left_out(&before.filing, &filing)).unwrap_or_default();
    if !draft.game_match.missed_phase[seat] {
        draft.game_match.missed[seat] = 0;
    }
    draft.game_match.in_trouble[seat] = false;
    draft.game_match.refused[seat] = None;
    draft.game_match.offered[seat].clear();
    substitute::come_back(draft, seat);
    (Orders::Sealed { filing, sealed, wait, firm_at, asks, replaced, is_confirmed, dropped }, None)
}

/// Checks a letter's orders. Reports only the first of these: faults found by the parser, a wrong turn or
/// seat, faults of the filing, judged by the seat's view. In addition to the parser's faults, it reports all
/// others that are certain.
pub(super) fn check_orders(
    game_match: &Match,
    letter: &SeatLetter,
    due: &Due,
    replaced: &[Line],
) -> Result<Filing, OrdersRefusal> {
    let (seat, request) = (letter.cause.seat, &letter.request);
    let faults = doubtful::faults_of(game_match, seat, request);
    if !faults.is_empty() {
        let mut refusal = OrdersRefusal { faults, ..OrdersRefusal::default() };
        // If there are too many orders, only some of them are known.
        if request.left_out.orders == 0 || !request.doubts.is_empty() {
            add_certain_faults(&mut refusal, game_match, letter, due, replaced);
        }
        return Err(refusal);
    }
    if let Some(refusal) = faults::about_another(game_match, letter, due) {
        return Err(refusal);
    }
    if !due.seats.contains(&seat) {
        return Err(OrdersRefusal::whole(FaultKind::NotDue, Fault::whole(not_due(game_match, due))));
    }
    let came_earlier = letter.cause.came_earlier();
    if let Some(fault) =
        came_earlier.and_then(|arrived| faults::came_too_late(game_match, seat, due, arrived))
    {
        return Err(OrdersRefusal::whole(FaultKind::Superseded, fault));
    }
    let sealed = game_match.seal(seat, &proposal::without_replaced(&request.orders, replaced));
    let filing = sealed.or_else(|faults| match game_match.state.missed(seat) {
        Some(assumed) if only_holds(&request.orders) => Ok(assumed),
        Some(_) | None => Err(OrdersRefusal { faults, ..OrdersRefusal::default() }),
    })?;
    match game_match.past.repeat_fault(letter, due, &filing.lines()) {
        Some(fault) => Err(OrdersRefusal::whole(FaultKind::Repeated, fault)),
        None => Ok(filing),
    }
}

/// Adds the faults of the other lines to those of doubtful lines and faulty commands, so that the answer
/// reports everything at once. Faults of the filing as a whole are left out, because a doubtful line may
/// contain what it lacks.
fn add_certain_faults(
    refusal: &mut OrdersRefusal,
    game_match: &Match,
    letter: &SeatLetter,
    due: &Due,
    replaced: &[Line],
) {
    if let Some(about) = faults::about_another(game_match, letter, due) {
        refusal.of_whole = about.of_whole;
        refusal.faults.extend(about.faults);
        return;
    }
    let orders = proposal::without_replaced(&letter.request.orders, replaced);
    if orders.is_empty() || !due.seats.contains(&letter.cause.seat) {
        return;
    }
    if let Err(of_lines) = game_match.seal(letter.cause.seat, &orders) {
        let is_told = |fault: &Fault| refusal.faults.iter().any(|told| told.line == fault.line);
        let new: Vec<Fault> =
            of_lines.into_iter().filter(|fault| fault.line.is_some() && !is_told(fault)).collect();
        refusal.faults.extend(new);
        refusal.faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
    }
}

/// Returns the orders filed before that the new ones neither repeat nor replace by others for the same thing:
/// their author may think that they still stand.
fn orders_left_out(before: &Filing, after: &Filing) -> Vec<String> {
    let game = after.kind();
    let (before, after) = (before.lines(), after.lines());
    // In a game with one order per turn, a new order always replaces the old one.
    if before.len() <= 1 && after.len() == 1 && !game.hides_something() {
        return Vec::new();
    }
    let both: Vec<String> = before.iter().chain(after.iter()).cloned().collect();
    let replaced = game.replaced(&Line::numbered(&both));
    let stands = |no: usize, line: &String| after.contains(line) || replaced.iter().any(|old| old.no == no);
    (1..).zip(before.iter()).filter(|(no, line)| !stands(*no, line)).map(|(_, line)| line.clone()).collect()
}

/// Whether `HOLD` is the only order. In a game without that order, it means the filing that the rules assume.
fn only_holds(lines: &[Line]) -> bool {
    matches!(lines, [only] if only.text.eq_ignore_ascii_case("hold"))
}

fn not_due(game_match: &Match, due: &Due) -> String {
    let names: Vec<&str> = due.seats.iter().map(|seat| game_match.players[*seat].as_str()).collect();
    format!("It is not your move: {} is to move.", names.join(" and "))
}

/// Withdraws the seat's filing. If both filings waited to be adjudicated, they no longer do.
pub(super) fn withdraw(draft: &mut Draft, seat: Seat) -> Reply {
    let Some(due) = draft.game_match.due() else { return Reply::NothingToWithdraw };
    let Some(filed) = draft.game_match.filed[seat].take() else {
        return conditions::withdraw(draft, seat, due.turn);
    };
    draft.game_match.refused[seat] = None;
    draft.game_match.settle_at = None;
    draft.record(Fact::OrdersWithdrawn { seat, phase: due.phase, turn: due.turn });
    Reply::Withdrawn { orders: filed.filing.lines().to_vec() }
}
