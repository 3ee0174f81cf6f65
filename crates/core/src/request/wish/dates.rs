//! Days in words: `from 20 December to 3 January`, `vom 20.12. bis 3.1.`, `for two weeks`, `next week`.

use chrono::{Datelike as _, Days, Months, NaiveDate};

use crate::language::{Language, Sentence, WordSet, any_has, fold, single_blanks};

/// Maximum days, weeks or months of a duration.
const MOST: u32 = 100;

/// The days that a sentence names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub from: Option<NaiveDate>,
    pub to: Option<NaiveDate>,
    /// The longest duration.
    pub days: Option<u32>,
    /// The two readings of a date like 12/1.
    pub unclear: Option<(NaiveDate, NaiveDate)>,
}

/// A piece of a sentence: a date, weekday, duration or number, `until` or `from`, or another word.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Date(NaiveDate),
    Unclear(NaiveDate, NaiveDate),
    Weekday(NaiveDate),
    /// A day of a month that is not named.
    Day(u32),
    Duration(u32),
    Number(u32),
    Until,
    From,
    Other,
}

/// Whether a sentence names a last day: "until the 14th".
pub fn names_last_day(sentence: &Sentence, language: &Language, today: NaiveDate) -> bool {
    let items = items_of(sentence, language, today);
    let is_last = |(at, _): &(usize, NaiveDate)| is_beside(&items, *at, &Item::Until);
    with_first_day(&items, dates_and_places(&items, today)).last().is_some_and(is_last)
}

/// Returns the first day of a time of which a sentence names both ends: "from Friday until the 20th", "from the 18th for two
/// weeks". With `returns`, the sentence says that somebody comes back, so that its last day needs no `until`.
pub fn first_of_both_days(
    sentence: &Sentence,
    language: &Language,
    returns: bool,
    today: NaiveDate,
) -> Option<NaiveDate> {
    let items = items_of(sentence, language, today);
    let lasts = items.iter().any(|item| matches!(item, Item::Duration(_)));
    match with_first_day(&items, dates_and_places(&items, today))[..] {
        // "On Monday it took two days" tells of the past.
        [(at, first)] if !matches!(items[at], Item::Weekday(_)) => {
            (lasts && is_beside(&items, at, &Item::From)).then_some(first)
        }
        [(_, first), .., (at, last)] => {
            (first < last && (returns || is_beside(&items, at, &Item::Until))).then_some(first)
        }
        _ => None,
    }
}

fn items_of(sentence: &Sentence, language: &Language, today: NaiveDate) -> Vec<Item> {
    match language.joined {
        true => joined_items(&sentence.joined(), language, today),
        false => items(sentence, language, today),
    }
}

/// Returns the days that a sentence names, read on `today`.
pub fn span(sentence: &Sentence, language: &Language, today: NaiveDate) -> Span {
    let items = items_of(sentence, language, today);
    let mut span = Span { days: items.iter().filter_map(Item::days).max(), ..Span::default() };
    if language.words.next_week.any_in(&sentence.words) {
        let monday = today + Days::new(7 - u64::from(today.weekday().num_days_from_monday()));
        span.from = Some(monday);
        span.to = Some(monday + Days::new(6));
        return span;
    }
    span.unclear = items.iter().find_map(|item| match item {
        Item::Unclear(one, other) => Some((*one, *other)),
        _ => None,
    });
    let dated: Vec<(usize, NaiveDate)> = with_first_day(&items, dates_and_places(&items, today));
    match dated[..] {
        [] => {}
        [(at, date)] => {
            let is_last = is_beside(&items, at, &Item::Until) && !is_right_after(&items, at, &Item::From);
            if language.words.back.any_in(&sentence.words) {
                span.to = date.pred_opt();
            } else if is_last {
                span.to = Some(date);
            } else {
                span.from = Some(date);
            }
        }
        [(_, first), .., (_, last)] => {
            span.from = Some(first);
            let is_in_week =
                (first - last).num_days() < 7 && items.iter().any(|item| matches!(item, Item::Weekday(_)));
            span.to = Some(match last < first {
                true if is_in_week => last + Days::new(7),
                true => in_year_after(last, first),
                false => last,
            });
        }
    }
    span.complete(today)
}

impl Item {
    fn days(&self) -> Option<u32> {
        if let Item::Duration(days) = self { Some(*days) } else { None }
    }
}

impl Span {
    /// Fills in a missing first day with `today`, and a missing last day by the duration.
    fn complete(mut self, today: NaiveDate) -> Span {
        let last_of = |from: NaiveDate, days: u32| from + Days::new(u64::from(days.saturating_sub(1)));
        match (self.from, self.to, self.days) {
            (None, Some(to), _) if to >= today => self.from = Some(today),
            (Some(from), None, Some(days)) => self.to = Some(last_of(from, days)),
            (None, None, Some(days)) => {
                self.from = Some(today);
                self.to = Some(last_of(today, days));
            }
            _ => {}
        }
        self
    }
}

