//! The turns that a ruling closed, with the seats that owed them, and whether they were filed in time. Only
//! turns owed to people count.

use chrono::{DateTime, Utc};

use crate::game::{BySeat, Seat};
use crate::ledger::{ChainedEntry, Fact};
use crate::referee::Match;

/// A turn that a seat owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwedTurn {
    /// The number of the entry that closed it.
    pub seq: u64,
    pub seat: Seat,
    pub at: DateTime<Utc>,
    /// Whether it was filed by the deadline. A day from the bank moves the deadline; a filing in the grace
    /// period after the deadline is not in time.
    pub in_time: bool,
}

/// Returns the turns that these entries of a ruling closed. `before` is the match before these entries.
pub fn owed_turns(before: &Match, entries: &[ChainedEntry]) -> Vec<OwedTurn> {
    if Seat::BOTH.iter().any(|seat| before.house[*seat].is_some()) {
        return Vec::new();
    }
    let mut filed: BySeat<Option<DateTime<Utc>>> = BySeat::from_fn(|seat| before.past.first_filed(seat));
    let mut deadline = before.deadline;
    let mut owed = Vec::new();
    for entry in entries.iter().map(|chained| &chained.entry) {
        let (seq, at) = (entry.seq, entry.at);
        let mut close = |seat: Seat, in_time: bool| owed.push(OwedTurn { seq, seat, at, in_time });
        match &entry.fact {
            Fact::OrdersSealed { seat, .. } => {
                filed[*seat].get_or_insert(at);
            }
            Fact::OrdersWithdrawn { seat, .. } => filed[*seat] = None,
            Fact::CorrectionMade { .. } => filed = BySeat::default(),
            Fact::PlayerReplaced { seat, .. } => filed[*seat] = None,
            Fact::DeadlineMissed { seats, .. } => seats.iter().for_each(|seat| close(*seat, false)),
            Fact::TurnAdjudicated { .. } => {
                for seat in Seat::BOTH {
                    // A seat that filed nothing does not count here: it missed the deadline, which is counted
                    // already, or a GM adjudicated the turn before it was due.
                    if let Some(filed_at) = filed[seat] {
                        close(seat, deadline.is_none_or(|deadline| filed_at <= deadline));
                    }
                }
                filed = BySeat::default();
            }
            fact => deadline = deadline_by(fact).unwrap_or(deadline),
        }
    }
    owed
}

/// Returns the deadline that a fact sets, if it sets one.
pub fn deadline_by(fact: &Fact) -> Option<Option<DateTime<Utc>>> {
    match fact {
        Fact::DeadlineSet { deadline, .. }
        | Fact::DeadlineExtended { deadline, .. }
        | Fact::BankDayTaken { deadline, .. }
        | Fact::DeadlineSlid { deadline }
        | Fact::DeadlineRestored { deadline }
        | Fact::ZonesChanged { deadline }
        | Fact::OpeningSentLate { deadline, .. } => Some(Some(*deadline)),
        Fact::MatchResumed { deadline } => Some(*deadline),
        _ => None,
    }
}
