//! A player's settings for their letters, as far as rulings and wordings depend on them. The chain of each
//! match therefore keeps them.

use chrono::{DateTime, Days, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Utc};
use serde::{Deserialize, Serialize};

use crate::zone::Zone;

/// A player's settings. A setting that is not set follows the terms of the match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlayerSettings {
    /// Time zone of the times that the player reads, and of the player's days of absence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<Zone>,
    #[serde(skip_serializing_if = "is_default")]
    pub format: LetterFormat,
    #[serde(skip_serializing_if = "is_default")]
    pub receipts: Receipts,
    /// Whether orders are firm at once whatever else the letter says (`words=off`).
    #[serde(skip_serializing_if = "is_default")]
    pub firm_at_once: bool,
    /// Whether letters come without a link to the board (`board=off`).
    #[serde(skip_serializing_if = "is_default")]
    pub without_board_link: bool,
    /// Hour of the day at which the daily digest is sent, in the player's zone; `None` for no digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest_hour: Option<u32>,
    /// Hours before a deadline at which the player is reminded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reminders_hours: Option<Vec<u32>>,
}

/// The parts of a letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LetterFormat {
    /// Plain text and HTML.
    #[default]
    Html,
    /// Plain text alone.
    Text,
}

/// The receipts that the player gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Receipts {
    #[default]
    All,
    /// Only receipts that say more than "your orders are filed".
    Faults,
}

impl PlayerSettings {
    /// Returns when the next digest after `at` is due; `zone` applies if the player has set none. `None` if
    /// the player gets no digest, or at the end of the calendar.
    pub fn next_digest(&self, at: DateTime<Utc>, zone: Zone) -> Option<DateTime<Utc>> {
        let hour = NaiveTime::from_hms_opt(self.digest_hour?.min(23), 0, 0)?;
        let zone = self.zone.unwrap_or(zone);
        let today = at.with_timezone(&zone).date_naive();
        let days = (0..3).filter_map(|n| today.checked_add_days(Days::new(n)));
        days.filter_map(|day| instant_in(zone, day.and_time(hour))).find(|moment| *moment > at)
    }
}

/// Converts a local time of a zone. An ambiguous time (clocks set back) maps to the later instant, a
/// nonexistent time (clocks set forward) to an hour later. `None` if the zone has neither.
pub fn instant_in(zone: Zone, local: NaiveDateTime) -> Option<DateTime<Utc>> {
    let found = zone.from_local_datetime(&local).latest();
    let found = found.or_else(|| zone.from_local_datetime(&(local + TimeDelta::hours(1))).latest());
    found.map(|instant| instant.with_timezone(&Utc))
}

/// Whether a value is left out when it is serialized.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_due_at_its_hour_in_the_players_zone() {
        let settings = PlayerSettings {
            zone: Zone::named("America/New_York"),
            digest_hour: Some(8),
            ..Default::default()
        };
        let utc = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let next = |at: &str| settings.next_digest(utc(at), Zone::utc());
        assert_eq!(next("2026-05-07T11:59:00Z"), Some(utc("2026-05-07T12:00:00Z")));
        assert_eq!(next("2026-05-07T12:00:00Z"), Some(utc("2026-05-08T12:00:00Z")));
        assert_eq!(PlayerSettings::default().next_digest(utc("2026-05-07T12:00:00Z"), Zone::utc()), None);
    }

    #[test]
    fn default_settings_are_written_as_nothing() {
        assert_eq!(serde_json::to_string(&PlayerSettings::default()).unwrap(), "{}");
    }
}

/// Terms that a GM changes while a match runs. Terms that are `None` stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TermsChange {
    /// Days for each turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// Hour of the day at which turns are due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour: Option<u32>,
    /// Whether a turn may be due on a Saturday or Sunday.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weekends: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_hours: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminders_hours: Option<Vec<u32>>,
    /// `false` ends the rating of the match at once. A match cannot become rated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated: Option<bool>,
}
