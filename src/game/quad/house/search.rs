//! Expert's search: alpha-beta over turns, in which the answer to a threat costs little depth.
//!
//! A side that can complete a quad has won, and one that cannot block every threat has lost. So chains of threats and
//! forced answers are searched to their end, and quiet turns only a few steps deep.

use super::Dice;
use super::position::{Position, Turn};
use crate::game::quad::point::Point;

/// The value of a won position, reduced by one for each turn that it takes.
const WON: i32 = 1_000_000;
/// The value of winning on stars after the last marble.
const WON_ON_STARS: i32 = 500_000;
/// The maximum length of a chain, in turns.
const LONGEST: i32 = 40;
/// Points to try in a quiet turn: at the root, and deeper.
const WIDE: usize = 24;
const NARROW: usize = 10;
/// Points to try for the marble when stars have blocked every threat.
const AFTER_STARS: usize = 2;
/// The depth that a turn costs: one that answers threats, one that makes some, any other.
const ANSWER: i32 = 1;
const ATTACK: i32 = 2;
const QUIET: i32 = 4;
/// The value of being the side to move.
const INITIATIVE: i32 = 150;

struct Search {
    nodes_left: u32,
}

/// Returns the best turn found within `nodes` positions.
pub(super) fn best(position: &mut Position, nodes: u32, dice: &mut Dice) -> Turn {
    let me = position.to_move;
    if let Some(&marble) = position.threats(me).first() {
        return Turn { stars: Vec::new(), marble };
    }
    let blocks = position.threats(me.other());
    let mut turns = candidates(position, &blocks, WIDE);
    if turns.is_empty() {
        return last_stand(position, &blocks);
    }
    // Vary the order of the two most promising turns, so that the house does not always play the same.
    let swap = dice.below(turns.len().min(2));
    turns.swap(0, swap);
    let mut search = Search { nodes_left: nodes };
    for depth in 1..=LONGEST {
        let mut rated = Vec::with_capacity(turns.len());
        let mut alpha = -WON;
        for turn in &turns {
            position.play(turn);
            let worth = search.worth(position, depth - 1, -WON, -alpha, 1).map(|worth| -worth);
            position.take_back(turn);
            let Some(worth) = worth else { break };
            // The value of a turn no better than an earlier one is only an upper bound, so the turn stays behind that
            // one.
            rated.push(if worth > alpha { worth } else { -WON });
            alpha = alpha.max(worth);
        }
        let looked_at = rated.len();
        let mut order: Vec<usize> = (0..looked_at).collect();
        order.sort_by_key(|&number| std::cmp::Reverse(rated[number]));
        let rest = turns.split_off(looked_at);
        turns = order.into_iter().map(|number| turns[number].clone()).chain(rest).collect();
        if search.nodes_left == 0 || alpha.abs() > WON_ON_STARS {
            break;
        }
    }
    turns.swap_remove(0)
}

/// Returns every way to block all of `blocks`; without any, the `width` most promising points. Empty if the side to
/// move cannot block them all.
fn candidates(position: &Position, blocks: &[Point], width: usize) -> Vec<Turn> {
    let stars = position.left[position.to_move].stars;
    let others = |marble: Point| blocks.iter().copied().filter(|&block| block != marble).collect::<Vec<_>>();
    if blocks.len() > stars + 1 {
        return Vec::new();
    }
    let quiet = if blocks.is_empty() { width } else { AFTER_STARS };
    let mut turns: Vec<Turn> = blocks.iter().map(|&marble| Turn { stars: others(marble), marble }).collect();
    turns.sort_by_key(|turn| std::cmp::Reverse(position.promise(turn.marble)));
    if blocks.len() <= stars {
        let free = position.promising().into_iter().filter(|point| !blocks.contains(point)).take(quiet);
        turns.extend(free.map(|marble| Turn { stars: blocks.to_vec(), marble }));
    }
    turns
}

/// Blocks as many threats as possible.
fn last_stand(position: &Position, blocks: &[Point]) -> Turn {
    let stars = position.left[position.to_move].stars;
    Turn { stars: blocks[1..=stars].to_vec(), marble: blocks[0] }
}

impl Search {
    /// Rates the position for the side to move, between `alpha` and `beta`; `None` once the node limit is reached.
    fn worth(
        &mut self,
        position: &mut Position,
        depth: i32,
        mut alpha: i32,
        beta: i32,
        turns: i32,
    ) -> Option<i32> {
        let (me, foe) = (position.to_move, position.to_move.other());
        self.nodes_left = self.nodes_left.checked_sub(1)?;
        if position.left[me].marbles == 0 {
            let ahead = position.left[me].stars.cmp(&position.left[foe].stars) as i32;
            return Some(ahead * (WON_ON_STARS - turns));
        }
        if !position.threats(me).is_empty() {
            return Some(WON - turns);
        }
        let blocks = position.threats(foe);
        if blocks.is_empty() && depth <= 0 || turns >= LONGEST {
            return Some(position.worth(me) - position.worth(foe) + INITIATIVE);
        }
        let mut best = -(WON - turns - 1);
        for turn in candidates(position, &blocks, NARROW) {
            let cost = match position.attacks(me, turn.marble) {
                _ if !blocks.is_empty() => ANSWER,
                0 => QUIET,
                _ => ATTACK,
            };
            position.play(&turn);
            let worth = self.worth(position, depth - cost, -beta, -alpha, turns + 1);
            position.take_back(&turn);
            best = best.max(-worth?);
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        Some(best)
    }
}
