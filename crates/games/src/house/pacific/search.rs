//! Iterative principal variation search with a transposition table. Sinkings are searched until none is left
//! that is worth making, so that no position is rated in the middle of an exchange.
//!
//! Chooses moves for Trainer and Easy, which look at the opponent's next move and overlook some of it.

use super::position::{Move, PASS, Position};
use crate::game::Dice;
use crate::house::engine::root::{
    self, ABOVE_QUIET, Choice, Goal, QuietMoves, Rated, Window, by_rank, in_window,
};
use crate::house::engine::table::{Found, Table};

/// The value of a won position, reduced by one for each turn that it takes.
const WON: i32 = 1_000_000;
/// Beyond this, the match is won or lost.
const DECIDED: i32 = WON - 1_000;
const INFINITE: i32 = 2 * WON;
/// The depth, in turns, at which iteration ends.
const DEEPEST: i32 = 20;
/// Maximum turns that the search looks ahead, exchanges included.
const LONGEST: usize = 48;
/// The worth of being the side to move.
const TO_MOVE: i32 = 10;
/// An allowance for gains that sinkings and [`Position::shift`] do not cover: a carrier also moves its
/// squadron.
const QUIET_GAIN: i32 = 60;
/// Quiet moves from this number on are searched one turn less deep at first.
const LATE: usize = 6;
const LATE_DEPTH: i32 = 3;
/// The depth that a pass costs. It is tried from this depth on.
const PASS_COST: i32 = 3;
const PASS_DEPTH: i32 = 2;

struct Search {
    table: Table<Move>,
    positions_left: u32,
    quiet: QuietMoves<Move>,
}

/// Returns the moves that the dice may choose from, best first, after a search of at most `positions`
/// positions, and how many were searched. An attack on submarines instead of a move gains `attack`, if the
/// side can make one. There must be a move or an attack.
pub(super) fn best(
    position: &mut Position<'_>,
    attack: Option<i32>,
    positions: u32,
    choice: Choice,
) -> (Vec<Rated<Move>>, u32) {
    let mut search = Search {
        table: Table::new((positions.max(512) * 2).ilog2().min(18), DECIDED),
        positions_left: positions,
        quiet: QuietMoves::new(LONGEST, 2 * 5 * 256),
    };
    let mut turns = search.ordered(position, None, 0);
    turns.extend(attack.map(|_| PASS));
    let goal = Goal { deepest: DEEPEST, infinite: INFINITE, decided: DECIDED, choice };
    let rated = root::deepen(turns, goal, |turn, depth, (alpha, beta)| {
        if turn == PASS {
            let gain = attack.unwrap_or_default();
            position.pass();
            let worth = search.worth(position, depth - 1, 1, (alpha + gain, beta + gain));
            position.pass();
            return worth.map(|worth| worth - gain);
        }
        let undo = position.play(turn);
        let worth = search.worth(position, depth - 1, 1, (alpha, beta));
        position.take_back(&undo);
        worth
    });
    (rated, positions - search.positions_left)
}

impl Search {
    /// Rates the position for the side to move, in a window; `None` once the positions are used up.
    fn worth(&mut self, position: &mut Position<'_>, depth: i32, ply: usize, window: Window) -> Option<i32> {
        if position.count[position.mover] == 0 {
            return Some(ply as i32 - WON);
        }
        if depth <= 0 || ply >= LONGEST - 1 {
            return self.exchange(position, ply, window);
        }
        self.positions_left = self.positions_left.checked_sub(1)?;
        let known = self.table.get(position.key, ply);
        if let Some(entry) = known.filter(|entry| entry.settles(depth, window)) {
            return Some(entry.worth);
        }
        let (alpha, beta) = window;
        let standing = position.worth() + TO_MOVE;
        if depth >= PASS_DEPTH && standing >= beta && beta - alpha == 1 {
            position.pass();
            let worth = self.worth(position, depth - PASS_COST, ply + 1, (-beta, -alpha));
            position.pass();
            if -worth? >= beta {
                return Some(beta);
            }
        }
        let turns = self.ordered(position, known.map(|entry| entry.turn), ply);
        let (best, turn) = self.best_of(position, &turns, (depth, ply), window, standing)?;
        self.table.keep(position.key, ply, Found { worth: best, depth, turn }, window);
        Some(best)
    }

