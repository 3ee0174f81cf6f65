//! Quantum on an array of cells, for players from outside. It shares no code with the house or the rules, so that a
//! fault in theirs would show: a move of theirs that the rules forbid ends the match with an error.

/// A stack: the side (0 or 1), the directions in which it moves, and its height. An empty cell has height 0.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Cell {
    pub side: u8,
    pub straight: bool,
    pub diagonal: bool,
    pub height: u8,
}

/// The values that an alpha-beta player counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Judge {
    /// Towers, and stacks by their height.
    Heights,
    /// Towers and pieces.
    Pieces,
    /// Towers, and the squares of heights.
    Squares,
    /// Towers and stacks.
    Stacks,
    /// Towers alone.
    Towers,
}

/// A position; cells in the order A1, B1, …
#[derive(Clone)]
pub struct Plain {
    pub cells: [Cell; 64],
    pub mover: u8,
    /// Turns in a row without stacking, and the number of them that ends the match.
    pub quiet: u32,
    pub quiet_limit: u32,
    pub judge: Judge,
}

/// The cells that a move goes from and to.
pub type Turn = (usize, usize);

impl Plain {
    pub fn towers(&self, side: u8) -> usize {
        self.cells.iter().filter(|cell| cell.height >= 6 && cell.side == side).count()
    }

    pub fn turns(&self) -> Vec<Turn> {
        let mut turns = Vec::with_capacity(48);
        for from in 0..64 {
            let cell = self.cells[from];
            if cell.height == 0 || cell.height > 5 || cell.side != self.mover {
                continue;
            }
            for (right, up) in [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)] {
                if if right == 0 || up == 0 { cell.straight } else { cell.diagonal } {
                    self.along(from, cell, right, up, &mut turns);
                }
            }
        }
        turns
    }

    fn along(&self, from: usize, cell: Cell, right: i32, up: i32, turns: &mut Vec<Turn>) {
        let (mut file, mut rank) = (from as i32 % 8, from as i32 / 8);
        for _ in 0..cell.height {
            file += right;
            rank += up;
            if !(0..8).contains(&file) || !(0..8).contains(&rank) {
                return;
            }
            let to = (rank * 8 + file) as usize;
            let target = self.cells[to];
            if target.height == 0 {
                turns.push((from, to));
                continue;
            }
            if target.height < 6 && target.side != self.mover {
                turns.push((from, to));
            }
            return;
        }
    }

    pub fn play(&mut self, (from, to): Turn) {
        let moved = std::mem::take(&mut self.cells[from]);
        let below = self.cells[to].height;
        self.cells[to] = Cell { height: moved.height + below, ..moved };
        self.quiet = if below == 0 { self.quiet + 1 } else { 0 };
        self.mover = 1 - self.mover;
    }

    /// The winner: 0 or 1, or 2 for a draw; `None` while the match runs.
    pub fn winner(&self) -> Option<u8> {
        let (first, second) = (self.towers(0), self.towers(1));
        if first >= 3 {
            return Some(0);
        }
        if second >= 3 {
            return Some(1);
        }
        let can_change =
            |side| self.cells.iter().any(|cell| (1..6).contains(&cell.height) && cell.side == side);
        let is_over = !can_change(0) || !can_change(1) || self.quiet >= self.quiet_limit;
        is_over.then(|| self.ahead())
    }

    /// The side with more towers; 2 if they have equally many.
    pub fn ahead(&self) -> u8 {
        match self.towers(0).cmp(&self.towers(1)) {
            std::cmp::Ordering::Greater => 0,
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => 2,
        }
    }
}
