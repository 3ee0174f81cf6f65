//! The end of a match, as its event counts it.

use super::own_time::own_time;
use crate::game::{BySeat, Reason, Seat};
use crate::ledger::book::BookOutcome;
use crate::ledger::{Cause, Entry, Fact};
use crate::letter::Digest;

/// An end of a match: how it ended, and the entry that records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchEnd {
    /// The hash of that entry.
    pub end: Digest,
    pub outcome: BookOutcome,
    /// The seat that missed too many turns. A forfeit declared by a GM does not count.
    pub vanished: Option<Seat>,
    /// Seconds of each seat's own time.
    pub own: BySeat<i64>,
}

/// Returns the last end in these entries of a match, from its first one on. A match that was corrected or reopened
/// may end several times.
pub fn last_end(entries: &[Entry]) -> Option<MatchEnd> {
    let last = entries.iter().rev().find(|entry| is_end(&entry.fact))?;
    let own = own_time(entries, last.at);
    let closed = entries.iter().rev().find(|entry| matches!(entry.fact, Fact::MatchClosed { .. }));
    // A side whose match a GM forfeits has not necessarily missed turns.
    let by_gm = closed.is_some_and(|entry| matches!(entry.own_cause(), Some(Cause::Gm { .. })));
    let (outcome, vanished) = match &last.fact {
        Fact::MatchEnded { outcome } => {
            let is_missed = outcome.reason == Reason::Forfeited && !by_gm;
            (BookOutcome::of(outcome), outcome.winner.filter(|_| is_missed).map(Seat::other))
        }
        _ => (BookOutcome::None, None),
    };
    Some(MatchEnd {
        end: last.hash(),
        outcome,
        vanished,
        own: BySeat::from_fn(|seat| own[seat].num_seconds()),
    })
}

/// Whether a fact ends a match.
pub fn is_end(fact: &Fact) -> bool {
    matches!(fact, Fact::MatchEnded { .. } | Fact::MatchAnnulled { .. })
}
