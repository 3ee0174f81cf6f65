//! Whole matches by random play: what must hold at every step.

use super::fleet::{Class, Ship};
use super::galaxy::{Quadrants, Square};
use super::state::Star;
use super::*;
use crate::game::Reason;
use crate::game::picture::Shape;
use crate::game::random::dice;
use crate::game::testing::RandomPlay;

/// Options that differ by seed. The first eight seeds cover every value of each.
fn options(seed: u64) -> Options {
    let mut options = Options::default();
    for (bit, (name, value)) in
        [("layout", "block"), ("damage", "full"), ("casualties", "ask")].iter().enumerate()
    {
        if seed >> bit & 1 == 1 {
            crate::game::Options::set(&mut options, name, value).unwrap();
        }
    }
    options
}

/// An adjudication: the states before and after, and the orders between.
struct Decided {
    before: State,
    filed: BySeat<Option<Sealed<Order>>>,
    after: State,
}

/// Plays a match to its end and passes every state to `each`, starting with the initial one.
fn play(seed: u64, mut each: impl FnMut(&State)) -> State {
    each(&State::start(&options(seed)));
    play_phases(seed, |decided| each(&decided.after))
}

/// Plays a match to its end and passes every adjudication to `each`.
fn play_phases(seed: u64, mut each: impl FnMut(&Decided)) -> State {
    let mut dice = dice(seed);
    let mut state = State::start(&options(seed));
    while let Some(due) = state.due() {
        let mut filed = BySeat::new(None, None);
        for seat in due.seats {
            filed[seat] = state.random_orders(seat, &mut dice);
        }
        let after = state.adjudicate(&filed);
        let decided = Decided { before: state, filed, after };
        each(&decided);
        state = decided.after;
    }
    state
}

#[test]
fn random_matches_end_in_different_ways() {
    let mut ends = std::collections::BTreeSet::new();
    for seed in 0..40 {
        ends.insert(play(seed, |_| {}).outcome().unwrap().reason);
    }
    for reason in [Reason::BaseCaptured, Reason::FleetDestroyed, Reason::MostStars] {
        assert!(ends.contains(&reason), "{reason:?} never came up");
    }
}

/// Changes everything about the enemy that the rules hide. The viewer must see no difference.
#[test]
fn hidden_state_changes_no_view() {
    for seed in 0..8 {
        play(seed, |state| {
            for viewer in Seat::BOTH {
                if !matches!(state.stage, Stage::Turn) {
                    continue;
                }
                let view = state.view(viewer);
                let (mut other, enemy) = (state.clone(), viewer.other());
                let side = &mut other.sides[enemy];
                side.stock += 1;
                side.highest += 1;
                side.losses = vec![side.highest];
                side.charted = Quadrants::default();
                side.base =
                    side.base.and_then(|base| base.quadrant().squares().find(|square| *square != base));
                for ship in &mut side.ships {
                    ship.no += 1;
                    std::mem::swap(&mut ship.class.offence, &mut ship.class.defence);
                }
                for (at, star) in state.stars.iter() {
                    let charted = state.sides[viewer].charted.contains(at.quadrant());
                    if !charted && star.captured_by.is_none() {
                        other.stars.at_mut(at).placed[enemy] += 1;
                    }
                }
                assert_eq!(other.view(viewer), view);
                assert_eq!(State::board(&other.view(viewer)), State::board(&view));
            }
        });
    }
}

#[test]
fn a_seat_that_is_not_asked_sees_the_turn_before() {
    let mut asked = 0;
    for seed in [4, 5, 6, 7, 12, 13, 14, 15] {
        let mut before = None;
        play(seed, |state| {
            if let Some(due) = state.due().filter(|due| due.phase == Phase::Casualties) {
                asked += 1;
                for seat in Seat::BOTH {
                    let seen = |state: &State| serde_json::to_value(state.view(seat)).unwrap();
                    let (mut now, mut then) = (seen(state), seen(before.as_ref().unwrap()));
                    if due.seats.contains(&seat) {
                        for view in [&mut now, &mut then] {
                            view["ships"].take();
                            view["battles"].take();
                        }
                    }
                    assert_eq!(now, then);
                }
            }
            before = Some(state.clone());
        });
    }
    assert!(asked > 8, "asked {asked} times only");
}

#[test]
fn boards_are_narrow_and_name_every_quadrant() {
    for seed in 0..8 {
        play(seed, |state| {
            for viewer in Seat::BOTH {
                let board = State::board(&state.view(viewer));
                assert!(board.text.lines().all(|line| line.chars().count() <= 68), "{}", board.text);
                assert!(board.text.ends_with('\n'));
                for letter in 'A'..='Y' {
                    let letter_text = letter.to_string();
                    let is_letter =
                        |shape: &Shape| matches!(shape, Shape::Text { text, .. } if *text == letter_text);
                    assert!(board.picture.shapes.iter().any(is_letter), "{letter}");
                    let heading = ['=', '~', '-'].map(|line| format!("+{line}{letter}"));
                    assert!(
                        heading.iter().any(|heading| board.text.contains(heading)),
                        "{letter}\n{}",
                        board.text
                    );
                }
            }
        });
    }
}