/// Returns the dates with their places. A day without a month counts only if there is no date, and a weekday only if
/// there is neither.
fn dates_and_places(items: &[Item], today: NaiveDate) -> Vec<(usize, NaiveDate)> {
    let each = || items.iter().enumerate();
    let dates = each().filter_map(|(at, item)| match item {
        Item::Date(date) => Some((at, *date)),
        _ => None,
    });
    let dates: Vec<(usize, NaiveDate)> = dates.collect();
    if !dates.is_empty() {
        return both_ends(items, dates);
    }
    let mut from = today;
    let mut days: Vec<(usize, NaiveDate)> = Vec::new();
    let named =
        each().filter_map(|(at, item)| if let Item::Day(day) = item { Some((at, *day)) } else { None });
    for (at, day) in both_ends(items, named.collect()) {
        if let Some(date) = next_day(day, from) {
            days.push((at, date));
            from = date;
        }
    }
    if !days.is_empty() {
        return days;
    }
    let weekdays = each().filter_map(|(at, item)| match item {
        Item::Weekday(date) => Some((at, *date)),
        _ => None,
    });
    weekdays.collect()
}

/// Returns the two of several days that `until` links, or all: "the wedding is on the 12th, so I am away from the 10th to
/// the 14th".
fn both_ends<D: Clone>(items: &[Item], named: Vec<(usize, D)>) -> Vec<(usize, D)> {
    let is_linked = |two: &[(usize, D)]| until_before(items, two[1].0).is_some_and(|until| two[0].0 < until);
    named.windows(2).find(|two| is_linked(two)).map(<[_]>::to_vec).unwrap_or(named)
}

/// Returns the first such day of a month, beginning with `from`.
fn next_day(day: u32, from: NaiveDate) -> Option<NaiveDate> {
    let mut month = from.with_day(1)?;
    for _ in 0..MOST_MONTHS {
        if let Some(date) = month.with_day(day).filter(|date| *date >= from) {
            return Some(date);
        }
        month = month.checked_add_months(Months::new(1))?;
    }
    None
}

/// Months after which every day of a month has come: a 31st comes within two.
const MOST_MONTHS: usize = 3;

/// Adds the first day of `20 to 31 December`, which has the month of the last day, and of `Friday until the 20th`.
fn with_first_day(items: &[Item], dated: Vec<(usize, NaiveDate)>) -> Vec<(usize, NaiveDate)> {
    let [(at, last)] = dated[..] else { return dated };
    let until = until_before(items, at);
    let first = until.and_then(|until| match items[..until].last() {
        Some(Item::Number(day) | Item::Day(day)) if *day < last.day() => Some((until, last.with_day(*day)?)),
        Some(Item::Weekday(day)) if *day < last => Some((until, *day)),
        _ => None,
    });
    first.into_iter().chain(dated).collect()
}

/// Whether such an item is before the date, with an article between them at most, or right after it (`まで`, `kadar`).
fn is_beside(items: &[Item], at: usize, item: &Item) -> bool {
    items[at.saturating_sub(2)..at].contains(item)
        || *item == Item::Until && until_before(items, at).is_some()
        || is_right_after(items, at, item)
}

/// Returns the place of `until` before a date, with an article or its own further words between: `tot en met`.
fn until_before(items: &[Item], at: usize) -> Option<usize> {
    let between = items[..at].iter().rev().take_while(|item| **item == Item::Other).count();
    let until = at.checked_sub(between + 1)?;
    (between <= MOST_BETWEEN && items[until] == Item::Until).then_some(until)
}

/// Maximum words between `until` and a date: `till och med den 14 december`.
const MOST_BETWEEN: usize = 3;

fn is_right_after(items: &[Item], at: usize, item: &Item) -> bool {
    items.get(at + 1) == Some(item)
}

fn in_year_after(date: NaiveDate, first: NaiveDate) -> NaiveDate {
    date.with_year(first.year() + 1).unwrap_or(date)
}

/// Reads the words of a sentence.
fn items(sentence: &Sentence, language: &Language, today: NaiveDate) -> Vec<Item> {
    let pieces = sentence.raw.iter().flat_map(|raw| date_pieces(raw));
    let words: Vec<&str> = pieces.collect();
    let mut items = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let (item, length) = item(&words[at..], language, today);
        items.push(item);
        at += length;
    }
    with_durations(items)
}

