//! Accepts the sentences in which an earlier version of this program explained refused orders.

use super::{Check, PendingEntry};
use crate::game::Fault;
use crate::ledger::{ChainedEntry, Entry, Fact};
use crate::referee::Ruling;

impl Check {
    /// Whether another version of this program made the pending ruling. Where entries do not name the version, another wording
    /// counts as one.
    pub(super) fn is_of_earlier_version(&self) -> bool {
        let Some(then) = self.current.as_ref().map(|game_match| &game_match.desk) else { return false };
        let now = &self.current_identity;
        match (then.program, now.program) {
            (Some(then), Some(now)) => then != now,
            (None, _) | (_, None) => then.wording != now.wording,
        }
    }

    /// Replaces the sentences of refusals in a repeated ruling by the recorded ones, if the wording has changed since.
    ///
    /// The refused orders and the lines at fault must still agree. The sentences are hashed with the entry
    /// but decide nothing, so a better sentence must not make an old ledger look forged.
    pub(super) fn adopt_recorded_sentences(&self, ruling: &mut Ruling) {
        if !self.is_of_earlier_version() {
            return;
        }
        let mut previous = None;
        for (repeated, recorded) in ruling.entries.iter_mut().zip(&self.pending) {
            let mut entry = repeated.entry.clone();
            if let Some(previous) = previous {
                entry.prev = previous;
            }
            adopt_faults(&mut entry.fact, recorded);
            *repeated = ChainedEntry::from(entry);
            previous = Some(repeated.hash);
        }
        for chained in &ruling.entries {
            // The snapshot holds the sentences, too.
            if let Fact::OrdersRefused { seat, faults, .. } = &chained.entry.fact
                && let Some(refused) = &mut ruling.after.refused[*seat]
            {
                refused.faults.clone_from(faults);
            }
        }
        if let Some(last) = ruling.entries.last() {
            ruling.after.head.hash = last.hash;
        }
    }
}

fn adopt_faults(repeated: &mut Fact, recorded: &PendingEntry) {
    let Ok(recorded) = serde_json::from_str::<Entry>(&recorded.json) else { return };
    match (repeated, recorded.fact) {
        (Fact::OrdersRefused { faults, .. }, Fact::OrdersRefused { faults: recorded, .. })
        | (Fact::OrdersChecked { faults, .. }, Fact::OrdersChecked { faults: recorded, .. })
            if lines_of(faults) == lines_of(&recorded) =>
        {
            *faults = recorded;
        }
        _ => {}
    }
}

/// The lines that the faults are on; `None` stands for the filing as a whole.
fn lines_of(faults: &[Fault]) -> Vec<Option<usize>> {
    faults.iter().map(|fault| fault.line).collect()
}
