//! Reads what a player wants to change in their settings.

use chrono_tz::{TZ_VARIANTS, Tz};
use serde::{Deserialize, Serialize};

use crate::ledger::{LetterFormat, PlayerSettings, Receipts};
use crate::request::MAX_SETTINGS;

/// A player's changes, all of which are taken, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsChange {
    pub settings: PlayerSettings,
    /// Whether others can challenge the player.
    pub challenges: Option<bool>,
    pub name: Option<String>,
    /// Whether others than opponents may know the player.
    pub public: Option<bool>,
    /// Whether new matches may be rated.
    pub rated: Option<bool>,
    /// The number of running matches at which standing offers rest; within, `None` for no limit.
    pub limit: Option<Option<u32>>,
}

/// Why a setting cannot stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct SettingFault {
    /// The setting as written.
    pub written: String,
    pub why: SettingFaultKind,
    /// A setting that would do.
    pub example: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SettingFaultKind {
    UnknownName,
    UnknownZone,
    /// The setting takes one of these words.
    OneOfTwo {
        #[serde(borrow)]
        words: [&'static str; 2],
    },
    Hours,
    /// A number of matches, or off.
    Matches {
        most: u32,
    },
    /// Another player, or the club, goes by the name.
    NameTaken,
    /// Not a name that letters can show.
    UnfitName,
    TooMany {
        most: usize,
    },
}

/// Maximum hours before a deadline at which somebody is reminded, and maximum reminders for a deadline.
const MAX_REMINDER_HOURS: u32 = 720;
const MAX_REMINDERS: usize = 5;

impl SettingsChange {
    /// Reads the changes to `current`. A digest comes at `digest_hour`. Names are not checked here.
    ///
    /// # Errors
    /// Returns what is wrong with each setting that cannot stand.
    pub fn read(
        written: &[(String, String)],
        current: &PlayerSettings,
        digest_hour: u32,
    ) -> Result<SettingsChange, Vec<SettingFault>> {
        if let Some((name, value)) = written.get(MAX_SETTINGS) {
            let why = SettingFaultKind::TooMany { most: MAX_SETTINGS };
            let example = "receipts=faults".to_owned();
            return Err(vec![SettingFault { written: as_written(name, value), why, example }]);
        }
        let mut change = SettingsChange { settings: current.clone(), ..SettingsChange::default() };
        let mut faults = Vec::new();
        for (name, value) in written {
            if let Err((why, example)) = change.take(name, value, digest_hour) {
                faults.push(SettingFault { written: as_written(name, value), why, example });
            }
        }
        if faults.is_empty() { Ok(change) } else { Err(faults) }
    }

    fn take(&mut self, name: &str, value: &str, digest_hour: u32) -> Result<(), (SettingFaultKind, String)> {
        let word = value.split_whitespace().collect::<String>().to_ascii_lowercase();
        let word = word.trim_end_matches([',', ';', '.']);
        let settings = &mut self.settings;
        match name {
            "zone" => settings.zone = Some(read_zone(word)?),
            "format" => {
                settings.format =
                    one_of(word, "format", ("text", LetterFormat::Text), ("html", LetterFormat::Html))?;
            }
            "receipts" => {
                settings.receipts =
                    one_of(word, "receipts", ("faults", Receipts::Faults), ("all", Receipts::All))?;
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

/// Reads a time zone such as `europe/berlin`. A city alone is answered with its zone.
fn read_zone(word: &str) -> Result<Tz, (SettingFaultKind, String)> {
    let found = TZ_VARIANTS.iter().find(|zone| zone.name().eq_ignore_ascii_case(word));
    found.copied().ok_or_else(|| {
        let city = word.rsplit('/').next().unwrap_or_default().replace('-', "_");
        let is_city =
            |zone: &&Tz| zone.name().rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(&city));
        let meant = TZ_VARIANTS.iter().find(is_city).map_or("Europe/Berlin", |zone| zone.name());
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
