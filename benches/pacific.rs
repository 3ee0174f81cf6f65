//! War in the Pacific: legal surface moves and one adjudication, in the middle of a match.

use divan::{Bencher, black_box};
use fogpost::game::pacific::{Chart, Options, Order, Square, State};
use fogpost::game::{BySeat, Game, Numbered, Phase, Seat};

use fogpost_testing::random::dice;
use fogpost_testing::random_play::RandomPlay as _;

fn main() {
    divan::main();
}

/// Returns a match after 30 phases, with a surface turn due.
fn mid_game() -> (State, Seat) {
    let mut dice = dice(1);
    let mut state = State::start(&Options::default());
    for phase in 0.. {
        let due = state.due().expect("the match goes on");
        if phase >= 30 && due.phase == Phase::Surface {
            return (state, due.seats[0]);
        }
        state = state.play_at_random(&mut dice);
    }
    unreachable!("some phase is a surface turn")
}

fn surface_moves(state: &State, side: Seat) -> Vec<(Square, Square)> {
    let mut moves = Vec::new();
    Chart::new(state.ships(), state.options().squadron_leap)
        .each_move(side, |ship, to| moves.push((ship.at, to)));
    moves
}

#[divan::bench]
fn surface_moves_and_one_adjudication(bencher: Bencher<'_, '_>) {
    let (state, side) = mid_game();
    let (from, to) = surface_moves(&state, side)[0];
    let order = Numbered { line: 1, order: Order::Move { class: None, from, to } };
    let mut filed = BySeat::new(None, None);
    filed[side] = Some(State::check(&state.view(side), &[order]).expect("a legal move"));
    bencher.counter(divan::counter::ItemsCount::new(1_u32)).bench_local(|| {
        let moves = surface_moves(black_box(&state), side).len();
        (moves, black_box(&state).adjudicate(black_box(&filed)))
    });
}

#[divan::bench]
fn surface_moves_alone(bencher: Bencher<'_, '_>) {
    let (state, side) = mid_game();
    bencher
        .counter(divan::counter::ItemsCount::new(1_u32))
        .bench_local(|| surface_moves(black_box(&state), side).len());
}
