//! Iterative principal variation search with a transposition table. Stacking moves are searched until none is left that
//! is worth making, so that no position is rated in the middle of an exchange.

use super::evaluate;
use super::position::{Move, Position, TOWERS_TO_WIN};
use crate::game::house::root::{self, Goal, Rated};
use crate::game::house::table::{Bound, Table};
use crate::game::quantum::pieces::TOWER;

/// The value of a won position, reduced by one for each turn that it takes.
const WON: i32 = 100_000;
/// Beyond this a worth is that of a match won or lost.
pub(super) const DECIDED: i32 = WON - 1_000;
const INFINITE: i32 = 2 * WON;
/// The depth, in turns, at which iteration ends.
const DEEPEST: i32 = 40;
/// Turns that the search may look ahead at all, exchanges included.
const LONGEST: usize = 100;
/// Turns of an exchange that are searched with every stacking move; deeper, only those that make towers.
const EXCHANGE: i32 = 6;
/// Quiet moves from this number on are searched one turn less deep at first, and from the other two turns less, if so many
/// turns are left.
const LATE: usize = 4;
const LATER: usize = 16;
const LATE_DEPTH: i32 = 3;

struct Search {
    table: Table<Move>,
    positions_left: u32,
    /// For each ply, two quiet moves that refuted another move there.
    killers: [[Move; 2]; LONGEST],
    /// How often a quiet move of a side, by its squares, was better than what came before it.
    history: Vec<i32>,
}

/// Returns the turns among `turns` that are within `margin` of the best, best first, after a search of at most
/// `positions` positions, and how many were searched.
pub(super) fn best(
    position: &Position,
    turns: &[Move],
    positions: u32,
    margin: i32,
) -> (Vec<Rated<Move>>, u32) {
    let bits = (positions.max(1024) * 4).ilog2().min(20);
    let mut search = Search {
        table: Table::new(bits),
        positions_left: positions,
        killers: [[Move::default(); 2]; LONGEST],
        history: vec![0; 2 * 64 * 64],
    };
    let goal = Goal { deepest: DEEPEST, infinite: INFINITE, decided: DECIDED, margin };
    let rated = root::deepen(turns.to_vec(), goal, |turn, depth, (alpha, beta)| {
        search.worth(&position.after(turn), depth - 1, 1, -beta, -alpha).map(|worth| -worth)
    });
    (rated, positions - search.positions_left)
}

impl Search {
    /// Rates the position for the side to move, between `alpha` and `beta`; `None` once the positions are used up.
    fn worth(
        &mut self,
        position: &Position,
        depth: i32,
        ply: usize,
        mut alpha: i32,
        beta: i32,
    ) -> Option<i32> {
        if let Some(worth) = ended(position, ply) {
            return Some(worth);
        }
        if depth <= 0 || ply >= LONGEST - 1 {
            return self.exchange(position, EXCHANGE, ply, alpha, beta);
        }
        self.positions_left = self.positions_left.checked_sub(1)?;
        let known = self.table.get(position.key);
        if let Some(entry) = known {
            let worth = from_table(entry.worth, ply);
            if entry.settles(worth, depth, alpha, beta) {
                return Some(worth);
            }
        }
        let turns = self.ordered(position, known.map(|entry| entry.turn), ply);
        if turns.is_empty() {
            let next = position.after_pass();
            if next.moves().is_empty() {
                return Some(on_towers(position, ply));
            }
            return self.worth(&next, depth - 1, ply + 1, -beta, -alpha).map(|worth| -worth);
        }
        let (lowest, mut best, mut best_turn) = (alpha, -INFINITE, turns[0]);
        for (number, &turn) in turns.iter().enumerate() {
            let next = position.after(turn);
            let is_quiet = position.stacked(turn) == 0;
            let is_late = is_quiet && number >= LATE && depth >= LATE_DEPTH;
            let late = if is_late { 1 + i32::from(number >= LATER) } else { 0 };
            let worth = self.next_worth(&next, depth - 1, ply + 1, (alpha, beta), number, late)?;
            if worth > best {
                (best, best_turn) = (worth, turn);
            }
            alpha = alpha.max(worth);
            if alpha >= beta {
                if is_quiet {
                    self.refuted(position.mover, turn, ply, depth);
                }
                break;
            }
        }
        let bound = match best {
            _ if best >= beta => Bound::AtLeast,
            _ if best > lowest => Bound::Exact,
            _ => Bound::AtMost,
        };
        self.table.keep(position.key, to_table(best, ply), depth, bound, best_turn);
        Some(best)
    }

