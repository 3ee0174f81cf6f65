//! A position as the house sees it: how many corners of each square of the board each side holds. Updated as
//! turns are made and taken back, because a search visits hundreds of thousands of positions.
//!
//! Sides are numbered 0 and 1, points as in [`Point::index`].

use std::sync::LazyLock;

use crate::game::quad::SQUARES;
use crate::house::engine::table::keys;

/// The points of the grid, corners included.
const POINTS: usize = 121;

/// Random numbers for the marbles of each side on each point, the stars of each side, and how many stars each
/// side has left (Zobrist).
static KEYS: [[u64; POINTS]; 4] = keys(0x6a09_e667_f3bc_c908);
static STAR_KEYS: [[u64; 8]; 2] = keys(0xbb67_ae85_84ca_a73b);
const SECOND_MOVES: u64 = 0x3c6e_f372_fe94_f82b;

/// A square through a point.
struct Through {
    number: u16,
    corners: [u8; 4],
}

/// The squares through each point, close together in memory.
static THROUGH: LazyLock<Vec<Vec<Through>>> = LazyLock::new(|| {
    let mut through: Vec<Vec<Through>> = (0..POINTS).map(|_| Vec::new()).collect();
    for (number, quad) in (0..).zip(&SQUARES.all) {
        let corners = quad.map(|point| point.index() as u8);
        for corner in corners {
            through[usize::from(corner)].push(Through { number, corners });
        }
    }
    through
});

/// A set of points, by index.
pub(super) type Set = u128;

/// Returns the points of a set, the lowest first.
pub(super) fn points(mut set: Set) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let point = (set != 0).then(|| set.trailing_zeros() as u8);
        set &= set.wrapping_sub(1);
        point
    })
}

/// A turn: stars, then a marble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub stars: Set,
    pub marble: u8,
}

/// The pieces on the corners of one square.
#[derive(Clone, Copy, Default)]
struct Corners {
    marbles: [u8; 2],
    /// Stars of either side, plus 1 if the level overlooks the square, so that the square counts as blocked.
    blocked: u8,
}

/// The squares that are still open to one side, by how many of its marbles they hold.
#[derive(Clone)]
struct Reach {
    /// For each point, the number of such squares through it. Squares with no marble or with all four are not
    /// counted.
    through: [[u8; POINTS]; 4],
    /// The points with at least one such square.
    points: [Set; 4],
    all: [i32; 5],
}

#[derive(Clone)]
pub(super) struct Position {
    corners: Vec<Corners>,
    reach: [Reach; 2],
    taken: Set,
    pub marbles_left: [u8; 2],
    pub stars_left: [u8; 2],
    pub mover: usize,
    key: u64,
}

impl Position {
    /// Returns the empty board. It knows only the squares whose number `sees` accepts.
    pub fn new(mover: usize, mut sees: impl FnMut(usize) -> bool) -> Position {
        let count = SQUARES.all.len();
        let blocked = (0..count).map(|number| u8::from(!sees(number)));
        let corners = blocked.map(|blocked| Corners { marbles: [0; 2], blocked }).collect();
        let reach = Reach { through: [[0; POINTS]; 4], points: [0; 4], all: [0; 5] };
        let board = SQUARES.points.iter().fold(0, |board: Set, point| board | 1 << point.index());
        Position {
            corners,
            reach: [reach.clone(), reach],
            taken: !board,
            marbles_left: [0; 2],
            stars_left: [0; 2],
            mover,
            key: if mover == 1 { SECOND_MOVES } else { 0 },
        }
    }

    pub fn put_marble(&mut self, side: usize, point: u8) {
        self.taken |= 1 << point;
        self.key ^= KEYS[side][usize::from(point)];
        for square in &THROUGH[usize::from(point)] {
            let corners = &mut self.corners[usize::from(square.number)];
            let own = corners.marbles[side];
            let theirs = corners.marbles[1 - side];
            corners.marbles[side] += 1;
            if corners.blocked > 0 {
                continue;
            }
            if theirs == 0 {
                self.reach[side].lose(own, square);
                self.reach[side].gain(own + 1, square);
            }
            if own == 0 {
                self.reach[1 - side].lose(theirs, square);
            }
        }
    }

