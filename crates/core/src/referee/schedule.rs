//! Deadlines of phases: the days, hour and time zone of the terms, weekends, absences, grace and reminders.

use std::collections::BTreeSet;
use std::str::FromStr;

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc, Weekday};
use serde::{Deserialize, Serialize};
use strum::{EnumString, VariantNames};

use crate::ledger::{TermsChange, instant_in, is_default};
use crate::zone::Zone;

/// Maximum days for a turn or the setup.
pub(super) const MAX_DAYS: u32 = 365;

/// Maximum days in a bank.
pub const MAX_BANK: u32 = 60;

/// The terms of a match: the club's default, unless the match was opened with others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Terms {
    /// Days for each turn.
    pub days: u32,
    /// Days for the setup.
    pub setup_days: u32,
    /// Hour of the day at which turns are due, 0 to 23, in `zone`.
    pub hour: u32,
    /// Time zone of `hour` and of every time that players read.
    pub zone: Zone,
    /// Whether a turn may be due on a Saturday or Sunday.
    pub weekends: bool,
    /// Hours after the deadline during which orders are still sealed.
    pub grace_hours: u32,
    /// Minutes from the last filing to the adjudication, during which both can still replace their orders.
    pub settle_minutes: u32,
    /// Minutes until orders are firm whose letter also says something else, or longer if that may take them back. 0: all
    /// orders are firm at once.
    #[serde(skip_serializing_if = "is_usual_wait")]
    pub settle_words: u32,
    /// Hours before the deadline at which seats that have not filed are reminded.
    pub reminders_hours: Vec<u32>,
    /// Consecutive missed turns after which `forfeit` applies.
    pub forfeit_after: u32,
    pub forfeit: ForfeitRule,
    /// Days of absence that a player may announce in one match without asking the GM.
    pub absence_days: u32,
    pub press: Press,
    /// The possible successors of a player who has missed too many turns.
    #[serde(skip_serializing_if = "is_default")]
    pub substitute: Substitute,
    /// Days that each seat can take after its deadlines, before the rules for missed turns apply.
    #[serde(skip_serializing_if = "is_default")]
    pub bank: u32,
    /// Whether the result is rated: in the config and in offers, whether it may be.
    #[serde(skip_serializing_if = "is_true")]
    pub rated: bool,
    /// Whether a player who beats the house in this match meets its next level in the next one. Set by
    /// CHALLENGE.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub advance: bool,
    /// The event that the match belongs to. Only a reference to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
}

/// The consequence of too many missed turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumString, VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum ForfeitRule {
    /// The GM is asked to decide.
    Ask,
    /// The other side wins.
    Lose,
}

/// The possible successors of a player who has missed too many turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum Substitute {
    /// Somebody found by the GM.
    #[default]
    Ask,
    /// The house, if the opponent goes on against it rather than take the win.
    House,
    /// Nobody. If both sides miss too many turns together, and that loses, both lose.
    None,
}

/// Whether the referee passes on messages between the players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumString, VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum Press {
    /// With the sender's name.
    Signed,
    None,
}

/// The usual `settle_words`.
const SETTLE_WORDS: u32 = 60;

fn is_usual_wait(minutes: &u32) -> bool {
    *minutes == SETTLE_WORDS
}

impl Default for Terms {
    fn default() -> Self {
        Terms {
            days: 7,
            setup_days: 10,
            hour: 20,
            zone: Zone::utc(),
            weekends: true,
            grace_hours: 12,
            settle_minutes: 0,
            settle_words: SETTLE_WORDS,
            reminders_hours: vec![48, 12],
            forfeit_after: 2,
            forfeit: ForfeitRule::Ask,
            absence_days: 42,
            press: Press::Signed,
            substitute: Substitute::Ask,
            bank: 0,
            rated: true,
            advance: false,
            event: None,
        }
    }
}

/// The days from `from` to `to`, both included, on which a player is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    pub from: NaiveDate,
    pub to: NaiveDate,
    /// The time zone of these days; `None` for that of the terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<Zone>,
}

impl Absence {
    pub fn days(&self) -> i64 {
        (self.to - self.from).num_days() + 1
    }

