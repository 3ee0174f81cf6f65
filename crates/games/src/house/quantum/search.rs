//! Iterative principal variation search with a transposition table. Stacking moves are searched until none is
//! left that is worth making, so that no position is rated in the middle of an exchange.

use super::evaluate;
use super::position::{Move, Position, TOWERS_TO_WIN};
use crate::game::quantum::TOWER;
use crate::house::engine::quiet::{ABOVE_QUIET, QuietMoves, by_rank};
use crate::house::engine::root::{self, Choice, Goal, Rated, Window, in_window};
use crate::house::engine::table::{Found, Table};

/// The value of a won position, reduced by one for each turn that it takes.
const WON: i32 = 100_000;
/// Beyond this, the match is won or lost.
pub(super) const DECIDED: i32 = WON - 1_000;
const INFINITE: i32 = 2 * WON;
/// The depth, in turns, at which iteration ends.
const DEEPEST: i32 = 40;
/// Maximum turns that the search looks ahead, exchanges included.
const LONGEST: usize = 100;
/// Depth, in turns, to which an exchange is searched with every stacking move; deeper, only with those that
/// make towers.
const EXCHANGE: i32 = 6;
/// At depths of [`LATE_DEPTH`] or more, quiet moves from number [`LATE`] on are first searched one turn less
/// deep, and from number [`LATER`] on two turns less.
const LATE: usize = 4;
const LATER: usize = 16;
const LATE_DEPTH: i32 = 3;

/// Spreads the few bits of a turn count over a key.
const QUIET_KEY: u64 = 0x9e37_79b9_7f4a_7c15;

struct Search {
    table: Table<Move>,
    positions_left: u32,
    quiet: QuietMoves<Move>,
}

/// Returns the `turns` that the dice may choose from, best first, after a search of at most `positions`
/// positions, and how many were searched.
pub(super) fn best(
    position: &Position,
    turns: &[Move],
    positions: u32,
    choice: Choice,
) -> (Vec<Rated<Move>>, u32) {
    let bits = (positions.max(1024) * 4).ilog2().min(20);
    let mut search = Search {
        table: Table::new(bits, DECIDED),
        positions_left: positions,
        quiet: QuietMoves::new(LONGEST, 2 * 64 * 64),
    };
    let goal = Goal { deepest: DEEPEST, infinite: INFINITE, decided: DECIDED, choice };
    let rated = root::deepen(turns.to_vec(), goal, |turn, depth, window| {
        search.worth(&position.after(turn), depth - 1, 1, window)
    });
    (rated, positions - search.positions_left)
}

impl Search {
    /// Rates the position for the side to move, in a window; `None` once the positions are used up.
    fn worth(&mut self, position: &Position, depth: i32, ply: usize, window: Window) -> Option<i32> {
        if let Some(worth) = ended_worth(position, ply) {
            return Some(worth);
        }
        if depth <= 0 || ply >= LONGEST - 1 {
            return self.exchange(position, EXCHANGE, ply, window);
        }
        self.positions_left = self.positions_left.checked_sub(1)?;
        let key = key(position);
        let known = self.table.get(key, ply);
        if let Some(entry) = known.filter(|entry| entry.settles(depth, window)) {
            return Some(entry.worth);
        }
        let (mut alpha, beta) = window;
        let turns = self.ordered(position, known.map(|entry| entry.turn), ply);
        if turns.is_empty() {
            let next = position.after_pass();
            if next.moves().is_empty() {
                return Some(on_towers(position, ply));
            }
            return self.worth(&next, depth - 1, ply + 1, (-beta, -alpha)).map(|worth| -worth);
        }
        let (mut best, mut best_turn) = (-INFINITE, turns[0]);
        for (number, &turn) in turns.iter().enumerate() {
            let next = position.after(turn);
            let is_quiet = position.stacked(turn) == 0;
            let is_late = is_quiet && number >= LATE && depth >= LATE_DEPTH;
            let late = if is_late { 1 + i32::from(number >= LATER) } else { 0 };
            let worth = in_window(number, (depth - 1, late), (alpha, beta), |depth, window| {
                self.worth(&next, depth, ply + 1, window)
            })?;
            if worth > best {
                (best, best_turn) = (worth, turn);
            }
            alpha = alpha.max(worth);
            if alpha >= beta {
                if is_quiet {
                    self.quiet.refuted(ply, depth, turn, number_of(position.mover, turn));
                }
                break;
            }
        }
        self.table.keep(key, ply, Found { worth: best, depth, turn: best_turn }, window);
        Some(best)
    }

