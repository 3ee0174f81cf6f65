//! Renders the templates of Quantum and Quad in random matches: each value that they use exists, no line is too wide,
//! and no line of a quoted letter would be read as an order.

use std::collections::BTreeMap;

use fogpost::game::quad;
use fogpost::game::quantum;
use fogpost::game::{BySeat, Due, Game, Numbered, Options, Outcome, Phase, Reason, Seat, Syntax};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};

use fogpost_testing::random::dice;
use fogpost_testing::random_play::RandomPlay;

/// `news`, `knows`, `form`, `rules`.
type Templates = [(&'static str, &'static str); 4];

const QUANTUM: Templates = [
    ("news", include_str!("../../templates/quantum/news.txt")),
    ("knows", include_str!("../../templates/quantum/knows.txt")),
    ("form", include_str!("../../templates/quantum/form.txt")),
    ("rules", include_str!("../../templates/quantum/rules.txt")),
];
const QUAD: Templates = [
    ("news", include_str!("../../templates/quad/news.txt")),
    ("knows", include_str!("../../templates/quad/knows.txt")),
    ("form", include_str!("../../templates/quad/form.txt")),
    ("rules", include_str!("../../templates/quad/rules.txt")),
];

fn environment(templates: Templates) -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    env.set_syntax(syntax.expect("the default delimiters are valid"));
    // The names used here are capitalized already.
    env.add_filter("begins", |name: &str| name.to_owned());
    for (name, source) in
        templates.into_iter().chain([("match/board.txt", include_str!("../../templates/match/board.txt"))])
    {
        env.add_template(name, source).expect("the template parses");
    }
    env
}

fn rendered<G: Game>(env: &Environment<'_>, name: &str, state: &G, due: &Due, me: Seat) -> String {
    let view = state.view(me);
    let options: BTreeMap<_, _> =
        G::Options::RULES.iter().map(|rule| (rule.name, state.options().get(rule.name))).collect();
    let context = serde_json::json!({
        "view": view,
        "extra": G::extra(&view),
        "board": G::board(&view).text,
        "names": BySeat::new("Anastasia Featherstonehaugh", "Bo"),
        "html": false,
        "me": me,
        "foe": me.other(),
        "phase": due.phase,
        "due": due,
        "options": options,
    });
    let text = env.get_template(name).and_then(|template| template.render(minijinja::value::Serde(&context)));
    let text = text.unwrap_or_else(|fault| panic!("{name} for {me}: {fault:#}"));
    check::<G>(name, &text);
    text
}

/// Asserts that each line is narrow and, without its bullet, no order.
fn check<G: Game>(name: &str, text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() < 70, "{name}: too wide: {line}");
        let bare = line.trim().trim_start_matches("- ");
        assert_eq!(G::parse(bare), Err(Syntax::Unknown), "{name}: {line}");
    }
    assert!(!text.contains("\n\n\n") && !text.starts_with('\n'), "{name}: a gap:\n{text}");
}

/// Asserts that the examples of a form can be filed as they are, those in one paragraph together.
fn assert_examples_can_be_filed<G: Game>(state: &G, me: Seat, form: &str) {
    for example in form.split("\n\n").filter(|part| part.trim_start().starts_with('|')) {
        let mut orders = Vec::new();
        for (line, text) in (1..).zip(example.lines().filter_map(|line| line.trim().strip_prefix("| "))) {
            let read = G::parse(text).expect("an example can be read");
            orders.extend(read.into_iter().map(|order| Numbered { line, order }));
        }
        assert!(G::check(&state.view(me), &orders).is_ok(), "{example}");
    }
}

/// Plays a random match and checks every template at every step.
fn check_random_match<G: Game + RandomPlay>(
    env: &Environment<'_>,
    options: &G::Options,
    dice: &mut dyn FnMut(u32) -> u32,
) {
    let mut state = G::start(options);
    for _ in 0..200 {
        let Some(due) = state.due() else { break };
        for me in Seat::BOTH {
            rendered(env, "knows", &state, &due, me);
            rendered(env, "news", &state, &due, me);
        }
        let mut filed = BySeat::new(None, None);
        if let [me] = due.seats[..] {
            let form = rendered(env, "form", &state, &due, me);
            assert_examples_can_be_filed(&state, me, &form);
            filed[me] = state.random_orders(me, dice);
        }
        state = state.adjudicate(&filed);
    }
    let closed = state.close(Outcome { winner: None, reason: Reason::DrawAgreed });
    let last = Due { phase: Phase::Move, turn: 0, seats: Vec::new() };
    for (state, me) in [&state, &closed].into_iter().flat_map(|state| Seat::BOTH.map(|me| (state, me))) {
        rendered(env, "knows", state, &last, me);
        rendered(env, "news", state, &last, me);
    }
}

#[test]
fn the_templates_of_quantum_render_in_random_matches() {
    let env = environment(QUANTUM);
    let mut dice = dice(1);
    for array in ["SSSSSSSS/CCCCCCCC/QQQQQQQQ", "C......./S.......", "SCQSCQSC/SCQ..CQS"] {
        let mut options = quantum::Options::default();
        options.set("array", array).expect("an array");
        options.set("jump", if dice(2) == 0 { "on" } else { "off" }).expect("jump takes both");
        check_random_match::<quantum::State>(&env, &options, &mut dice);
    }
    check::<quantum::State>("rules", QUANTUM[3].1);
}

#[test]
fn the_templates_of_quad_render_in_random_matches() {
    let env = environment(QUAD);
    let mut dice = dice(2);
    for number in 0..8 {
        let mut options = quad::Options::default();
        options.set("swap", if number % 2 == 0 { "on" } else { "off" }).expect("swap takes both");
        options.set("trainer", if number % 4 < 2 { "on" } else { "off" }).expect("trainer takes both");
        check_random_match::<quad::State>(&env, &options, &mut dice);
    }
    check::<quad::State>("rules", QUAD[3].1);
}

#[test]
fn a_report_of_quad_words_blocks_and_threats() {
    let env = environment(QUAD);
    let mut options = quad::Options::default();
    options.set("trainer", "on").expect("trainer takes it");
    let mut state = quad::State::start(&options);
    for (line, me) in ["E5", "A6", "G5", "A7", "E7", "B3* B9"].into_iter().zip(Seat::BOTH.into_iter().cycle())
    {
        let orders: Vec<_> = quad::State::parse(line)
            .expect("orders")
            .into_iter()
            .map(|order| Numbered { line: 1, order })
            .collect();
        let mut filed = BySeat::new(None, None);
        filed[me] = Some(quad::State::check(&state.view(me), &orders).expect("a legal turn"));
        state = state.adjudicate(&filed);
    }
    let due = state.due().expect("the match runs");
    let news = rendered(&env, "news", &state, &due, Seat::First);
    assert_eq!(news, "- Bo blocked with a star\n  on B3.\n- Bo played a marble on B9.\n");
    let knows = rendered(&env, "knows", &state, &due, Seat::First);
    let pieces = "Pieces left\n-----------\n\n    Side          marbles   stars\n    Black (you)        17       6\n    \
                  White              17       5\n\nQuads within reach\n";
    assert!(knows.contains(pieces), "{knows}");
    assert!(knows.contains("- Your next marble could complete a quad\n  on G7.\n"), "{knows}");
}
