//! Refusals of orders, and offers to file those that a letter with doubtful lines may mean. Answering `YES`
//! to the letter with the offer files them, once, until the phase ends or the seat files.

use super::doubtful;
use super::faults::{self, OrdersRefusal};
use crate::game::any::GameKind;
use crate::game::{Due, Fault, Line, Seat};
use crate::ledger::Fact;
use crate::referee::answer::{Orders, Proposal, ProposalKind};
use crate::referee::matter::SeatLetter;
use crate::referee::play::game_match::Match;
use crate::referee::play::kept::OfferedOrders;
use crate::referee::play::ruling::Draft;
use crate::request::DoubtKind;

/// Maximum offers of a phase that a seat can still accept.
const MAX_OFFERS: usize = 20;

/// Keeps an offer until its phase ends or the seat files.
pub(super) fn keep_offer(draft: &mut Draft, seat: Seat, offered: Option<Proposal>) {
    let Some(Proposal { orders, wait, .. }) = offered else { return };
    let seq = draft.game_match.head.seq;
    let offers = &mut draft.game_match.offered[seat];
    if offers.len() == MAX_OFFERS {
        offers.remove(0);
    }
    offers.push(OfferedOrders { seq, orders, wait });
}

/// Returns the orders of a letter as its entry records them. Orders that may be for another match stay out of
/// this ledger: a dossier may show the ledger while the other match runs.
pub(super) fn written_orders(letter: &SeatLetter) -> Vec<String> {
    let is_elsewhere = letter.other_match.is_some();
    letter.request.orders.iter().filter(|_| !is_elsewhere).map(|line| line.text.clone()).collect()
}

/// Records that the orders of a letter cannot stand. Also returns the orders that it offers to file instead,
/// if only doubts keep the letter's own from being filed.
pub(super) fn refuse(
    draft: &mut Draft,
    letter: &SeatLetter,
    due: &Due,
    replaced: &[Line],
    refusal: OrdersRefusal,
) -> (Orders, Option<Proposal>) {
    let (seat, check) = (letter.cause.seat, letter.request.check);
    let (phase, turn, orders) = (due.phase, due.turn, written_orders(letter));
    let faults = refusal.kinds(&letter.request);
    let offer = offer(&draft.game_match, letter, due, replaced);
    let offered = offer.as_ref().map(|offer| offer.orders.clone()).unwrap_or_default();
    draft.record(match check {
        true => Fact::OrdersChecked { seat, phase, turn, orders, faults },
        false => Fact::OrdersRefused { seat, phase, turn, orders, faults, offered },
    });
    let corrected =
        if offer.is_none() { corrected(&draft.game_match, letter, replaced, &refusal) } else { None };
    (Orders::Refused { faults: refusal.faults, check, corrected: corrected.unwrap_or_default() }, offer)
}

/// Returns several orders of a letter with an example in place of each that is illegal, if they are legal like that.
fn corrected(
    game_match: &Match,
    letter: &SeatLetter,
    replaced: &[Line],
    refusal: &OrdersRefusal,
) -> Option<Vec<String>> {
    let mut lines = without_replaced(&letter.request.orders, replaced);
    for fault in &refusal.faults {
        let line = lines.iter_mut().find(|line| Some(line.no) == fault.line)?;
        line.text = fault.example.clone()?;
    }
    doubtful::legal(game_match, letter.cause.seat, &lines).filter(|orders| orders.len() > 1)
}

/// Offers to file the orders that a letter with doubtful lines may mean, if they are legal: all of them, or else all
/// but those of the doubtful lines, unless one of these may change them. If they replace some of the orders that are
/// filed, the others are offered with them.
pub(super) fn offer(
    game_match: &Match,
    letter: &SeatLetter,
    due: &Due,
    replaced: &[Line],
) -> Option<Proposal> {
    let (seat, request) = (letter.cause.seat, &letter.request);
    let is_only_doubtful = request.faults.is_empty() && !request.doubts.is_empty() && !request.check;
    if !is_only_doubtful
        || letter.other_match.is_some()
        || faults::turn_fault(game_match, letter, due).is_some()
    {
        return None;
    }
    let written = without_replaced(&request.orders, replaced);
    let whole = doubtful::all_meant(game_match, seat, request, &written);
    // Words for a ship amend what is filed; only lines of orders replace it as a whole.
    let is_in_words = request.orders.is_empty()
        && game_match.game == GameKind::QuadrantZ
        && request.doubts.iter().all(|doubt| matches!(doubt.kind, DoubtKind::InWords | DoubtKind::Inside));
    let is_doubtful = |line: &Line| request.doubts.iter().any(|doubt| doubt.line == line.no);
    let rest: Vec<Line> = written.iter().filter(|line| !is_doubtful(line)).cloned().collect();
    let rest = Some(rest).filter(|rest| !doubtful::may_change(request, rest, game_match.game));
    let beside_filed = whole.as_ref().and_then(|whole| beside_filed(game_match, seat, whole, is_in_words));
    let candidates =
        [(beside_filed, ProposalKind::Whole), (whole, ProposalKind::Whole), (rest, ProposalKind::Rest)];
    candidates.into_iter().find_map(|(lines, kind)| {
        let orders = doubtful::legal(game_match, seat, &lines.filter(|lines| !lines.is_empty())?)?;
        Some(Proposal { orders, wait: request.wait, kind })
    })
}

/// Returns the seat's filed orders together with these, if these replace some of them or `amends` says that they add to
/// them: a letter that changes one order in words means the others to stand.
fn beside_filed(game_match: &Match, seat: Seat, lines: &[Line], amends: bool) -> Option<Vec<Line>> {
    let filed = game_match.filed[seat].as_ref()?.filing.lines();
    let filed = filed.iter().map(|text| Line { no: 0, text: text.clone() });
    let both: Vec<Line> = filed.chain(lines.iter().cloned()).collect();
    let replaced = game_match.game.replaced(&both);
    Some(without_replaced(&both, &replaced)).filter(|_| amends || !replaced.is_empty())
}

/// Offers the orders that a letter without a line of orders may mean, and records the offer.
pub(super) fn offer_without_orders(
    draft: &mut Draft,
    letter: &SeatLetter,
    faults: &[Fault],
) -> Option<Proposal> {
    let due = draft.game_match.due()?;
    let offered = offer(&draft.game_match, letter, &due, &[])?;
    let refusal = OrdersRefusal { faults: faults.to_vec(), ..OrdersRefusal::default() };
    draft.record(Fact::OrdersRefused {
        seat: letter.cause.seat,
        phase: due.phase,
        turn: due.turn,
        orders: Vec::new(),
        faults: refusal.kinds(&letter.request),
        offered: offered.orders.clone(),
    });
    Some(offered)
}

/// Returns the orders of a letter without those that a later line replaces.
pub(super) fn without_replaced(lines: &[Line], replaced: &[Line]) -> Vec<Line> {
    lines.iter().filter(|line| !replaced.contains(line)).cloned().collect()
}