    fn take_marble(&mut self, side: usize, point: u8) {
        self.taken &= !(1 << point);
        self.key ^= KEYS[side][usize::from(point)];
        for square in &THROUGH[usize::from(point)] {
            let corners = &mut self.corners[usize::from(square.number)];
            corners.marbles[side] -= 1;
            let own = corners.marbles[side];
            let theirs = corners.marbles[1 - side];
            if corners.blocked > 0 {
                continue;
            }
            if theirs == 0 {
                self.reach[side].lose(own + 1, square);
                self.reach[side].gain(own, square);
            }
            if own == 0 {
                self.reach[1 - side].gain(theirs, square);
            }
        }
    }

    pub fn put_star(&mut self, point: u8) {
        self.taken |= 1 << point;
        self.key ^= KEYS[2][usize::from(point)];
        for square in &THROUGH[usize::from(point)] {
            let corners = &mut self.corners[usize::from(square.number)];
            corners.blocked += 1;
            if corners.blocked == 1 {
                for side in [0, 1] {
                    if corners.marbles[1 - side] == 0 {
                        self.reach[side].lose(corners.marbles[side], square);
                    }
                }
            }
        }
    }

    fn take_star(&mut self, point: u8) {
        self.taken &= !(1 << point);
        self.key ^= KEYS[2][usize::from(point)];
        for square in &THROUGH[usize::from(point)] {
            let corners = &mut self.corners[usize::from(square.number)];
            corners.blocked -= 1;
            if corners.blocked == 0 {
                for side in [0, 1] {
                    if corners.marbles[1 - side] == 0 {
                        self.reach[side].gain(corners.marbles[side], square);
                    }
                }
            }
        }
    }

    /// Plays a turn of the side to move.
    pub fn play(&mut self, turn: Turn) {
        let me = self.mover;
        points(turn.stars).for_each(|star| self.put_star(star));
        self.put_marble(me, turn.marble);
        self.stars_left[me] -= turn.stars.count_ones() as u8;
        self.marbles_left[me] -= 1;
        self.mover = 1 - me;
        self.key ^= SECOND_MOVES;
    }

    /// Takes back the last turn.
    pub fn take_back(&mut self, turn: Turn) {
        let me = 1 - self.mover;
        self.mover = me;
        self.marbles_left[me] += 1;
        self.stars_left[me] += turn.stars.count_ones() as u8;
        self.take_marble(me, turn.marble);
        points(turn.stars).for_each(|star| self.take_star(star));
        self.key ^= SECOND_MOVES;
    }

    /// The key of the position in the table. It omits the marbles left, which follow from those on the board.
    pub fn key(&self) -> u64 {
        let [first, second] = self.stars_left.map(usize::from);
        self.key ^ STAR_KEYS[0][first] ^ STAR_KEYS[1][second]
    }

    pub fn free(&self) -> Set {
        !self.taken
    }

    /// The points where `side` could complete a quad with its next marble.
    pub fn threats(&self, side: usize) -> Set {
        if self.marbles_left[side] == 0 { 0 } else { self.reach[side].points[3] & self.free() }
    }

    /// The points where a marble of `side` would make a threat.
    pub fn attacks(&self, side: usize) -> Set {
        self.reach[side].points[2] & self.free()
    }

    /// The number of open squares through `point` that hold `marbles` marbles of `side`, 1 to 3.
    pub fn count(&self, side: usize, marbles: usize, point: u8) -> i32 {
        i32::from(self.reach[side].through[marbles][usize::from(point)])
    }

    /// The number of open squares that hold `marbles` marbles of `side`, 1 to 4.
    pub fn all(&self, side: usize, marbles: usize) -> i32 {
        self.reach[side].all[marbles]
    }
}

impl Reach {
    fn gain(&mut self, marbles: u8, square: &Through) {
        let marbles = usize::from(marbles);
        self.all[marbles] += 1;
        if let Some(through) = self.through.get_mut(marbles).filter(|_| marbles > 0) {
            for corner in square.corners {
                through[usize::from(corner)] += 1;
                self.points[marbles] |= 1 << corner;
            }
        }
    }

    fn lose(&mut self, marbles: u8, square: &Through) {
        let marbles = usize::from(marbles);
        self.all[marbles] -= 1;
        if let Some(through) = self.through.get_mut(marbles).filter(|_| marbles > 0) {
            for corner in square.corners {
                through[usize::from(corner)] -= 1;
                if through[usize::from(corner)] == 0 {
                    self.points[marbles] &= !(1 << corner);
                }
            }
        }
    }
}
