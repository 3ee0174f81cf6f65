//! The reliability of a player: the last hundred turns owed to people, and the matches lost by missed turns.
//!
//! The turns that a ruling closed, with the seats that owed them, and whether they were filed in time. Only
//! turns owed to people count.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::game::{BySeat, Seat};
use crate::ledger::{ChainedEntry, Fact};
use crate::referee::Match;

/// The number of latest turns that count.
pub const TURNS: usize = 100;

/// Minimum turns for the figure to have consequences.
const FEW: u32 = 10;

/// The number of a player's last turns against people that were filed in time. Absences, pauses and outages
/// move deadlines, so they do not make a turn late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reliability {
    /// The turns that count.
    pub owed: u32,
    pub in_time: u32,
    /// Matches lost by missed turns in the last twelve months.
    pub lost: u32,
}

impl Reliability {
    /// Counts turns, the latest first.
    pub fn of(in_time: &[bool], lost: u32) -> Reliability {
        let counted = &in_time[..in_time.len().min(TURNS)];
        Reliability {
            owed: count_of(counted.len()),
            in_time: count_of(counted.iter().filter(|in_time| **in_time).count()),
            lost,
        }
    }

    /// Whether the player meets a condition such as `reliable=90`. With too few turns, the player meets every
    /// condition.
    pub fn meets(&self, percent: u32) -> bool {
        self.owed < FEW || self.in_time * 100 >= percent * self.owed
    }

    /// Returns the sentence about the reliability for somebody who is asked to play against `name`.
    pub fn sentence(&self, name: &str) -> String {
        let Reliability { owed, in_time, lost } = *self;
        if owed < FEW {
            return match owed {
                0 => format!("{name} has had no turn to play here yet."),
                _ => format!("{name} has filed {in_time} of {owed} turns in time so far."),
            };
        }
        let filed = format!("{name} filed {in_time} of his last {owed} turns in time");
        match lost {
            0 => format!("{filed}."),
            1 => format!("{filed} and lost 1 match by missed turns in the last 12 months."),
            many => format!("{filed} and lost {many} matches by missed turns in the last 12 months."),
        }
    }
}

fn count_of(turns: usize) -> u32 {
    u32::try_from(turns).expect("at most a hundred turns")
}

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
        let seq = entry.seq;
        let at = entry.at;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_hundred_turns_count_and_few_meet_every_condition() {
        let mut turns = vec![true; 100];
        turns.splice(..5, [false; 5]);
        turns.extend([false; 40]);
        let bo = Reliability::of(&turns, 1);
        assert_eq!(
            bo.sentence("Bo"),
            "Bo filed 95 of his last 100 turns in time and lost 1 match by missed turns in the last 12 months."
        );
        assert!(bo.meets(95) && !bo.meets(96));
        let cy = Reliability::of(&[true; 4], 0);
        assert_eq!(cy.sentence("Cy"), "Cy has filed 4 of 4 turns in time so far.");
        assert!(cy.meets(90) && Reliability::of(&[false; 9], 0).meets(100));
        assert!(!Reliability::of(&[false; 10], 0).meets(1));
    }
}
