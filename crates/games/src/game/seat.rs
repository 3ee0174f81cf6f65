//! The two sides of a match.
//!
//! The phases of a match, and its outcome.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use super::options::named_enum;

named_enum! {
    /// One of the two sides of a match.
    pub enum Seat {
        First = "first",
        Second = "second",
    }
}

impl Seat {
    pub const BOTH: [Seat; 2] = [Seat::First, Seat::Second];

    pub fn other(self) -> Seat {
        match self {
            Seat::First => Seat::Second,
            Seat::Second => Seat::First,
        }
    }
}

/// One value for each seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BySeat<T> {
    pub first: T,
    pub second: T,
}

impl<T> BySeat<T> {
    pub const fn new(first: T, second: T) -> Self {
        BySeat { first, second }
    }

    /// Calls `f` for each seat, `first` first, and collects the results.
    pub fn from_fn(mut f: impl FnMut(Seat) -> T) -> Self {
        BySeat { first: f(Seat::First), second: f(Seat::Second) }
    }

    pub fn as_ref(&self) -> BySeat<&T> {
        BySeat { first: &self.first, second: &self.second }
    }

    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> BySeat<U> {
        BySeat { first: f(self.first), second: f(self.second) }
    }

    /// Both seats with their values, `first` first.
    pub fn iter(&self) -> impl Iterator<Item = (Seat, &T)> {
        Seat::BOTH.into_iter().map(|seat| (seat, &self[seat]))
    }
}

impl<T> Index<Seat> for BySeat<T> {
    type Output = T;
    fn index(&self, seat: Seat) -> &T {
        match seat {
            Seat::First => &self.first,
            Seat::Second => &self.second,
        }
    }
}

impl<T> IndexMut<Seat> for BySeat<T> {
    fn index_mut(&mut self, seat: Seat) -> &mut T {
        match seat {
            Seat::First => &mut self.first,
            Seat::Second => &mut self.second,
        }
    }
}

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
