//! Renders the templates of War in the Pacific in every phase of random matches: each value that they use exists, no
//! line is too wide, and no line of a quoted letter would be read as an order.

use std::collections::BTreeMap;

use fogpost::game::pacific::{Destroyers, Options, State};
use fogpost::game::{BySeat, Due, Game, Options as _, Outcome, Phase, Reason, Seat, Syntax};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};
use serde_json::{Value, json};

use fogpost_testing::random::dice;
use fogpost_testing::random_play::RandomPlay as _;

const TEMPLATES: [(&str, &str); 5] = [
    ("news", include_str!("../../templates/pacific/news.txt")),
    ("knows", include_str!("../../templates/pacific/knows.txt")),
    ("form", include_str!("../../templates/pacific/form.txt")),
    ("rules", include_str!("../../templates/pacific/rules.txt")),
    ("match/board.txt", include_str!("../../templates/match/board.txt")),
];

fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    env.set_syntax(syntax.expect("the default delimiters are valid"));
    for (name, source) in TEMPLATES {
        env.add_template(name, source).expect("the template parses");
    }
    env.add_filter("begins", |name: &str| name.to_owned());
    env
}

fn context(state: &State, due: &Due, me: Seat) -> Value {
    let view = state.view(me);
    let options = Options::RULES.iter().map(|rule| (rule.name, state.options().get(rule.name)));
    let options: BTreeMap<_, _> = options.collect();
    json!({
        "view": view,
        "extra": State::extra(&view),
        "board": State::board(&view).text,
        "names": BySeat::new("Anastasia Featherstonehaugh", "Bo"),
        "html": false,
        "me": me,
        "foe": me.other(),
        "phase": due.phase,
        "due": due,
        "options": options,
        "adjudicated": { "zone": "Europe/Berlin", "phases": [{ "phase": "submarines", "turn": 1, "at": "14 May 09:12" }] },
    })
}

fn render(env: &Environment<'_>, name: &str, context: &Value) -> String {
    let text = env.get_template(name).and_then(|template| template.render(minijinja::value::Serde(context)));
    text.unwrap_or_else(|fault| panic!("{name} with {context}: {fault:#}"))
}

fn check(name: &str, text: &str) {
    for line in text.lines() {
        // With a mark at its end, a row of the board takes 70 columns.
        assert!(line.chars().count() <= 70, "{name}: too wide: {line}");
        let read = State::parse(line.trim().trim_start_matches("- "));
        assert_eq!(read, Err(Syntax::Unknown), "{name}: begins like an order: {line}");
    }
    assert!(!text.contains("\n\n\n"), "{name}: a gap:\n{text}");
}

#[test]
fn every_template_renders_in_every_phase() {
    let env = environment();
    for seed in 1..=4 {
        let mut dice = dice(seed);
        let destroyers = if seed % 2 == 0 { Destroyers::Seven } else { Destroyers::Eight };
        let options = Options { submarines: seed % 4 != 0, quiet_limit: 8, destroyers, ..Options::default() };
        let mut state = State::start(&options);
        while let Some(due) = state.due() {
            for me in Seat::BOTH {
                check("knows", &render(&env, "knows", &context(&state, &due, me)));
            }
            for me in &due.seats {
                check("form", &render(&env, "form", &context(&state, &due, *me)));
            }
            state = state.play_at_random(&mut dice);
            for me in Seat::BOTH {
                check("news", &render(&env, "news", &context(&state, &due, me)));
            }
        }
        let last = Due { phase: Phase::Surface, turn: 0, seats: Vec::new() };
        let closed = state.close(Outcome { winner: None, reason: Reason::DrawAgreed });
        for state in [&state, &closed] {
            for me in Seat::BOTH {
                check("knows", &render(&env, "knows", &context(state, &last, me)));
                check("news", &render(&env, "news", &context(state, &last, me)));
            }
        }
    }
}

#[test]
fn the_rules_are_narrow_and_hold_no_order() {
    check("rules", TEMPLATES[3].1);
}

/// What South reads about its first move in a random match.
fn at_souths_move() -> Value {
    let mut state = State::start(&Options::default());
    let mut dice = dice(1);
    loop {
        match state.due() {
            Some(due) if due.phase == Phase::Surface && due.seats == [Seat::First] => {
                return context(&state, &due, Seat::First);
            }
            _ => state = state.play_at_random(&mut dice),
        }
    }
}

#[test]
fn a_fleet_that_is_sunk_is_told_from_one_that_is_not_placed_yet() {
    let env = environment();
    let mut sunk = at_souths_move();
    sunk["view"]["ships"]["second"] = json!([]);
    let text = render(&env, "knows", &sunk);
    assert!(text.contains("None is left.") && !text.contains("None yet."), "{text}");
    let start = State::start(&Options::default());
    let due = start.due().expect("the setup");
    let text = render(&env, "knows", &context(&start, &due, Seat::First));
    assert!(text.contains("None yet.") && !text.contains("None is left."), "{text}");
}

#[test]
fn older_sightings_are_counted_in_good_english() {
    let env = environment();
    let sighting =
        json!({ "side": "first", "event": "sonar", "round": 3, "area": "C4", "sunk": 0, "contact": false });
    for (count, told) in
        [(15, None), (16, Some("1 older one is left out.")), (17, Some("2 older ones are left out."))]
    {
        let mut remembered = at_souths_move();
        remembered["extra"]["sightings"] = json!(vec![&sighting; count]);
        let text = render(&env, "knows", &remembered);
        assert_eq!(text.matches("you   sonar").count(), 15, "{text}");
        assert_eq!(text.lines().find(|line| line.contains("left out")), told, "{text}");
    }
}
