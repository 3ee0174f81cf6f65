//! Whole matches of Quadrant Z by random play, and the templates in every phase of them: each value that they
//! use exists, no line is too wide, and no line of a quoted letter would be read as an order.

use std::collections::BTreeSet;

use fogpost::game::picture::Shape;
use fogpost::game::quadrant_z::{Options, Order, State};
use fogpost::game::{BySeat, Game, Options as _, Phase, Reason, Sealed, Seat, Syntax};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};

use fogpost_testing::random::dice;
use fogpost_testing::random_play::RandomPlay as _;

/// Options that differ by seed. The first eight seeds cover every value of each.
fn options(seed: u64) -> Options {
    let mut options = Options::default();
    for (bit, (name, value)) in
        [("layout", "block"), ("damage", "full"), ("casualties", "ask")].iter().enumerate()
    {
        if seed >> bit & 1 == 1 {
            options.set(name, value).unwrap();
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
    let mut ends = BTreeSet::new();
    for seed in 0..40 {
        ends.insert(play(seed, |_| {}).outcome().unwrap().reason);
    }
    for reason in [Reason::BaseCaptured, Reason::FleetDestroyed, Reason::MostStars] {
        assert!(ends.contains(&reason), "{reason:?} never came up");
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
fn boards_name_every_quadrant() {
    for seed in 0..8 {
        play(seed, |state| {
            for viewer in Seat::BOTH {
                let board = State::board(&state.view(viewer));
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

const TEMPLATES: [&str; 5] = [
    "match/board.txt",
    "quadrant-z/news.txt",
    "quadrant-z/knows.txt",
    "quadrant-z/form.txt",
    "quadrant-z/rules.txt",
];

fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    env.set_syntax(syntax.unwrap());
    for name in TEMPLATES {
        let path = format!("{}/templates/{name}", env!("CARGO_MANIFEST_DIR"));
        env.add_template_owned(name, std::fs::read_to_string(path).unwrap()).unwrap();
    }
    env
}

/// Everything that a seat is sent with `state`, after an adjudication or at the beginning.
fn written(
    env: &Environment<'_>,
    state: &State,
    decided: Option<&Decided>,
    seat: Seat,
    html: bool,
) -> Vec<String> {
    let mut view = state.view(seat);
    let phase = decided.and_then(|decided| decided.before.due()).map(|due| due.phase);
    if let Some(Decided { before, filed, .. }) = decided {
        let filed = filed[seat].as_ref().map(Sealed::orders).unwrap_or_default();
        State::tell_deeds(&mut view, &before.view(seat), filed);
    }
    let due = state.due();
    let context = serde_json::json!({
        "view": view,
        "extra": State::extra(&view),
        "me": seat,
        "foe": seat.other(),
        "names": { "first": "Ann", "second": "Bo" },
        "phase": phase,
        "due": due,
        "options": state.options().in_force(),
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
