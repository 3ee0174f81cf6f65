//! Reads a player's changes to their settings.

use chrono::{DateTime, Offset as _, TimeZone as _, Utc};
use serde::{Deserialize, Serialize};

use crate::ledger::{LetterFormat, PlayerSettings, Receipts};
use crate::request::MAX_SETTINGS;
use crate::zone::Zone;

/// A player's changes. Either all of them are made, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsChange {
    pub settings: PlayerSettings,
    /// Whether others can challenge the player.
    pub challenges: Option<bool>,
    pub name: Option<String>,
    /// Whether people other than opponents may know the player.
    pub public: Option<bool>,
    /// Whether new matches may be rated.
    pub rated: Option<bool>,
    /// The number of running matches at which standing offers rest; `Some(None)` removes the limit.
    pub limit: Option<Option<u32>>,
}

/// The reason why a setting is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct SettingFault {
    /// The setting as written.
    pub written: String,
    pub why: SettingFaultKind,
    /// An example of a valid setting.
    pub example: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SettingFaultKind {
    /// There is no such setting.
    UnknownName,
    /// There is no such time zone.
    UnknownZone,
    /// An offset, such as UTC+2, and the time zones of up to three cities whose clock shows it now, with that
    /// time.
    Offset { cities: Vec<(String, String)> },
    /// The setting takes one of these words.
    OneOfTwo {
        #[serde(borrow)]
        words: [&'static str; 2],
    },
    /// The setting takes hours before a deadline, or off.
    Hours,
    /// A number of matches, or off.
    Matches { most: u32 },
    /// Another player, or the club, goes by the name.
    NameTaken,
    /// Not a name that letters can show.
    UnfitName,
    /// One letter can change at most `most` settings.
    TooMany { most: usize },
}

/// Maximum hours before a deadline at which somebody is reminded, and maximum reminders for a deadline.
const MAX_REMINDER_HOURS: u32 = 720;
const MAX_REMINDERS: usize = 5;

impl SettingsChange {
    /// Reads the changes to `current` at the time `now`. `digest=daily` means at `digest_hour`. Names are not
    /// checked here.
    ///
    /// # Errors
    /// Returns the fault of each invalid setting.
    pub fn read(
        written: &[(String, String)],
        current: &PlayerSettings,
        digest_hour: u32,
        now: DateTime<Utc>,
    ) -> Result<SettingsChange, Vec<SettingFault>> {
        if let Some((name, value)) = written.get(MAX_SETTINGS) {
            let why = SettingFaultKind::TooMany { most: MAX_SETTINGS };
            let example = "receipts=faults".to_owned();
            return Err(vec![SettingFault { written: as_written(name, value), why, example }]);
        }
        let mut change = SettingsChange { settings: current.clone(), ..SettingsChange::default() };
        let mut faults = Vec::new();
        for (name, value) in written {
            if let Err((why, example)) = change.take(name, value, digest_hour, now) {
                faults.push(SettingFault { written: as_written(name, value), why, example });
            }
        }
        if faults.is_empty() { Ok(change) } else { Err(faults) }
    }

    fn take(
        &mut self,
        name: &str,
        value: &str,
        digest_hour: u32,
        now: DateTime<Utc>,
    ) -> Result<(), (SettingFaultKind, String)> {
        let word = value.split_whitespace().collect::<String>().to_ascii_lowercase();
        let word = word.trim_end_matches([',', ';', '.']);
        let settings = &mut self.settings;
        match name {
            "zone" => settings.zone = Some(read_zone(word, now)?),
            "format" => {
                settings.format =
                    one_of(word, "format", ("text", LetterFormat::Text), ("html", LetterFormat::Html))?;
            }
            "receipts" => {
                settings.receipts =
                    one_of(word, "receipts", ("faults", Receipts::Faults), ("all", Receipts::All))?;
            }
            "words" => {
                settings.firm_at_once = one_of(word, "words", ("off", true), ("on", false))?;
            }
            "board" => {
                settings.without_board_link = one_of(word, "board", ("off", true), ("on", false))?;
            }
            "digest" => {
                settings.digest_hour = one_of(word, "digest", ("daily", Some(digest_hour)), ("off", None))?;
            }
            "reminders" => settings.reminders_hours = Some(read_hours(word)?),
            "challenges" => {
                self.challenges = Some(one_of(word, "challenges", ("off", false), ("on", true))?);
            }
            "public" => self.public = Some(one_of(word, "public", ("off", false), ("on", true))?),
            "rated" => self.rated = Some(one_of(word, "rated", ("off", false), ("on", true))?),
            "limit" => self.limit = Some(read_limit(word)?),
            "name" => self.name = Some(value.split_whitespace().collect::<Vec<_>>().join(" ")),
            _ => return Err((SettingFaultKind::UnknownName, "receipts=faults".to_owned())),
        }
        Ok(())
    }
}

/// Maximum characters of a setting that a letter quotes.
const MAX_WRITTEN: usize = 50;

/// Returns a setting as a letter quotes it.
pub fn as_written(name: &str, value: &str) -> String {
    let written = if value.is_empty() { name.to_owned() } else { format!("{name}={value}") };
    written.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_WRITTEN).collect()
}

