//! Renders the templates of War in the Pacific in every phase of random matches: each value that they use exists, no
//! line is too wide, and no line of a quoted letter would be read as an order.

#[path = "support/random.rs"]
mod random;

use std::collections::BTreeMap;

use fogpost::game::pacific::{Destroyers, Options, State};
use fogpost::game::testing::RandomPlay;
use fogpost::game::{BySeat, Due, Game, Options as _, Outcome, Phase, Reason, Seat, Syntax};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};

use crate::random::dice;

const TEMPLATES: [(&str, &str); 5] = [
    ("news", include_str!("../templates/pacific/news.txt")),
    ("knows", include_str!("../templates/pacific/knows.txt")),
    ("form", include_str!("../templates/pacific/form.txt")),
    ("rules", include_str!("../templates/pacific/rules.txt")),
    ("board.txt", include_str!("../templates/board.txt")),
];

fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    env.set_syntax(syntax.expect("the default delimiters are valid"));
    for (name, source) in TEMPLATES {
        env.add_template(name, source).expect("the template parses");
    }
    env
}

fn render(env: &Environment<'_>, name: &str, state: &State, due: &Due, me: Seat) -> String {
    let view = state.view(me);
    let options = Options::RULES.iter().map(|rule| (rule.name, state.options().get(rule.name)));
    let options: BTreeMap<_, _> = options.collect();
    let context = serde_json::json!({
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
    });
    let text = env.get_template(name).and_then(|template| template.render(minijinja::value::Serde(&context)));
    text.unwrap_or_else(|fault| panic!("{name} for {me} after {}: {fault:#}", due.phase))
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
                check("knows", &render(&env, "knows", &state, &due, me));
            }
            for me in &due.seats {
                check("form", &render(&env, "form", &state, &due, *me));
            }
            state = state.play_at_random(&mut dice);
            for me in Seat::BOTH {
                check("news", &render(&env, "news", &state, &due, me));
            }
        }
        let last = Due { phase: Phase::Surface, turn: 0, seats: Vec::new() };
        let closed = state.close(Outcome { winner: None, reason: Reason::DrawAgreed });
        for state in [&state, &closed] {
            for me in Seat::BOTH {
                check("knows", &render(&env, "knows", state, &last, me));
                check("news", &render(&env, "news", state, &last, me));
            }
        }
    }
}

#[test]
fn the_rules_are_narrow_and_hold_no_order() {
    check("rules", TEMPLATES[3].1);
}
