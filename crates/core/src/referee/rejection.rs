//! The reasons why an act, or a claim to the win, may be rejected.

use serde::{Deserialize, Serialize};

use crate::game::{Fault, Seat};

/// The reason why an act was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Rejection {
    /// The phase for which it was meant is no longer open.
    Passed,
    /// The match is over.
    Over,
    /// The match is already in the requested state.
    Already,
    /// The rules assume no filing for these seats: they must move themselves.
    MustMove { seats: Vec<Seat> },
    /// The orders cannot stand.
    Faulty { faults: Vec<Fault> },
    /// The seat owes no orders.
    NotDue { seat: Seat },
    /// The turn was not adjudicated, or was adjudicated without a filing of the seat whose orders are
    /// corrected.
    NoSuchTurn {
        turn: u32,
        seat: Option<Seat>,
        /// The turn that was adjudicated last, of those in which the seat filed.
        last: Option<u32>,
    },
    /// An absence has more days than the seat has left, or lies in the past.
    TooManyDays { left: i64 },
    /// Terms cannot be changed like this: a sentence about the key, the value and its bounds.
    BadTerms { says: String },
    /// There is no deadline to move, because only the house has to move.
    NoDeadline,
}

/// The reason why CLAIM has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimRejection {
    /// The house holds the opponent's seat.
    OpponentIsHouse,
    /// The sender agreed to go on against the house.
    AgreedToHouse,
    /// The sender has missed too many turns, so that the opponent may choose.
    SenderVanished,
    /// The opponent has missed too many turns, but nobody can choose while the match is paused.
    Paused,
    /// The GM decides, by the terms or because the GM was asked.
    GmDecides,
    /// The terms let a player who misses too many turns lose without a claim.
    LossIsAutomatic,
    /// The opponent has missed too few turns, is back, or has more time.
    NotVanished,
}
