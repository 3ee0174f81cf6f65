//! Ready setups (rulings `Z-READY` and `P-READY`) and those of the house: each is legal, and what it hides is hard to
//! guess.

use std::collections::BTreeMap;

use fogpost_games::game::any::{AnySeen, AnyState, GameKind};
use fogpost_games::game::{Line, Seat};
use fogpost_games::house;

/// The setups drawn of each family.
const DRAWS: u64 = 1000;

/// The lines of each setup that was drawn of one family, or at one level of the house.
type Setups = Vec<Vec<String>>;

/// Draws every family often, and every level of the house, and checks that every setup is legal.
fn drawn(state: &AnyState, seat: Seat, families: &[&'static str]) -> Vec<(&'static str, Setups)> {
    let ready = |family: &str, dice| {
        let order = [Line { no: 1, text: format!("SETUP {family}") }];
        let lines = state.ready_setup(seat, &order, dice).expect("a ready setup");
        lines.into_iter().map(|line| line.text).collect()
    };
    let seen = AnySeen::begin(state, seat);
    let of_house = |level, dice| house::play(&seen, level, dice).expect("the house plays it").orders;
    let families =
        families.iter().map(|family| (*family, (0..DRAWS).map(|dice| ready(family, dice)).collect()));
    let levels = house::levels(state.kind());
    let levels =
        levels.iter().map(|level| (level.name, (0..DRAWS).map(|dice| of_house(level, dice)).collect()));
    let drawn: Vec<(&str, Setups)> = families.chain(levels).collect();
    for (name, setup) in drawn.iter().flat_map(|(name, setups)| setups.iter().map(move |setup| (name, setup)))
    {
        assert!(state.seal(seat, &Line::numbered(setup)).is_ok(), "{name}: {setup:?}");
    }
    drawn
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
fn setups_of_quadrant_z_hide_the_base_and_the_fleet() {
    const FAMILIES: [&str; 3] = ["balanced", "raid", "guard"];
    for (layout, seat) in
        ["triangle", "block"].into_iter().flat_map(|layout| Seat::BOTH.map(|seat| (layout, seat)))
    {
        let state = with_options(GameKind::QuadrantZ, &[("layout", layout)]);
        for (name, setups) in drawn(&state, seat, &FAMILIES) {
            let bases = setups.iter().flatten().filter(|line| line.ends_with(" BASE"));
            assert_rare(&format!("{name}: a base"), bases.map(|line| &line["STAR ".len()..][..2]), 35);
            let fleet = |setup: &Vec<String>| {
                setup.iter().filter(|line| line.starts_with("SHIP ")).cloned().collect::<Vec<_>>().join("; ")
            };
            let fleets: Vec<String> = setups.iter().map(fleet).collect();
            if FAMILIES.contains(&name) {
                assert_rare(&format!("{name}: a fleet"), fleets.iter().map(String::as_str), 5);
            }
        }
    }
}

#[test]
fn setups_of_the_pacific_hide_the_submarines() {
    for (submarines, destroyers) in [("true", "7"), ("true", "8"), ("false", "7"), ("false", "8")] {
        let options = [("submarines", submarines), ("destroyers", destroyers)];
        let state = with_options(GameKind::Pacific, &options);
        for seat in Seat::BOTH {
            for (name, setups) in drawn(&state, seat, &["line", "wings", "deep"]) {
                let placed = setups.iter().flatten().filter_map(|line| line.strip_prefix("SUBMARINE "));
                let squares = placed.flat_map(|line| line.split(' ')).filter(|word| !word.starts_with('U'));
                if submarines == "true" {
                    assert_rare(&format!("{name}: a submarine's square"), squares, 5);
                }
            }
        }
    }
}
