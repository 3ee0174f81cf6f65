//! Decides which board a letter about a match shows.

use crate::game::any::OwnPart;
use crate::game::{Board, Seat};
use crate::referee::{Content, Dispatch, Match, Notice, Reader, Wishes};

/// Returns the board that the letter shows, if it shows one.
pub fn shown_board(game_match: &Match, dispatch: &Dispatch) -> Option<Board> {
    let Reader::Seat(seat) = dispatch.to else { return None };
    let Match { state, memories, .. } = game_match;
    let own_part = own_part(game_match, &dispatch.content, seat);
    shows_board(game_match, &dispatch.content, seat)
        .then(|| state.shown_board(seat, memories.as_ref(), own_part))
}

/// Whether the letter reports the whole position, or contains the form for orders.
pub fn shows_board(game_match: &Match, content: &Content, seat: Seat) -> bool {
    let is_due = || game_match.due().is_some_and(|due| due.seats.contains(&seat));
    match content {
        Content::Invitation
        | Content::Succession
        | Content::Report { .. }
        | Content::Notice(Notice::Reopened { .. }) => true,
        Content::Reminder => is_due() && !game_match.in_trouble[seat],
        Content::Missed { .. } => game_match.awaits(seat),
        Content::Answer(answer) => answer.wishes.iter().any(Wishes::asks_for_signs),
        Content::Notice(_) => false,
    }
}

/// Whether the letter contains the form for orders that the reader owes.
pub fn brings_form(game_match: &Match, content: &Content, seat: Seat) -> bool {
    let asks = match content {
        Content::Answer(answer) => answer.asks_for_orders(),
        content => shows_board(game_match, content, seat),
    };
    asks && game_match.awaits(seat)
}

/// Returns the reader's own part in the adjudication that led to a report's board.
fn own_part<'a>(game_match: &Match, content: &'a Content, seat: Seat) -> Option<OwnPart<'a>> {
    let Content::Report { news, .. } = content else { return None };
    let last = news.steps.last().filter(|step| step.state == game_match.state)?;
    Some(OwnPart { before: &last.before, filed: last.filings[seat].as_ref() })
}
