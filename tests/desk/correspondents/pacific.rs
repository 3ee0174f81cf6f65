//! A correspondent's play of War in the Pacific: from the tables in a report, looking one reply ahead.

use super::examples;
use fogpost_testing::random::Random;

type Square = fogpost::game::square::Square<16, 16>;

/// One side as the tables in a report show it.
#[derive(Clone, Default)]
struct Side {
    ships: Vec<Ship>,
    submarines: Vec<(String, Square)>,
}

#[derive(Clone)]
struct Ship {
    class: Class,
    /// The `1` of `V1` or `S1`; empty for other classes.
    no: String,
    at: Square,
    aloft: bool,
}

impl Ship {
    /// Whether this is a squadron that still waits on the carrier of its number.
    fn is_carried_by(&self, carrier: &Ship) -> bool {
        self.class == Class::Squadron && !self.aloft && self.no == carrier.no
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Carrier,
    Squadron,
    Battleship,
    Cruiser,
    Destroyer,
}

/// Maximum distance of an attack on four squares, in king's steps to the nearest of them.
const REACH: u8 = 2;

const SIDEWAYS: [(i8, i8); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const DIAGONAL: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
const KNIGHT: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

/// Returns the orders that a letter asks for: a setup, a surface turn, or an order to a submarine.
pub fn orders(letter: &str, dice: &mut Random) -> Vec<String> {
    if letter.contains("Set up your fleet") {
        // The names of ready setups come before it.
        let form = letter.split_once("A valid setup:").map_or(letter, |(_, form)| form);
        return setup(examples(form), dice);
    }
    let [own, foe] = ["Your", "Their"].map(|whose| Side::read(letter, whose));
    let order = if letter.contains("One order for one of your submarines") {
        Some(submarine(&own, &foe, dice).unwrap_or_else(|| "SUBS PASS".to_owned()))
    } else {
        hunt(letter, &own, dice).or_else(|| surface(&own, &foe, dice))
    };
    order.map_or_else(|| examples(letter), |order| vec![order])
}

/// Returns the letter's example setup, mirrored in half of the matches, with the submarines at random squares.
fn setup(form: Vec<String>, dice: &mut Random) -> Vec<String> {
    let mirrored = dice.below(2) == 0;
    let mut taken: Vec<Square> = Vec::new();
    let mut lines = Vec::new();
    for line in form {
        let is_submarine = line.starts_with("SUBMARINE");
        let mut words = Vec::new();
        for word in line.split(' ') {
            let Some(mut at) = Square::parse(word) else {
                words.push(word.to_owned());
                continue;
            };
            if mirrored {
                at = Square::new(15 - at.file(), at.rank()).unwrap_or(at);
            }
            // A submarine may go anywhere in the half of the board where the example has it.
            while is_submarine && (taken.contains(&at) || dice.below(4) > 0) {
                let file = dice.below(16) as u8;
                let rank = at.rank() / 8 * 8 + dice.below(8) as u8;
                at = Square::new(file, rank).unwrap_or(at);
            }
            taken.push(at);
            words.push(at.to_string());
        }
        lines.push(words.join(" "));
    }
    lines
}

/// Returns the best move: the one that sinks most, less what the reply can sink, or else one towards the
/// enemy.
fn surface(own: &Side, foe: &Side, dice: &mut Random) -> Option<String> {
    let mut best: Option<(i32, String)> = None;
    for (i, ship) in own.ships.iter().enumerate() {
        // A carrier with its squadron aboard stays where it is: the squadron might not be able to follow.
        if ship.class == Class::Carrier && own.ships.iter().any(|other| other.is_carried_by(ship)) {
            continue;
        }
        for to in moves(ship, &own.ships, &foe.ships) {
            let mut mine = own.ships.clone();
            let mut theirs = foe.ships.clone();
            mine[i].at = to;
            let sunk = theirs.iter().position(|other| other.at == to).map_or(0, |i| worth(&theirs.remove(i)));
            let lost = theirs.iter().flat_map(|other| moves(other, &theirs, &mine));
            let lost = lost.filter_map(|at| mine.iter().find(|ship| ship.at == at)).map(worth).max();
            let way = theirs.iter().map(|other| i32::from(to.king_steps(other.at))).min().unwrap_or(0);
            let throw = i32::try_from(dice.below(6)).unwrap_or_default();
            let score = 20 * (sunk - lost.unwrap_or(0)) - 2 * way + throw;
            if best.as_ref().is_none_or(|(most, _)| score > *most) {
                best = Some((score, format!("{} {to}", ship.at)));
            }
        }
    }
    best.map(|(_, order)| order)
}

/// Fires if a submarine is in range, else moves one towards its range.
fn submarine(own: &Side, foe: &Side, dice: &mut Random) -> Option<String> {
    let targets: Vec<&Ship> = foe.ships.iter().filter(|ship| ship.class != Class::Squadron).collect();
    for (name, at) in &own.submarines {
        if let Some(ship) = targets.iter().find(|ship| at.king_steps(ship.at) == REACH) {
            return Some(format!("{name} FIRE {}", ship.at));
        }
    }
    if own.submarines.is_empty() {
        return None;
    }
    let (name, from) = dice.pick(&own.submarines);
    let lines = SIDEWAYS.into_iter().chain(DIAGONAL);
    let ways = lines.flat_map(|(files, ranks)| (1..=3).filter_map(move |n| from.step(n * files, n * ranks)));
    let free = ways.filter(|to| own.submarines.iter().all(|(_, at)| at != to));
    let to = free.min_by_key(|to| targets.iter().map(|ship| to.king_steps(ship.at).abs_diff(REACH)).min())?;
    Some(format!("{name} {from} {to}"))
}

/// Drops depth charges now and then, near the latest news of a submarine.
fn hunt(letter: &str, own: &Side, dice: &mut Random) -> Option<String> {
    let heard = letter.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "they", "torpedo", at, ..] | [_, "you", "charges" | "sonar", at, _, "yes"] => {
                Square::parse(at)
            }
            _ => None,
        }
    })?;
    if dice.below(4) > 0 {
        return None;
    }
    let (files, ranks) = *dice.pick(&[SIDEWAYS, DIAGONAL].concat());
    let corner = heard.step(2 * files, 2 * ranks).filter(|at| at.file() < 15 && at.rank() < 15)?;
    let area = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(files, ranks)| corner.step(files, ranks));
    let reached = own.ships.iter().any(|ship| {
        ship.class != Class::Squadron && area.iter().flatten().any(|at| at.king_steps(ship.at) <= REACH)
    });
    reached.then(|| format!("ASW {corner}"))
}

