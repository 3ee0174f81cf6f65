//! The table of a section.

use std::collections::BTreeMap;

use crate::game::Seat;
use crate::ledger::book::{BookOutcome, BookPlace};

/// A result in a section: first player, second player, outcome.
pub type SectionResult = (i64, i64, BookOutcome);

/// The values that break a tie when one of several players in the same place must go on, rise or fall.
pub struct Breaks<'a> {
    /// Seconds of own time in the section.
    pub own: &'a BTreeMap<i64, i64>,
    /// The figures of the draw.
    pub figures: &'a BTreeMap<i64, i64>,
    /// The order of the draw.
    pub list: &'a [i64],
}

/// Returns the table of a section, best first: points, then direct encounters, applied once among all who are
/// level, then Sonneborn-Berger, then wins. Players who are level in all of these share a place.
pub fn table(section: &[i64], results: &[SectionResult]) -> Vec<BookPlace> {
    let points: BTreeMap<i64, u32> =
        section.iter().map(|player| (*player, sum(results, *player, |_, halves| halves))).collect();
    let of = |player: i64| points.get(&player).copied().unwrap_or(0);
    let mut rows: Vec<BookPlace> = section
        .iter()
        .map(|&player| BookPlace {
            player,
            place: 0,
            points: of(player),
            direct: sum(results, player, |foe, halves| if of(foe) == of(player) { halves } else { 0 }),
            berger: sum(results, player, |foe, halves| halves * of(foe)),
            wins: sum(results, player, |_, halves| u32::from(halves == 2)),
        })
        .collect();
    let key = |row: &BookPlace| (row.points, row.direct, row.berger, row.wins);
    rows.sort_by_key(|row| std::cmp::Reverse(key(row)));
    for at in 0..rows.len() {
        let is_level = at > 0 && key(&rows[at - 1]) == key(&rows[at]);
        rows[at].place = if is_level { rows[at - 1].place } else { at as u32 + 1 };
    }
    rows
}

/// Returns the players of a table in the order in which they rise or go on: by place, then by fewer hours of
/// own time, then by the lower figure at the draw, then by the lower place in its list.
pub fn promotion_order(table: &[BookPlace], breaks: &Breaks<'_>) -> Vec<i64> {
    let mut rows: Vec<&BookPlace> = table.iter().collect();
    rows.sort_by_key(|row| {
        let hours = breaks.own.get(&row.player).copied().unwrap_or(0) / 3600;
        let figure = breaks.figures.get(&row.player).copied().unwrap_or(i64::MAX);
        let drawn = breaks.list.iter().position(|player| *player == row.player).unwrap_or(0);
        (row.place, hours, figure, std::cmp::Reverse(drawn))
    });
    rows.into_iter().map(|row| row.player).collect()
}

/// Sums `count` over a player's results. It gets the opponent and the player's half points.
fn sum(results: &[SectionResult], player: i64, count: impl Fn(i64, u32) -> u32) -> u32 {
    let counted = results.iter().filter_map(|&(first, second, outcome)| {
        let (seat, foe) = match player {
            _ if player == first => (Seat::First, second),
            _ if player == second => (Seat::Second, first),
            _ => return None,
        };
        outcome.halves(seat).map(|halves| count(foe, halves))
    });
    counted.sum()
}
