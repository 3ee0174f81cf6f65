//! Whole matches by random play: what must hold at every step of any of them.

use super::play::random_filing;
use super::*;

/// A small generator of its own: the same numbers for the same seed, everywhere.
fn rng(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 32) * u64::from(below) >> 32) as u32
    }
}

/// Options that differ from seed to seed, all values of each among the first eight.
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

fn seal(view: &View, rng: &mut impl FnMut(u32) -> u32) -> Sealed<Order> {
    loop {
        let lines = random_filing(view, rng);
        let orders: Vec<_> = (1..)
            .zip(&lines)
            .map(|(line, text)| {
                let order = QuadrantZ::parse(text).unwrap().remove(0);
                assert_eq!(order.to_string(), *text);
                Numbered { line, order }
            })
            .collect();
        if let Ok(sealed) = QuadrantZ::check(view, &orders) {
            return sealed;
        }
    }
}

/// Plays one match to its end and hands every state to `each`, the first before anything was filed.
fn play(seed: u64, mut each: impl FnMut(&State)) -> State {
    let mut rng = rng(seed);
    let mut state = QuadrantZ::start(&options(seed));
    each(&state);
    while let Some(due) = QuadrantZ::due(&state) {
        let filed = BySeat::from_fn(|seat| {
            due.seats.contains(&seat).then(|| seal(&QuadrantZ::view(&state, seat), &mut rng))
        });
        state = QuadrantZ::adjudicate(&state, &filed);
        each(&state);
    }
    state
}

#[test]
fn dump() {
    let mut n = 0;
    let mut reasons = std::collections::BTreeMap::new();
    for seed in 0..200 {
        let mut turns = 0;
        let end = play(seed, |_| turns += 1);
        *reasons.entry(format!("{:?}", QuadrantZ::outcome(&end).map(|o| o.reason))).or_insert(0) += 1;
        n += turns;
    }
    println!("{n} {reasons:?}");
    let mut count = 0;
    let mut best: Option<(usize, View)> = None;
    let mut save = |name: &str, view: &View| {
        let board = QuadrantZ::board(view);
        println!("{name}\n{}", board.text);
        let mut o = resvg::usvg::Options::default();
        o.fontdb_mut()
            .load_font_data(std::fs::read("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf").unwrap());
        o.font_family = "DejaVu Sans".into();
        let tree = resvg::usvg::Tree::from_str(&board.svg, &o).unwrap();
        let mut pixmap = resvg::tiny_skia::Pixmap::new(640, 742).unwrap();
        resvg::render(&tree, resvg::tiny_skia::Transform::identity(), &mut pixmap.as_mut());
        pixmap.save_png(format!("/tmp/qz-{name}.png")).unwrap();
    };
    for seed in 0..40 {
        play(seed, |state| {
            let view = QuadrantZ::view(state, Seat::First);
            let news = view.battles.len() * 2
                + view.standoffs.len()
                + view.entries.len()
                + view.captures.len()
                + view.intruders.len();
            if view.enemy_ships.is_none() && best.as_ref().is_none_or(|b| b.0 < news) {
                best = Some((news, view.clone()));
            }
            if view.enemy_ships.is_some() && seed == 3 {
                save("end", &view);
            }
            if !view.desk.fighting.is_empty() && count == 0 {
                count = 1;
                save("ask", &view);
            }
        });
    }
    save("best", &best.unwrap().1);
}

const TEMPLATES: [&str; 4] = ["news.txt", "knows.txt", "form.txt", "rules.txt"];

fn environment() -> minijinja::Environment<'static> {
    let mut env = minijinja::Environment::new();
    env.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    let syntax = minijinja::syntax::SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    env.set_syntax(syntax.unwrap());
    for name in TEMPLATES {
        let path = format!("{}/templates/quadrant-z/{name}", env!("CARGO_MANIFEST_DIR"));
        env.add_template_owned(name, std::fs::read_to_string(path).unwrap()).unwrap();
    }
    env
}

/// Everything that is written to a seat, in the phase after `phase` was adjudicated.
fn written(
    env: &minijinja::Environment<'_>,
    state: &State,
    phase: Option<Phase>,
    seat: Seat,
    html: bool,
) -> Vec<String> {
    let view = QuadrantZ::view(state, seat);
    let options: std::collections::BTreeMap<_, _> = <Options as crate::game::Options>::RULES
        .iter()
        .map(|rule| (rule.name, crate::game::Options::get(&state.options, rule.name)))
        .collect();
    let due = QuadrantZ::due(state);
    let context = serde_json::json!({
        "view": view,
        "me": seat,
        "foe": seat.other(),
        "names": { "first": "Ann", "second": "Bo" },
        "phase": phase,
        "due": due,
        "options": options,
        "board": QuadrantZ::board(&view).text,
        "html": html,
    });
    let render =
        |name: &str| env.get_template(name).unwrap().render(minijinja::value::Serde(&context)).unwrap();
    let mut texts = vec![render("rules.txt"), render("knows.txt")];
    if phase.is_some() {
        texts.push(render("news.txt"));
    }
    if due.is_some_and(|due| due.seats.contains(&seat)) {
        texts.push(render("form.txt"));
    }
    texts
}

#[test]
fn letters_are_narrow_and_hold_no_line_that_reads_as_an_order() {
    let env = environment();
    for seed in 0..24 {
        let mut phase = None;
        play(seed, |state| {
            for seat in Seat::BOTH {
                for text in written(&env, state, phase, seat, seed % 3 == 0) {
                    for line in text.lines() {
                        assert!(line.chars().count() <= 70, "{line}");
                        assert_eq!(line.trim_end(), line, "blanks at the end: {line:?}");
                        let bare = line.trim_start_matches([' ', '-', '>']);
                        assert!(
                            bare.starts_with("| ") || QuadrantZ::parse(bare) == Err(Syntax::Unknown),
                            "{line}"
                        );
                    }
                    if seed < 8 && std::env::var("SHOW").is_ok() {
                        println!("{text}\n=================== {seat}");
                    }
                }
            }
            phase = state.phase();
        });
    }
}