    /// Rates the position for the side to move by stacking moves alone; it may decline any of them.
    fn exchange(
        &mut self,
        position: &Position,
        left: i32,
        ply: usize,
        (mut alpha, beta): Window,
    ) -> Option<i32> {
        if let Some(worth) = ended_worth(position, ply) {
            return Some(worth);
        }
        self.positions_left = self.positions_left.checked_sub(1)?;
        let mut best = evaluate::worth(position);
        if best >= beta || ply >= LONGEST - 1 {
            return Some(best);
        }
        alpha = alpha.max(best);
        let mut turns = position.stacking_moves();
        if left <= 0 {
            turns.retain(|&turn| position.stacked(turn) >= TOWER);
        }
        turns.sort_by_key(|&turn| -gain(position, turn));
        for turn in turns {
            let worth = -self.exchange(&position.after(turn), left - 1, ply + 1, (-beta, -alpha))?;
            best = best.max(worth);
            alpha = alpha.max(worth);
            if alpha >= beta {
                break;
            }
        }
        Some(best)
    }

    /// Returns the moves, the most promising first: the remembered one, stacking moves by what they gain,
    /// killers, and the others by history.
    fn ordered(&self, position: &Position, known: Option<Move>, ply: usize) -> Vec<Move> {
        by_rank(position.moves(), |&turn| {
            if Some(turn) == known {
                i32::MAX
            } else if position.stacked(turn) > 0 {
                ABOVE_QUIET + gain(position, turn)
            } else {
                self.quiet.rank(ply, turn, number_of(position.mover, turn))
            }
        })
    }
}

/// The key of a position in the table. Near the end of the match it includes the quiet turns left, which
/// distinguish positions with the same pieces.
fn key(position: &Position) -> u64 {
    let left = position.terms.quiet_limit.saturating_sub(position.quiet);
    if left < DEEPEST as u32 {
        position.key ^ u64::from(left + 1).wrapping_mul(QUIET_KEY)
    } else {
        position.key
    }
}

/// Numbers the quiet moves of each side by their squares.
fn number_of(mover: usize, turn: Move) -> usize {
    mover * 4096 + usize::from(turn.from) * 64 + usize::from(turn.to)
}

/// Orders stacking moves: towers first, then high targets, and low stacks on them before high ones.
fn gain(position: &Position, turn: Move) -> i32 {
    let (stacked, own) = (i32::from(position.stacked(turn)), i32::from(position.height(turn.from)));
    let tower = if stacked >= i32::from(TOWER) { 1_000 } else { 0 };
    tower + 10 * (stacked - own) - own
}

/// Returns the worth of a match that has ended for the side to move (clause 3), if it has.
fn ended_worth(position: &Position, ply: usize) -> Option<i32> {
    if position.towers[1 - position.mover] >= TOWERS_TO_WIN {
        return Some(ply as i32 - WON);
    }
    let is_over = position.is_frozen() || position.quiet >= position.terms.quiet_limit;
    is_over.then(|| on_towers(position, ply))
}

fn on_towers(position: &Position, ply: usize) -> i32 {
    let (me, foe) = (position.towers[position.mover], position.towers[1 - position.mover]);
    me.cmp(&foe) as i32 * (WON - ply as i32)
}
