//! The reasons why the orders of a letter cannot stand, as its answer explains them and as the ledger records
//! them.

use chrono::{DateTime, Datelike as _, Utc};

use super::doubtful;
use crate::game::{Due, Fault, Line, Phase, Seat};
use crate::ledger::{FaultKind, FaultyLine};
use crate::referee::matter::SeatLetter;
use crate::referee::play::game_match::Match;
use crate::request::{MAX_FAULTS, Request};

/// The reasons why orders cannot stand.
#[derive(Clone, Debug, Default)]
pub(super) struct OrdersRefusal {
    pub faults: Vec<Fault>,
    /// The kind of a fault that concerns no single line.
    pub of_whole: Option<FaultKind>,
}

impl OrdersRefusal {
    /// Returns a refusal of the orders as a whole.
    pub fn whole(kind: FaultKind, fault: Fault) -> OrdersRefusal {
        OrdersRefusal { faults: vec![fault], of_whole: Some(kind) }
    }

    /// Returns the lines and the kinds, without the sentences.
    pub fn kinds(&self, request: &Request) -> Vec<FaultyLine> {
        let kind = |fault: &Fault| match () {
            () if fault.doubtful => FaultKind::Doubtful,
            () if request.faults.contains(fault) => FaultKind::Syntax,
            () if fault.line.is_some() => FaultKind::Illegal,
            () => self.of_whole.unwrap_or(FaultKind::Illegal),
        };
        self.faults.iter().map(|fault| FaultyLine { line: fault.line, kind: kind(fault) }).collect()
    }
}

/// Refuses orders for another match, or for another turn than the open one.
pub(super) fn about_another(game_match: &Match, letter: &SeatLetter, due: &Due) -> Option<OrdersRefusal> {
    if let Some(fault) = doubtful::match_fault(letter, game_match) {
        return Some(OrdersRefusal::whole(FaultKind::OtherMatch, fault));
    }
    turn_fault(game_match, letter, due).map(|fault| OrdersRefusal::whole(FaultKind::OtherTurn, fault))
}

/// Refuses orders for a turn other than the open one: the turn that the letter names, or the letter it
/// answers.
pub(super) fn turn_fault(game_match: &Match, letter: &SeatLetter, due: &Due) -> Option<Fault> {
    let named = letter.request.turn.or(letter.thread_turn).filter(|named| *named != due.turn)?;
    let is_due = due.seats.contains(&letter.cause.seat);
    if letter.request.turn.is_none() && is_due && is_first_move(game_match, due, named) {
        return None;
    }
    let (open, title) = match due.turn {
        0 => ("the setup is open".to_owned(), "Setup".to_owned()),
        turn => (format!("turn {turn} is open"), format!("Turn {turn}")),
    };
    let turn = due.turn;
    let way =
        format!("For the open one, answer my letter \"{title}\", or write TURN {turn} above your orders.");
    let decided = game_match.adjudicated.iter().rev().find(|(_, turn, _)| *turn == named);
    Some(Fault::whole(match decided {
        Some((_, _, at)) => {
            let local = at.with_timezone(&game_match.zone_of(letter.cause.seat));
            let what = if named == 0 { "The setup".to_owned() } else { format!("Turn {named}") };
            let is_this_year = local.year() == letter.cause.received.with_timezone(&local.timezone()).year();
            let day = local.format(if is_this_year { "%a %-d %b" } else { "%a %-d %b %Y" });
            format!("{what} was adjudicated on {day} at {}; {open}. {way}", local.format("%H:%M %Z"))
        }
        None => format!("These orders are for turn {named}; {open}. {way}"),
    }))
}

/// Whether this is the first move of the side that moves second, and the letter answers the invitation, which
/// names turn 1.
fn is_first_move(game_match: &Match, due: &Due, named: u32) -> bool {
    let adjudicated = &game_match.adjudicated;
    due.phase == Phase::Move && matches!(adjudicated[..], [(_, turn, _)] if turn == named)
}

/// Refuses orders that are ruled on too late: the phase that was open when they came is over, or the seat has
/// filed since.
pub(super) fn came_too_late(
    game_match: &Match,
    seat: Seat,
    due: &Due,
    arrived: DateTime<Utc>,
) -> Option<Fault> {
    let opened = game_match.adjudicated.last().map_or(game_match.opened_at, |(_, _, at)| *at);
    if arrived < opened {
        let local = arrived.with_timezone(&game_match.terms.zone);
        let turn = due.turn;
        return Some(Fault::whole(format!(
            "Your letter came on {}, before turn {turn} was open, so its orders are not for turn {turn}.",
            local.format("%a %-d %b at %H:%M %Z")
        )));
    }
    let filed_later = game_match.filed[seat].as_ref().is_some_and(|held| held.at > arrived);
    filed_later.then(|| Fault::whole("You filed other orders after this letter came; they stand."))
}

/// Returns the lines that faults quote, as written.
pub(super) fn quoted_lines<'a>(request: &Request, faults: impl Iterator<Item = &'a Fault>) -> Vec<Line> {
    let lines = faults.take(MAX_FAULTS).filter_map(|fault| fault.line);
    lines.filter_map(|no| Some(Line { no, text: request.written(no)?.to_owned() })).collect()
}
