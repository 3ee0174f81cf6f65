//! A secret is planted and looked for: the square of an enemy ship, base or submarine that a seat cannot see is named
//! nowhere in what the seat is told.

use fogpost::game::any::{AnySeen, AnyState, Filing, GameKind, Memories};
use fogpost::game::{BySeat, Seat};
use fogpost::ledger;
use fogpost::referee::Match;
use fogpost::report::Templates;
use serde_json::{Value, json};

use super::{Comparison, History, operated, quadrant_z};
use crate::referee::{held, templates, with};
use fogpost_testing::play::{Play, filings, matches};

/// The lengths of the matches, in phases.
const PHASES: [usize; 3] = [3, 6, 16];

/// A match of random play so far.
struct Past {
    play: Play,
    /// The state before each phase, and the present one.
    states: Vec<AnyState>,
    filed: Vec<BySeat<Option<Filing>>>,
}

impl Past {
    /// Returns `None` if the match ends before.
    fn of(kind: GameKind, seed: u64, phases: usize) -> Option<Past> {
        let play = Play::new(kind, seed);
        let mut past = Past { states: vec![play.state.clone()], filed: Vec::new(), play };
        for _ in 0..phases {
            let tries = past.play.step()?;
            past.filed.push(filings(&tries));
            past.states.push(past.play.state.clone());
        }
        past.play.state.due().map(|_| past)
    }

    /// The states after the setups as JSON.
    fn values(&self) -> Vec<Value> {
        let value = |state| serde_json::to_value(state).expect("a state is plain JSON")["state"].take();
        self.states[1..].iter().map(value).collect()
    }

    /// The match in which each state after the setups was changed.
    fn with(&self, change: impl Fn(&mut Value)) -> Vec<AnyState> {
        let changed = self.states[1..].iter().map(|state| operated(state, &change));
        self.states[..1].iter().cloned().chain(changed).collect()
    }

    /// Everything that a seat was told in a match of these states, as text: what the house is shown, the view that a report
    /// shows, the board and the letters.
    fn told(&self, states: &[AnyState], viewer: Seat, templates: &Templates) -> Vec<String> {
        let mut seen = AnySeen::begin(&states[0], viewer);
        let mut memories = Memories::empty(self.play.kind);
        for ((before, filed), after) in states.iter().zip(&self.filed).zip(&states[1..]) {
            seen.add(filed, after);
            memories.remember(before);
        }
        let [.., before, state] = states else { panic!("a match of one phase at least") };
        let memories = Some(memories).filter(|_| self.play.kind.keeps_memory());
        let game_match = Match { memories, ..with(&held(&self.play), state.clone()) };
        let filings = self.filed.last().cloned().unwrap_or_default();
        let history = History { game_match, before: before.clone(), filings };
        let board = state.shown_board(viewer, history.game_match.memories.as_ref(), None).text;
        let mut told = vec![ledger::canonical(&seen), history.shown(viewer).to_string(), board];
        let compared = Comparison { templates, viewer, letters: true };
        for letter in compared.letters(&history, &[]) {
            told.extend([letter.subject, letter.text, letter.html]);
            told.extend(letter.attachments.into_iter().map(|(_, text)| text));
        }
        told
    }
}

fn names(text: &str, square: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.eq_ignore_ascii_case(square))
}

/// Plants a secret on a square that is named nowhere, and looks for it. `places` are the squares where it is hidden from the
/// viewer in all these states, and `plant` changes a state. Returns whether there was such a square.
fn is_kept(
    past: &Past,
    viewer: Seat,
    templates: &Templates,
    places: &[String],
    plant: impl Fn(&mut Value, &str),
) -> bool {
    let told = past.told(&past.states, viewer, templates);
    let is_new = |square: &&String| told.iter().all(|text| !names(text, square));
    let Some(square) = places.iter().find(is_new) else { return false };
    let states = past.with(|state| plant(state, square));
    for state in &states[1..] {
        assert!(names(&ledger::canonical(state), square), "{square} is not in {state:?}");
    }
    for text in past.told(&states, viewer, templates) {
        assert!(!names(&text, square), "{viewer} is told of {square}: {text}");
    }
    true
}

/// Plays matches of `kind` and counts how often a secret was planted; `look` does it for a match and a viewer.
fn assert_kept(kind: GameKind, least: usize, look: impl Fn(&Past, Seat, &Templates) -> bool) {
    let templates = templates();
    let mut planted = 0;
    for (kind, seed) in matches(3).filter(|(each, _)| *each == kind) {
        for past in PHASES.into_iter().filter_map(|phases| Past::of(kind, seed, phases)) {
            planted += Seat::BOTH.into_iter().filter(|viewer| look(&past, *viewer, &templates)).count();
        }
    }
    assert!(planted >= least, "{planted}");
}

#[test]
fn the_square_of_a_hidden_submarine_is_named_nowhere() {
    assert_kept(GameKind::Pacific, 6, |past, viewer, templates| {
        let foe = viewer.other().as_str();
        if past.values().iter().any(|state| state["submarines"][foe].as_array().is_none_or(Vec::is_empty)) {
            return false;
        }
        let places: Vec<String> =
            ('A'..='P').flat_map(|file| (1..=16).map(move |rank| format!("{file}{rank}"))).collect();
        is_kept(past, viewer, templates, &places, |state, square| {
            state["submarines"][foe][0]["at"] = json!(square);
        })
    });
}

/// The squares of a quadrant.
fn squares(quadrant: char) -> impl Iterator<Item = String> {
    (1..=4).map(move |cell| format!("{quadrant}{cell}"))
}

#[test]
fn the_square_of_a_ship_out_of_sight_is_named_nowhere() {
    assert_kept(GameKind::QuadrantZ, 5, |past, viewer, templates| {
        let states = past.values();
        let is_hidden = |quadrant: &char| {
            states.iter().all(|state| !quadrant_z::in_sight(state, viewer).contains(quadrant))
        };
        let places: Vec<String> = ('A'..='Y').filter(is_hidden).flat_map(squares).collect();
        is_kept(past, viewer, templates, &places, |state, square| {
            let side = &mut state["sides"][viewer.other().as_str()];
            let no = 1 + side["highest"].as_u64().expect("a number");
            side["highest"] = json!(no);
            let ship = json!({ "no": no, "offence": 2, "defence": 1, "at": square });
            side["ships"].as_array_mut().expect("ships").push(ship);
        })
    });
}

#[test]
fn the_square_of_the_base_is_named_nowhere_before_it_is_seen() {
    assert_kept(GameKind::QuadrantZ, 5, |past, viewer, templates| {
        let home = quadrant_z::home(viewer.other());
        if past.values().iter().any(|state| quadrant_z::has_charted(state, viewer, home)) {
            return false;
        }
        let places: Vec<String> = squares(home).collect();
        is_kept(past, viewer, templates, &places, |state, square| {
            state["sides"][viewer.other().as_str()]["base"] = json!(square);
            let stars = state["stars"].as_array_mut().expect("stars");
            if stars.iter().all(|star| star["at"] != square) {
                let mut star = json!({ "at": square, "first": 0, "second": 0, "captured_by": null });
                star[viewer.other().as_str()] = json!(2);
                stars.push(star);
            }
        })
    });
}
