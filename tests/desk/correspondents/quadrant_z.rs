//! A correspondent's play of Quadrant Z: from the tables in a report, without looking ahead.

use fogpost_testing::random::Random;
use std::collections::BTreeMap;

/// A square as letters write it, `A3`: the index of its quadrant in the 5 × 5 grid, and its number there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    quadrant: u8,
    number: u8,
}

impl Place {
    fn parse(text: &str) -> Option<Place> {
        let [letter, number] = <[u8; 2]>::try_from(text.as_bytes()).ok()?;
        let quadrant = letter.checked_sub(b'A').filter(|quadrant| *quadrant < 25)?;
        (b'1'..=b'4').contains(&number).then(|| Place { quadrant, number: number - b'0' })
    }

    /// Returns the distance in quadrants that share an edge.
    fn quadrants_to(self, other: Place) -> u8 {
        let (row, column) = (self.quadrant / 5, self.quadrant % 5);
        row.abs_diff(other.quadrant / 5) + column.abs_diff(other.quadrant % 5)
    }

    /// Whether a ship can reach `other` in one turn.
    fn reaches(self, other: Place) -> bool {
        match self.quadrants_to(other) {
            0 => self.number + other.number != 5 && self != other,
            steps => steps == 1,
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", char::from(b'A' + self.quadrant), self.number)
    }
}

struct Ship {
    no: u32,
    offence: u32,
    at: Place,
}

/// Returns the orders that a letter asks for: a setup or a turn.
pub fn orders(letter: &str, dice: &mut Random) -> Vec<String> {
    let text = letter.lines().map(str::trim).collect::<Vec<_>>();
    if text.iter().any(|line| line.starts_with("Place your stars")) {
        return setup(&text, dice);
    }
    turn(&text, dice)
}

/// Sets up stars at home and in each neutral quadrant, and four ships of medium size.
fn setup(text: &[&str], dice: &mut Random) -> Vec<String> {
    let home = quadrants_after(text, "Stars in your home sector, quadrants");
    let neutral = quadrants_after(text, "Stars in the neutral sector,");
    let mut lines = Vec::new();
    // 3 + 3 + 2 + 2 + 2 + 2 + 1 = 15: a star in each quadrant, and a second one in the first.
    for (place, value) in home.iter().zip([3, 3, 2, 2, 2, 2]) {
        let base = if lines.is_empty() { " BASE" } else { "" };
        lines.push(format!("STAR {place}{} {value}{base}", 1 + dice.below(2)));
    }
    lines.extend(home.first().map(|place| format!("STAR {place}4 1")));
    // One star in each quadrant, of value 2 while the thirty points last; the remaining points go into second
    // stars.
    let mut left = 30_usize.saturating_sub(neutral.len());
    for place in &neutral {
        let value = if left > 0 { 2 } else { 1 };
        left -= value - 1;
        lines.push(format!("STAR {place}{} {value}", 1 + dice.below(2)));
    }
    for place in neutral.iter().take(left) {
        lines.push(format!("STAR {place}{} 1", 3 + dice.below(2)));
    }
    let fleet = dice.pick(&[["3/1", "3/1", "2/2", "2/1"], ["4/1", "2/2", "2/1", "2/1"]]);
    for (no, size) in (1..).zip(fleet) {
        let place = dice.pick(&home);
        lines.push(format!("SHIP {no} {size} {place}{}", 1 + dice.below(4)));
    }
    lines
}

/// Parses the letters of quadrants that follow these words.
fn quadrants_after(text: &[&str], words: &str) -> Vec<char> {
    let rest = text.iter().find_map(|line| line.split_once(words)).map_or("", |(_, rest)| rest);
    rest.split([' ', ':', ','])
        .filter(|word| word.len() == 1)
        .filter_map(|word| word.chars().next())
        .collect()
}

/// Captures what it can, builds what it can pay for, and heads for the nearest star or into the unknown.
fn turn(text: &[&str], dice: &mut Random) -> Vec<String> {
    let ships = ships(text);
    let stars = stars(text);
    let mut lines = Vec::new();
    let mut busy = Vec::new();
    let base = stars.iter().find(|(_, (_, base))| *base).map(|(at, _)| *at);
    for (at, (value, base)) in &stars {
        let there: Vec<&Ship> = ships.iter().filter(|ship| ship.at == *at).collect();
        let offence: u32 = there.iter().map(|ship| ship.offence).sum();
        if !base && offence >= *value && !there.is_empty() {
            lines.push(format!("CAPTURE {at}"));
            busy.extend(there.iter().map(|ship| ship.no));
        }
    }
    let stock = number_after(text, "Your stock for new ships is");
    if let Some(at) = base.filter(|_| stock >= 3) {
        lines.push(format!("BUILD {}/{} AT {at}", stock - stock / 3, stock / 3));
    }
    for ship in ships.iter().filter(|ship| !busy.contains(&ship.no)) {
        let goals =
            stars.iter().filter(|(at, (value, base))| !base && **at != ship.at && *value <= ship.offence);
        let nearest = goals.map(|(at, _)| *at).min_by_key(|at| (ship.at.quadrants_to(*at), *at));
        let goal = match nearest.filter(|_| dice.below(4) > 0) {
            Some(near) => near,
            // Head into the unknown, towards the enemy's home.
            None => Place {
                quadrant: if base.is_some_and(|at| at.quadrant == 0) { 24 } else { 0 },
                number: 1 + dice.below(4) as u8,
            },
        };
        lines.extend(step(ship.at, goal, dice).map(|to| format!("SHIP {} {} TO {to}", ship.no, ship.at)));
    }
    if lines.is_empty() { vec!["HOLD".to_owned()] } else { lines }
}

/// Returns a square one turn closer to `goal`.
fn step(from: Place, goal: Place, dice: &mut Random) -> Option<Place> {
    if from.reaches(goal) {
        return Some(goal);
    }
    let all = (0..25).flat_map(|quadrant| (1..=4).map(move |number| Place { quadrant, number }));
    let near: Vec<Place> = all.filter(|place| from.reaches(*place)).collect();
    let best = near.iter().map(|place| place.quadrants_to(goal)).min()?;
    let good: Vec<Place> = near.into_iter().filter(|place| place.quadrants_to(goal) == best).collect();
    Some(*dice.pick(&good))
}

/// Parses the rows below `Your ships`: number, offence, defence, size, square.
fn ships(text: &[&str]) -> Vec<Ship> {
    let rows = text.iter().skip_while(|line| **line != "Your ships").skip(4);
    rows.map_while(|row| Ship::parse(row)).collect()
}

impl Ship {
    fn parse(row: &str) -> Option<Ship> {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [no, offence, _, _, at] = words[..] else { return None };
        Some(Ship { no: no.parse().ok()?, offence: offence.parse().ok()?, at: Place::parse(at)? })
    }
}

/// Parses the stars below `Stars that you know of …`: square, value, and `base` after the player's own.
fn stars(text: &[&str]) -> BTreeMap<Place, (u32, bool)> {
    let mut found = BTreeMap::new();
    let lines = text.iter().skip_while(|line| !line.starts_with("Stars that you know of")).skip(3);
    for line in lines.take_while(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for (i, pair) in words.windows(2).enumerate() {
            if let (Some(at), Ok(value)) = (Place::parse(pair[0]), pair[1].parse()) {
                found.insert(at, (value, words.get(i + 2) == Some(&"base")));
            }
        }
    }
    found
}

fn number_after(text: &[&str], words: &str) -> u32 {
    let rest = text.iter().find_map(|line| line.strip_prefix(words)).unwrap_or("");
    let digits: String = rest.trim().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
