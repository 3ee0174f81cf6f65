//! Vanishing: players who lose matches by missed turns cannot enter events for a while.

use chrono::{DateTime, TimeDelta, Utc};

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
