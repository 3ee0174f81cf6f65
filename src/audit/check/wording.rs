//! Accepts what another version of this program put otherwise: the sentences in which it explained refused orders, and the
//! deadlines that follow from other time zones.

use chrono::{DateTime, Utc};

use super::Check;
use crate::game::Fault;
use crate::ledger::{ChainedEntry, Entry, Fact};
use crate::referee::{Match, Ruling};

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

    /// Whether the ruling was made with other time zones, or nobody knows with which. An opening names its own.
    fn is_in_other_zones(&self, ruling: &Ruling) -> bool {
        let then = self.current.as_ref().unwrap_or(&ruling.after);
        then.desk.tzdata != self.current_identity.tzdata
    }

    /// Replaces the sentences of refusals in a repeated ruling by the recorded ones, if another version made it, and its
    /// deadlines, if that had other time zones.
    ///
    /// The refused orders and the lines at fault must still agree. The sentences are hashed with the entry
    /// but decide nothing, so a better sentence must not make an old ledger look forged, nor must a
    /// country that changes its clocks.
    pub(super) fn adopt_recorded_words(&self, ruling: &mut Ruling) {
        let (has_sentences, has_zones) = (self.is_of_earlier_version(), self.is_in_other_zones(ruling));
        if !has_sentences && !has_zones {
            return;
        }
        let mut previous = None;
        for (repeated, recorded) in ruling.entries.iter_mut().zip(&self.pending) {
            let mut entry = repeated.entry.clone();
            if let Some(previous) = previous {
                entry.prev = previous;
            }
            if let Ok(recorded) = serde_json::from_str::<Entry>(&recorded.json) {
                if has_zones {
                    adopt_deadline(&mut entry.fact, recorded.fact.clone(), &mut ruling.after, entry.at);
                }
                if has_sentences {
                    adopt_faults(&mut entry.fact, recorded.fact);
                }
            }
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

fn adopt_faults(repeated: &mut Fact, recorded: Fact) {
    match (repeated, recorded) {
        (Fact::OrdersRefused { faults, .. }, Fact::OrdersRefused { faults: recorded, .. })
        | (Fact::OrdersChecked { faults, .. }, Fact::OrdersChecked { faults: recorded, .. })
            if lines_of(faults) == lines_of(&recorded) =>
        {
            *faults = recorded;
        }
        _ => {}
    }
}

/// Moves the deadline that a fact of a ruling at `at` sets, also in the match after it.
fn adopt_deadline(repeated: &mut Fact, mut recorded: Fact, after: &mut Match, at: DateTime<Utc>) {
    let (Some(repeated), Some(recorded)) = (deadline_in(repeated), deadline_in(&mut recorded)) else {
        return;
    };
    if after.deadline == Some(*repeated) {
        after.move_deadline(*recorded, at);
    }
    if let Some(vanished) = after.vanished.as_mut().filter(|vanished| vanished.until == *repeated) {
        vanished.until = *recorded;
    }
    *repeated = *recorded;
}

/// The deadline that a fact sets by a local time.
fn deadline_in(fact: &mut Fact) -> Option<&mut DateTime<Utc>> {
    match fact {
        Fact::DeadlineSet { deadline, .. } | Fact::DeadlineExtended { deadline, .. } => Some(deadline),
        Fact::SubstituteOffered { until, .. } => Some(until),
        Fact::MatchResumed { deadline } => deadline.as_mut(),
        _ => None,
    }
}

/// The lines that the faults are on; `None` stands for the filing as a whole.
fn lines_of(faults: &[Fault]) -> Vec<Option<usize>> {
    faults.iter().map(|fault| fault.line).collect()
}
