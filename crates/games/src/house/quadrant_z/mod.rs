//! The house: a computer player for Quadrant Z, at three levels.
//!
//! It follows plans, which rate stars, intruders and the enemy's base. Average chooses its plan by playing
//! plans against each other on guesses of the galaxy, and then improves its orders ship by ship. The guesses
//! are made from what its seat was told and filed; the same arguments give the same turn, so that an audit
//! can repeat it.

use self::belief::guesses;
use self::plan::{Known, PLAIN, Plan};
use self::refine::{Ahead, Tries, refine};
use crate::game::quadrant_z::{Order, State, View};
use crate::game::{Dice, Phase, Seat, Seen};
use crate::house::engine::{Chosen, House, HouseLevel, Insight, Level, mixture};

mod belief;
mod plan;
mod refine;
mod tracking;

/// The computer player. Debug builds guess less and so play other turns, which makes them another version.
pub(super) const HOUSE: House<View, Order> = House {
    version: if cfg!(debug_assertions) { 0 } else { 1 },
    levels: LEVELS,
    play,
    with_insight: Some(with_insight),
};

/// The levels, the weakest first.
const LEVELS: &[HouseLevel] = &[
    Level::Trainer.described("gathers stars, overlooks half of them, and guards nothing", &[]),
    Level::Easy.described("gathers stars and guards its base, and overlooks one star in eight", &[]),
    Level::Average.described("gathers fast, guesses what you have, and plans a few turns ahead", &[]),
];

/// The plan of the levels that have only one.
fn only_plan(level: Level) -> Option<Plan> {
    match level {
        Level::Trainer => Some(Plan { value: 0, guard: false, largest: 3, overlooked: 4, ..PLAIN }),
        Level::Easy => Some(Plan { value: 10, shy: 10, largest: 3, overlooked: 1, ..PLAIN }),
        Level::Average | Level::Expert => None,
    }
}

/// Chooses orders for a seat, which must owe some.
fn play(seen: &Seen<View, Order>, level: &HouseLevel, dice: Dice) -> Chosen<Order> {
    choose(seen, Level::of(level), Insight::Told, dice)
}

/// Plays Average with another insight.
fn with_insight(seen: &Seen<View, Order>, insight: Insight<'_, View>, dice: Dice) -> Chosen<Order> {
    choose(seen, Level::Average, insight, dice)
}

/// Chooses orders as [`play`] does. In the phase `casualties`, the least valuable set is lost.
fn choose(
    seen: &Seen<View, Order>,
    level: Level,
    insight: Insight<'_, View>,
    mut dice: Dice,
) -> Chosen<Order> {
    let view = seen.now();
    match view.context.phase {
        Some(Phase::Setup) => {
            let orders = belief::draw(view.context.options.layout, view.context.viewer, level, &mut dice);
            Chosen { orders, positions: 0 }
        }
        Some(Phase::Turn) => match only_plan(level) {
            Some(plan) => {
                let orders = plan::orders(&Known::from_view(view), &plan, &mut dice);
                Chosen { orders, positions: 1 }
            }
            None => choose_with_guesses(seen, insight, &mut dice),
        },
        Some(Phase::Casualties | Phase::Surface | Phase::Submarines | Phase::Move) | None => {
            Chosen { orders: Vec::new(), positions: 0 }
        }
    }
}

/// The limits of playing ahead to choose orders.
#[derive(Clone, Copy)]
struct Effort {
    /// Guesses of the galaxy, and how many of them each plan is tried on alone.
    guesses: usize,
    trials: usize,
    /// The number of plans of either side that remain after that.
    kept: usize,
    /// The number of turns that plans are played ahead.
    turns: usize,
    /// The limits on other squares that ships try.
    tries: Tries,
}

/// Debug builds make do with less.
const EFFORT: Effort = if cfg!(debug_assertions) {
    Effort { guesses: 1, trials: 1, kept: 2, turns: 1, tries: Tries { squares: 4, turns: 1 } }
} else {
    Effort { guesses: 16, trials: 4, kept: 5, turns: 4, tries: Tries { squares: 48, turns: 3 } }
};

/// With up to this many ships on both sides together, all guesses are played.
const SHIPS: usize = 32;
/// A rough limit on the phases that are replayed for all guesses together: a long match gets fewer guesses,
/// but at least [`Effort::trials`].
const FOLLOWED: usize = 1_600;

