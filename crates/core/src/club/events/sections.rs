//! Sections: a few entrants who all play each other.
//!
//! The table of a section.

use std::collections::{BTreeMap, BTreeSet};

use super::keys::Format;
use crate::game::Seat;
use crate::ledger::book::{BookOutcome, BookPlace};

/// Returns the sizes of the sections of `entrants`, larger ones first.
pub fn sizes(entrants: usize, section_size: usize) -> Vec<usize> {
    let sections = match section_size {
        2 => entrants / 2,
        size => entrants.div_ceil(size).min(entrants / 3),
    };
    let sections = sections.max(1);
    (0..sections).map(|no| entrants / sections + usize::from(no < entrants % sections)).collect()
}

/// Divides a list, the strongest first, into sections. `met` are the pairs of a ladder's last season.
pub fn draw(format: Format, list: &[i64], section_size: usize, met: &BTreeSet<(i64, i64)>) -> Vec<Vec<i64>> {
    let sizes = sizes(list.len(), section_size);
    match format {
        Format::League => cut(list, &sizes),
        Format::Cup => deal(list, &sizes),
        Format::Ladder => neighbours(list, met),
    }
}

/// Returns the seats of a section's matches: first and second player. With two matches for each pair, both
/// players get each seat; with one, the upper player has the first seat if the sum of both places is odd.
pub fn seats(section: &[i64], games: usize) -> Vec<(i64, i64)> {
    let mut seats = Vec::new();
    for (place, &upper) in section.iter().enumerate() {
        for (below, &lower) in section.iter().enumerate().skip(place + 1) {
            match games {
                1 if (place + below) % 2 == 1 => seats.push((upper, lower)),
                1 => seats.push((lower, upper)),
                _ => seats.extend([(upper, lower), (lower, upper)]),
            }
        }
    }
    seats
}

fn cut(list: &[i64], sizes: &[usize]) -> Vec<Vec<i64>> {
    let mut rest = list;
    let mut sections = Vec::new();
    for &size in sizes {
        let (section, behind) = rest.split_at(size);
        sections.push(section.to_vec());
        rest = behind;
    }
    sections
}

/// Deals the list like cards, from the first section to the last and back, skipping full sections.
fn deal(list: &[i64], sizes: &[usize]) -> Vec<Vec<i64>> {
    let mut sections: Vec<Vec<i64>> = vec![Vec::new(); sizes.len()];
    let rounds = (0..).flat_map(|round| {
        let forth: Vec<usize> = (0..sizes.len()).collect();
        if round % 2 == 0 { forth } else { forth.into_iter().rev().collect() }
    });
    let mut left = list.iter();
    for at in rounds {
        if sections[at].len() < sizes[at] {
            let Some(&player) = left.next() else { return sections };
            sections[at].push(player);
        } else if left.len() == 0 {
            return sections;
        }
    }
    sections
}

/// Pairs neighbours from the top; if the number is odd, the last three form one section. If neighbours met in
/// the last season, pairs the upper one with the nearest player below whom they did not meet. If the last two
/// would meet again, exchanges one of them with the lower player of an earlier pair, if possible.
fn neighbours(list: &[i64], met: &BTreeSet<(i64, i64)>) -> Vec<Vec<i64>> {
    let mut left = list.to_vec();
    let mut sections: Vec<Vec<i64>> = Vec::new();
    while left.len() > 3 {
        let upper = left.remove(0);
        let at = left.iter().position(|lower| !have_met(met, upper, *lower)).unwrap_or(0);
        sections.push(vec![upper, left.remove(at)]);
    }
    if let [one, other] = left[..]
        && have_met(met, one, other)
    {
        for section in sections.iter_mut().rev() {
            let lower = section[1];
            if !have_met(met, section[0], one) && !have_met(met, lower, other) {
                section[1] = one;
                left = vec![lower, other];
                break;
            }
        }
    }
    sections.extend((!left.is_empty()).then_some(left));
    sections
}

fn have_met(met: &BTreeSet<(i64, i64)>, one: i64, other: i64) -> bool {
    met.contains(&(one.min(other), one.max(other)))
}

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
    rows.sort_by_key(|row| std::cmp::Reverse(rank(row)));
    for at in 0..rows.len() {
        let is_level = at > 0 && rank(&rows[at - 1]) == rank(&rows[at]);
        rows[at].place = if is_level { rows[at - 1].place } else { at as u32 + 1 };
    }
    rows
}

fn rank(row: &BookPlace) -> (u32, u32, u32, u32) {
    (row.points, row.direct, row.berger, row.wins)
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