fn worth(ship: &Ship) -> i32 {
    match ship.class {
        Class::Carrier | Class::Squadron => 10,
        Class::Battleship => 5,
        Class::Cruiser => 4,
        Class::Destroyer => 3,
    }
}

/// Returns the squares to which a ship may move, except by a squadron's leap.
fn moves(ship: &Ship, own: &[Ship], foe: &[Ship]) -> Vec<Square> {
    let all_around = [SIDEWAYS, DIAGONAL].concat();
    match ship.class {
        Class::Carrier => steps(ship.at, &all_around, 1, own, foe),
        Class::Squadron => steps(ship.at, &all_around, 15, own, foe),
        Class::Battleship => steps(ship.at, &SIDEWAYS, 15, own, foe),
        Class::Cruiser => {
            let mut found = steps(ship.at, &DIAGONAL, 15, own, foe);
            let mut sideways = steps(ship.at, &SIDEWAYS, 1, own, foe);
            // Sideways, a cruiser can move only to empty squares.
            sideways.retain(|to| foe.iter().all(|foe| foe.at != *to));
            found.append(&mut sideways);
            found
        }
        Class::Destroyer => steps(ship.at, &KNIGHT, 1, own, foe),
    }
}

/// Returns the squares up to `count` steps away in these directions, as far as the first ship, or onto it if it is an
/// enemy.
fn steps(from: Square, directions: &[(i8, i8)], count: usize, own: &[Ship], foe: &[Ship]) -> Vec<Square> {
    let mut found = Vec::new();
    for (files, ranks) in directions {
        let mut at = from;
        for _ in 0..count {
            let Some(to) = at.step(*files, *ranks) else { break };
            if own.iter().any(|own| own.at == to) {
                break;
            }
            found.push(to);
            if foe.iter().any(|foe| foe.at == to) {
                break;
            }
            at = to;
        }
    }
    found
}

impl Side {
    /// Parses rows such as `Your battleships    A1, F1` and `Their squadrons     S1 E3 in the air`.
    fn read(letter: &str, whose: &str) -> Side {
        let mut side = Side::default();
        for line in letter.lines() {
            let Some(row) = line.trim().strip_prefix(whose).and_then(|row| row.strip_prefix(' ')) else {
                continue;
            };
            let Some((label, places)) = row.split_once(' ') else { continue };
            let class = match label {
                "carriers" => Some(Class::Carrier),
                "squadrons" => Some(Class::Squadron),
                "battleships" => Some(Class::Battleship),
                "cruisers" => Some(Class::Cruiser),
                "destroyers" => Some(Class::Destroyer),
                "submarines" => None,
                _ => continue,
            };
            for place in places.split(',') {
                let words: Vec<&str> = place.split_whitespace().collect();
                let Some(at) = words.iter().find_map(|word| Square::parse(word)) else { continue };
                let name = words[0];
                match class {
                    Some(class) => side.ships.push(Ship {
                        class,
                        no: name[1..].to_owned(),
                        at,
                        aloft: place.ends_with("in the air"),
                    }),
                    None => side.submarines.push((name.to_owned(), at)),
                }
            }
        }
        side
    }
}