/// Splits `20.12.-3.1.` and `10-17` at the hyphen.
fn date_pieces(raw: &str) -> Vec<&str> {
    let is_day =
        |piece: &str| (1..=2).contains(&piece.len()) && piece.bytes().all(|byte| byte.is_ascii_digit());
    let are_days = |from: &str, to: &str| is_day(from) && is_day(to.trim_end_matches(['.', ',']));
    match raw.split_once(['-', '–']) {
        Some((from, to)) if from.contains(['.', '/']) && to.contains(['.', '/']) || are_days(from, to) => {
            vec![from, "-", to]
        }
        _ => vec![raw],
    }
}

/// Reads one date, number or word, and returns how many words it takes.
fn item(words: &[&str], language: &Language, today: NaiveDate) -> (Item, usize) {
    let first = words[0];
    if let Some(item) = numeric_date(first, today) {
        return (item, 1);
    }
    if let Some((date, length)) = named_date(words, language, today) {
        return (Item::Date(date), length);
    }
    let bare = single_blanks(first);
    let both = words.get(1).map(|second| format!("{bare} {}", single_blanks(second)));
    let in_set = |set: &WordSet| set.contains(&bare) || both.as_ref().is_some_and(|both| set.contains(both));
    let last = bare.rsplit(' ').next().unwrap_or_default();
    let item = if first == "-" || in_set(&language.words.until) || language.words.until.contains(last) {
        Item::Until
    } else if let Some(day) = language.words.weekdays.get(last) {
        Item::Weekday(next_weekday(*day, today))
    } else if in_set(&language.words.tomorrow) {
        Item::Date(today + Days::new(1))
    } else if in_set(&language.words.today) {
        Item::Date(today)
    } else if let Some(day) = ordinal(first) {
        Item::Day(day)
    } else if let Some(number) = both.as_ref().and_then(|both| language.words.numbers.get(both)) {
        return (Item::Number(*number), 2);
    } else if let Some(number) = bare.parse().ok().or_else(|| language.words.numbers.get(&bare).copied()) {
        Item::Number(number)
    } else if in_set(&language.words.from) {
        Item::From
    } else if let Some((_, days)) = language.words.units().find(|(unit, _)| **unit == bare) {
        Item::Duration(days)
    } else {
        Item::Other
    };
    (item, 1)
}

/// Multiplies units by the numbers before them; a unit without a number is not a duration.
fn with_durations(items: Vec<Item>) -> Vec<Item> {
    let mut result: Vec<Item> = Vec::with_capacity(items.len());
    for item in items {
        match (item, &result[..]) {
            // "three days", "three more days"
            (Item::Duration(unit), [.., Item::Number(number)] | [.., Item::Number(number), Item::Other])
                if (1..=MOST).contains(number) =>
            {
                let days = number.saturating_mul(unit);
                result.push(Item::Duration(days));
            }
            (Item::Duration(_), _) => result.push(Item::Other),
            (item, _) => result.push(item),
        }
    }
    result
}

/// Reads `2026-12-20`, `20.12.2026`, `20.12.`, `24/12` and `12/1`.
fn numeric_date(word: &str, today: NaiveDate) -> Option<Item> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '.').trim_end_matches('.');
    let separator = ['-', '.', '/'].into_iter().find(|separator| word.contains(*separator))?;
    let parts: Option<Vec<u32>> = word.split(separator).map(|part| part.parse().ok()).collect();
    match (separator, &parts?[..]) {
        (_, &[year, month, day]) if year >= 2000 => ymd(year, month, day).map(Item::Date),
        ('.', &[day, month, year]) => ymd(full_year(year), month, day).map(Item::Date),
        ('.', &[day, month]) => next(month, day, today).map(Item::Date),
        ('/', &[one, other]) => unambiguous_date(next(other, one, today), next(one, other, today)),
        ('/', &[one, other, year]) => {
            let year = full_year(year);
            unambiguous_date(ymd(year, other, one), ymd(year, one, other))
        }
        _ => None,
    }
}

/// Returns the one valid date of the two readings, or an unclear item if both are valid and differ.
fn unambiguous_date(day_first: Option<NaiveDate>, month_first: Option<NaiveDate>) -> Option<Item> {
    match (day_first, month_first) {
        (Some(one), Some(other)) if one != other => Some(Item::Unclear(one, other)),
        (Some(date), _) | (None, Some(date)) => Some(Item::Date(date)),
        (None, None) => None,
    }
}

fn full_year(year: u32) -> u32 {
    if year < 100 { 2000 + year } else { year }
}

fn ymd(year: u32, month: u32, day: u32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
}

/// Returns the next date with this month and day, today included.
fn next(month: u32, day: u32, today: NaiveDate) -> Option<NaiveDate> {
    let this_year = NaiveDate::from_ymd_opt(today.year(), month, day)?;
    if this_year < today { NaiveDate::from_ymd_opt(today.year() + 1, month, day) } else { Some(this_year) }
}

