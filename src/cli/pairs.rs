//! `fogpost match new --from FILE`: many matches from a list, all of them or none.
//!
//! The first line names the columns: `game`, `first` and `second`, and as wanted `options` (`swap=off quiet_limit=20`),
//! `days`, `setup_days` and `zone`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};

use super::matches::{choices, game, sitter};
use crate::config::Config;
use crate::daemon::{Holder, NewMatch};
use crate::game::BySeat;

const COLUMNS: [&str; 7] = ["game", "first", "second", "options", "days", "setup_days", "zone"];

/// Reads the list; `config` says what holds where a line says nothing.
///
/// # Errors
/// Every fault, by its line.
pub fn read(path: &Path, config: &Config) -> anyhow::Result<Vec<NewMatch>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(text.as_bytes());
    let columns: Vec<String> = reader.headers()?.iter().map(str::to_ascii_lowercase).collect();
    if let Some(odd) = columns.iter().find(|name| !COLUMNS.contains(&name.as_str())) {
        bail!("{}, line 1: there is no column `{odd}`; there are {}", path.display(), COLUMNS.join(", "));
    }
    if let Some(missing) = COLUMNS[..3].iter().find(|name| !columns.iter().any(|column| column == *name)) {
        bail!("{}, line 1: the column `{missing}` is missing", path.display());
    }
    if let Some(twice) = columns.iter().enumerate().find(|(at, name)| columns[..*at].contains(name)) {
        bail!("{}, line 1: there are two columns `{}`", path.display(), twice.1);
    }
    let (mut matches, mut faults) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let line = record.as_ref().map_or_else(
            |error| error.position().map_or(0, csv::Position::line),
            |record| record.position().map_or(0, csv::Position::line),
        );
        let read = record.map_err(|error| error.to_string()).and_then(|record| {
            if record.len() > columns.len() {
                return Err("it has more fields than the first line".to_owned());
            }
            let fields = columns.iter().map(String::as_str).zip(record.iter());
            one(&fields.filter(|(_, value)| !value.is_empty()).collect(), config)
        });
        match read {
            Ok(new) => matches.push(new),
            Err(fault) => faults.push(format!("line {line}: {fault}")),
        }
    }
    if !faults.is_empty() {
        bail!("{}: no match was opened\n{}", path.display(), faults.join("\n"));
    }
    Ok(matches)
}

fn one(fields: &BTreeMap<&str, &str>, config: &Config) -> Result<NewMatch, String> {
    let field = |name: &str| fields.get(name).copied();
    let needed = |name: &str| field(name).ok_or_else(|| format!("`{name}` is missing"));
    let game =
        needed("game").and_then(|name| game(name).map_err(|known| format!("game `{name}`: {known}")))?;
    let holder = |name: &str| {
        let written = needed(name)?;
        let holder = sitter(written).and_then(|sitter| sitter.holder(game, &config.house));
        holder.map_err(|would_do| format!("{name} `{written}`: {would_do}"))
    };
    let players = BySeat::new(holder("first")?, holder("second")?);
    match [&players.first, &players.second] {
        [Holder::Player(first), Holder::Player(second)] if first.address == second.address => {
            return Err("both seats are the same person's".to_owned());
        }
        [Holder::House(_), Holder::House(_)] => return Err("both seats are the house's".to_owned()),
        _ => {}
    }
    let pairs = field("options").unwrap_or_default().split_whitespace();
    let pairs =
        pairs.map(|pair| pair.split_once('=').ok_or_else(|| format!("option `{pair}`: name=value would do")));
    let choices = choices(game, &players, &pairs.collect::<Result<Vec<_>, _>>()?)?;
    let days = |name: &str, custom| match field(name) {
        Some(text) => text.parse().map_err(|_| format!("{name} `{text}` is no number")),
        None => Ok(custom),
    };
    let mut terms = config.terms.clone();
    (terms.days, terms.setup_days) = (days("days", terms.days)?, days("setup_days", terms.setup_days)?);
    if let Some(zone) = field("zone") {
        terms.zone = zone.parse().map_err(|_| format!("zone `{zone}`: such as Europe/Berlin would do"))?;
    }
    terms.check()?;
    Ok(NewMatch { game, choices, players, terms })
}
