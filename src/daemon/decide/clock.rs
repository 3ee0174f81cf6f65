//! Rulings without a letter: a deadline, an outage, the house's turn.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context as _, anyhow};

use super::context::RulingContext;
use super::decision::Decision;
use super::settings::Settings;
use super::undecided::{Decided, Undecided};
use crate::referee::{Act, Cause, Match};
use crate::store::Settlement;

/// Why a match is ruled on.
#[derive(Clone, Debug)]
pub enum Trigger {
    /// Its time has come.
    Clock,
    /// The referee acts by itself, in the phase `phase_no` or else in the one that is open.
    Referee { act: Act, phase_no: Option<u32> },
}

impl Trigger {
    fn cause<'a>(&'a self, game_match: &Match) -> Cause<'a> {
        let open = game_match.phase_no;
        match self {
            Trigger::Clock => Cause::Clock { phase_no: open },
            Trigger::Referee { act, phase_no } => Cause::House { phase_no: phase_no.unwrap_or(open), act },
        }
    }
}

/// What a ruling on one match changes.
pub struct MatchRuling {
    pub after: Match,
    pub settlement: Settlement,
}

/// Rules on one match. Returns `None` if nothing is decided. A panic is a failure of this match alone.
pub fn rule_on(
    settings: &Settings,
    context: &RulingContext,
    match_id: &str,
    trigger: &Trigger,
) -> Decided<Option<MatchRuling>> {
    let ruled = catch_unwind(AssertUnwindSafe(|| rule_on_match(settings, context, match_id, trigger)));
    ruled.unwrap_or_else(|_| Err(Undecided::Failed(anyhow!("ruling on the match panicked"))))
}

fn rule_on_match(
    settings: &Settings,
    context: &RulingContext,
    match_id: &str,
    trigger: &Trigger,
) -> Decided<Option<MatchRuling>> {
    let mut decision = Decision::new(settings, context);
    // A match that this program cannot rule on was logged when it was loaded.
    let Some(loaded) = context.game_match(match_id)? else { return Ok(None) };
    let ruling = decision.rule(&loaded.game_match, &trigger.cause(&loaded.game_match));
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
