//! The phases of a match, and its outcome.

use serde::{Deserialize, Serialize};

use super::Seat;
use super::names::named_enum;

named_enum! {
    /// A step of a match that waits for orders. Each game uses some of these.
    pub enum Phase {
        Setup = "setup",
        Turn = "turn",
        Casualties = "casualties",
        Surface = "surface",
        Submarines = "submarines",
        Move = "move",
    }
}

/// The orders that a running match waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    pub phase: Phase,
    /// The number by which players know the open phase: 0 for a setup, 1 for the first turn.
    pub turn: u32,
    /// The seats that owe orders, `first` first. Empty when the referee passes for a side that cannot move.
    pub seats: Vec<Seat>,
}

/// The result of a match, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub winner: Option<Seat>,
    pub reason: Reason,
}

impl Outcome {
    /// Whether the match was drawn, rather than ended without a result.
    pub fn is_draw(&self) -> bool {
        let is_void = matches!(self.reason, Reason::Abandoned | Reason::Annulled | Reason::BothForfeited);
        self.winner.is_none() && !is_void
    }
}

named_enum! {
    /// The reason why a match ended, in the words of the rules pages.
    pub enum Reason {
        // Quadrant Z
        BaseCaptured = "base captured",
        FleetDestroyed = "fleet destroyed",
        MostStars = "most stars",
        DrawnOnStars = "drawn on stars",
        // War in the Pacific
        FleetDefeated = "fleet defeated",
        PointsAfloat = "points afloat",
        // Quantum
        ThreeTowers = "three towers",
        MoreTowers = "more towers",
        DrawnOnTowers = "drawn on towers",
        // Quad
        Quad = "quad",
        Stars = "stars",
        // From outside the rules
        Resigned = "resigned",
        DrawAgreed = "draw agreed",
        Abandoned = "abandoned",
        Forfeited = "forfeited",
        // Both sides missed too many turns at the same time.
        BothForfeited = "both forfeited",
        // The time for the match ran out. The side that had used less time of its own won, or neither if both had
        // used about as much.
        LessTime = "less time",
        // The GM voided the result.
        Annulled = "annulled",
    }
}