/// A state in which each side has one ship and its base; `stars` gives the value and captor of the others.
fn scored(stars: &[(u8, Option<Seat>)]) -> State {
    let mut state = State { stage: Stage::Turn, ..State::start(&Options::default()) };
    for (seat, base) in [(Seat::First, "A1"), (Seat::Second, "Y1")] {
        let at = Square::parse(base).unwrap();
        state.stars.at_mut(at).placed[seat] = 3;
        state.sides[seat].base = Some(at);
        state.sides[seat].ships = vec![Ship { no: 1, class: Class { offence: 1, defence: 0 }, at }];
    }
    let free = Square::all().filter(|at| state.base_of(*at).is_none()).collect::<Vec<_>>();
    for (at, (value, captured_by)) in free.into_iter().zip(stars) {
        *state.stars.at_mut(at) = Star { placed: BySeat::new(*value, 0), captured_by: *captured_by };
    }
    let nothing = BySeat::from_fn(|_| Some(Sealed::new(Vec::new())));
    state.adjudicate(&nothing)
}

#[test]
fn more_than_half_of_all_stars_win() {
    let (first, second) = (Some(Seat::First), Some(Seat::Second));
    let half = scored(&[(1, first), (1, first), (1, None), (1, None)]);
    assert_eq!(half.outcome(), None);
    let more = scored(&[(1, second), (1, second), (1, second), (1, None), (1, first)]);
    assert_eq!(more.outcome(), None, "three of seven");
    let most = scored(&[(1, second), (1, second), (1, second), (1, None)]);
    assert_eq!(most.outcome(), None, "three of six are half");
    let most = scored(&[(1, second), (1, second), (1, second)]);
    assert_eq!(most.outcome(), Some(Outcome { winner: second, reason: Reason::MostStars }));
}

#[test]
fn stars_decide_when_all_but_the_bases_are_captured() {
    let (first, second) = (Some(Seat::First), Some(Seat::Second));
    let more = scored(&[(1, first), (1, first), (3, second)]);
    assert_eq!(more.outcome(), Some(Outcome { winner: first, reason: Reason::MostStars }));
    let value = scored(&[(2, first), (1, first), (2, second), (2, second)]);
    assert_eq!(value.outcome(), Some(Outcome { winner: second, reason: Reason::MostStars }));
    let drawn = scored(&[(2, first), (2, second)]);
    assert_eq!(drawn.outcome(), Some(Outcome { winner: None, reason: Reason::DrawnOnStars }));
}

const TEMPLATES: [&str; 5] = [
    "match/board.txt",
    "quadrant-z/news.txt",
    "quadrant-z/knows.txt",
    "quadrant-z/form.txt",
    "quadrant-z/rules.txt",
];

fn environment() -> minijinja::Environment<'static> {
    let mut env = minijinja::Environment::new();
    env.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    let syntax = minijinja::syntax::SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    env.set_syntax(syntax.unwrap());
    for name in TEMPLATES {
        let path = format!("{}/templates/{name}", env!("CARGO_MANIFEST_DIR"));
        env.add_template_owned(name, std::fs::read_to_string(path).unwrap()).unwrap();
    }
    env
}

/// Everything that a seat is sent with `state`, after an adjudication or at the beginning.
fn written(
    env: &minijinja::Environment<'_>,
    state: &State,
    decided: Option<&Decided>,
    seat: Seat,
    html: bool,
) -> Vec<String> {
    let mut view = state.view(seat);
    let phase = decided.and_then(|decided| decided.before.phase());
    if let Some(Decided { before, filed, .. }) = decided {
        let filed = filed[seat].as_ref().map(Sealed::orders).unwrap_or_default();
        State::tell_deeds(&mut view, &before.view(seat), filed);
    }
    let options: std::collections::BTreeMap<_, _> = <Options as crate::game::Options>::RULES
        .iter()
        .map(|rule| (rule.name, crate::game::Options::get(&state.options, rule.name)))
        .collect();
    let due = state.due();
    let context = serde_json::json!({
        "view": view,
        "extra": State::extra(&view),
        "me": seat,
        "foe": seat.other(),
        "names": { "first": "Ann", "second": "Bo" },
        "phase": phase,
        "due": due,
        "options": options,
        "board": State::board(&view).text,
        "html": html,
        "match": { "id": "QZ-7K3M" },
        "open_turn": "turn 40",
    });
    let render =
        |name: &str| env.get_template(name).unwrap().render(minijinja::value::Serde(&context)).unwrap();
    let mut texts = vec![render("quadrant-z/knows.txt")];
    texts.push(render(if phase.is_some() { "quadrant-z/news.txt" } else { "quadrant-z/rules.txt" }));
    if due.is_some_and(|due| due.seats.contains(&seat)) {
        texts.push(render("quadrant-z/form.txt"));
    }
    texts
}

#[test]
fn letters_are_narrow_and_hold_no_line_that_reads_as_an_order() {
    let env = environment();
    let check = |seed: u64, state: &State, decided: Option<&Decided>| {
        for seat in Seat::BOTH {
            for text in written(&env, state, decided, seat, seed.is_multiple_of(3)) {
                assert!(!text.contains("\n\n\n"), "a gap:\n{text}");
                for line in text.lines() {
                    assert!(line.chars().count() <= 70, "{line}");
                    assert_eq!(line.trim_end(), line, "blanks at the end: {line:?}");
                    let bare = line.trim_start_matches([' ', '-', '>']);
                    assert!(bare.starts_with("| ") || State::parse(bare) == Err(Syntax::Unknown), "{line}");
                }
            }
        }
    };
    for seed in 0..8 {
        check(seed, &State::start(&options(seed)), None);
        play_phases(seed, |decided| check(seed, &decided.after, Some(decided)));
    }
}
