//! Laws of the house: every level of every game files legal orders, and the same when it is asked again.

use fogpost_games::game::any::{AnySeen, GameKind};
use fogpost_games::game::{BySeat, Outcome, Reason, Seat, Values};
use fogpost_games::house;

use fogpost_testing::play::{Play, filings, matches, numbered};
use fogpost_testing::random::Random;

/// Plays a match on at random for at most `phases` phases, and asks every level in one of `every`. Returns how often
/// orders were due then.
fn ask_in(mut play: Play, phases: usize, every: usize) -> u32 {
    let mut seen = BySeat::from_fn(|seat| AnySeen::begin(&play.state, seat));
    let mut asked = 0;
    for phase in 0..phases {
        let Some(due) = play.state.due() else { break };
        for &seat in due.seats.iter().filter(|_| phase.is_multiple_of(every)) {
            for level in house::levels(play.kind) {
                let ask =
                    || house::play(&seen[seat], level, phase as u64).expect("the house plays every game");
                let chosen = ask();
                let sealed = play.state.seal(seat, &numbered(&chosen.orders));
                let what = format!("{} ({}), {}: {chosen:?}", play.kind, play.choices, level.name);
                assert!(sealed.is_ok(), "{what} {sealed:?}");
                assert_eq!(ask(), chosen, "{what}");
            }
            asked += 1;
        }
        let filed = filings(&play.step().expect("it runs"));
        for seat in Seat::BOTH {
            seen[seat].add(&filed, &play.state);
        }
    }
    asked
}

#[test]
fn every_level_files_legal_orders_and_repeats_them() {
    for &kind in GameKind::ALL {
        let asked: u32 = (0..3).map(|seed| ask_in(Play::new(kind, seed), 300, 5)).sum();
        assert!(asked > 12, "{kind}: {asked}");
    }
}

#[test]
fn every_level_plays_matches_of_one_turn_and_of_very_many() {
    for (&kind, limit) in GameKind::ALL.iter().flat_map(|kind| ["1", "999"].map(|limit| (kind, limit))) {
        let limits = kind.option_rules().iter().filter(|rule| matches!(rule.values, Values::Limit));
        let choices = kind.choose(limits.map(|rule| (rule.name, limit))).expect("values that the game takes");
        assert!(ask_in(Play::with(kind, choices, Random::new(1)), 3, 1) > 0, "{kind}");
    }
}

#[test]
fn nothing_is_played_in_a_match_that_is_over() {
    for (kind, seed) in matches(1) {
        let mut state = Play::new(kind, seed).state;
        state.close(Outcome { winner: None, reason: Reason::DrawAgreed });
        let seen = AnySeen::begin(&state, Seat::First);
        for level in house::levels(kind) {
            let orders = house::play(&seen, level, 1).map(|chosen| chosen.orders);
            assert_eq!(orders, Some(Vec::new()), "{kind}, {}", level.name);
        }
    }
}
