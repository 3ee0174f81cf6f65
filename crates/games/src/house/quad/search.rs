//! The search of Expert and Average: principal variation search in which answering a threat costs little
//! depth.
//!
//! A side that can complete a quad has won, and one that cannot block every threat has lost. So chains of
//! threats and forced answers are searched far, and quiet turns only a few steps deep.

use super::evaluate;
use super::position::{Position, Turn, points};
use crate::house::engine::root::{self, Choice, Goal, Rated, Window, in_window};
use crate::house::engine::table::{Found, Table};

/// The value of a won position, reduced by one for each turn that it takes.
const WON: i32 = 1_000_000;
/// The value of winning on stars after the last marble.
const WON_ON_STARS: i32 = 500_000;
/// Beyond this, the match is won or lost.
pub(super) const DECIDED: i32 = WON_ON_STARS - 1_000;
const INFINITE: i32 = 2 * WON;
/// The maximum length of a chain, in turns.
const LONGEST: usize = 41;
/// The depth at which iteration ends.
const DEEPEST: i32 = 60;
/// Points to try in a quiet turn: at the root, and deeper.
const WIDE: usize = 24;
const NARROW: usize = 12;
/// Points to try for the marble when stars have blocked every threat.
const AFTER_STARS: usize = 4;
/// The depth that a turn costs: one that answers threats, one that makes some, any other.
const ANSWER: i32 = 1;
const ATTACK: i32 = 2;
const QUIET: i32 = 4;

struct Search {
    table: Table<u8>,
    positions_left: u32,
}

/// Returns the turns that the dice may choose from, best first, after a search of at most `positions`
/// positions, and how many were searched. Empty if the threats cannot all be blocked.
pub(super) fn best(position: &mut Position, positions: u32, choice: Choice) -> (Vec<Rated<Turn>>, u32) {
    let turns = candidates(position, WIDE);
    if turns.is_empty() {
        return (Vec::new(), 0);
    }
    let bits = (positions.max(1024) * 2).ilog2().min(20);
    let mut search = Search { table: Table::new(bits, DECIDED), positions_left: positions };
    let goal = Goal { deepest: DEEPEST, infinite: INFINITE, decided: DECIDED, choice };
    let rated = root::deepen(turns, goal, |turn, depth, window| {
        let depth = depth - cost(position, turn);
        position.play(turn);
        let worth = search.worth(position, depth, 1, window);
        position.take_back(turn);
        worth
    });
    (rated, positions - search.positions_left)
}

/// Returns every way to block all threats of the opponent; if there are no threats, the `width` most
/// promising points. Empty if the side to move cannot block them all.
pub(super) fn candidates(position: &Position, width: usize) -> Vec<Turn> {
    let me = position.mover;
    let blocks = position.threats(1 - me);
    let stars = u32::from(position.stars_left[me]);
    if blocks.count_ones() > stars + 1 {
        return Vec::new();
    }
    let mut turns = Vec::with_capacity(width + 2);
    if blocks != 0 {
        turns.extend(points(blocks).map(|marble| Turn { stars: blocks & !(1 << marble), marble }));
        turns.sort_by_key(|turn| -promise(position, turn.marble));
    }
    if blocks.count_ones() <= stars {
        let width = if blocks == 0 { width } else { AFTER_STARS };
        let mut free: Vec<(i32, u8)> =
            points(position.free() & !blocks).map(|point| (-promise(position, point), point)).collect();
        free.sort_unstable();
        turns.extend(free.into_iter().take(width).map(|(_, marble)| Turn { stars: blocks, marble }));
    }
    turns
}

/// Rates a marble of the side to move on `point` by its own squares that it advances and the opponent's that
/// it spoils.
pub(super) fn promise(position: &Position, point: u8) -> i32 {
    let (me, foe) = (position.mover, 1 - position.mover);
    let count = |side: usize, marbles: usize| position.count(side, marbles, point);
    let (own, theirs) = (count(me, 2), count(foe, 2));
    16 * own * own + 9 * theirs * theirs + 6 * count(me, 1) + 3 * count(foe, 1)
}

impl Search {
    /// Rates the position for the side to move, in a window; `None` once the positions are used up.
    fn worth(&mut self, position: &mut Position, depth: i32, ply: usize, window: Window) -> Option<i32> {
        self.positions_left = self.positions_left.checked_sub(1)?;
        if let Some(worth) = settled_worth(position, depth, ply) {
            return Some(worth);
        }
        let key = position.key();
        let known = self.table.get(key, ply);
        if let Some(entry) = known.filter(|entry| entry.settles(depth, window)) {
            return Some(entry.worth);
        }
        let mut turns = candidates(position, NARROW);
        if let Some(best) = known.and_then(|entry| turns.iter().position(|turn| turn.marble == entry.turn)) {
            turns[..=best].rotate_right(1);
        }
        let (mut alpha, beta) = window;
        let (mut best, mut best_turn) = (-INFINITE, turns[0].marble);
        for (number, turn) in turns.into_iter().enumerate() {
            let depth = depth - cost(position, turn);
            position.play(turn);
            let worth = in_window(number, (depth, 0), (alpha, beta), |depth, window| {
                self.worth(position, depth, ply + 1, window)
            });
            position.take_back(turn);
            let worth = worth?;
            if worth > best {
                (best, best_turn) = (worth, turn.marble);
            }
            alpha = alpha.max(worth);
            if alpha >= beta {
                break;
            }
        }
        self.table.keep(key, ply, Found { worth: best, depth, turn: best_turn }, window);
        Some(best)
    }
}

/// Returns the depth that a turn costs.
fn cost(position: &Position, turn: Turn) -> i32 {
    let me = position.mover;
    if position.threats(1 - me) != 0 {
        ANSWER
    } else if position.attacks(me) & (1 << turn.marble) != 0 {
        ATTACK
    } else {
        QUIET
    }
}

/// Returns the worth for the side to move if the position needs no further search.
fn settled_worth(position: &Position, depth: i32, ply: usize) -> Option<i32> {
    let (me, foe) = (position.mover, 1 - position.mover);
    let taken = ply as i32;
    if position.marbles_left[me] == 0 {
        let ahead = position.stars_left[me].cmp(&position.stars_left[foe]) as i32;
        return Some(ahead * (WON_ON_STARS - taken));
    }
    if position.threats(me) != 0 {
        return Some(WON - taken);
    }
    let blocks = position.threats(foe);
    if blocks.count_ones() > u32::from(position.stars_left[me]) + 1 {
        return Some(taken + 1 - WON);
    }
    (blocks == 0 && depth <= 0 || ply >= LONGEST).then(|| evaluate::worth(position))
}