fn next_weekday(day: u32, today: NaiveDate) -> NaiveDate {
    let ahead = (7 + day - today.weekday().num_days_from_monday()) % 7;
    today + Days::new(u64::from(if ahead == 0 { 7 } else { ahead }))
}

/// Reads `20 December`, `20th of December`, `December 20` and `20 de diciembre`, with a year or without.
/// Returns how many words it takes.
fn named_date(words: &[&str], language: &Language, today: NaiveDate) -> Option<(NaiveDate, usize)> {
    let month = |word: Option<&&str>| {
        let word = single_blanks(word?);
        language.words.months.get(word.split(' ').next()?).copied()
    };
    let (day, month, length) = if let Some(month) = month(words.first()) {
        (day_number(words.get(1)?)?, month, 2)
    } else {
        let day = day_number(words[0])?;
        match any_has(&single_blanks(words.get(1)?), |language| &language.words.of) {
            true => (day, month(words.get(2))?, 3),
            false => (day, month(words.get(1))?, 2),
        }
    };
    let year = words.get(length).and_then(|word| single_blanks(word).parse::<u32>().ok());
    match year.filter(|year| (2000..2200).contains(year)) {
        Some(year) => Some((ymd(year, month, day)?, length + 1)),
        None => Some((next(month, day, today)?, length)),
    }
}

/// Reads `20`, `20.`, `20th`, `1er` and `7:e`.
fn day_number(word: &str) -> Option<u32> {
    let word = match word.split_once(':') {
        Some((day, ending)) if ending.starts_with(char::is_alphabetic) => single_blanks(day) + &fold(ending),
        _ => single_blanks(word),
    };
    let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
    let ending = &word[digits.len()..];
    let day = digits.parse().ok().filter(|day| (1..=31).contains(day))?;
    (ending.is_empty() || any_has(ending, |language| &language.words.ordinals)).then_some(day)
}

/// Reads the number of a day that is written as one: `14th`, `14.`
fn ordinal(word: &str) -> Option<u32> {
    let word = word.trim_end_matches([',', ';', '!', ')']);
    let is_written = word.ends_with('.') || word.ends_with(char::is_alphabetic);
    day_number(word).filter(|_| is_written && word.starts_with(|c: char| c.is_ascii_digit()))
}

/// Reads a sentence of a script without blanks: `12月20日から1月3日まで`, `2週間`.
fn joined_items(text: &str, language: &Language, today: NaiveDate) -> Vec<Item> {
    let mut items = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let until = language.words.until.iter().find_map(|word| rest.strip_prefix(word.as_str()));
        let from = language.words.from.iter().find_map(|word| rest.strip_prefix(word.as_str()));
        let (item, after) = match (until, from, number_at(rest, language)) {
            (Some(after), _, _) => (Item::Until, after),
            (None, Some(after), _) => (Item::From, after),
            (None, None, Some((number, after))) => last_day(&items, number, after)
                .unwrap_or_else(|| read_counted_unit(number, after, language, today)),
            (None, None, None) => (Item::Other, &rest[c.len_utf8()..]),
        };
        if item != Item::Other {
            items.push(item);
        }
        rest = after;
    }
    items
}

/// Reads the last day of `12月10日から17日まで`, which has the month of the first.
fn last_day<'t>(items: &[Item], number: u32, after: &'t str) -> Option<(Item, &'t str)> {
    let rest = after.strip_prefix('日').filter(|rest| !rest.starts_with('間'))?;
    let ([.., Item::Date(first)] | [.., Item::Date(first), Item::From | Item::Until]) = items else {
        return None;
    };
    first.with_day(number).filter(|last| last > first).map(|last| (Item::Date(last), rest))
}

/// Reads the unit that a number counts.
fn read_counted_unit<'t>(
    number: u32,
    after: &'t str,
    language: &Language,
    today: NaiveDate,
) -> (Item, &'t str) {
    if let Some(rest) = after.strip_prefix('月')
        && let Some((day, rest)) = number_at(rest, language)
        && let Some(rest) = rest.strip_prefix('日')
        && let Some(date) = next(number, day, today)
    {
        return (Item::Date(date), rest);
    }
    let unit =
        language.words.units().find_map(|(unit, days)| Some((after.strip_prefix(unit.as_str())?, days)));
    match unit {
        Some((rest, days)) if number <= MOST => (Item::Duration(number.saturating_mul(days)), rest),
        Some(_) | None => (Item::Other, after),
    }
}

/// Reads the number at the beginning of a text, in digits or in one character.
fn number_at<'t>(text: &'t str, language: &Language) -> Option<(u32, &'t str)> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0 {
        return Some((text[..digits].parse().ok()?, &text[digits..]));
    }
    let mut numbers = language.words.numbers.iter();
    numbers.find_map(|(sign, number)| Some((*number, text.strip_prefix(sign.as_str())?)))
}
