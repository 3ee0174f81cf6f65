//! Iterative principal variation search with a transposition table. Sinkings are searched until none is left that is
//! worth making, so that no position is rated in the middle of an exchange.

use super::position::{Move, PASS, Position};
use crate::game::house::root::{self, Goal, Rated};
use crate::game::house::table::{Bound, Table};

/// The value of a won position, reduced by one for each turn that it takes.
const WON: i32 = 1_000_000;
/// Beyond this a worth is that of a match won or lost.
const DECIDED: i32 = WON - 1_000;
const INFINITE: i32 = 2 * WON;
/// The depth, in turns, at which iteration ends.
const DEEPEST: i32 = 20;
/// Turns that the search may look ahead at all, exchanges included.
const LONGEST: usize = 48;
/// What the move itself is worth.
const TO_MOVE: i32 = 10;
/// What a quiet move, or one in an exchange besides what it sinks, can gain at most.
const QUIET_GAIN: i32 = 60;
/// Quiet moves from this number on are searched one turn less deep at first.
const LATE: usize = 6;
const LATE_DEPTH: i32 = 3;
/// To pass costs so much depth; it is tried from this depth on.
const PASS_COST: i32 = 3;
const PASS_DEPTH: i32 = 2;

struct Search {
    table: Table<Move>,
    positions_left: u32,
    /// For each ply, two quiet moves that refuted another move there.
    killers: [[Move; 2]; LONGEST],
    /// How often a quiet move of a class to a square was better than what came before it.
    history: Vec<i32>,
}

/// Returns the moves within `margin` of the best, best first, after a search of at most `positions` positions, and how many
/// were searched. To attack submarines instead of moving gains `attack`, if the side can. There is a move or an attack.
pub(super) fn best(
    position: &mut Position<'_>,
    attack: Option<i32>,
    positions: u32,
    margin: i32,
) -> (Vec<Rated<Move>>, u32) {
    let mut search = Search {
        table: Table::new((positions.max(512) * 2).ilog2().min(18)),
        positions_left: positions,
        killers: [[PASS; 2]; LONGEST],
        history: vec![0; 2 * 5 * 256],
    };
    let mut turns = search.ordered(position, None, 0);
    turns.extend(attack.map(|_| PASS));
    let goal = Goal { deepest: DEEPEST, infinite: INFINITE, decided: DECIDED, margin };
    let rated = root::deepen(turns, goal, |turn, depth, (alpha, beta)| {
        if turn == PASS {
            let gain = attack.unwrap_or_default();
            position.pass();
            let worth = search.worth(position, depth - 1, 1, gain - beta, gain - alpha);
            position.pass();
            return worth.map(|worth| gain - worth);
        }
        let undo = position.play(turn);
        let worth = search.worth(position, depth - 1, 1, -beta, -alpha);
        position.take_back(&undo);
        worth.map(|worth| -worth)
    });
    (rated, positions - search.positions_left)
}

impl Search {
    /// Rates the position for the side to move, between `alpha` and `beta`; `None` once the positions are used up.
    fn worth(
        &mut self,
        position: &mut Position<'_>,
        depth: i32,
        ply: usize,
        alpha: i32,
        beta: i32,
    ) -> Option<i32> {
        if position.count[position.mover] == 0 {
            return Some(ply as i32 - WON);
        }
        if depth <= 0 || ply >= LONGEST - 1 {
            return self.exchange(position, ply, alpha, beta);
        }
        self.positions_left = self.positions_left.checked_sub(1)?;
        let known = self.table.get(position.key);
        if let Some(entry) = known {
            let worth = from_table(entry.worth, ply);
            if entry.settles(worth, depth, alpha, beta) {
                return Some(worth);
            }
        }
        let standing = position.worth() + TO_MOVE;
        if depth >= PASS_DEPTH && standing >= beta && beta - alpha == 1 {
            position.pass();
            let worth = self.worth(position, depth - PASS_COST, ply + 1, -beta, -alpha);
            position.pass();
            if -worth? >= beta {
                return Some(beta);
            }
        }
        let turns = self.ordered(position, known.map(|entry| entry.turn), ply);
        let (best, turn) = self.best_of(position, &turns, (depth, ply), (alpha, beta), standing)?;
        let bound = match best {
            _ if best >= beta => Bound::AtLeast,
            _ if best > alpha => Bound::Exact,
            _ => Bound::AtMost,
        };
        self.table.keep(position.key, to_table(best, ply), depth, bound, turn);
        Some(best)
    }

