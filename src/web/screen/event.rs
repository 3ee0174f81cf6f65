//! The page of an event: its sections as grids, a cell for each match, and the acts of a GM.

use std::collections::BTreeMap;

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::Frame;
use crate::club::events::event::{Event, Season};
use crate::club::member::number;
use crate::ledger::book::BookOutcome;
use crate::report::TemplateError;

/// Everything that the page of an event shows.
pub struct EventRows {
    pub event: Event,
    /// The guard of its forms.
    pub guard: String,
    /// The names of players by number.
    pub names: BTreeMap<i64, String>,
    /// The open turns of the matches that run.
    pub turns: BTreeMap<String, u32>,
}

/// A match in a grid, seen from the player of its row.
#[derive(Serialize)]
struct Cell {
    id: Option<String>,
    text: String,
    title: String,
}

/// Returns the page of an event.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn page(frame: &Frame<'_>, rows: &EventRows) -> Result<String, TemplateError> {
    let EventRows { event, guard, .. } = rows;
    let sections: Vec<Value> = event.season().map(|season| sections(rows, season)).unwrap_or_default();
    let entrants: Vec<(String, String)> =
        event.entrants.iter().map(|player| (number(*player), name(rows, *player))).collect();
    let running = event.running();
    let open = running.map_or(0, |season| season.games.iter().filter(|game| game.result.is_none()).count());
    let page = context! {
        id => &event.plan.id, name => &event.plan.name, game => event.plan.game.name(),
        format => event.plan.format.to_string(), stage => event.stage.to_string(), closed => event.closed,
        season => event.season().map(|season| season.no), is_running => running.is_some(),
        ends => running.map(|season| frame.at(season.ends)), is_past => running.is_some_and(|season| season.ends <= frame.now),
        opens => event.opens.map(|at| frame.at(at)), open => open, guard => guard,
        goes_on => event.goes_on(), entrants => entrants, sections => sections,
    };
    frame.render("screen/event.html", &format!("/event/{}", event.plan.id), page)
}

fn name(rows: &EventRows, player: i64) -> String {
    rows.names.get(&player).cloned().unwrap_or_else(|| number(player))
}

/// Returns the sections of a season, each a grid in the order of its table.
fn sections(rows: &EventRows, season: &Season) -> Vec<Value> {
    let mut shown = Vec::new();
    for (no, table) in season.tables().iter().enumerate() {
        let players: Vec<i64> = table.iter().map(|place| place.player).collect();
        let lines: Vec<Value> = table
            .iter()
            .map(|place| {
                let cells: Vec<Vec<Cell>> =
                    players.iter().map(|foe| cells(rows, season, place.player, *foe)).collect();
                let points = f64::from(place.points) / 2.0;
                context! {
                    place => place.place, number => number(place.player), name => name(rows, place.player),
                    points => points.to_string(), cells => Serde(cells),
                }
            })
            .collect();
        let heads: Vec<String> = players.iter().map(|player| name(rows, *player)).collect();
        shown.push(context! { no => no + 1, heads => heads, lines => lines });
    }
    shown
}

/// Returns the matches of two players, as the first one sees them.
fn cells(rows: &EventRows, season: &Season, own: i64, foe: i64) -> Vec<Cell> {
    let mut found = Vec::new();
    for game in &season.games {
        let is_first = (game.first, game.second) == (own, foe);
        if !is_first && (game.first, game.second) != (foe, own) {
            continue;
        }
        let text = match (&game.result, &game.match_id) {
            (Some(result), _) => match result.outcome {
                BookOutcome::First => if is_first { "1" } else { "0" }.to_owned(),
                BookOutcome::Second => if is_first { "0" } else { "1" }.to_owned(),
                BookOutcome::Draw => "½".to_owned(),
                BookOutcome::Both => "0".to_owned(),
                BookOutcome::None => "–".to_owned(),
            },
            (None, Some(id)) => match rows.turns.get(id) {
                Some(0) => "setup".to_owned(),
                Some(turn) => format!("turn {turn}"),
                None => "over".to_owned(),
            },
            (None, None) => "–".to_owned(),
        };
        let title = format!("{} – {}", name(rows, game.first), name(rows, game.second));
        found.push(Cell { id: game.match_id.clone(), text, title });
    }
    found
}
