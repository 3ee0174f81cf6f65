use std::collections::BTreeMap;

use super::super::galaxy::{Layout, Square};
use super::super::{Options, State};
use super::*;
use crate::game::testing::RandomPlay;
use crate::game::{BySeat, Game, Numbered, Options as _, Outcome, Reason, Sealed, Seat};

const LEVELS_PLAYED: [Level; 3] = [Level::Trainer, Level::Easy, Level::Average];

fn options(chosen: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    chosen.iter().for_each(|(name, value)| options.set(name, value).expect("an option"));
    options
}

fn sealed(view: &View, orders: &[Order]) -> Sealed<Order> {
    let numbered: Vec<_> =
        (1..).zip(orders).map(|(line, order)| Numbered { line, order: order.clone() }).collect();
    State::check(view, &numbered).unwrap_or_else(|faults| panic!("{orders:?}: {faults:?}"))
}

/// Options under which random matches are played.
fn variety(seed: u64) -> Options {
    match seed % 4 {
        0 => options(&[("casualties", "ask"), ("damage", "full")]),
        1 => options(&[("layout", "block")]),
        _ => options(&[]),
    }
}

#[test]
fn every_level_files_legal_orders_and_repeats_them() {
    let mut met = 0;
    for seed in 0..40 {
        let (mut state, mut dice) = (State::start(&variety(seed)), Dice::new(seed));
        while let Some(due) = state.due() {
            for seat in due.seats {
                let seen = Seen::begin(&state, seat);
                for level in LEVELS {
                    let chosen = play(&seen, level, dice.clone());
                    sealed(seen.now(), &chosen.orders);
                    assert_eq!(chosen, play(&seen, level, dice.clone()));
                }
                met += 1;
            }
            state = state.play_at_random(&mut |n| dice.below(n as usize) as u32);
        }
    }
    assert!(met > 400, "{met}");
}

#[test]
fn setups_are_legal_and_hide_the_base() {
    for layout in [Layout::Triangle, Layout::Block] {
        for seat in Seat::BOTH {
            let view = State::start(&Options { layout, ..Options::default() }).view(seat);
            for level in LEVELS_PLAYED {
                let mut dice = Dice::new(7);
                let mut bases = BTreeMap::<Square, u32>::new();
                for _ in 0..1000 {
                    let orders = setup::draw(layout, seat, level, &mut dice);
                    sealed(&view, &orders);
                    for order in orders {
                        if let Order::Star { at, base: true, .. } = order {
                            *bases.entry(at).or_default() += 1;
                        }
                    }
                }
                let most = bases.into_values().max().unwrap_or_default();
                assert!(most <= 350, "{level}: a base is too likely: {most} of 1000");
            }
        }
    }
}

/// A match after these turns between the levels.
fn played(levels: BySeat<Level>, turns: u16, seed: u64) -> State {
    let mut state = State::start(&options(&[]));
    while let Some(due) = state.due()
        && state.turn < turns
    {
        let mut filed = BySeat::new(None, None);
        for seat in due.seats {
            let view = state.view(seat);
            let dice = Dice::new(seed).mixed(u64::from(due.turn) * 2 + seat as u64);
            let seen = Seen::begin(&state, seat);
            let level = LEVELS.iter().find(|level| Level::of(level) == levels[seat]).expect("it plays");
            filed[seat] = Some(sealed(&view, &play(&seen, level, dice).orders));
        }
        state = state.adjudicate(&filed);
    }
    state
}

#[test]
fn the_house_does_not_find_what_nobody_told_it_of() {
    let state = played(BySeat::new(Level::Average, Level::Average), 2, 1);
    // The enemy's home sector holds other stars, another base and other ships, of which the seat has seen nothing.
    let mut other = state.clone();
    let foe = &mut other.sides.second;
    let base = foe.base.expect("a base");
    let square = base.quadrant().squares().find(|&at| at != base).expect("four squares");
    foe.base = Some(square);
    foe.ships.iter_mut().for_each(|ship| ship.at = square);
    foe.stock += 3;
    assert_eq!(state.view(Seat::First), other.view(Seat::First), "the seat cannot tell them apart");
    for seed in 0..4 {
        let [one, other] = [&state, &other].map(|state| {
            let seen = Seen::begin(state, Seat::First);
            LEVELS.iter().map(|level| play(&seen, level, Dice::new(seed))).collect::<Vec<_>>()
        });
        assert_eq!(one, other);
    }
}

#[test]
fn each_level_wins_most_matches_against_the_one_below() {
    for (strong, weak) in [(Level::Average, Level::Easy), (Level::Easy, Level::Trainer)] {
        let won: i32 = (0..20)
            .map(|seed| {
                let seat = if seed % 2 == 0 { Seat::First } else { Seat::Second };
                let mut levels = BySeat::new(weak, weak);
                levels[seat] = strong;
                let end = played(levels, u16::MAX, seed).outcome().expect("it is over");
                end.winner.map_or(0, |winner| if winner == seat { 1 } else { -1 })
            })
            .sum();
        assert!(won > 10, "{strong} against {weak}: {won:+}");
    }
}

#[test]
fn nothing_is_played_in_a_match_that_is_over() {
    let over = State::start(&options(&[])).close(Outcome { winner: None, reason: Reason::DrawAgreed });
    let seen = Seen::begin(&over, Seat::First);
    assert!(LEVELS.iter().all(|level| play(&seen, level, Dice::new(1)).orders.is_empty()));
}
