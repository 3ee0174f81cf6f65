//! Which turn the orders of a letter are for.

use super::{Match, SeatLetter};
use crate::game::{Due, Fault, Phase};

/// Refuses orders for a turn other than the open one: the turn that the letter names, or the letter it answers.
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
            format!("{what} was adjudicated on {}; {open}. {way}", local.format("%a %-d %b at %H:%M %Z"))
        }
        None => format!("These orders are for turn {named}; {open}. {way}"),
    }))
}

/// Whether this is the first move of the side that moves second, and the letter answers the invitation, which names
/// turn 1.
fn is_first_move(game_match: &Match, due: &Due, named: u32) -> bool {
    let adjudicated = &game_match.adjudicated;
    due.phase == Phase::Move && matches!(adjudicated[..], [(_, turn, _)] if turn == named)
}
