//! What War in the Pacific hides from a seat (clause 4.5): where the enemy's submarines are, their numbers, and their
//! orders.

use std::collections::BTreeSet;

use fogpost::game::any::AnyState;
use fogpost::game::{BySeat, Seat};
use serde_json::{Value, json};

use super::{Moved, after, operated};
use fogpost_testing::play::Play;
use fogpost_testing::random::Random;

/// Submarines of each side at the start.
pub const SUBMARINES: usize = 5;

fn square(random: &mut Random) -> String {
    let file = char::from(b'A' + random.below(16) as u8);
    format!("{file}{}", 1 + random.below(16))
}

/// Returns as many submarines with other numbers on other squares.
fn other_submarines(many: usize, random: &mut Random) -> Value {
    let (mut numbers, mut squares) = (BTreeSet::new(), BTreeSet::new());
    while numbers.len() < many {
        numbers.insert(1 + random.below(SUBMARINES));
    }
    while squares.len() < many {
        squares.insert(square(random));
    }
    numbers.iter().zip(squares).map(|(no, at)| json!({ "no": no, "at": at })).collect()
}

/// Returns a state that `viewer` cannot tell from this one; the state itself if nothing is hidden yet.
pub fn twin(state: &AnyState, viewer: Seat, random: &mut Random) -> AnyState {
    let foe = viewer.other().as_str();
    operated(state, |state| {
        let many = state["submarines"][foe].as_array().map_or(0, Vec::len);
        if state["stage"] == "setup" {
            return;
        }
        state["submarines"][foe] = other_submarines(many, random);
        let hidden = |event: &Value| {
            ["submarine_moved", "submarine_sunk"].iter().any(|kind| event[kind]["side"] == foe)
        };
        let events = state["events"].as_array_mut().expect("events");
        events.retain(|event| !hidden(event));
        if random.once_in(2) {
            events.push(json!({ "submarine_moved": { "side": foe, "no": 1, "to": square(random) } }));
        }
        if random.once_in(2) {
            events.push(json!({ "submarine_sunk": { "side": foe, "no": 2, "at": square(random) } }));
        }
        events.iter_mut().for_each(|event| renumber(event, foe, random));
        for sighting in state["sightings"].as_array_mut().expect("sightings") {
            renumber(&mut sighting["event"], foe, random);
        }
        let log = state["log"].as_array_mut().expect("a log");
        log.retain(|logged| logged["side"] != foe);
        log.insert(0, json!({ "round": 1, "side": foe, "order": "pass" }));
    })
}

/// Changes which submarine attacked, since that is never disclosed.
fn renumber(event: &mut Value, side: &str, random: &mut Random) {
    for kind in ["torpedoed", "sounded"] {
        if let Some(attack) = event.get_mut(kind).filter(|attack| attack["side"] == side) {
            attack["no"] = json!(1 + random.below(SUBMARINES));
        }
    }
}

/// Plays a phase in which the enemy's submarines have other numbers or, where the viewer attacks none, are elsewhere
/// and do nothing.
pub fn moved(play: &mut Play, viewer: Seat, filed: &BySeat<Option<Vec<String>>>) -> Option<Moved> {
    let foe = viewer.other();
    let json = serde_json::to_value(&play.state).expect("a state is plain JSON");
    let before = &json["state"];
    let many = before["submarines"][foe.as_str()].as_array().map_or(0, Vec::len);
    if before["stage"] == "setup" || many == 0 {
        return None;
    }
    let (mut orders, mut orders_of_twin) = (filed.clone(), filed.clone());
    let submarines = before["stage"] == "submarines";
    let only_numbers = play.random.once_in(2);
    let shift = 1 + play.random.below(SUBMARINES - 1);
    let other_number = |no: u64| 1 + (no as usize - 1 + shift) % SUBMARINES;
    let twin = if only_numbers {
        if submarines {
            orders_of_twin[foe].as_mut()?.iter_mut().for_each(|line| *line = with_number(line, other_number));
        }
        renumbered(&play.state, foe, other_number)
    } else {
        let attacks = |line: &String| line.contains("ASW") || line.contains("SONAR");
        if filed[viewer].iter().flatten().any(attacks) {
            return None;
        }
        if submarines {
            orders[foe] = Some(vec!["SUBS PASS".to_owned()]);
            orders_of_twin[foe] = Some(Vec::new());
        }
        let other = other_submarines(many, &mut play.random);
        operated(&play.state, |state| state["submarines"][foe.as_str()] = other)
    };
    Some(Moved { one: after(&play.state, &orders)?, other: after(&twin, &orders_of_twin)? })
}

/// Returns the state in which the submarines of a seat have other numbers.
pub fn renumbered(state: &AnyState, seat: Seat, other_number: impl Fn(u64) -> usize) -> AnyState {
    operated(state, |state| {
        let submarines = state["submarines"][seat.as_str()].as_array_mut().expect("submarines");
        for submarine in submarines.iter_mut() {
            submarine["no"] = json!(other_number(submarine["no"].as_u64().expect("a number")));
        }
        submarines.sort_by_key(|submarine| submarine["no"].as_u64());
    })
}

/// Rewrites `U2 FIRE K7` for another submarine.
pub fn with_number(line: &str, other_number: impl Fn(u64) -> usize) -> String {
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    match first.strip_prefix('U').and_then(|no| no.parse().ok()) {
        Some(no) => format!("U{} {rest}", other_number(no)),
        None => line.to_owned(),
    }
}
