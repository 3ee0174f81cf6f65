//! `fogpost match new --from FILE`: reads a table of matches to open, all or none.
//!
//! Its columns are `game`, `first` and `second`, and optionally `options` and any of the terms, such as `days` or
//! `grace_hours`. Options are written as in `swap=off trainer=on`.

use std::path::Path;

use super::arguments::{choices, game, holder_of, terms};
use super::tables::{self, TableKind, TableRow};
use crate::config::Config;
use crate::daemon::{Holder, NewMatch, WrittenHolder};
use crate::game::BySeat;
use crate::game::any::GameKind;
use crate::referee::TERM_NAMES;
use crate::store::Player;

const COLUMNS: [&str; 4] = ["game", "first", "second", "options"];
const REQUIRED: [&str; 3] = ["game", "first", "second"];

/// Reads the file. `people` are the club's players, and `config` supplies the defaults for columns that a line leaves empty.
///
/// # Errors
/// Returns an error if the file cannot be read or a line is faulty. It names every faulty line by its number.
pub fn read(path: &Path, config: &Config, people: &[Player]) -> anyhow::Result<Vec<NewMatch>> {
    let columns: Vec<&str> = COLUMNS.into_iter().chain(TERM_NAMES).collect();
    let kind = TableKind { columns: &columns, required: &REQUIRED, item: "match", done: "opened" };
    tables::read(path, &kind, |row| parse(row, config, people))
}

fn holder(
    row: &TableRow<'_>,
    seat: &str,
    kind: GameKind,
    (config, people): (&Config, &[Player]),
) -> Result<Holder, String> {
    let text = row.required(seat)?;
    WrittenHolder::read(text)
        .and_then(|written| holder_of(written, kind, &config.house, people))
        .map_err(|fault| format!("{seat} `{text}`: {fault}"))
}

fn parse(row: &TableRow<'_>, config: &Config, people: &[Player]) -> Result<NewMatch, String> {
    let name = row.required("game")?;
    let kind = game(name).map_err(|known| format!("game `{name}`: {known}"))?;
    let club = (config, people);
    let players = BySeat::new(holder(row, "first", kind, club)?, holder(row, "second", kind, club)?);
    match [&players.first, &players.second] {
        [Holder::Player(first), Holder::Player(second)] if first.address == second.address => {
            let says = "both seats have the same address; two people who share a mailbox need plus addresses";
            return Err(says.to_owned());
        }
        _ => {}
    }
    let mut given = Vec::new();
    for option in row.get("options").unwrap_or_default().split_whitespace() {
        given.push(option.split_once('=').ok_or_else(|| format!("option `{option}`: try name=value"))?);
    }
    let choices = choices(kind, &players, &given)?;
    let mut terms = terms(config, &players);
    for name in TERM_NAMES {
        if let Some(value) = row.get(name) {
            terms.set(name, value)?;
        }
    }
    Ok(NewMatch { game: kind, choices, players, terms })
}