/// The plans of either side.
const PLANS: [Plan; 16] = [
    // Gather and hunt intruders.
    Plan { shy: 10, hunt: 20, ..PLAIN },
    // Spread far, in many small ships.
    Plan { value: 0, largest: 1, ..PLAIN },
    // Hold what is near.
    Plan { shy: 40, hunt: 60, ..PLAIN },
    // Strike at the enemy's base.
    Plan { strike: 5, largest: 3, ..PLAIN },
    // Race for the nearest stars and leave the base alone.
    Plan { value: 10, shy: 20, guard: false, ..PLAIN },
    // Take the stars near the enemy first, with the base guarded or not.
    Plan { shy: -20, ..PLAIN },
    Plan { value: 10, shy: -40, guard: false, ..PLAIN },
    // Strike with more ships, or with a few and the base open.
    Plan { strike: 8, largest: 3, ..PLAIN },
    Plan { value: 10, guard: false, strike: 4, largest: 4, ..PLAIN },
    // Go for the most valuable stars, in large ships.
    Plan { value: 40, shy: 10, hunt: 40, largest: 4, ..PLAIN },
    // Build ships that withstand the enemy's.
    Plan { shy: 10, hunt: 20, armour: 2, ..PLAIN },
    Plan { shy: 10, hunt: 20, armour: 1, ..PLAIN },
    Plan { value: 10, hunt: 40, armour: 2, ..PLAIN },
    Plan { shy: 10, hunt: 60, guard: false, armour: 2, ..PLAIN },
    Plan { value: 0, largest: 1, armour: 1, ..PLAIN },
    Plan { hunt: 20, strike: 5, largest: 3, armour: 3, ..PLAIN },
];

/// Plays pairs of plans a few turns ahead on guesses of the galaxy, mixes the plans by their payoffs, draws one, and
/// improves its orders. Counts the turns that it plays ahead.
fn choose_with_guesses(
    seen: &Seen<View, Order>,
    insight: Insight<'_, View>,
    dice: &mut Dice,
) -> Chosen<Order> {
    let known = Known::from_view(seen.now());
    let followed = FOLLOWED / seen.before().count().max(1);
    let theirs = PLANS.into_iter().cycle().take(followed.clamp(EFFORT.trials, EFFORT.guesses));
    let Some(mut guesses) = guesses(seen, insight, theirs, dice) else {
        return Chosen { orders: plan::orders(&known, &PLANS[0], dice), positions: 1 };
    };
    dice.shuffle(&mut guesses);
    guesses.truncate(affordable(&guesses[0].state));
    // Different dice from the ones that draw the plan.
    let mut ahead = Ahead { me: seen.seat(), guesses: &guesses, dice: dice.clone().mixed(7), played: 0 };
    let rows = best_own(&mut ahead);
    let columns = best_theirs(&mut ahead);
    let payoffs: Vec<Vec<i32>> = rows.iter().map(|own| payoffs(&mut ahead, own, &columns)).collect();
    let plan = rows[mixture::draw(&payoffs, dice)];
    let orders = plan::orders(&known, &plan, dice);
    let orders = refine(&mut ahead, &known, &plan, orders, EFFORT.tries);
    Chosen { orders, positions: ahead.played }
}

/// The number of guesses on which plans are played: fewer if there are many ships, whose turns take longer.
fn affordable(state: &State) -> usize {
    let ships: usize = Seat::BOTH.map(|seat| state.sides[seat].ships.len()).iter().sum();
    (EFFORT.guesses * SHIPS / ships.max(1)).clamp(EFFORT.trials, EFFORT.guesses)
}

/// The seat's best plans against the enemy's plans in the first guesses.
fn best_own(ahead: &mut Ahead<'_>) -> Vec<Plan> {
    let trials = ahead.guesses.iter().take(EFFORT.trials);
    best(|own| trials.clone().map(|guess| ahead.outlook(guess, (own, &guess.plan), EFFORT.turns)).sum())
}

/// The enemy's plans that cost the seat most in the first guesses, if the seat follows the first of
/// [`PLANS`].
fn best_theirs(ahead: &mut Ahead<'_>) -> Vec<Plan> {
    let trials = ahead.guesses.iter().take(EFFORT.trials);
    best(|theirs| -> i32 {
        trials.clone().map(|guess| -ahead.outlook(guess, (&PLANS[0], theirs), EFFORT.turns)).sum()
    })
}

/// Returns the plans of highest worth, as many as are kept.
fn best(mut worth: impl FnMut(&Plan) -> i32) -> Vec<Plan> {
    let mut plans = PLANS.to_vec();
    plans.sort_by_cached_key(|plan| -worth(plan));
    plans.truncate(EFFORT.kept);
    plans
}

