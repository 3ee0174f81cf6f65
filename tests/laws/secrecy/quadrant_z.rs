//! What Quadrant Z hides from a seat (clauses 3.3 to 4): enemy ships out of its sight, the classes of those in sight,
//! the stars of quadrants that it has not charted, and the enemy's base.

use std::collections::BTreeSet;

use fogpost::game::any::AnyState;
use fogpost::game::{BySeat, Seat};
use serde_json::{Value, json};

use super::{Moved, after, operated};
use fogpost_testing::play::Play;
use fogpost_testing::random::Random;

/// The home quadrant of a seat.
pub fn home(seat: Seat) -> char {
    if seat == Seat::First { 'A' } else { 'Y' }
}

/// The letters of the home sector of a seat (`Z-HOME`).
fn home_sector(state: &Value, seat: Seat) -> &'static str {
    match (state["options"]["layout"].as_str(), seat) {
        (Some("triangle"), Seat::First) => "ABCFGK",
        (Some("triangle"), Seat::Second) => "YXWTSO",
        (_, Seat::First) => "ABCFGH",
        (_, Seat::Second) => "YXWTSR",
    }
}

fn quadrant(at: &Value) -> char {
    at.as_str().and_then(|at| at.chars().next()).expect("a square")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn size(ship: &Value) -> u64 {
    ship["offence"].as_u64().unwrap_or(0) + ship["defence"].as_u64().unwrap_or(0)
}

/// The quadrants in which the seat sees enemy ships: its home sector (`Z-INTRUDER`) and the quadrants of its own
/// ships (`Z-STANDOFF`).
pub fn in_sight(state: &Value, seat: Seat) -> BTreeSet<char> {
    let ships = list(&state["sides"][seat.as_str()]["ships"]);
    ships.iter().map(|ship| quadrant(&ship["at"])).chain(home_sector(state, seat).chars()).collect()
}

/// Whether the seat knows the stars of this quadrant.
pub fn has_charted(state: &Value, seat: Seat, quadrant: char) -> bool {
    let charted = state["sides"][seat.as_str()]["charted"].as_u64().expect("a set of bits");
    charted & (1 << (u32::from(quadrant) - u32::from('A'))) != 0
}

/// Returns a state that `viewer` cannot tell from this one; the state itself if nothing is hidden yet.
pub fn twin(state: &AnyState, viewer: Seat, random: &mut Random) -> AnyState {
    operated(state, |state| match &mut state["stage"] {
        Value::String(stage) if stage == "turn" => disguise(state, viewer, random),
        Value::Object(stage) if stage.contains_key("casualties") => {
            let pending = &mut state["stage"]["casualties"];
            disguise(&mut pending["before"], viewer, random);
            pending["orders"][viewer.other().as_str()] = json!([]);
            for fight in pending["fights"].as_array_mut().expect("fights") {
                fight["sides"][viewer.other().as_str()]["front"] = json!(1 + random.below(15));
            }
            disguise(state, viewer, random);
        }
        _ => {}
    })
}

fn disguise(state: &mut Value, viewer: Seat, random: &mut Random) {
    let foe = viewer.other();
    disguise_stars(state, viewer, random);
    let ships = other_ships(state, viewer, random);
    let score = |star: &&Value| star["captured_by"] == foe.as_str();
    let captured = list(&state["stars"]).iter().filter(score);
    let points: u64 =
        captured.map(|star| star["first"].as_u64().unwrap_or(0) + star["second"].as_u64().unwrap_or(0)).sum();
    let numbers: Vec<u64> = ships.iter().filter_map(|ship| ship["no"].as_u64()).collect();
    let side = &mut state["sides"][foe.as_str()];
    side["highest"] = json!(numbers.last().unwrap_or(&0) + random.below(9) as u64);
    side["losses"] = numbers.iter().filter(|_| random.once_in(3)).copied().collect();
    side["ships"] = Value::Array(ships);
    // The viewer knows the captures, but not how many of their points the enemy has spent.
    side["stock"] = json!(random.below(points as usize + 1));
    side["charted"] = json!(random.below(1 << 25));
    for event in state["news"].as_array_mut().expect("news") {
        if let Some(fought) = event.get_mut("fought") {
            let lost = &mut fought["sides"][foe.as_str()]["lost"];
            if !list(lost).is_empty() {
                *lost = json!([90 + random.below(9)]);
            }
        }
    }
}

/// Makes another enemy fleet: the same sizes on the same squares in sight, anything out of sight.
fn other_ships(state: &Value, viewer: Seat, random: &mut Random) -> Vec<Value> {
    let sight = in_sight(state, viewer);
    let hidden: Vec<char> = ('A'..='Y').filter(|quadrant| !sight.contains(quadrant)).collect();
    let mut ships = Vec::new();
    let mut launch = |size: u64, at: String, random: &mut Random| {
        let offence = random.below(size as usize + 1) as u64;
        ships.push(json!({ "no": 0, "offence": offence, "defence": size - offence, "at": at }));
    };
    let somewhere = |random: &mut Random| format!("{}{}", random.pick(&hidden), 1 + random.below(4));
    for ship in list(&state["sides"][viewer.other().as_str()]["ships"]) {
        let at = ship["at"].as_str().expect("a square").to_owned();
        if sight.contains(&quadrant(&ship["at"])) {
            let part = random.below(size(ship) as usize) as u64;
            launch(size(ship) - part, at.clone(), random);
            if part > 0 {
                launch(part, at, random);
            }
        } else if !random.once_in(4) {
            launch(1 + random.below(9) as u64, somewhere(random), random);
        }
    }
    for _ in 0..random.below(3) {
        if !hidden.is_empty() {
            launch(1 + random.below(9) as u64, somewhere(random), random);
        }
    }
    let mut no = 0;
    for ship in &mut ships {
        no += 1 + random.below(4);
        ship["no"] = json!(no);
    }
    ships
}

/// Makes other enemy stars where the viewer has not been, and another base.
fn disguise_stars(state: &mut Value, viewer: Seat, random: &mut Random) {
    let foe = viewer.other();
    let home_of_foe = home_sector(state, foe);
    let known =
        |star: &Value| !star["captured_by"].is_null() || has_charted(state, viewer, quadrant(&star["at"]));
    let mut stars: Vec<Value> = Vec::new();
    let mut taken = BTreeSet::new();
    for star in list(&state["stars"]) {
        let own = star[viewer.as_str()].as_u64().unwrap_or(0);
        if known(star) {
            taken.insert(star["at"].to_string());
            stars.push(star.clone());
        } else if own > 0 {
            // The viewer's own star as it placed it; an enemy star there is merged unseen (`Z-MERGE`).
            let mut star = star.clone();
            star[foe.as_str()] = json!(random.below(3));
            taken.insert(star["at"].to_string());
            stars.push(star);
        }
    }
    for letter in 'A'..='Y' {
        let neutral = !home_of_foe.contains(letter) && !home_sector(state, viewer).contains(letter);
        if has_charted(state, viewer, letter) || !neutral && !home_of_foe.contains(letter) {
            continue;
        }
        let least = usize::from(neutral || letter == home(foe));
        let (first, most) = (random.below(4), least + random.below(3 - least));
        for cell in 0..most {
            let at = json!(format!("{letter}{}", 1 + (first + cell) % 4));
            if taken.insert(at.to_string()) {
                let mut star = json!({ "at": at, "first": 0, "second": 0, "captured_by": null });
                star[foe.as_str()] = json!(1 + random.below(if neutral { 2 } else { 3 }));
                stars.push(star);
            }
        }
    }
    let bases: Vec<Value> = stars
        .iter()
        .filter(|star| quadrant(&star["at"]) == home(foe) && star["captured_by"].is_null())
        .map(|star| star["at"].clone())
        .collect();
    if !bases.is_empty() {
        state["sides"][foe.as_str()]["base"] = random.pick(&bases).clone();
    }
    state["stars"] = Value::Array(stars);
}

/// Returns a state that `viewer` cannot tell from this one until it enters the enemy's home sector: there the stars and the
/// base are on other squares of their quadrants, and the ships anywhere and of other classes.
pub fn elsewhere(state: &AnyState, viewer: Seat, random: &mut Random) -> AnyState {
    let foe = viewer.other();
    operated(state, |state| {
        let sector: Vec<char> = home_sector(state, foe).chars().collect();
        for star in state["stars"].as_array_mut().expect("stars") {
            if sector.contains(&quadrant(&star["at"])) {
                turn(&mut star["at"]);
            }
        }
        let side = &mut state["sides"][foe.as_str()];
        turn(&mut side["base"]);
        for ship in side["ships"].as_array_mut().expect("ships") {
            let (size, offence) = (size(ship), random.below(size(ship) as usize + 1) as u64);
            (ship["offence"], ship["defence"]) = (json!(offence), json!(size - offence));
            ship["at"] = json!(format!("{}{}", random.pick(&sector), 1 + random.below(4)));
        }
    })
}

/// Replaces a square by the next one of its quadrant.
fn turn(at: &mut Value) {
    let name = at.as_str().expect("a square");
    let cell: u8 = name[1..].parse().expect("a cell");
    *at = json!(format!("{}{}", &name[..1], 1 + cell % 4));
}

/// Whether a move ends in the home sector of its seat.
pub fn leads_home(state: &AnyState, seat: Seat, line: &str) -> bool {
    let state = serde_json::to_value(state).expect("a state is plain JSON");
    let to = line.split_whitespace().last().and_then(|at| at.chars().next());
    to.is_some_and(|letter| home_sector(&state["state"], seat).contains(letter))
}

/// Whether the seat has seen a quadrant of the enemy's home sector.
pub fn has_entered_home_of_foe(state: &AnyState, seat: Seat) -> bool {
    let state = &serde_json::to_value(state).expect("a state is plain JSON")["state"];
    home_sector(state, seat.other()).chars().any(|letter| has_charted(state, seat, letter))
}

/// Plays a turn after an enemy ship got another class or square. Unless the viewer's ships met it, the viewer learns
/// nothing about the change.
pub fn moved(play: &mut Play, viewer: Seat, filed: &BySeat<Option<Vec<String>>>) -> Option<Moved> {
    let json = serde_json::to_value(&play.state).expect("a state is plain JSON");
    let (before, foe) = (&json["state"], viewer.other());
    if before["stage"] != "turn" {
        return None;
    }
    let sight = in_sight(before, viewer);
    let ships = list(&before["sides"][foe.as_str()]["ships"]);
    let unseen: Vec<usize> =
        (0..ships.len()).filter(|at| !sight.contains(&quadrant(&ships[*at]["at"]))).collect();
    if unseen.is_empty() {
        return None;
    }
    let chosen = *random_of(play, &unseen);
    let no = ships[chosen]["no"].as_u64().expect("a number");
    let elsewhere: Vec<char> = ('A'..='Y').filter(|letter| !sight.contains(letter)).collect();
    let at = format!("{}{}", random_of(play, &elsewhere), 1 + play.random.below(4));
    let relocate = play.random.once_in(2);
    let mut orders = filed.clone();
    // Drop enemy orders that depend on the strength of ships. If the ship changes its square, drop its moves, too.
    let unfit = |line: &String| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words[0] == "CAPTURE" || relocate && words[0] == "SHIP" && words[1] == no.to_string()
    };
    orders[foe].as_mut()?.retain(|line| !unfit(line));
    let twin = operated(&play.state, |state| {
        let ship = &mut state["sides"][foe.as_str()]["ships"][chosen];
        if relocate {
            ship["at"] = json!(at);
        } else {
            let size = size(ship);
            let offence = play.random.below(size as usize + 1) as u64;
            ship["offence"] = json!(offence);
            ship["defence"] = json!(size - offence);
        }
    });
    let (one, other) = (after(&play.state, &orders)?, after(&twin, &orders)?);
    let met = [&one, &other].into_iter().any(|after| meets(&after.state, viewer, no));
    (!met).then_some(Moved { one, other })
}

fn random_of<'a, T>(play: &mut Play, items: &'a [T]) -> &'a T {
    play.random.pick(items)
}

/// Whether ships of `viewer` met the enemy ship `no` in this turn, or it was lost.
fn meets(state: &AnyState, viewer: Seat, no: u64) -> bool {
    let position = state.position();
    let ships = |seat: Seat| list(&position["ships"][seat.as_str()]).to_vec();
    let ship = ships(viewer.other()).into_iter().find(|ship| ship["no"] == no);
    let Some(ship) = ship else { return true };
    let here = quadrant(&ship["at"]);
    let view = state.view(viewer);
    let standoffs = list(&view["standoffs"]);
    ships(viewer).iter().any(|own| quadrant(&own["at"]) == here)
        || standoffs.iter().any(|letter| letter.as_str() == Some(&here.to_string()))
}