/// Returns the value that a word stands for.
fn one_of<T>(
    word: &str,
    name: &str,
    (first, value): (&'static str, T),
    (second, other): (&'static str, T),
) -> Result<T, (SettingFaultKind, String)> {
    match word {
        _ if word == first => Ok(value),
        _ if word == second => Ok(other),
        _ => Err((SettingFaultKind::OneOfTwo { words: [first, second] }, format!("{name}={first}"))),
    }
}

/// Reads a time zone such as `europe/berlin`. A city alone is answered with its zone, and an offset with the
/// zones of cities: a zone like Etc/GMT+2 means the opposite of what it says.
fn read_zone(word: &str, now: DateTime<Utc>) -> Result<Zone, (SettingFaultKind, String)> {
    if let Some(offset) = offset(word) {
        let cities = cities_at(offset, now);
        let example = cities.first().map_or("Europe/Berlin", |(zone, _)| zone.as_str());
        let example = format!("zone={example}");
        return Err((SettingFaultKind::Offset { cities }, example));
    }
    Zone::named(word).ok_or_else(|| {
        let city = word.rsplit('/').next().unwrap_or_default().replace('-', "_");
        let is_city =
            |zone: &Zone| zone.name().rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(&city));
        let meant = Zone::all().find(is_city).map_or("Europe/Berlin", Zone::name);
        (SettingFaultKind::UnknownZone, format!("zone={meant}"))
    })
}

/// Maximum of the setting `limit`.
const MAX_MATCHES: u32 = 500;

/// Reads a number of matches; `off` stands for no limit.
fn read_limit(word: &str) -> Result<Option<u32>, (SettingFaultKind, String)> {
    if matches!(word, "off" | "none") {
        return Ok(None);
    }
    let limit = word.parse().ok().filter(|limit| (1..=MAX_MATCHES).contains(limit));
    limit.map(Some).ok_or((SettingFaultKind::Matches { most: MAX_MATCHES }, "limit=8".to_owned()))
}

/// Reads `UTC+2`, `gmt-3:30`, `+0200` and `-5`, and returns the offset in minutes.
fn offset(word: &str) -> Option<i32> {
    let bare = word.strip_prefix("etc/").unwrap_or(word);
    let bare = ["utc", "gmt", "z"].iter().find_map(|name| bare.strip_prefix(name)).unwrap_or(bare);
    let (sign, digits) = match bare.chars().next()? {
        '+' => (1, &bare[1..]),
        '-' => (-1, &bare[1..]),
        _ => return None,
    };
    let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
        (Some((hours, minutes)), _) => (hours, minutes),
        (None, 3 | 4) if digits.is_ascii() => digits.split_at(digits.len() - 2),
        (None, _) => (digits, "0"),
    };
    let (hours, minutes) = (hours.parse::<i32>().ok()?, minutes.parse::<i32>().ok()?);
    let is_offset = (0..=14).contains(&hours) && (0..60).contains(&minutes);
    is_offset.then_some(sign * (60 * hours + minutes))
}

/// Cities that most people know, in the order in which they are proposed.
const CITIES: [&str; 30] = [
    "Europe/London",
    "Europe/Berlin",
    "Europe/Paris",
    "Europe/Warsaw",
    "Europe/Athens",
    "Europe/Istanbul",
    "Europe/Moscow",
    "Africa/Lagos",
    "Africa/Cairo",
    "Africa/Johannesburg",
    "Africa/Nairobi",
    "Asia/Dubai",
    "Asia/Karachi",
    "Asia/Kolkata",
    "Asia/Dhaka",
    "Asia/Bangkok",
    "Asia/Shanghai",
    "Asia/Singapore",
    "Asia/Tokyo",
    "Australia/Sydney",
    "Australia/Adelaide",
    "Pacific/Auckland",
    "Atlantic/Azores",
    "America/Sao_Paulo",
    "America/Halifax",
    "America/New_York",
    "America/Chicago",
    "America/Denver",
    "America/Los_Angeles",
    "America/Anchorage",
];

/// Maximum cities in an answer.
const MAX_CITIES: usize = 3;

/// Returns the zones of cities whose clock is ahead of UTC by these minutes now, with the time there.
fn cities_at(minutes: i32, now: DateTime<Utc>) -> Vec<(String, String)> {
    let others = Zone::all().filter(|zone| !CITIES.contains(&zone.name()));
    let others = others.filter(|zone| zone.name().contains('/') && !zone.name().starts_with("Etc/"));
    let there = |zone: &Zone| {
        let offset = zone.offset_from_utc_datetime(&now.naive_utc()).fix().local_minus_utc();
        offset == 60 * minutes
    };
    let zones = CITIES.into_iter().filter_map(Zone::named).chain(others).filter(there).take(MAX_CITIES);
    zones
        .map(|zone| (zone.name().to_owned(), now.with_timezone(&zone).format("%a %H:%M").to_string()))
        .collect()
}

/// Reads `48,12`; `off` stands for no reminders.
fn read_hours(word: &str) -> Result<Vec<u32>, (SettingFaultKind, String)> {
    if matches!(word, "off" | "none") {
        return Ok(Vec::new());
    }
    let hours: Option<Vec<u32>> = word.split(',').map(|hours| hours.parse().ok()).collect();
    let mut hours = hours.unwrap_or_default();
    hours.sort_unstable_by(|a, b| b.cmp(a));
    hours.dedup();
    let fits = (1..=MAX_REMINDERS).contains(&hours.len())
        && hours.iter().all(|hours| (1..=MAX_REMINDER_HOURS).contains(hours));
    if fits { Ok(hours) } else { Err((SettingFaultKind::Hours, "reminders=48,12".to_owned())) }
}
