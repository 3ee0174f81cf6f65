//! The consequences of bounced letters to a seat.

use chrono::{DateTime, Utc};

use crate::game::Seat;
use crate::ledger::Fact;
use crate::referee::play::deadline;
use crate::referee::play::dispatch::{Content, Notice, Reader};
use crate::referee::play::game_match::{Match, Stage};
use crate::referee::play::ruling::Draft;
use crate::referee::rejection::Rejection;

/// Whether so much mail to the seat bounced that no deadline is enforced on it before the GM has decided.
pub(super) fn is_unreachable(game_match: &Match, seat: Seat) -> bool {
    let bounces = &game_match.bounces[seat];
    game_match.bouncing[seat] && (bounces.again || bounces.since.is_none())
}

/// Notes that a letter to the seat, made at `sent`, bounced.
///
/// A player can forge a bounce. So the first one only extends the open deadline, once per match. It does so
/// whether or not the seat has filed, because the other side must not learn that. If a letter made after that
/// also bounces, nobody reads mail there, and the GM will be asked.
pub fn note_bounce(draft: &mut Draft, seat: Seat, sent: DateTime<Utc>) -> Result<(), Rejection> {
    let at = draft.at;
    let bounces = &mut draft.game_match.bounces[seat];
    if draft.game_match.bouncing[seat] {
        if bounces.again || bounces.since.is_none_or(|since| sent < since) {
            return Err(Rejection::Already);
        }
        bounces.again = true;
        draft.record(Fact::MailReturned { seat });
        return Ok(());
    }
    bounces.since = Some(at);
    let had_grace = bounces.had_grace;
    draft.game_match.bouncing[seat] = true;
    draft.record(Fact::MailReturned { seat });
    let is_open = draft.game_match.stage == Stage::Running && draft.game_match.enforces_deadline();
    if let Some(deadline) = draft.game_match.deadline.filter(|_| is_open && !had_grace) {
        draft.game_match.bounces[seat].had_grace = true;
        let deadline = deadline + draft.game_match.terms.grace();
        deadline::move_deadline(&mut draft.game_match, deadline, at);
        draft.record(Fact::DeadlineExtended { days: 0, deadline });
        // A letter to the seat itself would bounce as well.
        let notice = Notice::Undelivered { seat, deadline };
        draft.dispatch(Reader::Seat(seat.other()), Content::Notice(notice));
    }
    Ok(())
}
