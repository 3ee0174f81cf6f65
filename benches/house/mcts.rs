//! Plain tree search (UCT): what the outside opponents in Quad and in Quantum have in common.

/// Returns a number below its argument.
pub type Random<'a> = &'a mut dyn FnMut(usize) -> usize;

/// A position, and what the search asks of it.
pub trait Position: Clone {
    type Turn: Clone;

    /// The weight of turns that were seldom tried.
    const EXPLORE: f64;

    /// The side to move, 0 or 1.
    fn side(&self) -> usize;

    /// The turns of the side to move; none if the match is over.
    fn choices(&self) -> Vec<Self::Turn>;

    fn make(&mut self, turn: &Self::Turn);

    /// Plays on by chance, and returns the side that wins, or 2 for a draw.
    fn playout(self, random: Random<'_>) -> usize;
}

struct Node<T> {
    turns: Vec<T>,
    /// For each turn: the node after it, or 0 before it has been made.
    next: Vec<usize>,
    visits: Vec<f64>,
    /// What the turns have brought to the side that makes them: 1 for a win, a half for a draw.
    wins: Vec<f64>,
    total: f64,
}

impl<T> Node<T> {
    fn new<P: Position<Turn = T>>(position: &P) -> Node<T> {
        let turns = position.choices();
        let n = turns.len();
        Node { turns, next: vec![0; n], visits: vec![0.0; n], wins: vec![0.0; n], total: 0.0 }
    }

    /// Returns the turn to try next: first one never tried, by chance, then the one that promises most.
    fn choice(&self, explore: f64, random: Random<'_>) -> usize {
        let new: Vec<usize> = (0..self.turns.len()).filter(|&i| self.visits[i] == 0.0).collect();
        if !new.is_empty() {
            return new[random(new.len())];
        }
        let log = self.total.ln();
        let rate = |i: usize| self.wins[i] / self.visits[i] + explore * (log / self.visits[i]).sqrt();
        (0..self.turns.len()).max_by(|&a, &b| rate(a).total_cmp(&rate(b))).expect("there is a turn")
    }
}

/// Returns the turn tried most often in `playouts` playouts, and its share of wins; `None` if there is no turn.
pub fn best<P: Position>(position: &P, playouts: u32, random: Random<'_>) -> Option<(P::Turn, f64)> {
    let mut nodes = vec![Node::new(position)];
    match &nodes[0].turns[..] {
        [] => return None,
        [turn] => return Some((turn.clone(), 0.5)),
        _ => {}
    }
    for _ in 0..playouts {
        let mut state = position.clone();
        let mut path = Vec::new();
        let mut at = 0;
        while !nodes[at].turns.is_empty() {
            let choice = nodes[at].choice(P::EXPLORE, random);
            path.push((at, choice, state.side()));
            state.make(&nodes[at].turns[choice]);
            if nodes[at].next[choice] == 0 {
                nodes.push(Node::new(&state));
                nodes[at].next[choice] = nodes.len() - 1;
                break;
            }
            at = nodes[at].next[choice];
        }
        let winner = state.playout(random);
        for (node, choice, side) in path {
            let node = &mut nodes[node];
            node.total += 1.0;
            node.visits[choice] += 1.0;
            node.wins[choice] += if winner == 2 { 0.5 } else { f64::from(u8::from(winner == side)) };
        }
    }
    let root = &nodes[0];
    let most = (0..root.turns.len()).max_by(|&a, &b| root.visits[a].total_cmp(&root.visits[b]))?;
    Some((root.turns[most].clone(), root.wins[most] / root.visits[most].max(1.0)))
}