    /// Rates what follows from a move: the first with the full window, others only enough to see that they are no better,
    /// and `late` ones less deep.
    fn next_worth(
        &mut self,
        next: &Position,
        depth: i32,
        ply: usize,
        (alpha, beta): (i32, i32),
        number: usize,
        late: i32,
    ) -> Option<i32> {
        if number > 0 {
            let mut worth = -self.worth(next, depth - late, ply, -alpha - 1, -alpha)?;
            if worth > alpha && late > 0 {
                worth = -self.worth(next, depth, ply, -alpha - 1, -alpha)?;
            }
            if worth <= alpha || worth >= beta {
                return Some(worth);
            }
        }
        Some(-self.worth(next, depth, ply, -beta, -alpha)?)
    }

    /// Rates the position for the side to move by stacking moves alone, any of which it may leave.
    fn exchange(
        &mut self,
        position: &Position,
        left: i32,
        ply: usize,
        mut alpha: i32,
        beta: i32,
    ) -> Option<i32> {
        if let Some(worth) = ended(position, ply) {
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
            let worth = -self.exchange(&position.after(turn), left - 1, ply + 1, -beta, -alpha)?;
            best = best.max(worth);
            alpha = alpha.max(worth);
            if alpha >= beta {
                break;
            }
        }
        Some(best)
    }

    /// Returns the moves, the most promising first: the remembered one, stacking moves by what they gain, killers, and
    /// the others by history.
    fn ordered(&self, position: &Position, known: Option<Move>, ply: usize) -> Vec<Move> {
        let mut turns: Vec<(i32, Move)> = position
            .moves()
            .into_iter()
            .map(|turn| {
                let rank = if Some(turn) == known {
                    i32::MAX
                } else if position.stacked(turn) > 0 {
                    1_000_000 + gain(position, turn)
                } else if self.killers[ply].contains(&turn) {
                    900_000
                } else {
                    self.history[slot(position.mover, turn)].min(800_000)
                };
                (rank, turn)
            })
            .collect();
        turns.sort_by_key(|&(rank, _)| std::cmp::Reverse(rank));
        turns.into_iter().map(|(_, turn)| turn).collect()
    }

    /// Notes that a quiet move refuted the move before it.
    fn refuted(&mut self, mover: usize, turn: Move, ply: usize, depth: i32) {
        let killers = &mut self.killers[ply];
        if killers[0] != turn {
            *killers = [turn, killers[0]];
        }
        let history = &mut self.history[slot(mover, turn)];
        *history = (*history + depth * depth).min(800_000);
    }
}

fn slot(mover: usize, turn: Move) -> usize {
    mover * 4096 + usize::from(turn.from) * 64 + usize::from(turn.to)
}

/// Orders stacking moves: towers first, then high targets, and low stacks on them before high ones.
fn gain(position: &Position, turn: Move) -> i32 {
    let (stacked, own) = (i32::from(position.stacked(turn)), i32::from(position.height(turn.from)));
    let tower = if stacked >= i32::from(TOWER) { 1_000 } else { 0 };
    tower + 10 * (stacked - own) - own
}

/// Returns the worth of a match that has ended for the side to move (clause 3), if it has.
fn ended(position: &Position, ply: usize) -> Option<i32> {
    if position.towers[1 - position.mover] >= TOWERS_TO_WIN {
        return Some(ply as i32 - WON);
    }
    (position.quiet >= position.terms.quiet_limit).then(|| on_towers(position, ply))
}

fn on_towers(position: &Position, ply: usize) -> i32 {
    let (me, foe) = (position.towers[position.mover], position.towers[1 - position.mover]);
    match me.cmp(&foe) {
        std::cmp::Ordering::Greater => WON - ply as i32,
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Less => ply as i32 - WON,
    }
}

/// The table holds how far a won match is from the remembered position, not from the one at the root.
fn to_table(worth: i32, ply: usize) -> i32 {
    match worth {
        _ if worth > DECIDED => worth + ply as i32,
        _ if worth < -DECIDED => worth - ply as i32,
        _ => worth,
    }
}

fn from_table(worth: i32, ply: usize) -> i32 {
    match worth {
        _ if worth > DECIDED => worth - ply as i32,
        _ if worth < -DECIDED => worth + ply as i32,
        _ => worth,
    }
}
