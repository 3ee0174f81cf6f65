//! The GM's instructions that come without a letter: from the terminal, and from forms on the screen.

use super::instructions::instruct_unless_playing;
use crate::club::events::event::Event;
use crate::config::GmIndex;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::letter::Digest;
use crate::referee::{Act, Instruction, Match, MatchAction};
use crate::report::GmResult;

/// Decides on one instruction from the terminal or the screen, on behalf of a GM; with `check`, only says what
/// would be done. A form on the screen has a `guard`.
pub fn instruct_without_letter(
    desk: &mut Desk<'_>,
    gm: GmIndex,
    instruction: &Instruction,
    guard: Option<&str>,
    check: bool,
) -> Decided<GmResult> {
    desk.acting = gm;
    desk.without_letter = true;
    if let Some(guard) = guard
        && is_stale(desk, instruction, guard)?
    {
        return Ok(GmResult::Stale);
    }
    instruct_unless_playing(desk, instruction, check)
}

/// Whether the match or the event has changed since a form was made for it.
fn is_stale(desk: &Desk<'_>, instruction: &Instruction, guard: &str) -> Decided<bool> {
    Ok(match instruction {
        // What a GM writes does not depend on the turn, but a form sent twice must not write twice.
        Instruction::Match { id, action: MatchAction::Act(Act::Tell { .. } | Act::Note { .. }), .. } => desk
            .game_match(&id.to_ascii_uppercase())?
            .is_some_and(|loaded| !guard.ends_with(&written_part(&loaded.game_match))),
        Instruction::Match { id, .. } => desk
            .game_match(&id.to_ascii_uppercase())?
            .is_some_and(|loaded| match_guard(&loaded.game_match) != guard),
        Instruction::Event { id, .. } => {
            desk.event(&id.to_ascii_uppercase())?.is_some_and(|loaded| event_guard(&loaded.event) != guard)
        }
        _ => false,
    })
}

/// Returns the guard of forms about a match: it changes with the phase, the deadline, the players, and what a GM
/// does, but not with what only one side knows.
pub fn match_guard(game_match: &Match) -> String {
    let Match { phase_no, stage, deadline, players, protest, asked_gm, .. } = game_match;
    let all = format!("{phase_no} {stage} {deadline:?} {players:?} {protest:?} {asked_gm}");
    format!("{}{}", &Digest::of(all.as_bytes()).to_string()[..16], written_part(game_match))
}

/// Returns the part of a guard that changes with what a GM writes.
fn written_part(game_match: &Match) -> String {
    format!(".{}", game_match.gm_messages.len())
}

/// Returns the guard of forms about an event.
pub fn event_guard(event: &Event) -> String {
    event.head.hash.to_string()[..16].to_owned()
}
