//! The GM's lists of matches, people and events, each with a filter and a form to add one.

use chrono::NaiveDate;
use minijinja::value::Serde;
use minijinja::{Value, context};

use super::PageFrame;
use crate::club::events::keys::{self, Format};
use crate::game::any::GameKind;
use crate::referee::{Ask, MatchOverview, Stage};
use crate::report::TemplateError;

/// Maximum rows of a list.
const MAX_ROWS: usize = 200;

/// The rows of a list that contain the words of a filter.
pub struct Filtered<T> {
    /// The words, as they were written.
    pub words: String,
    /// The first of the rows.
    pub rows: Vec<T>,
    /// The number of the others.
    pub more: usize,
}

impl<T> Filtered<T> {
    /// Returns a list without rows.
    pub fn of(words: &str) -> Filtered<T> {
        Filtered { words: words.trim().to_owned(), rows: Vec::new(), more: 0 }
    }

    /// Adds a row, or counts it if the list is full.
    pub fn add(&mut self, row: T) {
        if self.rows.len() < MAX_ROWS { self.rows.push(row) } else { self.more += 1 }
    }
}

/// A person in the list.
pub struct PersonLine {
    /// Such as `P-12`.
    pub number: String,
    pub name: String,
    pub addresses: Vec<String>,
    pub bouncing: bool,
}

/// An event in the list.
pub struct EventLine {
    pub id: String,
    pub name: String,
    pub game: GameKind,
    pub stage: &'static str,
}

/// Returns the list of matches.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn matches(frame: &PageFrame<'_>, found: &Filtered<MatchOverview>) -> Result<String, TemplateError> {
    let rows: Vec<Value> = found.rows.iter().map(|overview| match_line(frame, overview)).collect();
    let games: Vec<(&str, &str)> = GameKind::ALL.iter().map(|game| (game.key(), game.name())).collect();
    let page = context! { words => &found.words, rows => rows, more => found.more, games => games };
    frame.render("screen/matches.html", "/matches", page)
}

fn match_line(frame: &PageFrame<'_>, overview: &MatchOverview) -> Value {
    let is_running = overview.stage == Stage::Running;
    context! {
        id => &overview.id, names => Serde(&overview.players), game => overview.game.name(),
        turn => overview.due.as_ref().map(|due| due.turn),
        result => overview.result(),
        is_paused => overview.stage == Stage::Paused, is_late => overview.is_late(frame.now),
        is_asking => matches!(overview.ask(frame.now), Some(Ask::Protest { .. } | Ask::Decision)),
        awaited => Serde(overview.awaited.clone()),
        due => overview.deadline.filter(|_| is_running).map(|deadline| frame.at(deadline)),
    }
}

/// Returns the list of people.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn people(frame: &PageFrame<'_>, found: &Filtered<PersonLine>) -> Result<String, TemplateError> {
    let line = |person: &PersonLine| {
        context! {
            number => &person.number, name => &person.name, addresses => &person.addresses,
            bouncing => person.bouncing,
        }
    };
    let rows: Vec<Value> = found.rows.iter().map(line).collect();
    let games: Vec<(&str, &str)> = GameKind::ALL.iter().map(|game| (game.key(), game.name())).collect();
    let page = context! { words => &found.words, rows => rows, more => found.more, games => games };
    frame.render("screen/people.html", "/people", page)
}

/// Returns the list of events, with an example of a plan that opens on this day.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn events(
    frame: &PageFrame<'_>,
    found: &Filtered<EventLine>,
    opens: NaiveDate,
) -> Result<String, TemplateError> {
    let line = |event: &EventLine| {
        context! { id => &event.id, name => &event.name, game => event.game.name(), stage => event.stage }
    };
    let rows: Vec<Value> = found.rows.iter().map(line).collect();
    let page = context! {
        words => &found.words, rows => rows, more => found.more, example => keys::example(Format::League, opens),
    };
    frame.render("screen/events.html", "/events", page)
}
