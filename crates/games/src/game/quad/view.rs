//! The view of a seat of Quad, which hides nothing, and the check of its turn.

use serde::Serialize;

use super::order::Order;
use super::point::{Point, Points, Quad};
use super::state::{Last, MARBLES, STARS, State, occupied_points};
use crate::game::{BySeat, Fault, Numbered, Sealed, Seat};

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
