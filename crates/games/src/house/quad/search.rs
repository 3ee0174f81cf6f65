//! The search of Expert and Average: principal variation search in which answering a threat costs little
//! depth.
//!
//! A side that can complete a quad has won, and one that cannot block every threat has lost. So chains of
//! threats and forced answers are searched far, and quiet turns only a few steps deep.
//!
//! Rates positions in which no quad is threatened.
//!
//! The weights come from a logistic regression on the results of matches that the house played against
//! itself; 400 are worth a factor of e in the odds of winning.
//!
//! Proof-number search for a forced win: every turn of the attacker makes a threat, and every answer blocks
//! all threats (Allis 1994). It goes deeper than the other search, because it always continues where least is
//! left to prove.
//!
//! A defender who blocks with stars has the marble free. It is tried only on the most promising points, so a
//! proof is very likely right, not certain.

use super::position::{Position, Set, Turn, points};
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
    let me = position.mover;
    let foe = 1 - position.mover;
    let count = |side: usize, marbles: usize| position.count(side, marbles, point);
    let own = count(me, 2);
    let theirs = count(foe, 2);
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
        let mut best = -INFINITE;
        let mut best_turn = turns[0].marble;
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
    let me = position.mover;
    let foe = 1 - position.mover;
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
    (blocks == 0 && depth <= 0 || ply >= LONGEST).then(|| worth(position))
}

/// The number of traits of one side.
pub(super) const TRAITS: usize = 8;

/// Returns the traits of one side: its open squares with one and with two marbles; the points where it can
/// make one, two, three, and more threats at once; its stars; and whether it has none.
pub(super) fn traits(position: &Position, side: usize) -> [i32; TRAITS] {
    let mut forks = [0; 4];
    for point in points(position.attacks(side)) {
        let threats = position.count(side, 2, point).min(4);
        forks[threats as usize - 1] += 1;
    }
    let stars = i32::from(position.stars_left[side]);
    let [one, two, three, more] = forks;
    [position.all(side, 1), position.all(side, 2), one, two, three, more, stars, i32::from(stars == 0)]
}

/// The weight of each trait for the side to move: with all its marbles left, and with none.
const MOVER_FULL: [i32; TRAITS] = [10, 58, 48, 150, 280, 600, 250, 0];
const MOVER_NONE: [i32; TRAITS] = [3, -63, -68, -122, 0, 0, 930, 0];
/// The same for the other side.
const OTHER_FULL: [i32; TRAITS] = [6, 55, 49, 135, 190, 500, 256, 300];
const OTHER_NONE: [i32; TRAITS] = [-1, -48, -47, -145, 0, 0, 1100, 0];
/// The worth of being the side to move.
const TO_MOVE: i32 = 355;

fn sum(traits: &[i32], weights: &[i32]) -> i32 {
    traits.iter().zip(weights).map(|(count, weight)| count * weight).sum()
}

/// Rates the position for the side to move.
pub(super) fn worth(position: &Position) -> i32 {
    let me = position.mover;
    let foe = 1 - position.mover;
    let own = traits(position, me);
    let theirs = traits(position, foe);
    let left = i32::from(position.marbles_left[me]);
    let theirs_left = i32::from(position.marbles_left[foe]);
    let mine = left * sum(&own, &MOVER_FULL) + (20 - left) * sum(&own, &MOVER_NONE);
    let other = theirs_left * sum(&theirs, &OTHER_FULL) + (20 - theirs_left) * sum(&theirs, &OTHER_NONE);
    TO_MOVE + (mine - other) / 20
}

/// Points that the defender tries in an answer.
const ANSWERS: usize = 4;
/// Points that the attacker tries in a turn.
const ATTACKS: usize = 16;
const NEVER: u32 = 1 << 30;

struct Node {
    turn: Turn,
    parent: usize,
    children: std::ops::Range<usize>,
    /// The least number of positions that would have to be won for a proof; likewise `disproof`.
    proof: u32,
    disproof: u32,
}

