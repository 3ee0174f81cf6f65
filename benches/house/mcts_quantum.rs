//! Plain tree search for Quantum (UCT): it knows the rules, and in its playouts prefers stacking to other moves and
//! towers to both.

use crate::plain_quantum::{Plain, Turn};

/// Turns after which a playout is judged by its towers.
const LONGEST: u32 = 80;
/// Weight of what has seldom been tried.
const EXPLORE: f64 = 0.7;

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
    fn new(position: &Plain) -> Node {
        let turns = position.turns();
        let n = turns.len();
        Node { turns, next: vec![0; n], visits: vec![0.0; n], wins: vec![0.0; n], total: 0.0 }
    }

    fn choice(&self) -> usize {
        if let Some(new) = self.visits.iter().position(|&visits| visits == 0.0) {
            return new;
        }
        let log = self.total.ln();
        let rate = |i: usize| self.wins[i] / self.visits[i] + EXPLORE * (log / self.visits[i]).sqrt();
        (0..self.turns.len()).max_by(|&a, &b| rate(a).total_cmp(&rate(b))).expect("there is a turn")
    }
}

/// Returns the turn tried most often in `playouts` playouts. `random` returns a number below its argument.
pub fn best(position: &Plain, playouts: u32, random: &mut dyn FnMut(usize) -> usize) -> Option<Turn> {
    let mut nodes = vec![Node::new(position)];
    if nodes[0].turns.is_empty() {
        return None;
    }
    for _ in 0..playouts {
        let mut state = position.clone();
        let mut path = Vec::new();
        let mut at = 0;
        while state.winner().is_none() && !nodes[at].turns.is_empty() {
            let choice = nodes[at].choice();
            path.push((at, choice, state.mover));
            state.play(nodes[at].turns[choice]);
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
    most.map(|i| root.turns[i])
}

fn playout(mut state: Plain, random: &mut dyn FnMut(usize) -> usize) -> u8 {
    for _ in 0..LONGEST {
        if let Some(winner) = state.winner() {
            return winner;
        }
        let turns = state.turns();
        if turns.is_empty() {
            return state.ahead();
        }
        let height = |&(from, to): &Turn| match state.cells[to].height {
            0 => 0,
            below => below + state.cells[from].height,
        };
        let tower = turns.iter().copied().find(|turn| height(turn) >= 6);
        let stacking: Vec<Turn> = turns.iter().copied().filter(|turn| height(turn) > 0).collect();
        let turn = match tower {
            Some(turn) => turn,
            None if !stacking.is_empty() && random(3) > 0 => stacking[random(stacking.len())],
            None => turns[random(turns.len())],
        };
        state.play(turn);
    }
    state.ahead()
}
