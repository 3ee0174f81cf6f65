//! Letters that leave a doubt: which lines are meant, or which match. Nothing is filed; the answer asks, and
//! offers to file what is beyond doubt.

use std::borrow::Cow;

use crate::game::any::Filing;
use crate::game::{Due, Fault, Line};
use crate::referee::matter::SeatLetter;
use crate::referee::play::game_match::Match;
use crate::referee::play::kept::OfferedOrders;
use crate::referee::play::ruling::Draft;

/// Returns the letter with the orders that its `YES` accepts. Without such an offer, `YES` is a remark.
pub(super) fn with_offered_orders<'a>(letter: &'a SeatLetter, game_match: &Match) -> Cow<'a, SeatLetter> {
    let request = &letter.request;
    let Some(no) = request.yes else { return Cow::Borrowed(letter) };
    let mut letter = letter.clone();
    let is_alone = request.orders.is_empty() && request.faults.is_empty() && request.doubts.is_empty();
    let offered = game_match.offered[letter.cause.seat].as_ref();
    match offered.filter(|offered| is_alone && offered.phase_no == game_match.phase_no) {
        Some(OfferedOrders { orders, wait, .. }) => {
            letter.request.orders = orders.iter().map(|text| Line { no, text: text.clone() }).collect();
            letter.request.wait |= wait;
        }
        None => {
            let text = request.written(no).unwrap_or("YES").to_owned();
            letter.request.remarks.push(Line { no, text });
        }
    }
    Cow::Owned(letter)
}

/// Offers to file the orders beside the doubtful lines, if they are legal. Returns them.
pub(super) fn offer_orders(
    draft: &mut Draft,
    letter: &SeatLetter,
    due: &Due,
    orders: &[Line],
) -> Option<Filing> {
    let (seat, request) = (letter.cause.seat, &letter.request);
    let is_only_doubtful = request.faults.is_empty() && !request.doubts.is_empty() && !request.check;
    if !is_only_doubtful || letter.other_match.is_some() || !due.seats.contains(&seat) {
        return None;
    }
    let filing = draft.game_match.seal(seat, orders).ok()?;
    draft.game_match.offered[seat] = Some(OfferedOrders {
        phase_no: draft.game_match.phase_no,
        orders: filing.lines().to_vec(),
        wait: request.wait,
    });
    Some(filing)
}

/// Returns the fault of a letter that names a match other than its own.
pub(super) fn match_fault(letter: &SeatLetter, game_match: &Match) -> Option<Fault> {
    let other = letter.other_match.as_ref()?;
    let id = &game_match.id;
    let reason = format!(
        "Your letter answers one about {id} but names {other}, and I cannot tell which match you mean. For {id}, write its name as shown below; for {other}, answer a letter of mine about that match."
    );
    Some(Fault::whole(reason).with_example(format!("MATCH {id}")))
}