/// Returns a turn that wins by force for the side to move, if one is found within `positions` positions, and
/// how many were looked at.
pub(super) fn forced_win(position: &mut Position, positions: u32) -> (Option<Turn>, u32) {
    // The match is over, but `attacks` would still list points.
    if position.marbles_left[position.mover] == 0 {
        return (None, 1);
    }
    let attacker = position.mover;
    let root = Turn { stars: 0, marble: 0 };
    let mut nodes = vec![Node { turn: root, parent: 0, children: 0..0, proof: 1, disproof: 1 }];
    while nodes[0].proof > 0 && nodes[0].disproof > 0 && nodes.len() < positions as usize {
        let mut path = Vec::new();
        let mut at = 0;
        while !nodes[at].children.is_empty() {
            let attacks = position.mover == attacker;
            let rank = |node: &Node| if attacks { node.proof } else { node.disproof };
            at = nodes[at].children.clone().min_by_key(|&child| rank(&nodes[child])).expect("not empty");
            position.play(nodes[at].turn);
            path.push(nodes[at].turn);
        }
        expand(&mut nodes, at, position, attacker);
        update(&mut nodes, at, position, attacker, path);
    }
    let won = nodes[0].children.clone().find(|&child| nodes[child].proof == 0);
    (won.filter(|_| nodes[0].proof == 0).map(|child| nodes[child].turn), nodes.len() as u32)
}

/// Adds the turns that can follow from the position of a node, which is the present one.
fn expand(nodes: &mut Vec<Node>, at: usize, position: &mut Position, attacker: usize) {
    let turns = if position.mover == attacker { attacks(position) } else { candidates(position, ANSWERS) };
    let first = nodes.len();
    for turn in turns {
        position.play(turn);
        let (proof, disproof) = rate(position, attacker);
        position.take_back(turn);
        nodes.push(Node { turn, parent: at, children: 0..0, proof, disproof });
    }
    nodes[at].children = first..nodes.len();
}

/// Takes the turns of a path back, and brings the numbers of its nodes up to date.
fn update(nodes: &mut [Node], leaf: usize, position: &mut Position, attacker: usize, mut path: Vec<Turn>) {
    let mut at = leaf;
    loop {
        let children = &nodes[nodes[at].children.clone()];
        let sum =
            |numbers: fn(&Node) -> u32| children.iter().map(numbers).fold(0, u32::saturating_add).min(NEVER);
        let least = |numbers: fn(&Node) -> u32| children.iter().map(numbers).min().unwrap_or(NEVER);
        let (proof, disproof) = if position.mover == attacker {
            (least(|node| node.proof), sum(|node| node.disproof))
        } else {
            (sum(|node| node.proof), least(|node| node.disproof))
        };
        (nodes[at].proof, nodes[at].disproof) = (proof, disproof);
        let Some(turn) = path.pop() else { return };
        position.take_back(turn);
        at = nodes[at].parent;
    }
}

/// Returns what is left to prove and to disprove in a new position.
fn rate(position: &Position, attacker: usize) -> (u32, u32) {
    let me = position.mover;
    let foe = 1 - position.mover;
    let won = (0, NEVER);
    let lost = (NEVER, 0);
    if position.marbles_left[me] == 0 {
        return lost;
    }
    if position.threats(me) != 0 {
        return if me == attacker { won } else { lost };
    }
    let blocks = position.threats(foe).count_ones();
    let unblocked = blocks > u32::from(position.stars_left[me]) + 1;
    match (me == attacker, unblocked) {
        (true, true) => lost,
        (false, true) => won,
        (true, false) => (1, 1),
        (false, false) if blocks == 0 => lost,
        (false, false) => (blocks, 1),
    }
}

/// Returns the attacker's turns that make a threat and block every one of the defender's.
fn attacks(position: &Position) -> Vec<Turn> {
    let me = position.mover;
    let blocks = position.threats(1 - me);
    let stars = u32::from(position.stars_left[me]);
    let marbles: Set = match blocks.count_ones() {
        0 => position.attacks(me),
        needed if needed > stars + 1 => return Vec::new(),
        needed if needed > stars => position.attacks(me) & blocks,
        _ => position.attacks(me),
    };
    let mut marbles: Vec<u8> = points(marbles).collect();
    marbles.sort_by_key(|&marble| -promise(position, marble));
    marbles.truncate(ATTACKS);
    marbles.into_iter().map(|marble| Turn { stars: blocks & !(1 << marble), marble }).collect()
}