    /// Returns when the first day begins and the last one ends, in the zone of the absence, or in `zone`.
    pub fn instants(&self, zone: Zone) -> (DateTime<Zone>, DateTime<Zone>) {
        let zone = self.zone.unwrap_or(zone);
        let midnight = |day: NaiveDate| {
            let local = day.and_time(NaiveTime::MIN);
            instant_in(zone, local).unwrap_or_else(|| local.and_utc()).with_timezone(&zone)
        };
        (midnight(self.from), midnight(self.to.checked_add_days(Days::new(1)).unwrap_or(self.to)))
    }

    /// Counts the days that `absences` cover. A day in several of them counts once.
    pub fn total_days(absences: &[Absence]) -> i64 {
        let mut sorted = absences.to_vec();
        sorted.sort_unstable_by_key(|absence| absence.from);
        let mut days = 0;
        // The first day that no earlier absence covers.
        let mut counted = NaiveDate::MIN;
        for absence in sorted {
            days += (absence.to - absence.from.max(counted)).num_days().max(-1) + 1;
            counted = counted.max(absence.to + Days::new(1));
        }
        days
    }
}

impl Terms {
    /// Checks that every number is within its bounds.
    ///
    /// # Errors
    /// Returns a sentence with the key, the value and the bounds if a number is out of bounds.
    pub fn check(&self) -> Result<(), String> {
        let reminder = self.reminders_hours.iter().copied().max().unwrap_or(0);
        let bounds = [
            ("days", self.days, 1, MAX_DAYS),
            ("setup_days", self.setup_days, 1, MAX_DAYS),
            ("hour", self.hour, 0, 23),
            ("grace_hours", self.grace_hours, 0, 720),
            ("settle_minutes", self.settle_minutes, 0, 10_080),
            ("settle_words", self.settle_words, 0, 1_440),
            ("reminders_hours", reminder, 0, 720),
            ("forfeit_after", self.forfeit_after, 1, 99),
            ("absence_days", self.absence_days, 0, 366),
            ("bank", self.bank, 0, MAX_BANK),
        ];
        match bounds.iter().find(|(_, value, least, most)| !(least..=most).contains(&value)) {
            Some((key, value, least, most)) => {
                Err(format!("{key} is {value}; it must be from {least} to {most}"))
            }
            None => Ok(()),
        }
    }

