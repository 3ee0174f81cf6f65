//! `fogpost match new --from FILE`: reads a CSV file of matches to open, all or none.
//!
//! The first line names the columns: `game`, `first` and `second`, and optionally `options` and any of the
//! terms, such as `days` or `grace_hours`. Options are written as in `swap=off trainer=on`. Commas or
//! semicolons separate the columns; spreadsheets use one or the other, depending on the country.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{anyhow, bail};

use super::arguments::{choices, game, holder, read_text, terms};
use crate::config::Config;
use crate::daemon::{Holder, NewMatch};
use crate::game::BySeat;
use crate::game::any::GameKind;
use crate::referee::TERM_NAMES;

const COLUMNS: [&str; 4] = ["game", "first", "second", "options"];
const REQUIRED: [&str; 3] = ["game", "first", "second"];

/// Reads the file. `config` supplies the defaults for columns that a line leaves empty.
///
/// # Errors
/// Returns an error if the file cannot be read or a line is faulty. It names every faulty line by its number.
pub fn read(path: &Path, config: &Config) -> anyhow::Result<Vec<NewMatch>> {
    let text = with_plain_lines(&read_text(path)?);
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .flexible(true)
        .delimiter(delimiter(&text))
        .from_reader(text.as_bytes());
    let columns: Vec<String> = reader.headers()?.iter().map(str::to_ascii_lowercase).collect();
    check_columns(&columns).map_err(|fault| anyhow!("{}, line 1: {fault}", path.display()))?;
    let mut matches = Vec::new();
    let mut faults = Vec::new();
    for record in reader.records() {
        let position = match &record {
            Ok(record) => record.position(),
            Err(error) => error.position(),
        };
        let line = position.map_or(0, csv::Position::line);
        match record.map_err(|error| error.to_string()).and_then(|record| parse(&columns, &record, config)) {
            Ok(new) => matches.push(new),
            Err(fault) => faults.push(format!("line {line}: {fault}")),
        }
    }
    if !faults.is_empty() {
        bail!("{}: no match was opened\n{}", path.display(), faults.join("\n"));
    }
    if matches.is_empty() {
        bail!("{}: there is no match below the line with the columns", path.display());
    }
    Ok(matches)
}

/// Returns the text of a table without the byte order mark with which spreadsheets begin a file, and with each line
/// ended by a line feed alone: after a carriage return, the reader of tables would count one line too few.
pub fn with_plain_lines(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n")
}

/// Returns the separator of the columns. No column's name contains a semicolon.
fn delimiter(text: &str) -> u8 {
    let head = text.lines().next().unwrap_or_default();
    if head.contains(';') { b';' } else { b',' }
}

fn check_columns(columns: &[String]) -> Result<(), String> {
    let known: Vec<&str> = COLUMNS.into_iter().chain(TERM_NAMES).collect();
    if let Some(unknown) = columns.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("there is no column `{unknown}`; the columns are {}", known.join(", ")));
    }
    if let Some(missing) = REQUIRED.iter().find(|name| !columns.iter().any(|column| column == *name)) {
        return Err(format!("the column `{missing}` is missing"));
    }
    match columns.iter().enumerate().find(|(at, name)| columns[..*at].contains(name)) {
        Some((_, repeated)) => Err(format!("there are two columns `{repeated}`")),
        None => Ok(()),
    }
}

/// The fields of one line by column, without the empty ones.
struct Fields<'a>(BTreeMap<&'a str, &'a str>);

impl Fields<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).copied()
    }

    fn required(&self, name: &str) -> Result<&str, String> {
        self.get(name).ok_or_else(|| format!("`{name}` is missing"))
    }

    fn holder(&self, seat: &str, kind: GameKind, config: &Config) -> Result<Holder, String> {
        let text = self.required(seat)?;
        holder(text)
            .and_then(|holder| holder.holder(kind, &config.house))
            .map_err(|fault| format!("{seat} `{text}`: {fault}"))
    }
}

fn parse(columns: &[String], record: &csv::StringRecord, config: &Config) -> Result<NewMatch, String> {
    if record.len() > columns.len() {
        return Err("it has more fields than the first line".to_owned());
    }
    let pairs = columns.iter().map(String::as_str).zip(record.iter());
    let fields = Fields(pairs.filter(|(_, value)| !value.is_empty()).collect());
    let name = fields.required("game")?;
    let kind = game(name).map_err(|known| format!("game `{name}`: {known}"))?;
    let players = BySeat::new(fields.holder("first", kind, config)?, fields.holder("second", kind, config)?);
    match [&players.first, &players.second] {
        [Holder::Player(first), Holder::Player(second)] if first.address == second.address => {
            return Err("both seats have the same address".to_owned());
        }
        [Holder::House(_), Holder::House(_)] => return Err("the house holds both seats".to_owned()),
        _ => {}
    }
    let mut given = Vec::new();
    for option in fields.get("options").unwrap_or_default().split_whitespace() {
        given.push(option.split_once('=').ok_or_else(|| format!("option `{option}`: try name=value"))?);
    }
    let choices = choices(kind, &players, &given)?;
    let mut terms = terms(config, &players);
    for name in TERM_NAMES {
        if let Some(value) = fields.get(name) {
            terms.set(name, value)?;
        }
    }
    Ok(NewMatch { game: kind, choices, players, terms })
}