    /// Searches the moves in this order. A position without a move keeps its static worth.
    fn best_of(
        &mut self,
        position: &mut Position<'_>,
        turns: &[Move],
        (depth, ply): (i32, usize),
        (mut alpha, beta): Window,
        standing: i32,
    ) -> Option<(i32, Move)> {
        let mut best = -INFINITE;
        let mut best_turn = PASS;
        for (number, &turn) in turns.iter().enumerate() {
            let is_quiet = position.hull(turn.to).is_none();
            // The last quiet moves cannot make up for what is missing.
            if is_quiet && depth == 1 && number > 0 {
                let most = standing + position.shift(turn).max(0) + QUIET_GAIN;
                if most <= alpha {
                    best = best.max(most);
                    continue;
                }
            }
            let late = i32::from(is_quiet && number >= LATE && depth >= LATE_DEPTH);
            let undo = position.play(turn);
            let worth = in_window(number, (depth - 1, late), (alpha, beta), |depth, window| {
                self.worth(position, depth, ply + 1, window)
            });
            position.take_back(&undo);
            let worth = worth?;
            if worth > best {
                (best, best_turn) = (worth, turn);
            }
            alpha = alpha.max(worth);
            if alpha >= beta {
                if is_quiet {
                    self.quiet.refuted(ply, depth, turn, number_of(position, turn));
                }
                break;
            }
        }
        Some(if turns.is_empty() { (standing, PASS) } else { (best, best_turn) })
    }

    /// Rates the position for the side to move by sinkings alone; it may decline any of them.
    fn exchange(
        &mut self,
        position: &mut Position<'_>,
        ply: usize,
        (mut alpha, beta): Window,
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
            let most = standing + sunk_ship_price(position, turn) + position.shift(turn).max(0) + QUIET_GAIN;
            if !is_last && (most <= alpha || loses(position, turn)) {
                continue;
            }
            let undo = position.play(turn);
            let worth = self.exchange(position, ply + 1, (-beta, -alpha));
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

    /// Returns the moves, the most promising first: the remembered one, sinkings by what they gain, killers,
    /// and the others by history. Sinkings that lose more than they gain come last.
    fn ordered(&self, position: &Position<'_>, known: Option<Move>, ply: usize) -> Vec<Move> {
        by_rank(position.moves(false), |&turn| {
            if Some(turn) == known {
                i32::MAX
            } else if position.hull(turn.to).is_some_and(|hull| usize::from(hull.side) != position.mover) {
                if loses(position, turn) { -1 } else { ABOVE_QUIET + gain(position, turn) }
            } else {
                self.quiet.rank(ply, turn, number_of(position, turn))
            }
        })
    }
}

/// Numbers the quiet moves of each side by the class of the ship and the square that it goes to.
fn number_of(position: &Position<'_>, turn: Move) -> usize {
    let class = position.hull(turn.from).map_or(0, |hull| hull.class as usize);
    (position.mover * 5 + class) * 256 + usize::from(turn.to)
}

/// The price of the ship on a square, in hundredths of a point.
fn price(position: &Position<'_>, at: u8) -> i32 {
    position.hull(at).map_or(0, |hull| 100 * hull.class.points() as i32)
}

/// The price of the ship that a move sinks.
pub(super) fn sunk_ship_price(position: &Position<'_>, turn: Move) -> i32 {
    price(position, turn.to)
}

/// Orders sinkings: the most valuable target first, then the cheapest attacker.
fn gain(position: &Position<'_>, turn: Move) -> i32 {
    10 * sunk_ship_price(position, turn) - price(position, turn.from)
}

/// Whether a move loses more than it sinks, because the square is guarded.
pub(super) fn loses(position: &Position<'_>, turn: Move) -> bool {
    price(position, turn.from) > sunk_ship_price(position, turn)
        && position.is_guarded(turn.to, 1 - position.mover as u8)
}

/// Maximum difference from the worth of the best move at which the dice may choose a move.
const MARGIN: i32 = 15;
/// The number of threats out of which some are overlooked.
const THREATS: usize = 8;

/// Chooses a move, or [`PASS`] for an attack on submarines that gains `attack`. At least one must be
/// possible.
pub(super) fn shallow_best(
    position: &mut Position<'_>,
    attack: Option<i32>,
    overlooked: usize,
    dice: &mut Dice,
) -> Move {
    // Rolled once for each pair of squares, so that a threat is overlooked for every move considered.
    let salt = dice.bits();
    let sees = |turn: &Move| {
        let pair = u64::from(turn.from) * 256 + u64::from(turn.to);
        Dice::new(salt).mixed(pair).below(THREATS) >= overlooked
    };
    let mut rated: Vec<(i32, Move)> = Vec::new();
    for turn in position.moves(false) {
        let undo = position.play(turn);
        rated.push((-position.worth() - threat(position, sees), turn));
        position.take_back(&undo);
    }
    if let Some(attack) = attack {
        position.pass();
        rated.push((attack - position.worth() - threat(position, sees), PASS));
        position.pass();
    }
    let best = rated.iter().map(|&(worth, _)| worth).max().expect("there is a move or an attack");
    rated.retain(|&(worth, _)| worth >= best - MARGIN);
    rated[dice.below(rated.len())].1
}

/// The best sinking of the side to move, less the loss that it causes.
fn threat(position: &Position<'_>, sees: impl Fn(&Move) -> bool) -> i32 {
    let net = |turn: Move| {
        let own = if loses(position, turn) {
            sunk_ship_price(position, Move { from: turn.to, to: turn.from })
        } else {
            0
        };
        sunk_ship_price(position, turn) - own
    };
    position.moves(true).into_iter().filter(sees).map(net).max().unwrap_or_default().max(0)
}
