//! Sections: a few entrants who all play each other.

use std::collections::BTreeSet;

use super::keys::Format;

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
    let is_again = |one: i64, other: i64| met.contains(&(one.min(other), one.max(other)));
    let mut left = list.to_vec();
    let mut sections: Vec<Vec<i64>> = Vec::new();
    while left.len() > 3 {
        let upper = left.remove(0);
        let at = left.iter().position(|lower| !is_again(upper, *lower)).unwrap_or(0);
        sections.push(vec![upper, left.remove(at)]);
    }
    if let [one, other] = left[..]
        && is_again(one, other)
    {
        for section in sections.iter_mut().rev() {
            let lower = section[1];
            if !is_again(section[0], one) && !is_again(lower, other) {
                section[1] = one;
                left = vec![lower, other];
                break;
            }
        }
    }
    sections.extend((!left.is_empty()).then_some(left));
    sections
}
