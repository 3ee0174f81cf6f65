//! Events and their tables as letters show them.

use super::people;
use crate::club::events::event::{Event, Season};
use crate::club::events::plan::Plan;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::ledger::book::{BookFact, BookPlace};
use crate::referee::{EventLine, EventLoad, GmEventAct, SectionTable, StandingRow, Standings};
use crate::zone::Zone;

/// Widths of the columns of a table: place, player, and each figure.
const PLAYER: usize = 26;
const FIGURE: usize = 7;

/// Returns an event as lists show it.
pub fn line(desk: &Desk<'_>, event: &Event, zone: Option<Zone>, reader: Option<i64>) -> EventLine {
    let plan = &event.plan;
    let running = event.running();
    let is_between_rounds = event.is_begun_cup() && running.is_none();
    let next = if is_between_rounds { event.next_players() } else { Vec::new() };
    let is_in = |player: i64| if is_between_rounds { next.contains(&player) } else { event.has(player) };
    EventLine {
        id: plan.id.clone(),
        name: plan.name.clone(),
        game_name: plan.game.name().to_owned(),
        format: plan.format.to_string(),
        stage: event.stage.to_string(),
        closed: event.closed,
        opens: event.opens.map(|opens| desk.local_time_in(zone, opens)),
        when_full: event.seasons.is_empty() && plan.opens.is_none(),
        ends: running.map(|season| desk.local_time_in(zone, season.ends)),
        season: event.season().map_or(0, |season| season.no),
        entrants: if is_between_rounds { next.len() } else { event.entrants.len() },
        most: plan.max_entrants,
        section_size: plan.section_size,
        games: plan.games,
        days: event.terms.days,
        bank: event.terms.bank,
        reliable: plan.reliable,
        rating: rating_words(plan),
        rated: plan.rated,
        is_in: reader.is_some_and(is_in),
        head: head(event),
    }
}

/// Renders the ratings that a plan requires; empty if it requires none.
pub fn rating_words(plan: &Plan) -> String {
    match plan.rating {
        (None, None) => String::new(),
        (Some(least), None) => format!("{least} or more"),
        (None, Some(most)) => format!("up to {most}"),
        (Some(least), Some(most)) => format!("{least} to {most}"),
    }
}

/// Returns the head of a book, as letters show it.
pub fn head(event: &Event) -> String {
    format!("Book {} sha256 {}", event.plan.id, event.head.hash)
}

/// Returns the tables of a season, or of one of its sections, as a reader may see them.
pub fn standings(
    desk: &Desk<'_>,
    event: &Event,
    season: &Season,
    only: Option<usize>,
    (reader, zone): (Option<i64>, Option<Zone>),
) -> Decided<Standings> {
    let mut sections = Vec::new();
    for (no, rows) in season.tables().iter().enumerate().filter(|(no, _)| only.is_none_or(|only| only == *no))
    {
        let is_own = reader.is_some_and(|reader| rows.iter().any(|row| row.player == reader));
        let mut shown = Vec::new();
        for row in rows {
            shown.push(standing_row(row, &people::shown_name(desk, row.player, is_own)?));
        }
        let running = season.games.iter().filter(|game| game.section == no && game.result.is_none()).count();
        sections.push(SectionTable { no: no + 1, rows: shown, running });
    }
    let is_last = event.season().is_some_and(|last| last.no == season.no);
    Ok(Standings {
        id: event.plan.id.clone(),
        name: event.plan.name.clone(),
        format: event.plan.format.to_string(),
        season: season.no,
        closed: season.places.is_some(),
        ends: desk.local_time_in(zone, season.ends),
        sections,
        acts: if is_last { acts(desk, event, reader)? } else { Vec::new() },
        head: head(event),
    })
}

fn standing_row(row: &BookPlace, player: &str) -> StandingRow {
    let player: String = player.chars().take(PLAYER - 2).collect();
    let [points, direct, berger, wins] = row.figures().map(|figure| format!("{figure:>FIGURE$}"));
    let (place, player) = (format!("{:>3}", row.place), format!("{player:<PLAYER$}"));
    StandingRow { place, player, points, direct, berger, wins }
}

/// Returns the acts of GMs in the event since the last season was closed, as a reader may see them.
pub fn acts(desk: &Desk<'_>, event: &Event, reader: Option<i64>) -> Decided<Vec<GmEventAct>> {
    let knows = |player: i64| reader.is_some_and(|reader| meet(event, reader, player));
    let name = |player: i64| people::shown_name(desk, player, knows(player));
    let mut acts = Vec::new();
    for (fact, gm, reason) in &event.acts {
        let (kind, who, by) = match fact {
            BookFact::Entered { player } => ("entered", name(*player)?, String::new()),
            BookFact::Struck { player } => ("struck", name(*player)?, String::new()),
            BookFact::Replaced { from, to } => ("replaced", name(*from)?, name(*to)?),
            BookFact::ResultEntered { result, .. } => {
                ("decided", result.match_id.clone().unwrap_or_default(), String::new())
            }
            BookFact::PlanChanged { closed: true, .. } => ("closed", String::new(), String::new()),
            BookFact::PlanChanged { .. } => ("moved", String::new(), String::new()),
            // Notes are only for GMs, and the other acts have letters of their own.
            _ => continue,
        };
        acts.push(GmEventAct { kind: kind.to_owned(), gm: gm.clone(), who, by, reason: reason.clone() });
    }
    Ok(acts)
}

/// Whether two numbers are of one player, or of two in one section of the last season.
fn meet(event: &Event, one: i64, other: i64) -> bool {
    let mut sections = event.season().into_iter().flat_map(|season| &season.sections);
    one == other || sections.any(|section| section.contains(&one) && section.contains(&other))
}

/// Returns the number of letters with which a season opens: both sides of each match get one, and each player the draw.
pub fn letters_at_opening(matches: usize, players: usize) -> usize {
    2 * matches + players
}

/// Returns the load that a plan causes with its maximum of entrants, or with two full sections if it has no
/// maximum.
pub fn load(desk: &Desk<'_>, plan: &Plan) -> EventLoad {
    let entrants = plan.max_entrants.unwrap_or(2 * plan.section_size);
    let sizes = crate::club::events::sections::sizes(entrants, plan.section_size);
    let matches: usize = sizes.iter().map(|size| size * (size - 1) / 2 * plan.games).sum();
    EventLoad {
        entrants,
        matches,
        each: plan.matches_each(),
        letters_at_once: letters_at_opening(matches, entrants),
        letters_a_day: 2 * matches,
        per_day: desk.club.config.outbox.quota.per_day.unwrap_or_default(),
    }
}
