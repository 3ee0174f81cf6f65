//! The state of a match of Quad, and what a turn does to it.

use serde::{Deserialize, Serialize};

use super::options::Options;
use super::order::Order;
use super::point::{Point, Points, Quad, SQUARES};
use crate::game::{BySeat, Outcome, Reason, Seat};

/// Marbles of each side (clause 1.2).
pub const MARBLES: usize = 20;
/// Stars of each side (clause 1.2).
pub const STARS: usize = 6;

/// The last turn. A swap has no stars, and its marble is the one that was taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    pub side: Seat,
    pub stars: Vec<Point>,
    pub marble: Point,
}

/// A match of Quad.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) options: Options,
    /// Turns played, a swap included.
    pub(super) turn: u32,
    /// `None` once the match is over.
    pub(super) to_move: Option<Seat>,
    /// Points in the order in which they were played.
    pub(super) marbles: BySeat<Vec<Point>>,
    pub(super) stars: BySeat<Vec<Point>>,
    pub(super) last: Option<Last>,
    /// The quads that won the match, if any did.
    pub(super) quads: Vec<Quad>,
    pub(super) outcome: Option<Outcome>,
}

impl State {
    pub(super) fn new(options: &Options) -> State {
        State {
            options: options.clone(),
            turn: 0,
            to_move: Some(Seat::First),
            marbles: BySeat::default(),
            stars: BySeat::default(),
            last: None,
            quads: Vec::new(),
            outcome: None,
        }
    }

    /// Whether the last turn placed these pieces, in any order, or was this swap.
    pub(super) fn has_just_played(&self, orders: &[Order]) -> bool {
        let Some(last) = &self.last else { return false };
        // Only a swap leaves the first side without a marble.
        if self.marbles.first.is_empty() {
            return orders == [Order::Swap];
        }
        let stars: Points = last.stars.iter().collect();
        let (mut expected, mut marble) = (Points::default(), None);
        let mut has_twice = false;
        for order in orders {
            match *order {
                Order::Star(point) => has_twice |= !expected.insert(point),
                Order::Marble(point) => has_twice |= marble.replace(point).is_some(),
                Order::Swap => return false,
            }
        }
        !has_twice && expected == stars && marble == Some(last.marble)
    }

    /// Returns the state after a legal filing of `side`; the state is unchanged if the filing contains
    /// neither a marble nor a swap.
    pub(super) fn after(&self, side: Seat, orders: &[Order]) -> State {
        let mut next = self.clone();
        let mut last = None;
        for &order in orders {
            match order {
                Order::Star(point) => next.stars[side].push(point),
                Order::Marble(point) => {
                    next.marbles[side].push(point);
                    last = Some(point);
                }
                Order::Swap => {
                    last = next.marbles[side.other()].pop();
                    next.marbles[side].extend(last);
                }
            }
        }
        let Some(marble) = last else { return self.clone() };
        let stars = next.stars[side][self.stars[side].len()..].to_vec();
        next.quads = SQUARES.quads(next.marbles[side].iter().collect(), marble);
        next.last = Some(Last { side, stars, marble });
        next.turn += 1;
        next.outcome = next.ended(side);
        next.to_move = next.outcome.is_none().then(|| side.other());
        next
    }

    /// Returns how the match ended with a turn of `side`, if it did (clauses 2.3, 2.4).
    fn ended(&self, side: Seat) -> Option<Outcome> {
        if !self.quads.is_empty() {
            return Some(Outcome { winner: Some(side), reason: Reason::Quad });
        }
        if Seat::BOTH.into_iter().any(|seat| self.marbles[seat].len() < MARBLES) {
            return None;
        }
        let played = |seat: Seat| self.stars[seat].len();
        let winner = Seat::BOTH.into_iter().find(|&seat| played(seat) < played(seat.other()));
        let reason = if winner.is_some() { Reason::Stars } else { Reason::DrawnOnStars };
        Some(Outcome { winner, reason })
    }

    /// The points where each side could complete a quad with its next marble (clause 3).
    pub(super) fn threats(&self) -> BySeat<Vec<Point>> {
        let taken = occupied_points(&self.marbles, &self.stars);
        BySeat::from_fn(|seat| {
            if self.marbles[seat].len() == MARBLES {
                return Vec::new();
            }
            let marbles = self.marbles[seat].iter().collect();
            Point::all()
                .filter(|&point| !taken.contains(point) && SQUARES.completes(marbles, point))
                .collect()
        })
    }
}

/// The points that hold a piece.
pub(super) fn occupied_points(marbles: &BySeat<Vec<Point>>, stars: &BySeat<Vec<Point>>) -> Points {
    Seat::BOTH.into_iter().flat_map(|seat| marbles[seat].iter().chain(&stars[seat])).collect()
}
