//! The house: a computer player for Quantum, at four levels.
//!
//! It sees only its seat's view and plays by the rules. The same view, level and dice give the same turn, so
//! that an audit can repeat it: nothing here may depend on a clock. The seat and the level are chosen
//! elsewhere.

use position::{Move, Position, TOWERS_TO_WIN, Terms};

use crate::game::quantum::{Order, Spot, TOWER, View};
use crate::game::{Dice, Seat, Seen};
use crate::house::engine::root::Choice;
use crate::house::engine::{Chosen, House, HouseLevel, Level};

mod position;
mod search;

/// The computer player. Debug builds search less and so play other turns, which makes them another version.
pub(super) const HOUSE: House<View, Order> =
    House { version: if cfg!(debug_assertions) { 0 } else { 2 }, levels: LEVELS, play, with_insight: None };

/// The levels, the weakest first.
const LEVELS: &[HouseLevel] = &[
    Level::Trainer.described("looks at your next turn, and overlooks much of it", &[]),
    Level::Easy.described("looks at your next turn, and overlooks one threat in eight", &[]),
    Level::Average.described("looks a few turns ahead, and allows no tower that it can stop", &[]),
    Level::Expert.described("looks ten times as far through the turns that may follow", &[]),
];

/// Positions that Expert looks at in a turn; Average looks at a tenth. Debug builds are slow and do less.
const EXPERT_POSITIONS: u32 = if cfg!(debug_assertions) { 20_000 } else { 400_000 };
/// The turns that the dice may choose from after a search: in the opening, and later.
const IN_OPENING: Choice = Choice { margin: 40, wide: true };
const LATER: Choice = Choice { margin: 10, wide: false };
/// Maximum difference from the worth of the best turn, for the levels that look at one turn.
const SHALLOW_MARGIN: i32 = 20;
/// The number of turns, of both sides together, that count as the opening.
const OPENING_TURNS: u32 = 10;
/// Out of this many threats, Easy overlooks one and Trainer three.
const THREATS: usize = 8;

const NOTHING: Chosen<Order> = Chosen { orders: Vec::new(), positions: 0 };

/// Chooses the turn of a seat by its present view: nothing is hidden, so the past adds nothing.
fn play(seen: &Seen<View, Order>, level: &HouseLevel, dice: Dice) -> Chosen<Order> {
    choose(seen.now(), Level::of(level), dice)
}

/// Chooses a legal turn of the side to move. Empty if the match is over or the side has no move.
pub fn choose(view: &View, level: Level, dice: Dice) -> Chosen<Order> {
    choose_within(view, level, dice, EXPERT_POSITIONS)
}

/// Implements [`choose`] with an Expert that looks at `positions` positions.
fn choose_within(view: &View, level: Level, dice: Dice, positions: u32) -> Chosen<Order> {
    let mut dice = dice.mixed(u64::from(view.turn));
    let Some(position) = view.to_move.map(|side| position_of(view, side)) else { return NOTHING };
    let moves = position.moves();
    if moves.is_empty() {
        return NOTHING;
    }
    let choice = if view.turn < OPENING_TURNS { IN_OPENING } else { LATER };
    let (turn, positions) = match level {
        Level::Trainer => (shallow(&position, &moves, 3, &mut dice), 1),
        Level::Easy => (shallow(&position, &moves, 1, &mut dice), 1),
        Level::Average => thoughtful(&position, &safe(&position, moves), positions / 10, choice, &mut dice),
        Level::Expert => thoughtful(&position, &moves, positions, choice, &mut dice),
    };
    Chosen { orders: vec![to_order(turn)], positions: positions.into() }
}

fn to_order(turn: Move) -> Order {
    Order::new(spot_at(turn.from), spot_at(turn.to))
}

fn spot_at(square: u8) -> Spot {
    Spot::new(square % 8, square / 8).expect("the house moves on the board")
}

fn position_of(view: &View, side: Seat) -> Position {
    let terms = Terms { jump: view.jump, quiet_limit: 2 * view.quiet_limit };
    let mut position = Position::new(side as usize, view.quiet, terms);
    for (spot, stack) in view.stacks.stacks() {
        position.put(spot.index() as u8, stack.side as usize, stack.kind, stack.height);
    }
    position
}

/// Returns the moves after which the opponent cannot make a tower at once, if there are any, or the move that
/// wins.
fn safe(position: &Position, moves: Vec<Move>) -> Vec<Move> {
    if let Some(&wins) = moves.iter().find(|&&turn| wins(position, turn)) {
        return vec![wins];
    }
    let safe: Vec<Move> = moves.iter().copied().filter(|&turn| !position.after(turn).makes_tower()).collect();
    if safe.is_empty() { moves } else { safe }
}

fn wins(position: &Position, turn: Move) -> bool {
    position.stacked(turn) >= TOWER && position.towers[position.mover] + 1 >= TOWERS_TO_WIN
}

/// Chooses among the best moves after a search, and returns how many positions it looked at.
fn thoughtful(
    position: &Position,
    moves: &[Move],
    positions: u32,
    choice: Choice,
    dice: &mut Dice,
) -> (Move, u32) {
    let (rated, searched) = search::best(position, moves, positions, choice);
    (rated[dice.below(rated.len())].turn, searched)
}

/// Chooses by the opponent's stacking moves in its next turn, and overlooks some in [`THREATS`] of them.
/// Positions are rated as the search rates them: if only the pieces counted, one match in ten against random
/// moves would not be won.
fn shallow(position: &Position, moves: &[Move], overlooked: usize, dice: &mut Dice) -> Move {
    // Rolled once for each pair of squares, so that a threat is overlooked for every move considered.
    let sees: Vec<bool> = (0..64 * 64).map(|_| dice.below(THREATS) >= overlooked).collect();
    let sees = |turn: &Move| sees[usize::from(turn.from) * 64 + usize::from(turn.to)];
    let worth = |turn: Move| {
        if wins(position, turn) {
            return i32::MAX;
        }
        let next = position.after(turn);
        let answers = next.stacking_moves().into_iter().filter(sees).map(|answer| {
            if wins(&next, answer) { -search::DECIDED } else { search::worth(&next.after(answer)) }
        });
        answers.fold(-search::worth(&next), i32::min)
    };
    let rated: Vec<(i32, Move)> = moves.iter().map(|&turn| (worth(turn), turn)).collect();
    let best = rated.iter().map(|&(worth, _)| worth).max().expect("there is a move");
    let near: Vec<Move> = rated
        .into_iter()
        .filter(|&(worth, _)| worth >= best.saturating_sub(SHALLOW_MARGIN))
        .map(|(_, turn)| turn)
        .collect();
    near[dice.below(near.len())]
}

#[cfg(test)]
mod tests {
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
        let mut won = 0;
        let mut stopped = 0;
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
        let mut spared = 0;
        let mut built = 0;
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
            search::worth(&position)
        };
        let low = worth(&[2, 2, 2, 2, 2, 2], 2);
        let high = worth(&[5, 2, 2, 1, 1, 1], 2);
        assert!(low > 0 && high > 2 * low, "{high} {low}");
        assert!(worth(&[6, 2, 2, 2, 2, 2, 2], 2) > 2 * low);
        // With many enemy pieces left it makes little difference.
        let low = worth(&[2, 2, 2, 2, 2, 2], 8);
        let high = worth(&[5, 2, 2, 1, 1, 1], 8);
        assert!(low > 0 && high < 2 * low, "{high} {low}");
    }
}
