//! A position as the house sees it: how far each side has come with each square of the board. Updated incrementally
//! as moves are made and taken back, because a search visits thousands of positions.

use crate::game::quad::point::{Point, Points, Quad, SQUARES};
use crate::game::quad::view::{Left, View};
use crate::game::{BySeat, Seat};

/// A turn: stars, then a marble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub stars: Vec<Point>,
    pub marble: Point,
}

/// The pieces on the corners of one square.
#[derive(Clone, Copy, Default)]
struct Corners {
    marbles: BySeat<u8>,
    /// Stars of either side, plus 1 if the level overlooks the square, so that the square counts as blocked.
    blocked: u8,
}

impl Corners {
    /// The number of these corners that hold marbles of `seat`; `None` if it can no longer get all four.
    fn reached(&self, seat: Seat) -> Option<usize> {
        (self.blocked == 0 && self.marbles[seat.other()] == 0).then_some(usize::from(self.marbles[seat]))
    }
}

/// For one side: the number of squares still open to it that hold 0, 1, 2, 3 or (if won) 4 of its marbles.
#[derive(Clone)]
struct Reach {
    /// For each point, counting the squares through it.
    through: [[u8; 121]; 5],
    all: [i32; 5],
}

#[derive(Clone)]
pub(super) struct Position {
    corners: Vec<Corners>,
    reach: BySeat<Reach>,
    taken: Points,
    pub left: BySeat<Left>,
    pub to_move: Seat,
}

impl Position {
    /// Returns the position in `view`, in which only the squares that `sees` accepts are known.
    pub fn new(view: &View, to_move: Seat, mut sees: impl FnMut(&Quad) -> bool) -> Position {
        let mut corners = Vec::with_capacity(SQUARES.all.len());
        for quad in &SQUARES.all {
            corners.push(Corners { blocked: u8::from(!sees(quad)), ..Corners::default() });
        }
        let mut reach = Reach { through: [[0; 121]; 5], all: [0; 5] };
        for (quad, _) in SQUARES.all.iter().zip(&corners).filter(|(_, corners)| corners.blocked == 0) {
            reach.all[0] += 1;
            quad.iter().for_each(|corner| reach.through[0][corner.index()] += 1);
        }
        let reach = BySeat::new(reach.clone(), reach);
        let mut position = Position { corners, reach, taken: Points::default(), left: view.left, to_move };
        for seat in Seat::BOTH {
            view.marbles[seat].iter().for_each(|&point| position.put_marble(seat, point));
            view.stars[seat].iter().for_each(|&point| position.put_star(point));
        }
        position
    }

    fn change(&mut self, point: Point, change: impl Fn(&mut Corners)) {
        for square in SQUARES.through(point) {
            let before = self.corners[square.number];
            change(&mut self.corners[square.number]);
            let after = self.corners[square.number];
            for seat in Seat::BOTH {
                let (old, new) = (before.reached(seat), after.reached(seat));
                if old == new {
                    continue;
                }
                let reach = &mut self.reach[seat];
                if let Some(old) = old {
                    reach.all[old] -= 1;
                    for index in square.indices {
                        reach.through[old][index] -= 1;
                    }
                }
                if let Some(new) = new {
                    reach.all[new] += 1;
                    for index in square.indices {
                        reach.through[new][index] += 1;
                    }
                }
            }
        }
    }

    fn put_marble(&mut self, seat: Seat, point: Point) {
        self.taken.insert(point);
        self.change(point, |corners| corners.marbles[seat] += 1);
    }

    fn put_star(&mut self, point: Point) {
        self.taken.insert(point);
        self.change(point, |corners| corners.blocked += 1);
    }

    /// Plays a turn of the side to move.
    pub fn play(&mut self, turn: &Turn) {
        let me = self.to_move;
        turn.stars.iter().for_each(|&star| self.put_star(star));
        self.put_marble(me, turn.marble);
        self.left[me].stars -= turn.stars.len();
        self.left[me].marbles -= 1;
        self.to_move = me.other();
    }

    /// Takes back the last turn.
    pub fn take_back(&mut self, turn: &Turn) {
        let me = self.to_move.other();
        self.to_move = me;
        self.left[me].marbles += 1;
        self.left[me].stars += turn.stars.len();
        self.taken.remove(turn.marble);
        self.change(turn.marble, |corners| corners.marbles[me] -= 1);
        for &star in &turn.stars {
            self.taken.remove(star);
            self.change(star, |corners| corners.blocked -= 1);
        }
    }

    fn free(&self) -> impl Iterator<Item = Point> {
        SQUARES.points.iter().copied().filter(|&point| !self.taken.contains(point))
    }

    /// The points where `seat` could complete a quad with its next marble.
    pub fn threats(&self, seat: Seat) -> Vec<Point> {
        let reach = &self.reach[seat];
        if reach.all[3] == 0 || self.left[seat].marbles == 0 {
            return Vec::new();
        }
        self.free().filter(|point| reach.through[3][point.index()] > 0).collect()
    }

    /// The number of squares that a marble of `seat` on `point` would bring to three.
    pub fn attacks(&self, seat: Seat, point: Point) -> u8 {
        self.reach[seat].through[2][point.index()]
    }

    /// Rates a marble of the side to move on `point`: its own squares that it advances, and the opponent's that it
    /// spoils.
    pub fn promise(&self, point: Point) -> u32 {
        let count = |seat: Seat, marbles: usize| u32::from(self.reach[seat].through[marbles][point.index()]);
        let (me, foe) = (self.to_move, self.to_move.other());
        let (own, theirs) = (count(me, 2), count(foe, 2));
        16 * own * own + 9 * theirs * theirs + 6 * count(me, 1) + 3 * count(foe, 1) + count(me, 0)
    }

    /// Returns the free points, the most promising first.
    pub fn promising(&self) -> Vec<Point> {
        let mut points: Vec<(u32, Point)> = self.free().map(|point| (self.promise(point), point)).collect();
        points.sort_unstable_by(|a, b| b.cmp(a));
        points.into_iter().map(|(_, point)| point).collect()
    }

    /// Rates the position for `seat`, ignoring the opponent.
    pub fn worth(&self, seat: Seat) -> i32 {
        let reach = &self.reach[seat];
        let forks: i32 = self
            .free()
            .map(|point| i32::from(reach.through[2][point.index()]))
            .map(|pairs| pairs * (pairs - 1).max(0))
            .sum();
        let stars = i32::try_from(self.left[seat].stars).expect("there are six stars");
        reach.all[1] + 4 * reach.all[2] + 6 * forks + 350 * stars
    }
}
