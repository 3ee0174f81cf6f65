//! The positions of a match, derived from its ledger alone.

use std::collections::BTreeMap;

use crate::game::any::{AnyState, Memories};
use crate::ledger::{self, Entry, Fact};
use crate::referee::Adjudication;

/// The position after an entry.
pub struct Reached {
    /// The adjudication, if the entry is one.
    pub step: Option<Adjudication>,
    pub state: AnyState,
    /// The seats' memories of the adjudications in force.
    pub memories: Memories,
}

/// Returns the position after every adjudication, closing and correction, by the number of the entry.
pub fn positions_after(entries: &[Entry]) -> BTreeMap<u64, Reached> {
    let mut reached = BTreeMap::new();
    let Some(first) = entries.first() else { return reached };
    let Fact::MatchOpened { game, options, .. } = &first.fact else { return reached };
    let Ok(mut state) = game.start_with(options) else { return reached };
    // The states before the adjudications in force.
    let mut before: Vec<AnyState> = Vec::new();
    ledger::replay(entries, |entry, after| {
        let mut step = None;
        match &entry.fact {
            Fact::TurnAdjudicated { phase, turn, filings, .. } => {
                step = state.unseal(filings).ok().map(|filings| Adjudication {
                    phase: *phase,
                    turn: *turn,
                    before: state.clone(),
                    filings,
                    state: after.clone(),
                });
                before.push(state.clone());
            }
            Fact::CorrectionMade { keeps, .. } => before.truncate(*keeps),
            _ => {}
        }
        state = after.clone();
        let mut memories = Memories::empty(*game);
        before.iter().for_each(|state| memories.remember(state));
        reached.insert(entry.seq, Reached { step, state: state.clone(), memories });
    });
    reached
}
