//! Proof-number search for a forced win: every turn of the attacker makes a threat, and every answer blocks
//! all threats (Allis 1994). It goes deeper than the other search, because it always continues where least is
//! left to prove.
//!
//! A defender who blocks with stars has the marble free. It is tried only on the most promising points, so a
//! proof is very likely right, not certain.

use super::position::{Position, Set, Turn, points};
use super::search::{candidates, promise};

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
    let (me, foe) = (position.mover, 1 - position.mover);
    let (won, lost) = ((0, NEVER), (NEVER, 0));
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
