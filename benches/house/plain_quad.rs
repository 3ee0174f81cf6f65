//! Quad on arrays, for players from outside. It shares no code with the house or the rules, so that a fault in theirs
//! would show.

/// The board is 11 × 11; a point is `rank * 11 + file`, and the four corners are no points.
pub const POINTS: usize = 121;

/// A turn: stars, then a marble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub stars: Vec<usize>,
    pub marble: usize,
}

/// The squares of the board, and those through each point.
pub struct Squares {
    corners: Vec<[usize; 4]>,
    through: Vec<Vec<usize>>,
}

impl Squares {
    pub fn new() -> Squares {
        let mut squares = Squares { corners: Vec::new(), through: vec![Vec::new(); POINTS] };
        let is_point = |file: i32, rank: i32| {
            (0..11).contains(&file)
                && (0..11).contains(&rank)
                && !([0, 10].contains(&file) && [0, 10].contains(&rank))
        };
        // Each square has one lowest corner from which a side leads to the right and up, or straight to the right.
        for (rank, file) in (0..11).flat_map(|rank| (0..11).map(move |file| (rank, file))) {
            for (right, up) in (1..11).flat_map(|right| (0..11).map(move |up| (right, up))) {
                let corners = [
                    (file, rank),
                    (file + right, rank + up),
                    (file + right - up, rank + up + right),
                    (file - up, rank + right),
                ];
                if corners.iter().all(|&(file, rank)| is_point(file, rank)) {
                    let corners = corners.map(|(file, rank)| (rank * 11 + file) as usize);
                    corners.iter().for_each(|&point| squares.through[point].push(squares.corners.len()));
                    squares.corners.push(corners);
                }
            }
        }
        squares
    }
}

/// A position. Cells hold 0 for an empty point, 1 and 2 for the marbles of the sides, 3 for any star and for the corners
/// of the board.
#[derive(Clone)]
pub struct Plain<'a> {
    squares: &'a Squares,
    cells: [u8; POINTS],
    /// For each square, the marbles of each side on it, and the stars.
    counts: Vec<[u8; 3]>,
    /// Points where a side could once complete a quad; some are taken meanwhile.
    threats: [Vec<usize>; 2],
    pub marbles_left: [usize; 2],
    pub stars_left: [usize; 2],
    pub mover: usize,
    /// The side that has completed a quad.
    pub won: Option<usize>,
}

impl<'a> Plain<'a> {
    pub fn new(squares: &'a Squares) -> Plain<'a> {
        let mut cells = [0; POINTS];
        for corner in [0, 10, 110, 120] {
            cells[corner] = 3;
        }
        Plain {
            squares,
            cells,
            counts: vec![[0; 3]; squares.corners.len()],
            threats: [Vec::new(), Vec::new()],
            marbles_left: [20; 2],
            stars_left: [6; 2],
            mover: 0,
            won: None,
        }
    }

    pub fn is_free(&self, point: usize) -> bool {
        self.cells[point] == 0
    }

    pub fn free(&self) -> Vec<usize> {
        (0..POINTS).filter(|&point| self.is_free(point)).collect()
    }

    pub fn put_star(&mut self, side: usize, point: usize) {
        self.cells[point] = 3;
        self.stars_left[side] -= 1;
        for &square in &self.squares.through[point] {
            self.counts[square][2] += 1;
        }
    }

    pub fn put_marble(&mut self, side: usize, point: usize) {
        self.cells[point] = side as u8 + 1;
        self.marbles_left[side] -= 1;
        for &square in &self.squares.through[point] {
            let counts = &mut self.counts[square];
            counts[side] += 1;
            match counts[side] {
                4 => self.won = Some(side),
                3 if counts[1 - side] == 0 && counts[2] == 0 => {
                    let corners = self.squares.corners[square];
                    let open = corners.into_iter().find(|&corner| self.cells[corner] == 0);
                    self.threats[side].extend(open);
                }
                _ => {}
            }
        }
    }

    pub fn play(&mut self, turn: &Turn) {
        let me = self.mover;
        turn.stars.iter().for_each(|&star| self.put_star(me, star));
        self.put_marble(me, turn.marble);
        self.mover = 1 - me;
    }

    /// The points where `side` can complete a quad with its next marble.
    pub fn threats(&self, side: usize) -> Vec<usize> {
        if self.marbles_left[side] == 0 {
            return Vec::new();
        }
        let mut open: Vec<usize> =
            self.threats[side].iter().copied().filter(|&point| self.is_free(point)).collect();
        open.sort_unstable();
        open.dedup();
        open
    }

    /// The winner, or 2 for a draw; `None` while the match runs.
    pub fn winner(&self) -> Option<usize> {
        if self.won.is_some() {
            return self.won;
        }
        (self.marbles_left == [0, 0]).then(|| match self.stars_left[0].cmp(&self.stars_left[1]) {
            std::cmp::Ordering::Greater => 0,
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => 2,
        })
    }

    /// The turns worth a thought: wins, or else every way to block all threats, or else a marble on each free point. If
    /// not all can be blocked, as many as possible.
    pub fn turns(&self) -> Vec<Turn> {
        let me = self.mover;
        if let Some(&marble) = self.threats(me).first() {
            return vec![Turn { stars: Vec::new(), marble }];
        }
        let blocks = self.threats(1 - me);
        let stars = self.stars_left[me];
        let mut turns = Vec::new();
        for &marble in &blocks {
            let others = blocks.iter().copied().filter(|&block| block != marble);
            turns.push(Turn { stars: others.take(stars).collect(), marble });
        }
        if blocks.len() <= stars {
            for marble in self.free().into_iter().filter(|point| !blocks.contains(point)) {
                turns.push(Turn { stars: blocks.clone(), marble });
            }
        }
        turns
    }
}
