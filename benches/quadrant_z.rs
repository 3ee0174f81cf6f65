//! Quadrant Z in the middle of a match: about eight ships on each side, and combat in this turn.

use divan::{Bencher, black_box};
use fogpost::game::quadrant_z::{Order, State};
use fogpost::game::{BySeat, Game, Numbered, Sealed, Seat};

use fogpost_testing::random::dice;
use fogpost_testing::random_play::RandomPlay as _;

fn main() {
    divan::main();
}

type Filed = BySeat<Option<Sealed<Order>>>;

/// Returns a state and the orders of both sides such that the turn brings `battles` and each side has seven to nine
/// ships.
fn middle(battles: usize) -> (State, Filed) {
    for seed in 0.. {
        let mut dice = dice(seed);
        let mut state = State::start(&Default::default());
        while let Some(due) = state.due() {
            let filed = BySeat::from_fn(|seat| state.random_orders(seat, &mut dice));
            let next = state.adjudicate(&filed);
            let ships = Seat::BOTH.map(|seat| state.view(seat).ships.len());
            let fought = next.view(Seat::First).battles.len();
            if due.turn >= 4 && fought == battles && ships.iter().all(|ships| (7..=9).contains(ships)) {
                return (state, filed);
            }
            state = next;
        }
    }
    unreachable!("random play comes to such a position")
}

#[divan::bench(args = [0, 1, 2])]
fn adjudicate(bencher: Bencher<'_, '_>, battles: usize) {
    let (state, filed) = middle(battles);
    bencher.bench_local(|| black_box(&state).adjudicate(black_box(&filed)));
}

#[divan::bench]
fn check(bencher: Bencher<'_, '_>) {
    let (state, filed) = middle(1);
    let view = state.view(Seat::First);
    let sealed = filed.first.expect("both have filed");
    let orders: Vec<_> =
        (1..).zip(sealed.orders().iter().cloned()).map(|(line, order)| Numbered { line, order }).collect();
    bencher.bench_local(|| State::check(black_box(&view), black_box(&orders)));
}

#[divan::bench]
fn view(bencher: Bencher<'_, '_>) {
    let (state, _) = middle(1);
    bencher.bench_local(|| black_box(&state).view(Seat::First));
}

#[divan::bench]
fn board(bencher: Bencher<'_, '_>) {
    let (state, _) = middle(1);
    let view = state.view(Seat::First);
    bencher.bench_local(|| State::board(black_box(&view)));
}
