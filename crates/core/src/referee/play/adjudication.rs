//! Decides phases: adjudicates filings, reports the results, and ends the match.

use chrono::TimeDelta;

use super::deadline;
use super::dispatch::{Adjudication, News};
use super::game_match::{FiledOrders, Stage, WaitEnd};
use super::ruling::Draft;
use super::untold;
use crate::game::any::{self, Filing};
use crate::game::condition::ConditionNews;
use crate::game::record::Ending;
use crate::game::{BySeat, Seat};
use crate::ledger::{self, Fact};
use crate::letter::Digest;

/// Adjudicates if all filings are in: at the deadline if a seat asked to wait, else after the settle time,
/// which may be zero. Does nothing while the match is paused.
pub fn adjudicate_if_complete(draft: &mut Draft) {
    draft.game_match.settle_at = None;
    let Some(due) = draft.game_match.due().filter(|_| draft.game_match.stage == Stage::Running) else {
        return;
    };
    if !draft.game_match.is_firm() {
        return;
    }
    let lacking = draft.game_match.awaited();
    if !lacking.is_empty() {
        // Seats that missed the phase could still file while the other seat took days of its bank.
        if lacking.len() < due.seats.len() && lacking.iter().all(|seat| draft.game_match.missed_phase[*seat])
        {
            adjudicate_assumed(draft, lacking);
        }
        return;
    }
    if draft.game_match.waits() {
        let ends = draft.game_match.wait_ends();
        draft.game_match.settle_at = ends.map(|end| WaitEnd { at: end.at.max(draft.at), ..end });
    } else if draft.game_match.terms.settle_time() > TimeDelta::zero() {
        draft.game_match.settle_at = Some(draft.wait_end(draft.game_match.terms.settle_time()));
    } else {
        adjudicate(draft, Vec::new());
    }
}

/// Adjudicates with the filings that the rules assume for these seats. Returns whether they assume one for
/// each.
pub fn adjudicate_assumed(draft: &mut Draft, missed: Vec<Seat>) -> bool {
    let (at, state) = (draft.at, &draft.game_match.state);
    let assumed: Option<Vec<_>> =
        missed.iter().map(|seat| state.missed(*seat).map(|filing| (*seat, filing))).collect();
    let Some(assumed) = assumed else { return false };
    for (seat, filing) in assumed {
        draft.game_match.filed[seat] = Some(FiledOrders::new(filing, at));
    }
    adjudicate(draft, missed);
    true
}

/// Adjudicates the open phase and reports it to both sides. `missed` lists the seats whose filings the rules
/// assumed.
pub fn adjudicate(draft: &mut Draft, missed: Vec<Seat>) {
    adjudicate_and_report(draft, missed, None);
}

/// Adjudicates the open phase. The reports give the reason of a `correction`.
pub fn adjudicate_and_report(draft: &mut Draft, missed: Vec<Seat>, correction: Option<String>) {
    let filed = draft.game_match.filed.clone();
    let (mut steps, mut conditions) = (Vec::new(), Vec::new());
    // The game passes for a side that has no legal move, and conditional orders answer a move at once, so
    // adjudicate until a side owes orders or the match ends.
    while let Some(due) = draft.game_match.due() {
        let is_ready =
            draft.game_match.is_firm() && !due.seats.iter().any(|seat| draft.game_match.awaits(*seat));
        if !steps.is_empty() && !is_ready {
            break;
        }
        steps.extend(adjudicate_once(draft));
        conditions.extend(follow_conditions(draft, &due.seats));
    }
    deadline::open_phase(draft);
    end_if_over(draft);
    untold::report(draft, News { steps, missed, correction, filed, conditions, ..News::default() });
}

/// Adjudicates the first phase if the side to move has no move, as in some arrays of Quantum.
pub(super) fn pass_where_nothing_is_due(draft: &mut Draft) {
    if draft.game_match.due().is_some_and(|due| due.seats.is_empty()) {
        adjudicate(draft, Vec::new());
    }
}

/// Adjudicates the open phase once.
fn adjudicate_once(draft: &mut Draft) -> Option<Adjudication> {
    let due = draft.game_match.due()?;
    draft.game_match.count_footers();
    let filings = std::mem::take(&mut draft.game_match.filed).map(|held| held.map(|held| held.filing));
    let before = draft.game_match.state.clone();
    draft.game_match.remember_news();
    draft.game_match.state.adjudicate(&filings);
    draft.record(Fact::TurnAdjudicated {
        phase: due.phase,
        turn: due.turn,
        filings: filings.as_ref().map(|filing| filing.as_ref().map(Filing::lines)),
        state: Digest::of(ledger::canonical(&draft.game_match.state).as_bytes()),
    });
    draft.game_match.phase_no += 1;
    draft.game_match.adjudicated.push((due.phase, due.turn, draft.at));
    let state = draft.game_match.state.clone();
    Some(Adjudication { phase: due.phase, turn: due.turn, before, filings, state })
}

/// Ends the match from outside the rules, such as by resignation. Both sides get a report with everything
/// revealed.
pub fn close(draft: &mut Draft, ending: Ending) {
    let Some(due) = draft.game_match.due() else { return };
    draft.game_match.filed = BySeat::default();
    let before = draft.game_match.state.clone();
    draft.game_match.remember_news();
    draft.game_match.state.close(ending.outcome());
    draft.record(Fact::MatchClosed { ending });
    let conditions = follow_conditions(draft, &due.seats);
    draft.game_match.phase_no += 1;
    deadline::open_phase(draft);
    end_if_over(draft);
    let (filings, state) = (BySeat::default(), draft.game_match.state.clone());
    let step = Adjudication { phase: due.phase, turn: due.turn, before, filings, state };
    untold::report(draft, News { steps: vec![step], conditions, ..News::default() });
}

fn end_if_over(draft: &mut Draft) {
    if let Some(outcome) = draft.game_match.state.outcome() {
        draft.game_match.stage = Stage::Over;
        draft.record(Fact::MatchEnded { outcome });
    }
}

/// Follows conditional orders after an adjudication in which `due` were due: if the expected move came, its
/// answer is filed.
fn follow_conditions(draft: &mut Draft, due: &[Seat]) -> Vec<ConditionNews> {
    let game_match = &mut draft.game_match;
    let mut news = Vec::new();
    for (seat, followed) in any::follow(&mut game_match.conditions, due, &game_match.state) {
        draft.record(Fact::ConditionsFollowed { seat, outcome: followed.outcome.recorded() });
        news.push(ConditionNews { seat, outcome: followed.outcome });
        if let Some(filing) = followed.filing {
            draft.game_match.missed[seat] = 0;
            let firm_at = draft.game_match.conditions_firm_at[seat].take();
            draft.file(seat, filing, firm_at.filter(|end| end.at > draft.at));
        }
    }
    news
}
