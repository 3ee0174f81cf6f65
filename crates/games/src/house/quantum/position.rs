//! A position on 64-bit boards, in which a search makes hundreds of thousands of moves a second.
//!
//! Sides are numbered 0 and 1, squares as in [`Spot::index`](crate::game::quantum::Spot::index). A move makes
//! a new position, because copying one is cheaper than taking a move back.

use crate::game::quantum::{PieceKind, TOWER};
use crate::house::engine::table::keys;

/// The greatest height of a stack: a stack of 5 on one of 5 (clause 2.2).
const HIGHEST: usize = 10;
/// Towers that win (clause 3.1).
pub(super) const TOWERS_TO_WIN: u8 = 3;

const FILE_A: u64 = 0x0101_0101_0101_0101;
const FILE_H: u64 = FILE_A << 7;

/// The steps in square numbers of the eight directions: four along ranks and files, four along diagonals.
const STEPS: [i8; 8] = [8, 1, -8, -1, 9, -7, -9, 7];
/// The number of directions along ranks and files, which come first.
const STRAIGHT: usize = 4;

/// A random number for each stack on each square, which distinguishes positions (Zobrist hashing). A stack's
/// row is `side * 30 + kind * 10 + height - 1`.
static KEYS: [[u64; 64]; 60] = keys(0x2545_f491_4f6c_dd1d);
/// Distinguishes positions by the side to move.
const SECOND_MOVES: u64 = 0x9d39_247e_3377_6d41;

/// The number of traits that [`Position::traits`] counts.
pub(super) const TRAITS: usize = 16;

/// A move from one square to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Move {
    pub from: u8,
    pub to: u8,
}

/// Options of the match that change what is legal or when it ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// Whether single pieces may jump (clause 2.3).
    pub jump: bool,
    /// Turns in a row without stacking that end the match (N-STALL).
    pub quiet_limit: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Position {
    /// The stacks of each side.
    sides: [u64; 2],
    /// Stacks that move along ranks and files, and those that move along diagonals. Queens are in both.
    tops: [u64; 2],
    /// `at_least[n]`: stacks of height `n` or more, up to the height of a tower.
    at_least: [u64; 7],
    heights: [u8; 64],
    pub towers: [u8; 2],
    pub mover: usize,
    pub quiet: u32,
    pub key: u64,
    pub terms: Terms,
}

/// Shifts every square of `set` by one step, and drops those that leave the board.
fn shift(set: u64, direction: usize) -> u64 {
    match direction {
        0 => set << 8,
        1 => (set & !FILE_H) << 1,
        2 => set >> 8,
        3 => (set & !FILE_A) >> 1,
        4 => (set & !FILE_H) << 9,
        5 => (set & !FILE_H) >> 7,
        6 => (set & !FILE_A) >> 9,
        _ => (set & !FILE_A) << 7,
    }
}

/// Calls `found` with each square of a set, the lowest first.
fn each(mut set: u64, mut found: impl FnMut(u8)) {
    while set != 0 {
        found(set.trailing_zeros() as u8);
        set &= set - 1;
    }
}

impl Position {
    pub fn new(mover: usize, quiet: u32, terms: Terms) -> Position {
        Position {
            sides: [0; 2],
            tops: [0; 2],
            at_least: [0; 7],
            heights: [0; 64],
            towers: [0; 2],
            mover,
            quiet,
            key: if mover == 1 { SECOND_MOVES } else { 0 },
            terms,
        }
    }

    /// Puts a stack on an empty square.
    pub fn put(&mut self, square: u8, side: usize, top: PieceKind, height: u8) {
        let bit = 1 << square;
        self.sides[side] |= bit;
        if top != PieceKind::Circle {
            self.tops[0] |= bit;
        }
        if top != PieceKind::Square {
            self.tops[1] |= bit;
        }
        for n in 1..=height.min(TOWER) {
            self.at_least[usize::from(n)] |= bit;
        }
        self.heights[usize::from(square)] = height;
        self.towers[side] += u8::from(height >= TOWER);
        self.key ^= self.stack_key(square, side);
    }

    fn stack_key(&self, square: u8, side: usize) -> u64 {
        let bit = 1 << square;
        let kind = match (self.tops[0] & bit != 0, self.tops[1] & bit != 0) {
            (true, false) => PieceKind::Square,
            (false, _) => PieceKind::Circle,
            (true, true) => PieceKind::Queen,
        };
        let height = usize::from(self.heights[usize::from(square)]);
        KEYS[(side * 3 + kind as usize) * HIGHEST + height - 1][usize::from(square)]
    }

    /// Returns the position after a legal move.
    pub fn after(&self, turn: Move) -> Position {
        let mut next = self.clone();
        let me = self.mover;
        let foe = 1 - self.mover;
        let from = 1_u64 << turn.from;
        let to = 1_u64 << turn.to;
        let mine = self.height(turn.from);
        let below = self.height(turn.to);
        next.key ^= self.stack_key(turn.from, me);
        if below > 0 {
            next.key ^= self.stack_key(turn.to, foe);
            next.sides[foe] &= !to;
        }
        next.sides[me] = next.sides[me] & !from | to;
        for top in &mut next.tops {
            *top = if *top & from != 0 { *top | to } else { *top & !to } & !from;
        }
        let height = mine + below;
        for n in 1..=mine.min(TOWER) {
            next.at_least[usize::from(n)] &= !from;
        }
        for n in below + 1..=height.min(TOWER) {
            next.at_least[usize::from(n)] |= to;
        }
        next.heights[usize::from(turn.from)] = 0;
        next.heights[usize::from(turn.to)] = height;
        next.towers[me] += u8::from(height >= TOWER);
        next.key ^= next.stack_key(turn.to, me);
        next.quiet = if below > 0 { 0 } else { self.quiet + 1 };
        next.pass_turn();
        next
    }

