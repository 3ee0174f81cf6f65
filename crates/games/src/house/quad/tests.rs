use std::collections::BTreeSet;

use super::*;
use crate::game::quad::{STARS, State};
use crate::game::{BySeat, Game};
use crate::house::support::{after, options, score};
use crate::random_play::RandomPlay;

/// Positions that Expert looks at in these tests, so that debug builds finish soon.
const POSITIONS: u32 = 2_000;

fn start(swap: bool) -> State {
    State::start(&options(&[("swap", if swap { "on" } else { "off" })]))
}

/// The view of either seat: nothing is hidden.
fn shown(state: &State) -> View {
    state.view(Seat::First)
}

/// Plays a match between two levels and returns the winner.
fn matched(levels: BySeat<Level>, positions: u32, seed: u64) -> Option<Seat> {
    let mut state = start(seed % 4 == 3);
    while let Some(side) = shown(&state).to_move {
        let orders = choose_within(&state.view(side), levels[side], Dice::new(seed), positions).orders;
        state = after(&state, &orders);
    }
    state.outcome().and_then(|outcome| outcome.winner)
}

#[test]
fn easy_beats_trainer() {
    let (won, lost) =
        score([Level::Easy, Level::Trainer], 60, |levels, seed| matched(levels, POSITIONS, seed));
    assert!(won >= 2 * lost, "{won} to {lost}");
}

#[test]
fn average_beats_easy() {
    let (won, lost) =
        score([Level::Average, Level::Easy], 24, |levels, seed| matched(levels, 5 * POSITIONS, seed));
    assert!(won >= 2 * lost, "{won} to {lost}");
}

#[test]
fn expert_beats_average() {
    let (won, lost) =
        score([Level::Expert, Level::Average], 12, |levels, seed| matched(levels, POSITIONS, seed));
    assert!(won >= 2 * lost, "{won} to {lost}");
}

#[test]
fn expert_never_loses_to_trainer() {
    let (won, lost) =
        score([Level::Expert, Level::Trainer], 8, |levels, seed| matched(levels, EXPERT_POSITIONS, seed));
    assert_eq!(lost, 0, "{won} were won");
}

/// The points where a marble would complete a quad. Independent of the table of squares: treats the line from
/// the point to each marble as a side of a square, and looks for marbles on the other two corners.
fn plain_threats(state: &State, seat: Seat) -> Vec<Point> {
    let at = |point: Point| (i32::from(point.file()), i32::from(point.rank()));
    let view = shown(state);
    let marbles: Vec<_> = view.marbles[seat].iter().copied().map(at).collect();
    let stands = |point: Point| {
        Seat::BOTH
            .iter()
            .any(|&seat| view.marbles[seat].contains(&point) || view.stars[seat].contains(&point))
    };
    let completes = |point: Point| {
        let (x, y) = at(point);
        marbles.iter().any(|&(beside_x, beside_y)| {
            // The side from the point to this marble, turned to the left.
            let files = beside_x - x;
            let ranks = beside_y - y;
            marbles.contains(&(x - ranks, y + files))
                && marbles.contains(&(beside_x - ranks, beside_y + files))
        })
    };
    Point::all().filter(|&point| !stands(point) && completes(point)).collect()
}

/// A position after random turns; a turn that would end the match is skipped.
fn random_state(dice: &mut Dice) -> State {
    let mut state = start(false);
    for _ in 0..12 + dice.below(25) {
        let next = state.play_at_random(&mut |n| dice.below(n as usize) as u32);
        if next.outcome().is_none() {
            state = next;
        }
    }
    state
}

/// Clause 4. If there are more threats than pieces to block them, the house blocks as many as possible.
#[test]
fn from_average_up_the_house_completes_every_quad_and_blocks_every_threat_it_can() {
    let mut dice = Dice::new(1);
    let mut wins = 0;
    let mut blocks = 0;
    let mut several = 0;
    for round in 0..600 {
        let state = random_state(&mut dice);
        let Some(side) = shown(&state).to_move else { continue };
        let own = plain_threats(&state, side);
        let threats = plain_threats(&state, side.other());
        let level = if round % 4 == 0 { Level::Expert } else { Level::Average };
        let orders = choose_within(&state.view(side), level, Dice::new(round), 300).orders;
        let next = after(&state, &orders);
        if !own.is_empty() {
            assert!(!shown(&next).quads.is_empty(), "{level} missed a quad: {state:?}");
            wins += 1;
        } else if shown(&next).to_move.is_some() && shown(&next).marbles[side.other()].len() < 20 {
            let can_block = STARS - shown(&state).stars[side].len() + 1;
            let open = plain_threats(&next, side.other()).len();
            assert_eq!(open, threats.len().saturating_sub(can_block), "{level} left one open: {state:?}");
            blocks += u32::from(!threats.is_empty());
            several += u32::from(threats.len() > 1);
        }
    }
    assert!(wins > 50 && blocks > 50 && several > 20, "{wins} {blocks} {several}: too tame to show anything");
}

