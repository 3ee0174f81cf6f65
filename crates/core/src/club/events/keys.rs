//! The keys of a plan, as a GM reads about them: a plan with all of them, to copy.

use std::fmt::Write as _;

use chrono::{NaiveDate, TimeDelta};
use strsim::jaro_winkler;

use crate::game::named_enum;

named_enum! {
    /// The rule by which one season leads to the next.
    pub enum Format {
        League = "league",
        Cup = "cup",
        Ladder = "ladder",
    }
}

impl Format {
    /// Returns the word for a season: those of a cup are its rounds.
    pub fn span(self) -> &'static str {
        match self {
            Format::Cup => "round",
            Format::League | Format::Ladder => "season",
        }
    }
}

/// The effect of leaving a key out of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// The plan is refused.
    Refused,
    /// The shown value is the default.
    Shown,
    /// The explanation names the default; the shown value is an example.
    Explained,
}

/// A key of a plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanKey {
    pub name: &'static str,
    /// A value, as a plan writes it.
    pub value: &'static str,
    pub lacking: Lacking,
    /// The formats that have it.
    formats: &'static [Format],
    /// A sentence without a full stop.
    pub means: &'static str,
}

const fn key(
    name: &'static str,
    value: &'static str,
    lacking: Lacking,
    formats: &'static [Format],
    means: &'static str,
) -> PlanKey {
    PlanKey { name, value, lacking, formats, means }
}

const ALL: &[Format] = Format::ALL;
const SECTIONS: &[Format] = &[Format::League, Format::Cup];

/// All keys of a plan, in the order in which an example shows them.
pub const KEYS: [PlanKey; 20] = [
    key(
        "id",
        "\"EV-SPRING\"",
        Lacking::Refused,
        ALL,
        "The name in commands: EV- and up to 20 letters, digits or hyphens; each event needs another",
    ),
    key("name", "\"Spring\"", Lacking::Refused, ALL, "The name in letters: one line of at most 60 letters"),
    key(
        "game",
        "\"quad\"",
        Lacking::Refused,
        ALL,
        "quad, quantum, pacific or quadrant-z, with options: \"quad swap=off\"",
    ),
    key(
        "format",
        "\"league\"",
        Lacking::Refused,
        ALL,
        "league: the best of a division change places with the last above; cup: the best go on; ladder: who wins moves up",
    ),
    key(
        "opens",
        "2027-03-01",
        Lacking::Refused,
        ALL,
        "The day of the first draw, or \"full\": as soon as max_entrants are in",
    ),
    key("max_entrants", "16", Lacking::Explained, ALL, "No more players than this can enter; otherwise 1000"),
    key(
        "section_size",
        "4",
        Lacking::Shown,
        SECTIONS,
        "Players who meet each other, 2 to 16; a cup with 2 is a knockout",
    ),
    key(
        "games",
        "2",
        Lacking::Shown,
        ALL,
        "Matches of a pair, 1 or 2; without this key 2, and 1 in Quadrant Z",
    ),
    key(
        "season_days",
        "90",
        Lacking::Shown,
        ALL,
        "Days of a season, 14 to 730; without this key 90, 150 in War in the Pacific, 180 in Quantum",
    ),
    key(
        "unfinished",
        "\"less-time\"",
        Lacking::Shown,
        ALL,
        "Who wins a match that the season's end interrupts: whoever let the other wait less (\"less-time\"), or as you decide (\"gm\")",
    ),
    key(
        "promote",
        "1",
        Lacking::Shown,
        &[Format::League],
        "Players who rise into each better division, and fall out of it",
    ),
    key(
        "relegate",
        "1",
        Lacking::Shown,
        &[Format::League],
        "The same number, for those who look for it under this name",
    ),
    key("advance", "1", Lacking::Shown, &[Format::Cup], "Players of each section who go on, 1 or 2"),
    key(
        "reliable",
        "80",
        Lacking::Explained,
        ALL,
        "Per cent of turns in time that an entrant needs; otherwise anybody can enter",
    ),
    key(
        "rating",
        "\"1400..1600\"",
        Lacking::Explained,
        ALL,
        "The lowest and the highest rating of an entrant, each side may lack; otherwise any",
    ),
    key("rated", "true", Lacking::Shown, ALL, "Whether its matches count for the ratings"),
    key("days", "3", Lacking::Explained, ALL, "Days for a turn, 1 to 60; otherwise the club's"),
    key("bank", "8", Lacking::Explained, ALL, "Days in the bank of each player; otherwise the club's"),
    key(
        "absence_days",
        "14",
        Lacking::Explained,
        ALL,
        "Days of absence that a player has; otherwise the club's",
    ),
    key(
        "order",
        "[\"P-3\", \"P-1\"]",
        Lacking::Explained,
        ALL,
        "Players by strength, for the first draw; otherwise by rating, as is everybody who is not named",
    ),
];

/// Time until the first draw in an example.
pub const UNTIL_OPENING: TimeDelta = TimeDelta::weeks(4);

/// Maximum characters in a line of an example.
const WIDTH: usize = 78;

/// Returns a plan of this format to copy: each of its keys with what it means. What may lack stands behind `#`.
pub fn example(format: Format, opens: NaiveDate) -> String {
    let head = "A line that begins with # may lack: it shows what holds then, or an example.";
    let mut text = wrapped(&format!("The plan of a {format}. {head}"));
    for key in KEYS.iter().filter(|key| key.formats.contains(&format)) {
        let value = match key.name {
            "format" => format!("\"{format}\""),
            "opens" => opens.to_string(),
            _ => key.value.to_owned(),
        };
        let mark = if key.lacking == Lacking::Refused { "" } else { "# " };
        let _ = write!(text, "\n{}{mark}{} = {value}\n", wrapped(&format!("{}.", key.means)), key.name);
    }
    text
}

/// Returns the key that is most like a word.
pub fn nearest(word: &str) -> &'static PlanKey {
    let more = |one: &&PlanKey, other: &&PlanKey| {
        jaro_winkler(one.name, word).total_cmp(&jaro_winkler(other.name, word))
    };
    KEYS.iter().max_by(more).unwrap_or(&KEYS[0])
}

/// Wraps a text into comment lines of TOML.
fn wrapped(text: &str) -> String {
    let lines =
        textwrap::wrap(text, textwrap::Options::new(WIDTH).initial_indent("# ").subsequent_indent("# "));
    lines.join("\n") + "\n"
}