    /// Returns the position after a pass of the side to move.
    pub fn after_pass(&self) -> Position {
        let mut next = self.clone();
        next.quiet += 1;
        next.pass_turn();
        next
    }

    fn pass_turn(&mut self) {
        self.mover = 1 - self.mover;
        self.key ^= SECOND_MOVES;
    }

    pub fn height(&self, square: u8) -> u8 {
        self.heights[usize::from(square)]
    }

    /// The height of the stack that a move makes, if it lands on another one; else 0.
    pub fn stacked(&self, turn: Move) -> u8 {
        match self.height(turn.to) {
            0 => 0,
            below => below + self.height(turn.from),
        }
    }

    fn empty(&self) -> u64 {
        !(self.sides[0] | self.sides[1])
    }

    fn movable(&self, side: usize) -> u64 {
        self.sides[side] & !self.at_least[6]
    }

    /// Whether a side has no stack below the height of a tower, so that nothing more can be stacked
    /// (N-STALL).
    pub fn is_frozen(&self) -> bool {
        self.movable(0) == 0 || self.movable(1) == 0
    }

    /// The stacks that `side` may land on.
    fn prey(&self, side: usize) -> u64 {
        self.movable(1 - side)
    }

    /// Returns where the stacks in `set`, of height `n` or more, stand after `n` steps over empty squares.
    fn walked(&self, set: u64, direction: usize, n: usize, empty: u64) -> u64 {
        let mut front = set;
        for _ in 1..n {
            front = shift(front, direction) & empty;
        }
        shift(front, direction)
    }

    /// Appends the moves of the side to move that end on `targets`: by direction, distance and target.
    fn moves_to(&self, targets: u64, moves: &mut Vec<Move>) {
        let own = self.movable(self.mover);
        let empty = self.empty();
        for (direction, step) in STEPS.into_iter().enumerate() {
            let movers = own & self.tops[direction / STRAIGHT];
            for n in 1..TOWER {
                let set = movers & self.at_least[usize::from(n)];
                if set == 0 {
                    break;
                }
                let reached = self.walked(set, direction, usize::from(n), empty) & targets;
                let back = n as i8 * step;
                each(reached, |to| moves.push(Move { from: to.wrapping_add_signed(-back), to }));
            }
            if self.terms.jump {
                let singles = own & !self.at_least[2];
                let over = shift(movers & singles, direction) & singles;
                let reached = shift(over, direction) & targets;
                each(reached, |to| moves.push(Move { from: to.wrapping_add_signed(-2 * step), to }));
            }
        }
    }

    /// Returns every legal move of the side to move.
    pub fn moves(&self) -> Vec<Move> {
        let mut moves = self.stacking_moves();
        self.moves_to(self.empty(), &mut moves);
        moves
    }

    /// Returns the moves onto enemy stacks.
    pub fn stacking_moves(&self) -> Vec<Move> {
        let mut moves = Vec::with_capacity(48);
        self.moves_to(self.prey(self.mover), &mut moves);
        moves
    }

    /// Whether the side to move can make a tower now.
    pub fn makes_tower(&self) -> bool {
        self.stacking_moves().iter().any(|&turn| self.stacked(turn) >= TOWER)
    }

    /// Returns the traits of `side`: its first and its second tower; its stacks of heights 1 to 5, its queens
    /// and its circles; the empty squares that its stacks reach, each counted once for each stack; the enemy
    /// stacks of heights 1 to 5 that it can land on, and those of them on which it would make a tower.
    pub fn traits(&self, side: usize) -> [i32; TRAITS] {
        let own = self.movable(side);
        let empty = self.empty();
        let prey = self.prey(side);
        let mut attacked = 0_u64;
        let mut joins = 0_u64;
        let mut reach = 0;
        for direction in 0..STEPS.len() {
            let movers = own & self.tops[direction / STRAIGHT];
            for n in 1..usize::from(TOWER) {
                let set = movers & self.at_least[n];
                if set == 0 {
                    break;
                }
                let reached = self.walked(set, direction, n, empty);
                reach += (reached & empty).count_ones();
                if reached & prey == 0 {
                    continue;
                }
                attacked |= reached & prey;
                // Treat each height separately, because the sum of both heights decides whether it is a
                // tower.
                for height in n..usize::from(TOWER) {
                    let exactly = set & self.at_least[height] & !self.at_least[height + 1];
                    if exactly != 0 {
                        let landed = self.walked(exactly, direction, n, empty) & prey;
                        joins |= landed & self.at_least[usize::from(TOWER) - height];
                    }
                }
            }
        }
        let of_height = |set: u64, n: usize| (set & self.at_least[n] & !self.at_least[n + 1]).count_ones();
        let queens = own & self.tops[0] & self.tops[1];
        let circles = own & !self.tops[0];
        let counts = [
            u32::from(self.towers[side] == 1),
            u32::from(self.towers[side] == 2),
            of_height(own, 1),
            of_height(own, 2),
            of_height(own, 3),
            of_height(own, 4),
            of_height(own, 5),
            queens.count_ones(),
            circles.count_ones(),
            reach,
            of_height(attacked, 1),
            of_height(attacked, 2),
            of_height(attacked, 3),
            of_height(attacked, 4),
            of_height(attacked, 5),
            joins.count_ones(),
        ];
        counts.map(|count| count as i32)
    }
}
