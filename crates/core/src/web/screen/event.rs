//! The page of an event: its sections as grids, with a cell for each match, and the acts of a GM.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::context;

use super::PageFrame;
use crate::club::events::event::Event;
use crate::club::member::number;
use crate::report::TemplateError;
use crate::web::events::{self, Shown};

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
pub fn page(frame: &PageFrame<'_>, rows: &EventRows) -> Result<String, TemplateError> {
    let EventRows { event, guard, .. } = rows;
    let shown = Shown {
        names: rows.names.iter().map(|(id, name)| (*id, name.as_str())).collect(),
        running: rows.turns.iter().map(|(id, turn)| (id.as_str(), Some(*turn))).collect(),
        replays: BTreeSet::new(),
    };
    let sections = event.season().map(|season| events::sections(event, season, &shown)).unwrap_or_default();
    let entrants: Vec<(String, String)> =
        event.entrants.iter().map(|player| (number(*player), events::name(*player, &shown))).collect();
    let running = event.running();
    let open = running.map_or(0, |season| season.games.iter().filter(|game| game.result.is_none()).count());
    let page = context! {
        id => &event.plan.id, name => &event.plan.name, game => event.plan.game.name(),
        format => event.plan.format.to_string(), stage => event.stage_in_words(), closed => event.closed,
        champion => event.champion().map(|player| events::name(player, &shown)),
        span => event.plan.format.span(), season => event.season().map(|season| season.no), is_running => running.is_some(),
        ends => running.map(|season| frame.at(season.ends)), is_past => running.is_some_and(|season| season.ends <= frame.now),
        opens => event.opens.map(|at| frame.at(at)), open => open, guard => guard,
        is_over => event.is_over(), takes_entries => event.takes_entries(), entrants => entrants, sections => sections,
    };
    frame.render("screen/event.html", &format!("/event/{}", event.plan.id), page)
}
