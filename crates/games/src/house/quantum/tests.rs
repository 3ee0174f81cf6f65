use super::*;
use crate::game::quantum::{PieceKind, State};
use crate::game::{BySeat, Game};
use crate::house::support::{after, options, score};
use crate::random_play::RandomPlay;

/// Positions that Expert looks at in these tests, so that debug builds finish soon.
const POSITIONS: u32 = 3_000;

fn start(jump: &str) -> State {
    State::start(&options(&[("jump", jump)]))
}

/// The view of either seat: nothing is hidden.
fn shown(state: &State) -> View {
    state.view(Seat::First)
}

/// Positions of random matches in which a side has a move.
fn random_states(matches: u64) -> Vec<State> {
    let mut states = Vec::new();
    for seed in 0..matches {
        let mut dice = Dice::new(seed);
        let mut state = start(if seed % 3 == 0 { "on" } else { "off" });
        while state.due().is_some() {
            if dice.below(6) == 0 && state.due().is_some_and(|due| !due.seats.is_empty()) {
                states.push(state.clone());
            }
            state = state.play_at_random(&mut |n| dice.below(n as usize) as u32);
        }
    }
    states
}

fn towers(state: &State, side: Seat) -> u8 {
    shown(state).towers[side]
}

/// Whether the side to move can make a tower, by the rules.
fn can_make_a_tower(state: &State) -> bool {
    let Some(side) = shown(state).to_move else { return false };
    let makes_one = |order: &Order| towers(&after(state, &[*order]), side) > towers(state, side);
    state.view(side).moves().iter().any(makes_one)
}

#[test]
fn the_house_knows_the_moves_of_the_rules_and_what_they_do() {
    let mut moves_seen = 0;
    for state in random_states(30) {
        let side = shown(&state).to_move.expect("the match runs");
        let view = state.view(side);
        let position = position_of(&view, side);
        let mut moves: Vec<Order> = position
            .moves()
            .into_iter()
            .map(|turn| {
                let spot = |square: u8| Spot::new(square % 8, square / 8).expect("on the board");
                Order::new(spot(turn.from), spot(turn.to))
            })
            .collect();
        moves.sort();
        let mut legal = view.moves();
        legal.sort();
        assert_eq!(moves, legal, "{state:?}");
        for turn in position.moves() {
            let spot = |square: u8| Spot::new(square % 8, square / 8).expect("on the board");
            let next = after(&state, &[Order::new(spot(turn.from), spot(turn.to))]);
            let other = side.other();
            let again = position_of(&next.view(other), other);
            let made = position.after(turn);
            assert_eq!((made.key, made.towers, made.quiet), (again.key, again.towers, again.quiet));
            moves_seen += 1;
        }
    }
    assert!(moves_seen > 10_000, "{moves_seen}");
}

#[test]
fn from_average_up_the_house_makes_a_third_tower_and_average_allows_none_that_it_can_stop() {
    let (mut won, mut stopped) = (0, 0);
    for (round, state) in (0..).zip(random_states(60)) {
        let side = shown(&state).to_move.expect("the match runs");
        let view = state.view(side);
        let nexts: Vec<State> = view.moves().iter().map(|&order| after(&state, &[order])).collect();
        let winning = nexts.iter().any(|next| next.outcome().is_some_and(|end| end.winner == Some(side)));
        let safe = nexts.iter().filter(|next| !can_make_a_tower(next)).count();
        let level = if winning && round % 2 == 0 { Level::Expert } else { Level::Average };
        let orders = choose_within(&view, level, Dice::new(round), POSITIONS).orders;
        let next = after(&state, &orders);
        if winning {
            assert_eq!(next.outcome().and_then(|end| end.winner), Some(side), "{state:?}");
            won += 1;
        } else if safe > 0 {
            assert!(!can_make_a_tower(&next), "{orders:?} in {state:?}");
            stopped += u32::from(safe < nexts.len());
        }
    }
    assert!(won > 5 && stopped > 50, "{won} {stopped}: too tame to show anything");
}

#[test]
fn the_dice_choose_among_several_first_moves() {
    let view = start("off").view(Seat::First);
    let mut moves: Vec<String> = (0..20)
        .map(|seed| choose_within(&view, Level::Expert, Dice::new(seed), POSITIONS).orders[0].to_string())
        .collect();
    moves.sort();
    moves.dedup();
    assert!(moves.len() >= 4, "{moves:?}");
}

/// Plays a match between two levels and returns the winner.
fn matched(levels: BySeat<Level>, seed: u64) -> Option<Seat> {
    played_on(start("off"), &levels, seed)
}

/// Plays a match to its end and returns the winner.
fn played_on(mut state: State, levels: &BySeat<Level>, seed: u64) -> Option<Seat> {
    while let Some(due) = state.due() {
        let Some(&side) = due.seats.first() else {
            state = state.adjudicate(&BySeat::new(None, None));
            continue;
        };
        let orders = choose_within(&state.view(side), levels[side], Dice::new(seed), POSITIONS).orders;
        state = after(&state, &orders);
    }
    state.outcome().and_then(|outcome| outcome.winner)
}

