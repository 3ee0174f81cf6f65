//! Why an act may be rejected.

use serde::{Deserialize, Serialize};

use crate::game::{Fault, Seat};

/// Why an act was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Rejection {
    /// The phase it was meant for is no longer open.
    Passed,
    Over,
    /// The match is already in the requested state.
    Already,
    /// The rules assume no filing for these seats: they must move themselves.
    MustMove {
        seats: Vec<Seat>,
    },
    /// The orders cannot stand.
    Faulty {
        faults: Vec<Fault>,
    },
    /// The seat owes no orders.
    NotDue {
        seat: Seat,
    },
    NoSuchTurn {
        turn: u32,
    },
    /// An absence has more days than the seat has left, or lies in the past.
    TooManyDays {
        left: i64,
    },
    /// There is no deadline to move, because only the house is to move.
    NoDeadline,
}
