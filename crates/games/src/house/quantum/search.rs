//! Iterative principal variation search with a transposition table. Stacking moves are searched until none is
//! left that is worth making, so that no position is rated in the middle of an exchange.
//!
//! Rates quiet positions.
//!
//! A lead counts for little where the enemy has too few pieces left to build towers on. A piece is worth 100.
//! The weights were chosen by playing matches. Weights from a logistic regression on positions of such
//! matches predicted the winner better, but did not win more.

use super::position::{Move, Position, TOWERS_TO_WIN, TRAITS};
use crate::game::quantum::TOWER;
use crate::house::engine::root::{
    self, ABOVE_QUIET, Choice, Goal, QuietMoves, Rated, Window, by_rank, in_window,
};
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
        let mut best = -INFINITE;
        let mut best_turn = turns[0];
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
        let mut best = worth(position);
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
    let stacked = i32::from(position.stacked(turn));
    let own = i32::from(position.height(turn.from));
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
    let me = position.towers[position.mover];
    let foe = position.towers[1 - position.mover];
    me.cmp(&foe) as i32 * (WON - ply as i32)
}

/// The weights of [`Position::traits`] for the side to move, and for the other side.
const MOVER: [i32; TRAITS] = [500, 1200, 50, 120, 230, 300, 350, 60, -10, 8, 20, 40, 60, 80, 140, 100];
const OTHER: [i32; TRAITS] = [500, 1200, 50, 120, 230, 300, 350, 60, -10, 8, 10, 20, 30, 40, 50, 50];
/// The worth of being the side to move.
const TO_MOVE: i32 = 30;

fn sum(traits: &[i32], weights: &[i32]) -> i32 {
    traits.iter().zip(weights).map(|(count, weight)| count * weight).sum()
}

/// The index at which the heights begin in [`Position::traits`].
const HEIGHTS: usize = 2;
/// With this many or more pieces to spare, a lead counts in full.
const PLENTY: i32 = 12;

/// Rates a position for the side to move.
pub(super) fn worth(position: &Position) -> i32 {
    let me = position.mover;
    let foe = 1 - position.mover;
    let own = position.traits(me);
    let theirs = position.traits(foe);
    let lead = TO_MOVE + sum(&own, &MOVER) - sum(&theirs, &OTHER);
    let spare =
        if lead > 0 { spare(position, me, &own, &theirs) } else { spare(position, foe, &theirs, &own) };
    lead * share_of(spare) / (2 * PLENTY)
}

/// Returns how many enemy pieces would be left if `side` built on them the towers that it still needs to have
/// more than the enemy; negative if there are not enough. A tower needs an enemy stack to land on, and as
/// many more pieces as its side's highest stack lacks. A side that needs no other tower has plenty.
fn spare(position: &Position, side: usize, own: &[i32], theirs: &[i32]) -> i32 {
    let needed = i32::from(position.towers[1 - side]) - i32::from(position.towers[side]) + 1;
    if needed <= 0 {
        return PLENTY;
    }
    let own = &own[HEIGHTS..];
    let theirs = &theirs[HEIGHTS..];
    let mut stacks = 0;
    let mut pieces = 0;
    let mut towers = needed;
    for height in (1..i32::from(TOWER)).rev() {
        let at = height as usize - 1;
        let built = towers.min(own[at]);
        towers -= built;
        pieces += height * theirs[at] - (i32::from(TOWER) - height) * built;
        stacks += theirs[at];
    }
    // Each tower without a stack of its own to grow from lacks all its pieces.
    pieces -= i32::from(TOWER) * towers;
    if stacks < needed { pieces.min(stacks - needed) } else { pieces }
}

/// Returns the share of a lead that counts, in parts of twice [`PLENTY`].
fn share_of(spare: i32) -> i32 {
    match spare {
        0.. => PLENTY + spare.min(PLENTY),
        // A draw is likely, but may not come if the enemy takes some stacks first.
        _ => (PLENTY / 2 + spare).max(1),
    }
}
