//! The page of an event: its sections as grids, a cell for each match, and the acts of a GM.

use std::collections::BTreeMap;

use minijinja::{Value, context};

use super::Frame;
use crate::club::events::event::{Event, Pairing};
use crate::club::member::number;
use crate::game::Seat;
use crate::report::TemplateError;
use crate::web::events;

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

/// Returns the page of an event.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn page(frame: &Frame<'_>, rows: &EventRows) -> Result<String, TemplateError> {
    let EventRows { event, guard, .. } = rows;
    let sections = event.season().map(|season| {
        events::sections(season, &|player| name(rows, player), &|game, seat| cell(rows, game, seat))
    });
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

/// A match in a grid, seen from the player in this seat.
fn cell(rows: &EventRows, game: &Pairing, seat: Seat) -> Value {
    let turn = game.match_id.as_ref().map(|id| rows.turns.get(id));
    let text = events::result(game, seat).unwrap_or_else(|| match turn {
        Some(Some(0)) => "setup".to_owned(),
        Some(Some(turn)) => format!("turn {turn}"),
        Some(None) => "over".to_owned(),
        None => "–".to_owned(),
    });
    let title = format!("{} – {}", name(rows, game.first), name(rows, game.second));
    context! { id => &game.match_id, text => text, title => title }
}
