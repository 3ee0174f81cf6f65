//! The view of a seat of Quad, which hides nothing, and the check of its turn.
//!
//! The state of a match of Quad, and what a turn does to it.

use serde::{Deserialize, Serialize};

use super::Options;
use super::order::Order;
use super::point::{Point, Points, Quad, SQUARES};
use crate::game::{BySeat, Fault, Numbered, Outcome, Reason, Sealed, Seat};

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
        let mut expected = Points::default();
        let mut marble = None;
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

/// The pieces that a side has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    pub marbles: usize,
    pub stars: usize,
}

/// The JSON of clause 5. `state` and `view` are the same except for the viewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    pub turn: u32,
    pub to_move: Option<Seat>,
    pub marbles: BySeat<Vec<Point>>,
    pub stars: BySeat<Vec<Point>>,
    pub left: BySeat<Left>,
    pub last: Option<Last>,
    pub quads: Vec<Quad>,
    /// Present only with the option `trainer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threats: Option<BySeat<Vec<Point>>>,
    /// Whether the option `swap` is on.
    #[serde(skip)]
    pub(crate) swap: bool,
    /// The seat whose view it is.
    #[serde(skip)]
    pub(super) viewer: Seat,
}

impl View {
    pub(super) fn new(state: &State, viewer: Seat) -> View {
        View {
            turn: state.turn,
            to_move: state.to_move,
            marbles: state.marbles.clone(),
            stars: state.stars.clone(),
            left: BySeat::from_fn(|seat| Left {
                marbles: MARBLES - state.marbles[seat].len(),
                stars: STARS - state.stars[seat].len(),
            }),
            last: state.last.clone(),
            quads: state.quads.clone(),
            threats: state.options.trainer.is_on().then(|| state.threats()),
            swap: state.options.swap.is_on(),
            viewer,
        }
    }

    /// Returns the free points, ordered by rank, then file.
    pub fn empty(&self) -> Vec<Point> {
        let taken = self.taken();
        Point::all().filter(|&point| !taken.contains(point)).collect()
    }

    /// Whether the side to move may answer the first marble with `SWAP` (Q-FIRST).
    pub fn may_swap(&self) -> bool {
        self.swap && self.turn == 1 && self.to_move == Some(Seat::Second)
    }

    /// The stars that the side to move may play now: none in the first turn if `swap` is on (Q-FIRST).
    pub fn stars_now(&self) -> usize {
        match self.to_move {
            Some(_) if self.swap && self.turn == 0 => 0,
            Some(side) => self.left[side].stars,
            None => 0,
        }
    }

    pub(super) fn taken(&self) -> Points {
        occupied_points(&self.marbles, &self.stars)
    }

    /// Checks a turn: stars, then one marble; or `SWAP` (clauses 2.1, 2.5). A line is checked after the lines
    /// above it; the filing as a whole counts everything that was written.
    pub(super) fn check(&self, orders: &[Numbered<Order>]) -> Result<Sealed<Order>, Vec<Fault>> {
        if self.to_move != Some(self.viewer) {
            return Err(vec![Fault::whole("It is not your turn to play.")]);
        }
        let mut faults = Vec::new();
        let mut turn = TurnCheck { view: self, taken: self.taken(), stars: 0, marble: None };
        for line in orders.chunk_by(|a, b| a.line == b.line) {
            // A piece counts for later lines even if it is illegal, so that a second marble is reported as
            // such.
            let complaints = line.iter().map(|piece| turn.take(piece.order));
            let why = complaints.fold(None, |first, next| first.or(next));
            faults.extend(why.map(|why| self.with_example(Fault::on(line[0].line, why))));
        }
        faults.extend(whole(orders).map(|fault| self.with_example(fault)));
        if faults.is_empty() {
            Ok(Sealed::new(orders.iter().map(|piece| piece.order).collect()))
        } else {
            Err(faults)
        }
    }

    /// Returns a legal turn, with a star if `line` names one.
    pub(super) fn example(&self, line: &str) -> Option<String> {
        let mut free = self.free_near_the_middle();
        let marble = Order::Marble(free.next()?);
        let wants_star = line.contains('*') || line.trim_start().to_ascii_uppercase().starts_with("STAR");
        let star = free.next().filter(|_| wants_star && self.stars_now() > 0).map(Order::Star);
        Some(match star {
            Some(star) => format!("{star}\n{marble}"),
            None => marble.to_string(),
        })
    }

    /// Adds a legal turn to a fault, as an example.
    fn with_example(&self, fault: Fault) -> Fault {
        match self.free_near_the_middle().next() {
            Some(point) => fault.with_example(Order::Marble(point)),
            None => fault,
        }
    }

    /// Returns the free points, those near the centre first.
    pub(super) fn free_near_the_middle(&self) -> impl Iterator<Item = Point> {
        let mut points = self.empty();
        points.sort_by_key(|point| point.off_centre());
        points.into_iter()
    }
}

/// Returns what is wrong with the filing as a whole.
fn whole(orders: &[Numbered<Order>]) -> Option<Fault> {
    let written = |wanted: fn(&Order) -> bool| orders.iter().any(|piece| wanted(&piece.order));
    let swap = written(|order| matches!(order, Order::Swap));
    if swap && orders.len() > 1 {
        Some(Fault::whole("SWAP is given once, and instead of any pieces."))
    } else if !swap && !written(|order| matches!(order, Order::Marble(_))) {
        Some(Fault::missing("There is no marble here, and every turn ends with one."))
    } else {
        None
    }
}

/// The check of a turn in progress.
struct TurnCheck<'a> {
    view: &'a View,
    taken: Points,
    stars: usize,
    marble: Option<Point>,
}

impl TurnCheck<'_> {
    /// Reads the next order. Returns the reason why it cannot stand here, if there is one.
    fn take(&mut self, order: Order) -> Option<String> {
        match order {
            Order::Swap if self.view.may_swap() => None,
            Order::Swap if !self.view.swap => Some("This match is played without SWAP.".to_string()),
            Order::Swap => Some("SWAP can only answer the first marble of the match.".to_string()),
            Order::Star(point) => {
                self.stars += 1;
                let occupied = self.place(point);
                self.after_the_marble(point).or_else(|| self.no_star()).or(occupied)
            }
            Order::Marble(point) => {
                let occupied = self.place(point);
                let why = self.after_the_marble(point).or(occupied);
                self.marble.get_or_insert(point);
                why
            }
        }
    }

    fn after_the_marble(&self, point: Point) -> Option<String> {
        let marble = self.marble?;
        Some(format!("The marble on {marble} ends the turn; nothing can follow on {point}."))
    }

    /// Returns the reason why the last star is one too many, if there is one.
    fn no_star(&self) -> Option<String> {
        if self.view.swap && self.view.turn == 0 {
            return Some("The first turn of a match with SWAP is a marble alone, without stars.".to_string());
        }
        let left = self.view.stars_now();
        (self.stars > left).then(|| match left {
            0 => "You have no star left.".to_string(),
            1 => "You have only one star left.".to_string(),
            _ => format!("You have only {left} stars left."),
        })
    }

    /// Places a piece on a point. Returns the reason why it cannot go there, if there is one.
    fn place(&mut self, point: Point) -> Option<String> {
        if self.taken.insert(point) {
            return None;
        }
        let when = if self.view.taken().contains(point) { "already" } else { "already in this turn" };
        Some(format!("A piece stands on {point} {when}; a piece goes on an empty point."))
    }
}