    /// Searches the moves in this order. A position without a move is worth what it is.
    fn best_of(
        &mut self,
        position: &mut Position<'_>,
        turns: &[Move],
        (depth, ply): (i32, usize),
        (mut alpha, beta): (i32, i32),
        standing: i32,
    ) -> Option<(i32, Move)> {
        let (mut best, mut best_turn) = (-INFINITE, PASS);
        for (number, &turn) in turns.iter().enumerate() {
            let is_quiet = position.hull(turn.to).is_none();
            // The last quiet moves cannot make up for what is missing.
            if is_quiet && depth == 1 && number > 0 && standing + QUIET_GAIN <= alpha {
                best = best.max(standing + QUIET_GAIN);
                continue;
            }
            let late = i32::from(is_quiet && number >= LATE && depth >= LATE_DEPTH);
            let undo = position.play(turn);
            let worth = self.next_worth(position, depth - 1, ply + 1, (alpha, beta), number, late);
            position.take_back(&undo);
            let worth = worth?;
            if worth > best {
                (best, best_turn) = (worth, turn);
            }
            alpha = alpha.max(worth);
            if alpha >= beta {
                if is_quiet {
                    self.refuted(position, turn, ply, depth);
                }
                break;
            }
        }
        Some(if turns.is_empty() { (standing, PASS) } else { (best, best_turn) })
    }

    /// Rates what follows from a move: the first with the full window, others only enough to see that they are no better,
    /// and `late` ones less deep.
    fn next_worth(
        &mut self,
        next: &mut Position<'_>,
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

    /// Rates the position for the side to move by sinkings alone, any of which it may leave.
    fn exchange(
        &mut self,
        position: &mut Position<'_>,
        ply: usize,
        mut alpha: i32,
        beta: i32,
    ) -> Option<i32> {
        if position.count[position.mover] == 0 {
            return Some(ply as i32 - WON);
        }
        self.positions_left = self.positions_left.checked_sub(1)?;
        let mut best = position.worth() + TO_MOVE;
        if best >= beta || ply >= LONGEST - 1 {
            return Some(best);
        }
        let standing = best;
        alpha = alpha.max(best);
        let mut turns = position.moves(true);
        turns.sort_by_key(|&turn| -gain(position, turn));
        for turn in turns {
            let is_last = position.count[1 - position.mover] == 1;
            if !is_last && (standing + sunk(position, turn) + QUIET_GAIN <= alpha || loses(position, turn)) {
                continue;
            }
            let undo = position.play(turn);
            let worth = self.exchange(position, ply + 1, -beta, -alpha);
            position.take_back(&undo);
            let worth = -worth?;
            best = best.max(worth);
            alpha = alpha.max(worth);
            if alpha >= beta {
                break;
            }
        }
        Some(best)
    }

    /// Returns the moves, the most promising first: the remembered one, sinkings by what they gain, killers, and the
    /// others by history. Sinkings that lose more than they gain come last.
    fn ordered(&self, position: &Position<'_>, known: Option<Move>, ply: usize) -> Vec<Move> {
        let rank = |turn: Move| {
            if Some(turn) == known {
                i32::MAX
            } else if position.hull(turn.to).is_some_and(|hull| usize::from(hull.side) != position.mover) {
                if loses(position, turn) { -1 } else { 1_000_000 + gain(position, turn) }
            } else if self.killers[ply].contains(&turn) {
                900_000
            } else {
                self.history[slot(position, turn)].min(800_000)
            }
        };
        let mut turns: Vec<(i32, Move)> =
            position.moves(false).into_iter().map(|turn| (rank(turn), turn)).collect();
        turns.sort_by_key(|&(rank, _)| std::cmp::Reverse(rank));
        turns.into_iter().map(|(_, turn)| turn).collect()
    }

    /// Notes that a quiet move refuted the move before it.
    fn refuted(&mut self, position: &Position<'_>, turn: Move, ply: usize, depth: i32) {
        let killers = &mut self.killers[ply];
        if killers[0] != turn {
            *killers = [turn, killers[0]];
        }
        let history = &mut self.history[slot(position, turn)];
        *history = (*history + depth * depth).min(800_000);
    }
}

fn slot(position: &Position<'_>, turn: Move) -> usize {
    let class = position.hull(turn.from).map_or(0, |hull| hull.class as usize);
    (position.mover * 5 + class) * 256 + usize::from(turn.to)
}

/// The price of the ship on a square, in hundredths of a point.
fn price(position: &Position<'_>, at: u8) -> i32 {
    position.hull(at).map_or(0, |hull| 100 * hull.class.points() as i32)
}

/// What a move sinks.
pub(super) fn sunk(position: &Position<'_>, turn: Move) -> i32 {
    price(position, turn.to)
}

/// Orders sinkings: the dearest ship first, and by the cheapest one.
fn gain(position: &Position<'_>, turn: Move) -> i32 {
    10 * sunk(position, turn) - price(position, turn.from)
}

/// Whether a move sinks less than it loses, because the square is guarded.
pub(super) fn loses(position: &Position<'_>, turn: Move) -> bool {
    price(position, turn.from) > sunk(position, turn)
        && position.is_guarded(turn.to, 1 - position.mover as u8)
}

/// The table holds how far a won match is from the remembered position, not from the one at the root.
fn to_table(worth: i32, ply: usize) -> i32 {
    if worth.abs() > DECIDED { worth + worth.signum() * ply as i32 } else { worth }
}

fn from_table(worth: i32, ply: usize) -> i32 {
    if worth.abs() > DECIDED { worth - worth.signum() * ply as i32 } else { worth }
}