#[test]
fn the_house_plays_to_the_last_marble() {
    for seed in 0..12 {
        let mut state = start(seed % 2 == 0);
        let mut dice = Dice::new(seed);
        while let Some(side) = shown(&state).to_move {
            // Replace winning turns, so that the match goes on to the last marble.
            let view = state.view(side);
            // Near the end, enough positions for proofs.
            let positions = if shown(&state).turn < 38 { 50 } else { 3_200 };
            let orders = choose_within(&view, Level::ALL[dice.below(4)], Dice::new(seed), positions).orders;
            let next = after(&state, &orders);
            state = if shown(&next).quads.is_empty() {
                next
            } else {
                let harmless = |point: &Point| {
                    let next = after(&state, &[Order::Marble(*point)]);
                    shown(&next).quads.is_empty().then_some(next)
                };
                view.empty().iter().find_map(harmless).expect("some point completes no quad")
            };
        }
        assert_eq!(shown(&state).marbles.as_ref().map(Vec::len), BySeat::new(20, 20));
        assert!(choose(&state.view(Seat::First), Level::Expert, Dice::new(0)).orders.is_empty());
    }
}

/// A side without marbles cannot attack, although there are points that would make a threat.
#[test]
fn no_win_is_forced_without_a_marble_left() {
    let mut position = Position::new(0, |_| true);
    for point in ["F6", "G7", "D4"] {
        position.put_marble(0, Point::parse(point).expect("a point").index() as u8);
    }
    assert_ne!(position.attacks(0), 0);
    assert!(search::forced_win(&mut position.clone(), 100).0.is_none());
    // The other side has the last marble, and asks whether its turn would let this side win.
    (position.mover, position.marbles_left) = (1, [0, 1]);
    let key = position.key();
    thoughtful(&mut position, 3_200, LATER, &mut Dice::new(1));
    assert_eq!(position.key(), key);
}

/// A marble at the edge is worth having, too, unless it stands next to a corner.
#[test]
fn the_house_takes_over_a_good_first_marble() {
    for (point, swaps) in [("F6", true), ("A6", true), ("G1", true), ("A2", false), ("J11", false)] {
        let marble = Order::Marble(Point::parse(point).expect("a point"));
        let state = after(&start(true), &[marble]);
        let answer = choose_within(&state.view(Seat::Second), Level::Expert, Dice::new(1), 100).orders;
        assert_eq!(answer == [Order::Swap], swaps, "{point}: {answer:?}");
    }
}

#[test]
fn without_swap_the_house_opens_in_the_middle() {
    for seed in 0..50 {
        let opening = choose_within(&shown(&start(false)), Level::Expert, Dice::new(seed), 100).orders;
        let [Order::Marble(point)] = opening[..] else { panic!("{opening:?}") };
        assert!(point.off_centre() <= 2, "{point}");
    }
}

#[test]
fn levels_are_read_by_name() {
    assert_eq!(LEVELS.iter().map(|level| level.name).collect::<Vec<_>>(), Level::NAMES);
    for level in Level::ALL.iter().copied() {
        assert_eq!(Level::parse(&level.to_string().to_uppercase()), Some(level));
    }
    let called = |name: &str| LEVELS.iter().find(|level| level.is_called(name)).map(|level| level.name);
    assert_eq!(["medium", "Hard", "master"].map(called), [Some("average"), Some("expert"), None]);
}

/// Clause 4. The squares that are missed are drawn afresh each turn.
#[test]
fn trainer_overlooks_squares_at_odd_tilts_more_often_than_easy_and_no_others() {
    let at = |point: Point| (i32::from(point.file()), i32::from(point.rank()));
    let is_odd = |[a, b, ..]: &Quad| {
        let (from_x, from_y) = at(*a);
        let (to_x, to_y) = at(*b);
        let files = (to_x - from_x).abs();
        let ranks = (to_y - from_y).abs();
        files != 0 && ranks != 0 && files != ranks
    };
    let overlooked = |level: Level| {
        let mut dice = Dice::new(1);
        let missed: Vec<&Quad> = SQUARES.all.iter().filter(|quad| !level.sees(quad, &mut dice)).collect();
        assert!(missed.iter().all(|quad| is_odd(quad)), "{level}");
        missed.len()
    };
    assert_eq!(SQUARES.all.iter().filter(|quad| is_odd(quad)).count(), 660);
    // Two squares in five, and one in eight.
    assert!((230..=300).contains(&overlooked(Level::Trainer)), "{}", overlooked(Level::Trainer));
    assert!((55..=105).contains(&overlooked(Level::Easy)), "{}", overlooked(Level::Easy));
    assert_eq!([Level::Average, Level::Expert].map(overlooked), [0, 0]);
}

/// Clause 4: a handful of ways to attack.
#[test]
fn without_a_threat_only_the_most_promising_points_are_tried() {
    let mut state = start(false);
    for point in ["F6", "G7", "E4", "C8"] {
        state = after(&state, &[Order::Marble(Point::parse(point).expect("a point"))]);
    }
    let position = position_of(&state.view(Seat::First), Seat::First, |_| true);
    let tried = search::candidates(&position, 5);
    assert!(tried.iter().all(|turn| turn.stars == 0), "nothing has to be blocked");
    let promise = |point: u8| search::promise(&position, point);
    let least = tried.iter().map(|turn| promise(turn.marble)).min();
    let is_tried = |point: &u8| tried.iter().any(|turn| turn.marble == *point);
    let best_of_rest = points(position.free()).filter(|point| !is_tried(point)).map(promise).max();
    assert_eq!(tried.len(), 5);
    assert!(least >= best_of_rest, "{least:?} {best_of_rest:?}");
}

