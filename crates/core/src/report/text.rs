//! Texts made for a reader: local times with their zone, time spans in words, and quotes from people.

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use textwrap::WordSplitter;
use unicode_bidi::{BidiClass, bidi_class};

use crate::game::BySeat;
use crate::zone::Zone;

/// Formats an instant in `zone` with its year: `Sat 16 May 2026, 20:00 CEST`.
pub fn format_with_year(at: DateTime<Utc>, zone: Zone) -> String {
    at.with_timezone(&zone).format("%a %-d %b %Y, %H:%M %Z").to_string()
}

/// Formats an instant in `zone`: `Sat 16 May, 20:00 CEST`, or `Sat 16 May 2028, 20:00 CEST` if its year is
/// not that of `now`.
pub fn format_local(at: DateTime<Utc>, zone: Zone, now: DateTime<Utc>) -> String {
    let local = at.with_timezone(&zone);
    match local.year() == now.with_timezone(&zone).year() {
        true => local.format("%a %-d %b, %H:%M %Z").to_string(),
        false => format_with_year(at, zone),
    }
}

/// Formats the two largest units of a time span: `2 days 10 hours`, `1 hour 5 minutes`, `less than a minute`.
///
/// A negative span counts as less than a minute.
pub fn format_duration(span: TimeDelta) -> String {
    let minutes = span.num_minutes().max(0);
    let parts = [(minutes / 1440, "day"), (minutes / 60 % 24, "hour"), (minutes % 60, "minute")];
    let named = parts.iter().filter(|(count, _)| *count > 0).take(2).map(|(count, unit)| {
        let plural = if *count == 1 { "" } else { "s" };
        format!("{count} {unit}{plural}")
    });
    let words = named.collect::<Vec<_>>().join(" ");
    if words.is_empty() { "less than a minute".to_owned() } else { words }
}

/// Formats a count of things: `1 match`, `2 matches`.
pub fn count_of(number: impl TryInto<u64>, one: &str, several: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {one}"),
        number => format!("{number} {several}"),
    }
}

/// Maximum characters quoted from a player's line: with its indentation and bullet, the quote stays under 70.
const MAX_QUOTED: usize = 60;

/// Makes a player's line safe to quote: spaces replace control characters, and an ellipsis replaces the end
/// of a long line.
pub fn shorten_line(text: &str) -> String {
    let mut rest = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut clean: String = rest.by_ref().take(MAX_QUOTED).collect();
    if rest.next().is_some() {
        clean.pop();
        clean.push('…');
    }
    clean
}

/// Isolates a name that is written from right to left: otherwise it would turn the words and numbers around it (Unicode
/// Standard Annex 9, 2.4).
pub fn isolated(name: &str) -> String {
    let is_turned = name.chars().any(|c| matches!(bidi_class(c), BidiClass::R | BidiClass::AL));
    if is_turned { format!("\u{2068}{name}\u{2069}") } else { name.to_owned() }
}

/// Returns the names of both players as a text shows them.
pub fn isolated_names(names: &BySeat<String>) -> BySeat<String> {
    BySeat::from_fn(|seat| isolated(&names[seat]))
}

/// Returns the lines of a person's text, wrapped for a quote. The template prefixes each line, so that none
/// can be taken for an order.
pub fn wrap_lines(text: &str) -> Vec<String> {
    let options = || textwrap::Options::new(MAX_QUOTED).word_splitter(WordSplitter::NoHyphenation);
    let lines = text.lines().flat_map(|line| textwrap::wrap(line, options()));
    lines.map(|line| shorten_line(&line)).collect()
}

/// Maximum characters of an excerpt.
const MAX_EXCERPT: usize = 200;

/// Returns the beginning of a person's words, on one line.
pub fn excerpt(text: &str) -> String {
    let line = text.lines().collect::<Vec<_>>().join(" / ");
    match line.char_indices().nth(MAX_EXCERPT) {
        Some((end, _)) => format!("{} …", line[..end].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_worded_by_its_two_largest_units() {
        let words = |minutes| format_duration(TimeDelta::minutes(minutes));
        assert_eq!(words(2 * 1440 + 10 * 60 + 5), "2 days 10 hours");
        assert_eq!(words(65), "1 hour 5 minutes");
        assert_eq!(words(1440 + 3), "1 day 3 minutes");
        assert_eq!(words(0), "less than a minute");
        assert_eq!(words(-5), "less than a minute");
    }

    #[test]
    fn a_name_from_right_to_left_turns_nothing_around_it() {
        for name in ["\u{5d0}\u{5e0}\u{5d4}", "Ann \u{639}\u{644}\u{64a}"] {
            assert_eq!(isolated(name), format!("\u{2068}{name}\u{2069}"));
        }
        for name in ["Ann", "J\u{f6}rg 2", "\u{738b}\u{4f1f}"] {
            assert_eq!(isolated(name), name);
        }
    }

    #[test]
    fn one_thing_is_not_counted_as_several() {
        let words = |number: usize| count_of(number, "match", "matches");
        assert_eq!(
            (words(0), words(1), words(2)),
            ("0 matches".into(), "1 match".into(), "2 matches".into())
        );
    }

    #[test]
    fn local_times_name_their_zone() {
        let at = "2026-05-16T18:00:00Z".parse().unwrap();
        let zone = Zone::named("Europe/Berlin").unwrap();
        assert_eq!(format_local(at, zone, at), "Sat 16 May, 20:00 CEST");
        // In Berlin, the new year begins an hour earlier.
        let new_year = |time: &str| time.parse().expect("an instant");
        let year = at.year();
        let (eve, day) = (format!("{year}-12-31T22:59:00Z"), format!("{year}-12-31T23:01:00Z"));
        assert_eq!(format_local(at, zone, new_year(&eve)), "Sat 16 May, 20:00 CEST");
        assert_eq!(format_local(at, zone, new_year(&day)), format!("Sat 16 May {year}, 20:00 CEST"));
    }
}
