//! Plain tree search for Quad (UCT). Its playouts complete quads, block threats, and are random otherwise.

use crate::plain_quad::{Plain, Turn};

/// Weight of what has seldom been tried.
const EXPLORE: f64 = 0.5;

struct Node {
    turns: Vec<Turn>,
    /// For each turn: the node after it, or 0 before it has been made.
    next: Vec<usize>,
    visits: Vec<f64>,
    /// What the turns have brought to the side that makes them: 1 for a win, a half for a draw.
    wins: Vec<f64>,
    total: f64,
}

impl Node {
    fn new(position: &Plain<'_>) -> Node {
        let turns = if position.winner().is_some() { Vec::new() } else { position.turns() };
        let n = turns.len();
        Node { turns, next: vec![0; n], visits: vec![0.0; n], wins: vec![0.0; n], total: 0.0 }
    }

    /// Returns the turn to try next: first one never tried, by chance, then the one that promises most.
    fn choice(&self, random: &mut dyn FnMut(usize) -> usize) -> usize {
        let new: Vec<usize> = (0..self.turns.len()).filter(|&i| self.visits[i] == 0.0).collect();
        if !new.is_empty() {
            return new[random(new.len())];
        }
        let log = self.total.ln();
        let rate = |i: usize| self.wins[i] / self.visits[i] + EXPLORE * (log / self.visits[i]).sqrt();
        (0..self.turns.len()).max_by(|&a, &b| rate(a).total_cmp(&rate(b))).expect("there is a turn")
    }
}

/// Returns the turn tried most often in `playouts` playouts, and its share of wins. `random` returns a number below its
/// argument.
pub fn best(position: &Plain<'_>, playouts: u32, random: &mut dyn FnMut(usize) -> usize) -> (Turn, f64) {
    let mut nodes = vec![Node::new(position)];
    if let [turn] = &nodes[0].turns[..] {
        return (turn.clone(), 0.5);
    }
    for _ in 0..playouts {
        let mut state = position.clone();
        let mut path = Vec::new();
        let mut at = 0;
        while !nodes[at].turns.is_empty() {
            let choice = nodes[at].choice(random);
            path.push((at, choice, state.mover));
            state.play(&nodes[at].turns[choice]);
            if nodes[at].next[choice] == 0 {
                nodes.push(Node::new(&state));
                nodes[at].next[choice] = nodes.len() - 1;
                break;
            }
            at = nodes[at].next[choice];
        }
        let winner = playout(state, random);
        for (node, choice, mover) in path {
            let node = &mut nodes[node];
            node.total += 1.0;
            node.visits[choice] += 1.0;
            node.wins[choice] += if winner == 2 { 0.5 } else { f64::from(u8::from(winner == mover)) };
        }
    }
    let root = &nodes[0];
    let most = (0..root.turns.len()).max_by(|&a, &b| root.visits[a].total_cmp(&root.visits[b]));
    let most = most.expect("the match still runs");
    (root.turns[most].clone(), root.wins[most] / root.visits[most].max(1.0))
}

fn playout(mut state: Plain<'_>, random: &mut dyn FnMut(usize) -> usize) -> usize {
    let mut free = state.free();
    loop {
        if let Some(winner) = state.winner() {
            return winner;
        }
        let me = state.mover;
        if !state.threats(me).is_empty() {
            return me;
        }
        let mut blocks = state.threats(1 - me);
        if blocks.len() > state.stars_left[me] + 1 {
            return 1 - me;
        }
        let marble = if blocks.is_empty() {
            draw(&mut free, &state, random)
        } else {
            blocks.swap_remove(random(blocks.len()))
        };
        state.play(&Turn { stars: blocks, marble });
    }
}

/// Draws a free point. `free` may still hold points that are taken.
fn draw(free: &mut Vec<usize>, state: &Plain<'_>, random: &mut dyn FnMut(usize) -> usize) -> usize {
    loop {
        let point = free.swap_remove(random(free.len()));
        if state.is_free(point) {
            return point;
        }
    }
}