/// The values that a position keeps up to date while turns are played.
#[derive(Debug, PartialEq)]
struct Kept {
    key: u64,
    mover: usize,
    left: [[u8; 2]; 2],
    free: Set,
    /// For each side: the points that complete a quad, and the points that threaten to.
    threats: [Set; 2],
    attacks: [Set; 2],
    /// For each side: the squares with one to four of its marbles, on the whole board and through each point.
    squares: [[i32; 4]; 2],
    through: [Vec<i32>; 2],
}

impl Kept {
    fn of(position: &Position) -> Kept {
        let through = |side| {
            let points = Point::all().map(|point| point.index() as u8);
            points.flat_map(|point| [1, 2, 3].map(|marbles| position.count(side, marbles, point))).collect()
        };
        Kept {
            key: position.key(),
            mover: position.mover,
            left: [position.marbles_left, position.stars_left],
            free: position.free(),
            threats: [0, 1].map(|side| position.threats(side)),
            attacks: [0, 1].map(|side| position.attacks(side)),
            squares: [0, 1].map(|side| [1, 2, 3, 4].map(|marbles| position.all(side, marbles))),
            through: [0, 1].map(through),
        }
    }
}

#[test]
fn a_turn_that_is_played_and_taken_back_leaves_a_position_as_it_was() {
    let mut dice = Dice::new(3);
    let mut turns = 0;
    let mut with_stars = 0;
    for overlooks in [false, true].into_iter().cycle().take(40) {
        let state = random_state(&mut dice);
        let side = shown(&state).to_move.expect("a state in which the match runs");
        // Some squares are overlooked in every other position.
        let sees = |quad: &Quad| !overlooks || !quad[0].index().is_multiple_of(3);
        let mut position = position_of(&state.view(side), side, sees);
        let before = Kept::of(&position);
        for turn in search::candidates(&position, 8) {
            let point = |index: u8| Point::at(index).expect("a point of the board");
            let stars = points(turn.stars).map(|star| Order::Star(point(star)));
            let orders: Vec<Order> = stars.chain([Order::Marble(point(turn.marble))]).collect();
            let next = after(&state, &orders);
            let other = side.other();
            position.play(turn);
            assert_eq!(
                Kept::of(&position),
                Kept::of(&position_of(&next.view(other), other, sees)),
                "{orders:?}"
            );
            position.take_back(turn);
            assert_eq!(Kept::of(&position), before, "{orders:?}");
            turns += 1;
            with_stars += u32::from(turn.stars != 0);
        }
    }
    assert!(turns > 200 && with_stars > 20, "{turns} {with_stars}");
}

/// The eight symmetric images of a point.
fn images(point: Point) -> BTreeSet<u8> {
    let file = point.file();
    let rank = point.rank();
    let turned = |(file, rank): (u8, u8)| (rank, 10 - file);
    let mut images = BTreeSet::new();
    for mut place in [(file, rank), (10 - file, rank)] {
        for _ in 0..4 {
            images.insert(place.1 * 11 + place.0);
            place = turned(place);
        }
    }
    images
}

#[test]
fn each_of_the_20_kinds_has_a_worth_of_its_own_row_and_place() {
    let kinds: BTreeSet<BTreeSet<u8>> = Point::all().map(images).collect();
    assert_eq!(kinds.len(), 20);
    assert_eq!(WORTH.iter().map(|row| row.len()).sum::<usize>(), 20);
    for kind in kinds {
        let worths: BTreeSet<i32> = kind.iter().filter_map(|&at| Point::at(at)).map(worth).collect();
        assert_eq!(worths.len(), 1, "{kind:?}");
    }
}

#[test]
fn the_house_opens_at_every_point_that_is_about_as_fair_as_the_fairest_and_at_no_other() {
    let drawn: BTreeSet<u8> = (0..2_000).map(|seed| fair(&mut Dice::new(seed)).index() as u8).collect();
    let from_even = |at: &u8| (worth(Point::at(*at).expect("a point")) - EVEN).abs();
    let worst = drawn.iter().map(from_even).max().expect("it opens somewhere");
    let others = Point::all().map(|point| point.index() as u8).filter(|at| !drawn.contains(at));
    let nearest_other = others.map(|at| from_even(&at)).min().expect("it does not open everywhere");
    assert!(worst < nearest_other, "{worst} {nearest_other}");
    let nearest = drawn.iter().map(from_even).min().expect("it opens somewhere");
    assert!(worst - nearest <= MARGIN);
    // Each point occurs with all its mirror images.
    assert!(drawn.iter().all(|&at| images(Point::at(at).expect("a point")).is_subset(&drawn)), "{drawn:?}");
}
