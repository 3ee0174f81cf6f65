//! The two sides of a match.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use super::names::named_enum;

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