    /// Sets one of the terms that [`TERM_NAMES`] lists, as written in a command or a table.
    ///
    /// # Errors
    /// Returns a sentence with the name and the value if there is no such term, or if the value is not valid.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "days" => self.days = number(name, value)?,
            "setup_days" => self.setup_days = number(name, value)?,
            "zone" => {
                self.zone =
                    value.parse().map_err(|_| format!("zone `{value}`: try a name such as Europe/Berlin"))?;
            }
            "hour" => self.hour = number(name, value)?,
            "weekends" => self.weekends = on_or_off(name, value)?,
            "grace_hours" => self.grace_hours = number(name, value)?,
            "settle_minutes" => self.settle_minutes = number(name, value)?,
            "settle_words" => self.settle_words = number(name, value)?,
            "reminders_hours" => self.reminders_hours = numbers(name, value)?,
            "forfeit_after" => self.forfeit_after = number(name, value)?,
            "forfeit" => self.forfeit = one_of(name, value)?,
            "substitute" => self.substitute = one_of(name, value)?,
            "absence_days" => self.absence_days = number(name, value)?,
            "rated" => self.rated = on_or_off(name, value)?,
            "bank" => self.bank = number(name, value)?,
            "press" => self.press = one_of(name, value)?,
            _ => return Err(format!("there is no term `{name}`; the terms are {}", TERM_NAMES.join(", "))),
        }
        self.check()
    }

    /// Returns these terms with a change.
    ///
    /// # Errors
    /// Same as [`Terms::check`].
    pub fn with(&self, change: &TermsChange) -> Result<Terms, String> {
        let TermsChange { days, hour, weekends, grace_hours, reminders_hours, rated } = change;
        let changed = Terms {
            days: days.unwrap_or(self.days),
            hour: hour.unwrap_or(self.hour),
            weekends: weekends.unwrap_or(self.weekends),
            grace_hours: grace_hours.unwrap_or(self.grace_hours),
            reminders_hours: reminders_hours.clone().unwrap_or_else(|| self.reminders_hours.clone()),
            rated: rated.unwrap_or(self.rated),
            ..self.clone()
        };
        changed.check().map(|()| changed)
    }

    /// Returns the deadline `days` after `from`, at the next set hour. If that day is in one of the
    /// `absences`, or on an excluded weekend, the deadline moves to the next day that is not.
    pub fn deadline(&self, from: DateTime<Utc>, days: u32, absences: &[Absence]) -> DateTime<Utc> {
        let local = from.with_timezone(&self.zone).naive_local();
        let Some(earliest) = local.checked_add_days(Days::new(u64::from(days))) else { return from };
        let hour = NaiveTime::from_hms_opt(self.hour.min(23), 0, 0).expect("an hour up to 23 is a time");
        let mut due = earliest.date().and_time(hour);
        if due < earliest {
            due = next_day(due);
        }
        self.instant(self.next_allowed_day(due, absences))
    }

    /// Returns `deadline` moved by `days` calendar days of the zone. Its hour survives a clock change.
    pub fn extended(&self, deadline: DateTime<Utc>, days: u32, absences: &[Absence]) -> DateTime<Utc> {
        let local = deadline.with_timezone(&self.zone).naive_local();
        let Some(due) = local.checked_add_days(Days::new(u64::from(days))) else { return deadline };
        self.instant(self.next_allowed_day(due, absences))
    }

    fn next_allowed_day(&self, mut due: NaiveDateTime, absences: &[Absence]) -> NaiveDateTime {
        while !self.is_allowed(due, absences) {
            due = next_day(due);
        }
        due
    }

    /// Whether a turn may be due at this local time.
    fn is_allowed(&self, due: NaiveDateTime, absences: &[Absence]) -> bool {
        let day = due.date();
        let is_weekend = matches!(day.weekday(), Weekday::Sat | Weekday::Sun);
        let is_away = absences.iter().any(|absence| {
            let day = absence.zone.map_or(day, |zone| self.instant(due).with_timezone(&zone).date_naive());
            (absence.from..=absence.to).contains(&day)
        });
        !is_away && (self.weekends || !is_weekend)
    }

    fn instant(&self, local: NaiveDateTime) -> DateTime<Utc> {
        instant_in(self.zone, local).unwrap_or_else(|| local.and_utc())
    }

    pub fn grace(&self) -> TimeDelta {
        TimeDelta::hours(i64::from(self.grace_hours))
    }

    pub fn settle_time(&self) -> TimeDelta {
        TimeDelta::minutes(i64::from(self.settle_minutes))
    }

    pub fn settle_words(&self) -> TimeDelta {
        TimeDelta::minutes(i64::from(self.settle_words))
    }

    /// Returns when the reminders for `deadline` are due, earliest first.
    pub fn reminders(&self, deadline: DateTime<Utc>) -> Vec<DateTime<Utc>> {
        let mut hours = self.reminders_hours.clone();
        hours.sort_unstable_by(|a, b| b.cmp(a));
        hours.iter().map(|hours| deadline - TimeDelta::hours(i64::from(*hours))).collect()
    }
}

/// The terms that a match can be opened with, by their names.
pub const TERM_NAMES: [&str; 16] = [
    "days",
    "setup_days",
    "zone",
    "hour",
    "weekends",
    "grace_hours",
    "settle_minutes",
    "settle_words",
    "reminders_hours",
    "forfeit_after",
    "forfeit",
    "substitute",
    "absence_days",
    "press",
    "rated",
    "bank",
];

/// Reads the terms that a GM can change in a running match: `days=5 hour=20 weekends=off grace=24
/// reminders=48,12`.
///
/// # Errors
/// Returns a sentence if there are none, or if a word is not valid.
pub fn read_terms_change(words: &[&str]) -> Result<TermsChange, String> {
    const TAKES: &str = "the terms that can change are days, hour, weekends, grace, reminders and rated";
    let mut change = TermsChange::default();
    if words.is_empty() {
        return Err(TAKES.to_owned());
    }
    let mut named = BTreeSet::new();
    for word in words {
        let (name, value) =
            word.split_once('=').ok_or_else(|| format!("`{word}`: try name=value; {TAKES}"))?;
        if !named.insert(name.to_ascii_lowercase()) {
            return Err(format!("{name} is given twice"));
        }
        match name.to_ascii_lowercase().as_str() {
            "days" => change.days = Some(number(name, value)?),
            "hour" => change.hour = Some(number(name, value)?),
            "weekends" => change.weekends = Some(on_or_off(name, value)?),
            "grace" | "grace_hours" => change.grace_hours = Some(number(name, value)?),
            "reminders" | "reminders_hours" => change.reminders_hours = Some(numbers(name, value)?),
            "rated" if on_or_off(name, value)? => {
                return Err("a match cannot become rated; rated=off ends the rating".to_owned());
            }
            "rated" => change.rated = Some(false),
            _ => return Err(format!("`{name}` cannot change; {TAKES}")),
        }
    }
    // Validate against default terms, because the bounds of each term are independent of the others.
    Terms::default().with(&change).map(|_| change)
}

