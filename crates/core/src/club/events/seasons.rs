//! The list of players for the next season: those who rise, fall, go on, are struck, or are new.
//!
//! Vanishing: players who lose matches by missed turns cannot enter events for a while.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::event::{Event, EventStage, Season};
use super::keys::Format;

/// Returns the players of the next draw, in draw order. `figures` are those of all who may be in it.
pub fn next_list(event: &Event, figures: &BTreeMap<i64, i64>) -> Vec<i64> {
    let Some(season) = event.season() else { return by_strength(event, &event.entrants, figures) };
    let mut list = match event.plan.format {
        Format::League => after_league(&season.ranked(), event.plan.promote, &season.vanished),
        Format::Cup => {
            let on = going_on(season, event.plan.advance, &event.gone);
            return by_strength(event, &on, figures);
        }
        Format::Ladder => after_ladder(&season.list, &season.ranked()),
    };
    pass_on(&season.heirs, &mut list);
    // Players who left or vanished are no longer entered; newcomers follow at the end.
    list.retain(|player| event.entrants.contains(player));
    let newcomers: Vec<i64> =
        event.entrants.iter().filter(|player| !list.contains(player)).copied().collect();
    list.extend(by_strength(event, &newcomers, figures));
    list
}

/// Returns how far each player rises by a season: divisions in a league, places in a ladder, nothing in a cup. While the
/// season runs, as it would be if it ended now.
pub fn moves(event: &Event, season: &Season) -> BTreeMap<i64, i64> {
    let ranked = season.ranked();
    match event.plan.format {
        Format::League => {
            let after = after_league(&ranked, event.plan.promote, &season.vanished);
            let ends: Vec<usize> = ranked
                .iter()
                .scan(0, |end, division| {
                    *end += division.len();
                    Some(*end)
                })
                .collect();
            let division = |at: usize| ends.iter().position(|end| at < *end).unwrap_or(0) as i64;
            let before = ranked.concat();
            let rise = |player: &i64| {
                let from = place_in(&before, player) as usize;
                let to = place_in(&after, player) as usize;
                (*player, division(from) - division(to))
            };
            before.iter().map(rise).collect()
        }
        Format::Ladder => {
            let after = after_ladder(&season.list, &ranked);
            let rise = |player: &i64| (*player, place_in(&season.list, player) - place_in(&after, player));
            season.list.iter().map(rise).collect()
        }
        Format::Cup => BTreeMap::new(),
    }
}

fn place_in(list: &[i64], player: &i64) -> i64 {
    list.iter().position(|other| other == player).unwrap_or(0) as i64
}

/// Sorts players by the order in the plan, then by figure, then by time of entry.
fn by_strength(event: &Event, players: &[i64], figures: &BTreeMap<i64, i64>) -> Vec<i64> {
    let order = &event.plan.order;
    let planned = |player: &i64| order.iter().position(|named| named == player).unwrap_or(usize::MAX);
    let mut sorted = players.to_vec();
    let entered = |player: &i64| event.entrants.iter().position(|other| other == player);
    sorted.sort_by_key(|player| {
        (planned(player), Reverse(figures.get(player).copied().unwrap_or(0)), entered(player))
    });
    sorted
}

/// Exchanges the players next to each border of a league. Players who vanished come last in their division.
pub fn after_league(ranked: &[Vec<i64>], promote: usize, vanished: &BTreeSet<i64>) -> Vec<i64> {
    let mut divisions: Vec<Vec<i64>> = ranked.to_vec();
    for division in &mut divisions {
        division.sort_by_key(|player| vanished.contains(player));
    }
    for upper in 1..divisions.len() {
        let (above, below) = divisions.split_at_mut(upper);
        let above = &mut above[upper - 1];
        let below = &mut below[0];
        // At most half of a division, so that nobody both rises and falls in a small one.
        let moving = promote.min(above.len() / 2).min(below.len() / 2);
        let fall_from = above.len() - moving;
        above[fall_from..].swap_with_slice(&mut below[..moving]);
    }
    divisions.concat()
}