/// Returns the worth of a plan against each plan of the enemy, summed over all guesses.
fn payoffs(ahead: &mut Ahead<'_>, own: &Plan, columns: &[Plan]) -> Vec<i32> {
    let guesses = ahead.guesses;
    let payoff = |theirs| guesses.iter().map(|guess| ahead.outlook(guess, (own, theirs), EFFORT.turns)).sum();
    columns.iter().map(payoff).collect()
}

#[cfg(test)]
mod tests {
    use super::refine::{Ahead, Tries, refine};
    use super::*;
    use crate::game::quadrant_z::{
        Battle, Capture, Class, Layout, Options, Quadrant, Ship, Side, Square, State,
    };
    use crate::game::{BySeat, Game, Outcome, Reason, Seat};
    use crate::house::support::{options, score, seal_orders};
    use crate::random_play::RandomPlay;

    /// Options under which random matches are played.
    fn variety(seed: u64) -> Options {
        match seed % 4 {
            0 => options(&[("casualties", "ask"), ("damage", "full")]),
            1 => options(&[("layout", "block")]),
            _ => options(&[]),
        }
    }

    #[test]
    fn a_search_knows_what_the_view_would_tell() {
        let mut turns = 0;
        for seed in 0..20 {
            let mut state = State::start(&variety(seed));
            let mut dice = Dice::new(seed);
            while let Some(due) = state.due() {
                if due.phase == Phase::Turn {
                    for seat in Seat::BOTH {
                        assert_eq!(Known::from_state(&state, seat), Known::from_view(&state.view(seat)));
                    }
                    turns += 1;
                }
                state = state.play_at_random(&mut |n| dice.below(n as usize) as u32);
            }
        }
        assert!(turns > 100, "{turns}");
    }