fn is_true(value: &bool) -> bool {
    *value
}

fn number(name: &str, value: &str) -> Result<u32, String> {
    value.parse().map_err(|_| format!("{name} `{value}` is not a number"))
}

/// Reads numbers between commas or blanks; `none` means no numbers.
fn numbers(name: &str, value: &str) -> Result<Vec<u32>, String> {
    let items = value.split([',', ' ']).filter(|item| !item.is_empty() && !item.eq_ignore_ascii_case("none"));
    items.map(|item| number(name, item)).collect()
}

fn on_or_off(name: &str, value: &str) -> Result<bool, String> {
    let words =
        [("on", true), ("off", false), ("yes", true), ("no", false), ("true", true), ("false", false)];
    let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(value));
    found.map(|(_, on)| *on).ok_or_else(|| format!("{name} `{value}`: try on or off"))
}

fn one_of<T: FromStr + VariantNames>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{name} `{value}`: try {}", T::VARIANTS.join(" or ")))
}

fn next_day(due: NaiveDateTime) -> NaiveDateTime {
    due.checked_add_days(Days::new(1)).expect("deadlines lie within the years that chrono counts")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> Terms {
        Terms { zone: Zone::named("Europe/Berlin").unwrap(), ..Terms::default() }
    }

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_deadline_moves_on_to_the_set_hour() {
        assert_eq!(berlin().deadline(utc("2026-05-07T17:59:00Z"), 7, &[]), utc("2026-05-14T18:00:00Z"));
        assert_eq!(berlin().deadline(utc("2026-05-07T18:00:00Z"), 7, &[]), utc("2026-05-14T18:00:00Z"));
        assert_eq!(berlin().deadline(utc("2026-05-07T18:00:01Z"), 7, &[]), utc("2026-05-15T18:00:00Z"));
    }

    #[test]
    fn the_set_hour_stays_when_clocks_change() {
        assert_eq!(berlin().deadline(utc("2026-03-27T12:00:00Z"), 3, &[]), utc("2026-03-30T18:00:00Z"));
        assert_eq!(berlin().deadline(utc("2026-10-23T12:00:00Z"), 3, &[]), utc("2026-10-26T19:00:00Z"));
    }

    #[test]
    fn a_nonexistent_hour_moves_on_and_an_ambiguous_hour_is_the_later_one() {
        let at_two = Terms { hour: 2, ..berlin() };
        assert_eq!(at_two.deadline(utc("2026-03-28T12:00:00Z"), 0, &[]), utc("2026-03-29T01:00:00Z"));
        assert_eq!(at_two.deadline(utc("2026-10-24T12:00:00Z"), 0, &[]), utc("2026-10-25T01:00:00Z"));
    }

    #[test]
    fn a_day_in_two_absences_counts_once() {
        let day = |d| NaiveDate::from_ymd_opt(2026, 5, d).unwrap();
        let away = |from, to| Absence { from: day(from), to: day(to), zone: None };
        assert_eq!(Absence::total_days(&[]), 0);
        assert_eq!(Absence::total_days(&[away(3, 5), away(5, 8), away(4, 4), away(10, 10)]), 7);
        assert_eq!(Absence::total_days(&[away(1, 9), away(2, 3), away(9, 10)]), 10);
    }

    #[test]
    fn weekends_and_absences_move_a_deadline() {
        let weekdays = Terms { weekends: false, ..berlin() };
        // Thu 7 May + 2 days is a Saturday.
        assert_eq!(weekdays.deadline(utc("2026-05-07T12:00:00Z"), 2, &[]), utc("2026-05-11T18:00:00Z"));
        let day = |d| NaiveDate::from_ymd_opt(2026, 5, d).unwrap();
        let away = [Absence { from: day(10), to: day(12), zone: None }];
        assert_eq!(weekdays.deadline(utc("2026-05-07T12:00:00Z"), 2, &away), utc("2026-05-13T18:00:00Z"));
    }
}
