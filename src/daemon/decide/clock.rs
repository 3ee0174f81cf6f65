//! Rulings without a letter: a deadline, an outage, the house's turn.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};

use super::context::RulingContext;
use super::decision::Decision;
use super::settings::Settings;
use super::undecided::{Decided, Undecided};
use crate::referee::{Act, Match, Matter};
use crate::store::Settlement;

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

/// The changes of a ruling on one match.
pub struct MatchRuling {
    pub after: Match,
    pub settlement: Settlement,
}

/// Rules on one match. Returns `None` if nothing is decided. A panic is a failure of this match alone.
pub fn rule_on(
    settings: &Settings,
    context: &RulingContext,
    match_id: &str,
    cause_of: &CauseOf,
) -> Decided<Option<MatchRuling>> {
    let ruled = catch_unwind(AssertUnwindSafe(|| rule_on_match(settings, context, match_id, cause_of)));
    ruled.unwrap_or_else(|_| Err(Undecided::Failed(anyhow!("ruling on the match panicked"))))
}

fn rule_on_match(
    settings: &Settings,
    context: &RulingContext,
    match_id: &str,
    cause_of: &CauseOf,
) -> Decided<Option<MatchRuling>> {
    let mut decision = Decision::new(settings, context);
    // A match that this program cannot rule on was logged when it was loaded.
    let Some(loaded) = context.game_match(match_id)? else { return Ok(None) };
    let ruling = decision.rule(&loaded.game_match, &cause_of(&loaded.game_match));
    if ruling.after == loaded.game_match {
        return Ok(None);
    }
    decision.keep_unasked(loaded.clone(), ruling, None)?;
    let after = decision.game_match(match_id)?.context("a match that was just ruled on")?.game_match.clone();
    let settlement = decision.finish()?;
    tracing::info!(
        match_id,
        entries = settlement.entries.len(),
        dispatches = settlement.dispatches.len(),
        "ruled on a match"
    );
    Ok(Some(MatchRuling { after, settlement }))
}
