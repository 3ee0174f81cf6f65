//! A correspondent's play of Quad: from the text board, looking one turn ahead.

use fogpost_testing::random::Random;
use std::cmp::Reverse;

use super::examples;
use fogpost::game::square::Square;

type Point = Square<11, 11>;

/// The position as a letter shows it.
struct Table {
    own: Vec<Point>,
    foe: Vec<Point>,
    free: Vec<Point>,
    stars_left: usize,
}

/// Four points that form a square, and how many of them each side holds. A star on one spoils it for both.
struct Corners {
    points: [Point; 4],
    own: usize,
    foe: usize,
}

/// Completes a quad, else blocks the opponent's, else builds where most squares are open. The first letter shows no
/// board, so its example serves as the first marble.
pub fn orders(letter: &str, dice: &mut Random) -> Vec<String> {
    let may_swap = letter.lines().any(|line| line.trim() == "| SWAP");
    if may_swap && dice.below(2) == 0 {
        return vec!["SWAP".to_owned()];
    }
    let Some(table) = Table::read(letter) else { return examples(letter) };
    let squares = table.squares();
    if let Some(last) = table.free_in(squares.iter().filter(|square| square.own == 3)).first() {
        return vec![format!("MARBLE {last}")];
    }
    let mut threats = table.free_in(squares.iter().filter(|square| square.foe == 3));
    threats.sort();
    threats.dedup();
    let choice = if threats.is_empty() { &table.free } else { &threats };
    let Some(&marble) = choice.iter().max_by_key(|point| worth(&squares, **point) + dice.below(3)) else {
        return examples(letter);
    };
    let blocked = threats.iter().filter(|point| **point != marble).take(table.stars_left);
    let stars = blocked.map(|point| format!("STAR {point}"));
    stars.chain([format!("MARBLE {marble}")]).collect()
}

/// Values a marble on `point` by the squares through it that only one side can complete: the fuller, the higher.
fn worth(squares: &[Corners], point: Point) -> usize {
    let through = squares.iter().filter(|square| square.points.contains(&point));
    let each = through.map(|square| match (square.own, square.foe) {
        (own, 0) => [1, 6, 40, 0][own],
        (0, foe) => [1, 5, 30, 0][foe],
        _ => 0,
    });
    each.sum()
}

impl Table {
    /// Parses board rows such as `  7  .  B  .  …  7`, and the row of the pieces left that says `(you)`. White sees the
    /// board turned, with the files from K to A.
    fn read(letter: &str) -> Option<Table> {
        let pieces =
            letter.lines().find(|line| line.contains("(you)") && line.ends_with(char::is_numeric))?;
        let is_black = pieces.trim_start().starts_with("Black");
        let mut table = Table {
            own: Vec::new(),
            foe: Vec::new(),
            free: Vec::new(),
            stars_left: pieces.split_whitespace().last()?.parse().ok()?,
        };
        for line in letter.lines() {
            let Some(row) = line.strip_prefix("    ").filter(|row| row.len() > 37) else { continue };
            let Ok(rank) = row[..3].trim().parse::<u8>() else { continue };
            for (column, cell) in (0..).zip(row.as_bytes()[4..37].chunks(3)) {
                let file = if is_black { column } else { 10 - column };
                let point = Point::new(file, rank.checked_sub(1)?)?;
                match cell[1] {
                    b'B' if is_black => table.own.push(point),
                    b'W' if !is_black => table.own.push(point),
                    b'B' | b'W' => table.foe.push(point),
                    b'.' | b'!' | b'+' => table.free.push(point),
                    _ => {}
                }
            }
        }
        Some(table).filter(|table| !table.free.is_empty())
    }

    /// Returns the free points of these squares.
    fn free_in<'a>(&self, squares: impl Iterator<Item = &'a Corners>) -> Vec<Point> {
        squares.flat_map(|square| square.points).filter(|point| self.free.contains(point)).collect()
    }

    /// Returns every square at any tilt whose corners are free or hold a marble, those nearest to a quad first.
    fn squares(&self) -> Vec<Corners> {
        let usable =
            |point: &Point| [&self.free, &self.own, &self.foe].iter().any(|some| some.contains(point));
        let mut squares = Vec::new();
        for corner in Point::all().filter(usable) {
            // One side of the square, in directions that meet each square once.
            for (files, ranks) in (1..=10).flat_map(|files| (0..=10).map(move |ranks| (files, ranks))) {
                let steps = [(files, ranks), (files - ranks, ranks + files), (-ranks, files)];
                let [a, b, c] = steps.map(|(files, ranks)| corner.step(files, ranks).filter(usable));
                if let (Some(a), Some(b), Some(c)) = (a, b, c) {
                    let points = [corner, a, b, c];
                    let held = |by: &[Point]| points.iter().filter(|point| by.contains(point)).count();
                    squares.push(Corners { points, own: held(&self.own), foe: held(&self.foe) });
                }
            }
        }
        squares.sort_by_key(|square| Reverse(square.own.max(square.foe)));
        squares
    }
}
