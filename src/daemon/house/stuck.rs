//! Matches in which the house cannot play its turn. They are remembered in the store, so that the GM is told
//! once in each phase, the status shows them, and every daemon waits before it tries again.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::store::Database;

/// Prefix of the keys under which these matches are remembered. The match's name follows.
const STUCK_KEYS: &str = "house stuck: ";

/// The pause between two attempts grows with the time that the match has waited, within these bounds.
const MIN_PAUSE: TimeDelta = TimeDelta::minutes(1);
const MAX_PAUSE: TimeDelta = TimeDelta::hours(1);

/// A phase in which the house cannot play its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckHouse {
    pub phase_no: u32,
    /// Time of the first failed attempt.
    pub since: DateTime<Utc>,
    /// Time of the next attempt.
    pub next: DateTime<Utc>,
}

impl StuckHouse {
    /// Returns the value to remember after an attempt at `now` that failed. `before` is the value so far.
    pub fn after(before: Option<&StuckHouse>, phase_no: u32, now: DateTime<Utc>) -> StuckHouse {
        let since = before.filter(|before| before.phase_no == phase_no).map_or(now, |before| before.since);
        StuckHouse { phase_no, since, next: now + (now - since).clamp(MIN_PAUSE, MAX_PAUSE) }
    }

    /// Whether it is too early for the next attempt in this phase.
    pub fn waits(&self, phase_no: u32, now: DateTime<Utc>) -> bool {
        // A clock that was set back does not keep the match waiting.
        self.phase_no == phase_no && (self.since..self.next).contains(&now)
    }
}

/// Returns the key under which a match is remembered.
pub fn key(match_id: &str) -> String {
    format!("{STUCK_KEYS}{match_id}")
}

/// Returns the matches in which the house cannot play.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn stuck_houses(store: &Database) -> anyhow::Result<BTreeMap<String, StuckHouse>> {
    let remembered = store.remembered_under(STUCK_KEYS).await?;
    let stuck = remembered.into_iter().filter_map(|(key, value)| {
        // Ignore notes in the format of another version. The house then tries again at once.
        Some((key.strip_prefix(STUCK_KEYS)?.to_owned(), serde_json::from_str(&value).ok()?))
    });
    Ok(stuck.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_in_one_phase_come_ever_more_rarely() {
        let start = DateTime::UNIX_EPOCH;
        let mut stuck = StuckHouse::after(None, 7, start);
        assert!(stuck.waits(7, start) && !stuck.waits(8, start) && !stuck.waits(7, stuck.next));
        let mut pauses = Vec::new();
        for _ in 0..9 {
            let now = stuck.next;
            stuck = StuckHouse::after(Some(&stuck), 7, now);
            pauses.push((stuck.next - now).num_minutes());
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(StuckHouse::after(Some(&stuck), 8, stuck.next).since, stuck.next);
    }
}
