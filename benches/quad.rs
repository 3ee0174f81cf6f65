//! Quad: listing the free points, one adjudication, and turns of the house, in positions of random matches.

use divan::{Bencher, black_box};
use fogpost::game::quad::{Options, Order, State, View};
use fogpost::game::{BySeat, Dice, Game, Numbered, Sealed};
use fogpost::house::Level;
use fogpost::house::quad::choose;

use fogpost_testing::random::dice;

type Filed = BySeat<Option<Sealed<Order>>>;

fn main() {
    divan::main();
}

/// Every position of some random matches, with a marble of the side to move filed.
fn positions() -> Vec<(State, View, Filed)> {
    let mut dice = dice(1);
    let mut positions = Vec::new();
    for _ in 0..20 {
        let mut state = State::start(&Options::default());
        while let Some(due) = state.due() {
            let side = due.seats[0];
            let view = state.view(side);
            let empty = view.empty();
            let order = Numbered { line: 1, order: Order::Marble(empty[dice(empty.len() as u32) as usize]) };
            let mut filed = BySeat::new(None, None);
            filed[side] = Some(State::check(&view, &[order]).expect("a marble on an empty point is legal"));
            positions.push((state.clone(), view, filed.clone()));
            state = state.adjudicate(&filed);
        }
    }
    positions
}

#[divan::bench]
fn legal_points(bencher: Bencher<'_, '_>) {
    let positions = positions();
    let mut next = (0..positions.len()).cycle();
    bencher.bench_local(|| black_box(&positions[next.next().expect("a cycle")].1).empty());
}

#[divan::bench]
fn adjudication(bencher: Bencher<'_, '_>) {
    let positions = positions();
    let mut next = (0..positions.len()).cycle();
    bencher.bench_local(|| {
        let (state, _, filed) = &positions[next.next().expect("a cycle")];
        black_box(state).adjudicate(black_box(filed))
    });
}

#[divan::bench(args = Level::ALL, sample_count = 20, sample_size = 1)]
fn house(bencher: Bencher<'_, '_>, level: Level) {
    let positions = positions();
    let mut next = (0..positions.len()).step_by(7).cycle();
    bencher
        .bench_local(|| choose(black_box(&positions[next.next().expect("a cycle")].1), level, Dice::new(1)));
}
