//! Rulings without a letter: a deadline, an outage, the house's turn.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anyhow::anyhow;

use super::desk::Desk;
use super::rows::Decided;
use super::ruling_mail;
use crate::referee::{Act, Match, Matter};

/// Makes the cause by which a match is ruled on, in the phase that is open in it.
pub type CauseOf = Arc<dyn Fn(&Match) -> Matter<'static> + Send + Sync>;

/// Returns the clock as the cause: the time of a match has come.
pub fn by_clock() -> CauseOf {
    Arc::new(Match::by_clock)
}

/// Returns an act of the program as the cause.
pub fn by_program(act: Act) -> CauseOf {
    Arc::new(move |game_match| game_match.by_program(act.clone()))
}

/// Rules on one match, and returns whether anything was decided. A panic is a failure of this match alone.
pub fn rule_on(desk: &mut Desk<'_>, match_id: &str, cause_of: &CauseOf) -> Decided<bool> {
    let ruled = catch_unwind(AssertUnwindSafe(|| rule_on_match(desk, match_id, cause_of)));
    ruled.unwrap_or_else(|_panic| Err(anyhow!("ruling on the match panicked").into()))
}

fn rule_on_match(desk: &mut Desk<'_>, match_id: &str, cause_of: &CauseOf) -> Decided<bool> {
    // A match that this program cannot rule on was logged when it was loaded.
    let Some(loaded) = desk.game_match(match_id)?.cloned() else { return Ok(false) };
    let ruling = ruling_mail::rule(desk, &loaded.game_match, &cause_of(&loaded.game_match));
    if ruling.after == loaded.game_match {
        return Ok(false);
    }
    let (entries, dispatches) = (ruling.entries.len(), ruling.dispatches.len());
    ruling_mail::keep_unasked(desk, loaded, ruling, None)?;
    tracing::info!(match_id, entries, dispatches, "ruled on a match");
    Ok(true)
}