    fn level(wanted: Level) -> &'static HouseLevel {
        LEVELS.iter().find(|level| Level::of(level) == wanted).expect("it plays")
    }

    /// Plays a match between these levels and calls `met` before each turn of a seat, with what it has seen.
    fn follow(levels: BySeat<Level>, seed: u64, mut met: impl FnMut(&State, &Seen<View, Order>)) -> State {
        let mut state = State::start(&variety(seed));
        let mut seen = BySeat::from_fn(|seat| Seen::begin(&state, seat));
        let mut turns = 0;
        while let Some(due) = state.due() {
            let mut filed = BySeat::new(None, None);
            for seat in due.seats {
                if due.phase == Phase::Turn {
                    met(&state, &seen[seat]);
                }
                turns += 1;
                let chosen = play(&seen[seat], level(levels[seat]), Dice::new(seed).mixed(turns));
                filed[seat] = Some(seal_orders::<State>(seen[seat].now(), &chosen.orders));
            }
            state = state.adjudicate(&filed);
            for seat in Seat::BOTH {
                seen[seat].add(filed[seat].clone(), &state);
            }
        }
        state
    }

    #[test]
    fn guesses_fit_what_the_seat_was_told() {
        let mut guessed = 0;
        for seed in 0..8 {
            follow(BySeat::new(Level::Easy, Level::Average), seed, |_, seen| {
                let view = seen.now();
                let guesses = belief::guesses(seen, Insight::Told, PLANS.into_iter(), &mut Dice::new(seed));
                for guess in guesses.expect("the match was seen from its beginning") {
                    let known = guess.state.view(seen.seat());
                    assert_eq!((known.turn, known.stock, known.score), (view.turn, view.stock, view.score));
                    assert_eq!((&known.ships, &known.stars), (&view.ships, &view.stars));
                    assert_eq!(Known::from_state(&guess.state, seen.seat()), Known::from_view(view));
                    let is_quiet =
                        |at: Square| view.battles.iter().all(|battle| battle.quadrant != at.quadrant());
                    for intruder in view.intruders.iter().filter(|intruder| is_quiet(intruder.at)) {
                        let ships = &guess.state.sides[seen.seat().other()].ships;
                        let there = ships.iter().filter(|ship| ship.at == intruder.at);
                        let size: u16 = there.map(|ship| ship.class.size()).sum();
                        assert_eq!(size, intruder.size, "{intruder:?}");
                    }
                    for capture in view.captures.iter().filter(|capture| capture.by != seen.seat()) {
                        let ships = &guess.state.sides[seen.seat().other()].ships;
                        let there = ships.iter().filter(|ship| ship.at == capture.at);
                        let offence: u16 = there.map(|ship| ship.class.offence).sum();
                        assert!(offence >= capture.offence, "{capture:?}");
                    }
                    guessed += 1;
                }
            });
        }
        assert!(guessed > 400, "{guessed}");
    }

    /// The points of ships that both sides of a comparison have in a quadrant.
    fn common(one: &[Ship], other: &[Ship]) -> u32 {
        let there = |ships: &[Ship], quadrant| -> u16 {
            ships.iter().filter(|ship| ship.at.quadrant() == quadrant).map(|ship| ship.class.size()).sum()
        };
        Quadrant::all().map(|quadrant| u32::from(there(one, quadrant).min(there(other, quadrant)))).sum()
    }

    #[test]
    fn what_was_told_makes_better_guesses_than_setups_alone() {
        let mut right = 0;
        let mut right_blind = 0;
        for seed in 0..8 {
            follow(BySeat::new(Level::Easy, Level::Average), seed, |state, seen| {
                let foe = seen.seat().other();
                let right_of = |insight: Insight<'_, View>| -> u32 {
                    let plans = PLANS.into_iter().take(4);
                    let guesses =
                        belief::guesses(seen, insight, plans, &mut Dice::new(seed)).expect("its setup");
                    guesses
                        .iter()
                        .map(|guess| common(&guess.state.sides[foe].ships, &state.sides[foe].ships))
                        .sum()
                };
                right += right_of(Insight::Told);
                right_blind += right_of(Insight::Blind);
            });
        }
        assert!(
            right * 4 > right_blind * 5,
            "{right} points of ships are guessed right, {right_blind} without news"
        );
    }

    /// A match after the setups of the house, as the first seat has seen it.
    fn set_up() -> (State, Seen<View, Order>) {
        let state = State::start(&options(&[]));
        let mut seen = Seen::begin(&state, Seat::First);
        let filed = BySeat::from_fn(|seat| {
            let orders = belief::draw(Layout::Triangle, seat, Level::Average, &mut Dice::new(1));
            Some(seal_orders::<State>(&state.view(seat), &orders))
        });
        let state = state.adjudicate(&filed);
        seen.add(filed.first, &state);
        (state, seen)
    }

    #[test]
    fn a_fleet_is_corrected_by_entries_and_captures() {
        let at = |text: &str| Square::parse(text).expect("a square");
        let ship = |no, text: &str| Ship { no, class: Class { offence: 1, defence: 0 }, at: at(text) };
        let (mut state, seen) = set_up();
        let mut view = seen.now().clone();
        let before = [ship(1, "O1"), ship(2, "S1"), ship(3, "X1")];
        // The second one is guessed to have entered N, but that was not reported; one entered R, one captured a
        // star.
        let foe = &mut state.sides.second;
        foe.ships = vec![ship(1, "O1"), ship(2, "N1"), ship(3, "X1")];
        foe.highest = 3;
        view.entries = vec![at("R1").quadrant()];
        view.captures = vec![Capture { by: Seat::Second, at: at("O2"), value: 1, offence: 1 }];
        tracking::correct(&mut state, &before, &view, 12, &mut Dice::new(1));
        let foe = &state.sides.second;
        assert_eq!(
            foe.ships.iter().map(|ship| ship.class.size()).sum::<u16>(),
            3,
            "12 of 15 points are lost"
        );
        let places: Vec<String> = foe.ships.iter().map(|ship| ship.at.quadrant().to_string()).collect();
        assert_eq!((foe.ships[0].at, &places[1..]), (at("O2"), &["R".to_owned(), "X".to_owned()][..]));
    }

    /// Tells the seat, whose only ship is at M1, of a standoff in M, and corrects a fleet that has not moved.
    /// Returns the enemy's ships that are in M afterwards.
    fn after_a_standoff(ships: &[(&str, Class)], battle: Option<Side<u16>>) -> Vec<(String, Class)> {
        let at = |text: &str| Square::parse(text).expect("a square");
        let (mut state, seen) = set_up();
        let before: Vec<Ship> =
            (1..).zip(ships).map(|(no, &(text, class))| Ship { no, class, at: at(text) }).collect();
        let foe = &mut state.sides.second;
        (foe.ships, foe.highest) = (before.clone(), before.len() as u16);
        let lost = 15 - before.iter().map(|ship| ship.class.size()).sum::<u16>();
        let mut view = seen.now().clone();
        let quadrant = at("M1").quadrant();
        view.ships = vec![Ship { no: 1, class: Class { offence: 3, defence: 3 }, at: at("M1") }];
        view.standoffs = vec![quadrant];
        let own = Side { offence: 2, defence: 3, damage: 0, lost: Vec::new() };
        let sunk = battle.map_or(0, |enemy| enemy.lost);
        view.battles = battle.map(|enemy| Battle { quadrant, own, enemy }).into_iter().collect();
        tracking::correct(&mut state, &before, &view, lost + sunk, &mut Dice::new(1));
        let there = state.sides.second.ships.iter().filter(|ship| ship.at.quadrant() == quadrant);
        there.map(|ship| (ship.at.to_string(), ship.class)).collect()
    }

    #[test]
    fn a_standoff_without_a_battle_tells_the_square() {
        let small = Class { offence: 1, defence: 0 };
        assert_eq!(after_a_standoff(&[("M2", small), ("X1", small)], None), [("M4".to_owned(), small)]);
        // A ship from the next quadrant, because none was guessed to be in M.
        assert_eq!(after_a_standoff(&[("R2", small), ("X1", small)], None), [("M4".to_owned(), small)]);
    }

    #[test]
    fn a_battle_leaves_what_its_totals_tell() {
        let [small, large] = [Class { offence: 1, defence: 0 }, Class { offence: 2, defence: 2 }];
        let fleet = [("M2", small), ("M4", large), ("X1", small)];
        let enemy = |offence, defence, damage, lost| Some(Side { offence, defence, damage, lost });
        // Less was lost than the damage would have taken: nothing is left.
        assert_eq!(after_a_standoff(&fleet, enemy(1, 0, 2, 1)), []);
        // One point of five was lost.
        assert_eq!(after_a_standoff(&fleet, enemy(3, 2, 1, 1)), [("M4".to_owned(), large)]);
        // Nothing was lost.
        assert_eq!(after_a_standoff(&fleet, enemy(3, 2, 0, 0)).len(), 2);
    }

    #[test]
    fn orders_are_refined_for_the_better_only() {
        let mut better = 0;
        let mut turns = 0;
        for seed in 0..4 {
            follow(BySeat::new(Level::Easy, Level::Average), seed, |_, seen| {
                let plan = PLANS[0];
                let known = Known::from_view(seen.now());
                let plans = PLANS.into_iter().take(2);
                let guesses =
                    belief::guesses(seen, Insight::Told, plans, &mut Dice::new(seed)).expect("its setup");
                let mut ahead =
                    Ahead { me: seen.seat(), guesses: &guesses, dice: Dice::new(seed), played: 0 };
                let orders = plan::orders(&known, &plan, &mut Dice::new(seed));
                let refined =
                    refine(&mut ahead, &known, &plan, orders.clone(), Tries { squares: 6, turns: 2 });
                seal_orders::<State>(seen.now(), &refined);
                let answers = ahead.answers();
                let mut worth = |orders: &[Order]| ahead.outcome(orders, &answers, &plan, 2);
                let [before, after] = [worth(&orders), worth(&refined)];
                assert!(after >= before, "{orders:?} are worth {before}, {refined:?} {after}");
                better += u32::from(after > before);
                turns += 1;
            });
        }
        assert!(better * 10 > turns, "{better} of {turns} were better");
    }

    #[test]
    fn a_view_that_hides_nothing_makes_every_guess_right() {
        let mut compared = 0;
        follow(BySeat::new(Level::Easy, Level::Average), 3, |state, seen| {
            let over = state.close(Outcome { winner: None, reason: Reason::DrawAgreed });
            let open = over.view(seen.seat());
            let plans = PLANS.into_iter().take(2);
            let guesses = belief::guesses(seen, Insight::Open(&open), plans, &mut Dice::new(1));
            for guess in guesses.expect("the match was seen from its beginning") {
                let [guessed, real] = [&guess.state, state].map(|state| &state.sides[seen.seat().other()]);
                assert_eq!((&guessed.ships, guessed.base), (&real.ships, real.base));
                let values =
                    |state: &State| Square::all().map(|at| state.stars.at(at).value()).collect::<Vec<_>>();
                assert_eq!(values(&guess.state), values(state));
                compared += 1;
            }
        });
        assert!(compared > 10, "{compared}");
    }

    #[test]
    fn each_level_wins_most_matches_against_the_one_below() {
        for (strong, weak) in [(Level::Average, Level::Easy), (Level::Easy, Level::Trainer)] {
            let winner = |levels, seed| follow(levels, seed, |_, _| {}).outcome().expect("it is over").winner;
            let (won, lost) = score([strong, weak], 20, winner);
            assert!(won - lost >= 8, "{strong} against {weak}: {won} to {lost}");
        }
    }
}