/// Returns who went on from a closed round of a cup, or has won its final. Before the next draw, who will go on.
pub fn went_on(event: &Event, round: &Season) -> Vec<i64> {
    match event.seasons.iter().find(|next| next.no == round.no + 1) {
        _ if event.plan.format != Format::Cup || round.places.is_none() => Vec::new(),
        // Whoever leaves in the next round was in it all the same.
        Some(next) => next.list.clone(),
        None if event.stage == EventStage::Over => event.champion().into_iter().collect(),
        None => going_on(round, event.plan.advance, &event.gone),
    }
}

/// Returns the best `advance` of each section who have not left or vanished. The caller sorts them by
/// strength.
fn going_on(season: &Season, advance: usize, gone: &BTreeSet<i64>) -> Vec<i64> {
    let mut on = Vec::new();
    for mut section in season.ranked() {
        // Whoever took over a place plays on, whether or not they vanished from their own.
        section.retain(|player| !season.vanished.contains(player));
        pass_on(&season.heirs, &mut section);
        section.retain(|player| !gone.contains(player));
        on.extend(section.into_iter().take(advance));
    }
    on
}

/// Puts those who took over a place where their predecessors are. A place of their own, which they had given
/// up, does not count any more.
fn pass_on(heirs: &[(i64, i64)], list: &mut Vec<i64>) {
    for (from, to) in heirs {
        list.retain(|player| player != to);
        for player in list.iter_mut().filter(|player| **player == *from) {
            *player = *to;
        }
    }
}

/// Moves the winner of each section a quarter of the way to the top, and its loser a quarter to the foot.
pub fn after_ladder(list: &[i64], ranked: &[Vec<i64>]) -> Vec<i64> {
    let foot = list.len() as i64;
    // If keys are equal, the riser goes first.
    let key = |place: i64, player: i64| {
        let section = ranked.iter().find(|section| section.contains(&player));
        match section {
            Some(section) if section.first() == Some(&player) => (4 * place - (place - 1), 0),
            Some(section) if section.last() == Some(&player) => (4 * place + (foot - place), 2),
            _ => (4 * place, 1),
        }
    };
    let mut keyed: Vec<((i64, i32), i64)> =
        (1..).zip(list).map(|(place, player)| (key(place, *player), *player)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, player)| player).collect()
}

/// Losses that are no further apart than this count as one vanishing. A player cannot enter for the same time
/// after a vanishing.
const APART: TimeDelta = TimeDelta::days(30);

/// Time for which a player cannot enter after a second vanishing within [`YEAR`].
const AGAIN: TimeDelta = TimeDelta::days(90);

const YEAR: TimeDelta = TimeDelta::days(365);

/// Returns the time until which a player cannot enter, given the times of `losses` by missed turns against
/// people, and the time at which they last left an event after its start.
pub fn barred_until(losses: &[DateTime<Utc>], left: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
    let vanished = vanishings(losses);
    let after_losses = vanished.last().map(|(begun, last)| {
        let again = vanished.iter().rev().nth(1).is_some_and(|(_, before)| *before + YEAR > *begun);
        *last + if again { AGAIN } else { APART }
    });
    after_losses.max(left.map(|left| left + APART))
}

/// Returns the first and the last loss of each vanishing, oldest first.
pub fn vanishings(losses: &[DateTime<Utc>]) -> Vec<(DateTime<Utc>, DateTime<Utc>)> {
    let mut sorted = losses.to_vec();
    sorted.sort_unstable();
    let mut found: Vec<(DateTime<Utc>, DateTime<Utc>)> = Vec::new();
    for loss in sorted {
        match found.last_mut() {
            Some((_, last)) if loss - *last <= APART => *last = loss,
            _ => found.push((loss, loss)),
        }
    }
    found
}
