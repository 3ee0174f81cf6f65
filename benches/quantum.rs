//! Quantum: generating all legal moves, one adjudication, and turns of the house, in positions of random matches.

use divan::{Bencher, black_box};
use fogpost::game::quantum::{Options, Order, State, View};
use fogpost::game::{BySeat, Dice, Game, Numbered, Options as _, Sealed};
use fogpost::house::Level;
use fogpost::house::quantum::choose;

use fogpost_testing::random::dice;

type Filed = BySeat<Option<Sealed<Order>>>;

fn main() {
    divan::main();
}

/// Every position of some random matches in which a side has a move, with one of its moves filed.
fn positions(jump: &str) -> Vec<(State, View, Filed)> {
    let mut dice = dice(1);
    let mut options = Options::default();
    options.set("jump", jump).expect("jump takes it");
    let mut positions = Vec::new();
    for _ in 0..10 {
        let mut state = State::start(&options);
        while let Some(due) = state.due() {
            let mut filed = BySeat::new(None, None);
            if let [side] = due.seats[..] {
                let view = state.view(side);
                let moves = view.moves();
                let order = Numbered { line: 1, order: moves[dice(moves.len() as u32) as usize] };
                filed[side] = Some(State::check(&view, &[order]).expect("the engine's own moves are legal"));
                positions.push((state.clone(), view, filed.clone()));
            }
            state = state.adjudicate(&filed);
        }
    }
    positions
}

#[divan::bench(args = ["off", "on"])]
fn legal_moves(bencher: Bencher<'_, '_>, jump: &str) {
    let positions = positions(jump);
    let mut next = (0..positions.len()).cycle();
    bencher.bench_local(|| black_box(&positions[next.next().expect("a cycle")].1).moves());
}

#[divan::bench(args = ["off", "on"])]
fn adjudication(bencher: Bencher<'_, '_>, jump: &str) {
    let positions = positions(jump);
    let mut next = (0..positions.len()).cycle();
    bencher.bench_local(|| {
        let (state, _, filed) = &positions[next.next().expect("a cycle")];
        black_box(state).adjudicate(black_box(filed))
    });
}

#[divan::bench(args = Level::ALL, sample_count = 20, sample_size = 1)]
fn house(bencher: Bencher<'_, '_>, level: Level) {
    let positions = positions("off");
    let mut next = (0..positions.len()).step_by(7).cycle();
    bencher.bench_local(|| {
        let view = &positions[next.next().expect("a cycle")].1;
        choose(black_box(view), level, Dice::new(1))
    });
}