#[test]
fn average_beats_easy_and_easy_beats_trainer() {
    for (strong, weak) in [(Level::Average, Level::Easy), (Level::Easy, Level::Trainer)] {
        let (won, lost) = score([strong, weak], 20, |levels, seed| matched(levels, seed / 2));
        assert!(won - lost > 5, "{strong} against {weak}: {won} to {lost}");
    }
}

#[test]
fn easy_hardly_ever_fails_to_beat_random_moves() {
    let mut won = 0;
    for seed in 0..30 {
        let easy = if seed % 2 == 0 { Seat::First } else { Seat::Second };
        let mut dice = Dice::new(seed);
        let mut state = start("off");
        while let Some(due) = state.due() {
            state = if due.seats.contains(&easy) {
                let orders = choose(&state.view(easy), Level::Easy, Dice::new(seed)).orders;
                after(&state, &orders)
            } else {
                state.play_at_random(&mut |n| dice.below(n as usize) as u32)
            };
        }
        won += u32::from(state.outcome().is_some_and(|outcome| outcome.winner == Some(easy)));
    }
    assert!(won >= 29, "{won} of 30");
}

/// A state in which the enemy of `leader` has one or two single pieces left, on random squares.
fn nearly_taken(leader: Seat, dice: &mut Dice) -> State {
    let mut state = serde_json::to_value(start("off")).expect("plain JSON");
    let mut squares: Vec<Spot> = Spot::all().collect();
    let few = 1 + dice.below(2);
    let mut stack = |number: usize| {
        let at = squares.swap_remove(dice.below(squares.len()));
        let kind = PieceKind::ALL[dice.below(3)].letter().to_string();
        let (side, height) = if number < few { (leader.other(), 1) } else { (leader, 1 + dice.below(5)) };
        serde_json::json!({ "at": at, "side": side, "kind": kind, "height": height })
    };
    let stacks: Vec<serde_json::Value> = (0..few + 10).map(&mut stack).collect();
    state["board"] = stacks.into();
    state["to_move"] = serde_json::json!(leader);
    serde_json::from_value(state).expect("a state")
}

/// Whether a side has no stack below the height of a tower, and no side is ahead in towers.
fn is_taken_for_nothing(state: &State) -> bool {
    let view = shown(state);
    let low = |side| view.stacks.stacks().any(|(_, stack)| stack.side == side && stack.height < TOWER);
    view.towers.first == view.towers.second && !Seat::BOTH.into_iter().all(low)
}

/// Clauses 2.2 and 3.2: a tower needs an enemy stack to land on, and when the last is taken, the match ends.
#[test]
fn from_average_up_the_house_does_not_take_the_last_enemy_stack_without_a_tower() {
    let mut dice = Dice::new(1);
    let (mut spared, mut built) = (0, 0);
    for round in 0..120 {
        let leader = Seat::BOTH[dice.below(2)];
        let state = nearly_taken(leader, &mut dice);
        let view = state.view(leader);
        let is_possible = |order: &Order| is_taken_for_nothing(&after(&state, &[*order]));
        let could = view.moves().iter().any(is_possible);
        let level = if round % 4 == 0 { Level::Expert } else { Level::Average };
        let orders = choose_within(&view, level, Dice::new(round), POSITIONS).orders;
        let next = after(&state, &orders);
        assert!(!is_taken_for_nothing(&next), "{orders:?} in {state:?}");
        spared += u32::from(could);
        built += u32::from(towers(&next, leader) > 0);
    }
    assert!(spared > 10 && built > 10, "{spared} {built}: too tame to show anything");
}

#[test]
fn a_lead_counts_for_little_if_no_tower_can_be_built_with_it_any_more() {
    // The leader has twelve pieces, and in the last position also a tower.
    let worth = |heights: &[u8], enemies: u8| {
        let mut position = Position::new(0, 0, Terms { jump: false, quiet_limit: 100 });
        (0..).zip(heights).for_each(|(file, &height)| position.put(file, 0, PieceKind::Square, height));
        (0..enemies).for_each(|file| position.put(56 + file, 1, PieceKind::Square, 1));
        evaluate::worth(&position)
    };
    let (low, high) = (worth(&[2, 2, 2, 2, 2, 2], 2), worth(&[5, 2, 2, 1, 1, 1], 2));
    assert!(low > 0 && high > 2 * low, "{high} {low}");
    assert!(worth(&[6, 2, 2, 2, 2, 2, 2], 2) > 2 * low);
    // With many enemy pieces left it makes little difference.
    let (low, high) = (worth(&[2, 2, 2, 2, 2, 2], 8), worth(&[5, 2, 2, 1, 1, 1], 8));
    assert!(low > 0 && high < 2 * low, "{high} {low}");
}
