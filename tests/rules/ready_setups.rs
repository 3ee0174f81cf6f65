//! Ready setups (rulings `Z-READY` and `P-READY`): each is legal, and what it hides is hard to guess.

use std::collections::BTreeMap;

use fogpost::game::any::{AnyState, GameKind};
use fogpost::game::{Line, Seat};

/// The setups drawn of each family.
const DRAWS: u64 = 1000;

/// Draws a family often and checks that every setup is legal. Returns the lines of each.
fn drawn(state: &AnyState, seat: Seat, family: &str) -> Vec<Vec<String>> {
    let order = [Line { no: 1, text: format!("SETUP {family}") }];
    let draw = |dice| {
        let lines = state.ready_setup(seat, &order, dice).expect("a ready setup");
        let lines: Vec<String> = lines.into_iter().map(|line| line.text).collect();
        assert!(state.seal(seat, &Line::numbered(&lines)).is_ok(), "{family}: {lines:?}");
        lines
    };
    (0..DRAWS).map(draw).collect()
}

/// Asserts that no item is in more than `percent` of the setups.
fn assert_rare<'a>(what: &str, items: impl Iterator<Item = &'a str>, percent: u64) {
    let mut counts = BTreeMap::<&str, u64>::new();
    items.for_each(|item| *counts.entry(item).or_default() += 1);
    let most = counts.into_values().max().expect("it was drawn");
    assert!(most * 100 <= DRAWS * percent, "{what} is too likely: {most} of {DRAWS}");
}

fn with_options(game: GameKind, options: &[(&'static str, &'static str)]) -> AnyState {
    game.start(&game.choose(options.iter().copied()).expect("options of the game"))
}

#[test]
fn ready_setups_of_quadrant_z_hide_the_base_and_the_fleet() {
    for layout in ["triangle", "block"] {
        let state = with_options(GameKind::QuadrantZ, &[("layout", layout)]);
        for (seat, family) in
            Seat::BOTH.into_iter().flat_map(|seat| ["balanced", "raid", "guard"].map(|f| (seat, f)))
        {
            let setups = drawn(&state, seat, family);
            let bases = setups.iter().flatten().filter(|line| line.ends_with(" BASE"));
            assert_rare(&format!("{family}: a base"), bases.map(|line| &line["STAR ".len()..][..2]), 35);
            let fleet = |setup: &Vec<String>| {
                setup.iter().filter(|line| line.starts_with("SHIP ")).cloned().collect::<Vec<_>>().join("; ")
            };
            let fleets: Vec<String> = setups.iter().map(fleet).collect();
            assert_rare(&format!("{family}: a fleet"), fleets.iter().map(String::as_str), 5);
        }
    }
}

#[test]
fn ready_setups_of_the_pacific_hide_the_submarines() {
    for (submarines, destroyers) in [("true", "7"), ("true", "8"), ("false", "7")] {
        let options = [("submarines", submarines), ("destroyers", destroyers)];
        let state = with_options(GameKind::Pacific, &options);
        for (seat, family) in
            Seat::BOTH.into_iter().flat_map(|seat| ["line", "wings", "deep"].map(|f| (seat, f)))
        {
            let setups = drawn(&state, seat, family);
            let placed = setups.iter().flatten().filter_map(|line| line.strip_prefix("SUBMARINE "));
            let squares = placed.flat_map(|line| line.split(' ')).filter(|word| !word.starts_with('U'));
            if submarines == "true" {
                assert_rare(&format!("{family}: a submarine's square"), squares, 5);
            }
        }
    }
}
