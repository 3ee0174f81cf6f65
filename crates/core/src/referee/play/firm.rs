//! Filings beside other words, which may take them back. Such a filing is sealed at once, but firm only after a
//! while: until then its player can take it back, and for the other side it is not there.

use chrono::{DateTime, Utc};

use super::adjudication;
use super::game_match::{Stage, WaitEnd};
use super::ruling::Draft;
use crate::game::{Line, Seat};
use crate::ledger::Fact;
use crate::letter::Digest;
use crate::referee::matter::SeatLetter;
use crate::request::{Beside, Writer, wish};

/// Maximum lines of a letter that may count as a footer.
const MAX_LINES: usize = 10;

/// Returns the digests of a letter's lines that may be a footer.
pub fn other_lines(letter: &SeatLetter) -> Vec<Digest> {
    let lines = letter.request.other_lines(Writer::STRANGER).into_iter().take(MAX_LINES);
    lines.map(|line| Digest::of(line.trim().as_bytes())).collect()
}

/// Makes the filings firm whose time is over, and adjudicates if nothing else is lacking.
pub fn become_firm(draft: &mut Draft) {
    let at = draft.at;
    make_firm(draft, |end| end.at <= at);
}

/// Ends the waits for second thoughts that were over when a letter came at `until`, which is read again after a backup
/// was restored: it may build on what was played then.
pub fn catch_up(draft: &mut Draft, until: DateTime<Utc>) {
    if draft.game_match.stage != Stage::Running {
        return;
    }
    make_firm(draft, |end| end.by_arrival <= until);
    if let Some(settled) = draft.game_match.settle_at.filter(|end| end.by_arrival <= until) {
        draft.began = settled.by_arrival;
        adjudication::adjudicate(draft, Vec::new());
    }
}

/// Makes the filings firm whose wait is over, and adjudicates if nothing else is lacking.
fn make_firm(draft: &mut Draft, is_over: impl Fn(WaitEnd) -> bool) {
    let Some(due) = draft.game_match.due() else { return };
    let mut last = None;
    for seat in Seat::BOTH {
        let Some(held) = &mut draft.game_match.filed[seat] else { continue };
        if let Some(end) = held.firm_at.filter(|end| is_over(*end)) {
            held.firm_at = None;
            last = last.max(Some(end.by_arrival));
            draft.record(Fact::OrdersFirm { seat, phase: due.phase, turn: due.turn });
        }
    }
    if let Some(last) = last {
        draft.began = last;
        adjudication::adjudicate_if_complete(draft);
    }
}

/// Lets a filing wait for the deadline, and so for its player's word, if a letter that files nothing may take it back.
/// Returns whether it does.
///
/// A filing waits if orders that would have replaced it were refused, or if words may change it or take it back. One that
/// is not firm waits, too, if orders were doubtful, if its receipt is answered with other words, or if a letter of words
/// has a sign.
pub fn wait_for_word(draft: &mut Draft, letter: &SeatLetter, is_refused: bool) -> bool {
    let (seat, request) = (letter.cause.seat, &letter.request);
    let Some(before) = &draft.game_match.filed[seat] else { return false };
    let is_firm = before.firm_at.is_none();
    if is_firm && (before.wait || draft.game_match.settings[seat].firm_at_once) {
        return false;
    }
    let answers_receipt =
        draft.game_match.offered[seat].iter().any(|offer| letter.answers.contains(&offer.seq));
    let asks = |line: &Line| line.text.contains(['?', '？']);
    // `wait`, `check`, `end` or a question mark alone.
    let says_little = answers_receipt
        && request.orders.is_empty()
        && (request.wait
            || request.check
            || request.ended && request.remarks.is_empty()
            || request.lines().iter().any(asks));
    let is_refused = is_refused && letter.other_match.is_none();
    let is_unclear = says_little || is_refused || !request.doubts.is_empty() && letter.other_match.is_none();
    let says_words_alone = (request.orders.is_empty() || is_refused)
        && request.commands.is_empty()
        && (request.faults.is_empty() || is_unclear)
        && (!request.check || says_little)
        && request.yes.is_none();
    let due = draft.game_match.due().filter(|_| says_words_alone);
    let is_setup = due.as_ref().is_some_and(|due| due.turn == 0);
    let setups = if is_setup { draft.game_match.game.ready_setups() } else { &[] };
    let changes = || request.may_change_what_stands(setups);
    let may_take_back = || match letter.cause.beside {
        _ if is_firm => is_refused || changes(),
        _ if is_unclear => true,
        Beside::Nothing => false,
        Beside::Words => answers_receipt || changes(),
        Beside::Sign => true,
    };
    let Some(due) = due.filter(|_| may_take_back()) else {
        return false;
    };
    let firm_at = draft.firm_at(seat, Beside::Words);
    let Some(held) = draft.game_match.filed[seat].as_mut() else { return false };
    // After "Thanks, see you on Thursday" they wait as orders beside other words do.
    if letter.cause.beside == Beside::Words && !is_unclear && wish::only_thanks(request.lines()) {
        held.firm_at = held.firm_at.max(firm_at.filter(|_| !is_firm));
        return false;
    }
    held.firm_at = None;
    held.wait = true;
    held.asked = true;
    draft.record(Fact::OrdersDeferred { seat, phase: due.phase, turn: due.turn });
    adjudication::adjudicate_if_complete(draft);
    true
}
