//! The pages of events: the announcement, and the grid of each section with its standings.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use minijinja::{Value, context};

use super::listed::ListedMatch;
use crate::club::events::event::{Event, EventStage, Pairing, Season};
use crate::club::member::number;
use crate::game::Seat;

/// An event as the site shows it.
#[derive(Clone, Debug)]
pub struct ListedEvent {
    pub event: Event,
    /// Its news for the feeds, the latest last.
    pub news: Vec<(DateTime<Utc>, EventNews)>,
}

/// A time in the life of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventNews {
    Announced,
    /// A season begins.
    Drawn(u32),
    /// A season is over.
    Closed(u32),
    Cancelled,
}

impl EventNews {
    pub fn as_str(self) -> &'static str {
        match self {
            EventNews::Announced => "announced",
            EventNews::Drawn(_) => "drawn",
            EventNews::Closed(_) => "closed",
            EventNews::Cancelled => "cancelled",
        }
    }

    pub fn season(self) -> Option<u32> {
        match self {
            EventNews::Announced | EventNews::Cancelled => None,
            EventNews::Drawn(season) | EventNews::Closed(season) => Some(season),
        }
    }
}

/// The names of players, and the matches of an event.
pub struct Shown<'a> {
    pub names: BTreeMap<i64, &'a str>,
    pub matches: BTreeMap<&'a str, &'a ListedMatch>,
}

/// Returns an event as lists of events show it.
pub fn line(listed: &ListedEvent) -> Value {
    let Event { plan, stage, .. } = &listed.event;
    context! {
        id => &plan.id, name => &plan.name, game => plan.game.name(), format => plan.format.as_str(),
        stage => stage.as_str(), season => listed.event.season().map(|season| season.no),
    }
}

/// Returns the announcement.
pub fn announcement(listed: &ListedEvent) -> Value {
    let Event { plan, terms, stage, closed, opens, entrants, seasons, head, .. } = &listed.event;
    let opens = opens.filter(|_| *stage == EventStage::Entries).map(day);
    context! {
        id => &plan.id, name => &plan.name, game => plan.game.name(), key => plan.game.key(),
        options => plan.options.to_string(), format => plan.format.as_str(), section_size => plan.section_size,
        games => plan.games, most => plan.max_entrants, season_days => plan.season_days,
        days => terms.days, bank => terms.bank, rated => plan.rated, stage => stage.as_str(),
        opens => opens, entrants => entrants.len(), takes => *stage == EventStage::Entries && !closed,
        seasons => seasons.iter().map(|season| season.no).collect::<Vec<_>>(), head => head.hash.to_string(),
        announced => listed.news.first().map(|(at, _)| day(*at)),
    }
}

/// Returns a season with its sections.
pub fn season(season: &Season, shown: &Shown<'_>) -> Value {
    let sections = sections(season, &|player| name(player, shown), &|game, seat| cell(game, seat, shown));
    let (from, to) = (day(season.drawn_at), day(season.ends));
    context! { no => season.no, from => from, to => to, closed => season.places.is_some(), sections => sections }
}

/// Returns the grids of a season: for each section a row for each player, in the order of its table, with a cell for
/// each match.
pub fn sections(
    season: &Season,
    name: &dyn Fn(i64) -> String,
    cell: &dyn Fn(&Pairing, Seat) -> Value,
) -> Vec<Value> {
    let mut sections = Vec::new();
    for (no, table) in season.tables().iter().enumerate() {
        let games: Vec<&Pairing> = season.games.iter().filter(|game| game.section == no).collect();
        let mut rows = Vec::new();
        for row in table {
            let cells: Vec<Vec<Value>> =
                table.iter().map(|foe| between(&games, row.player, foe.player, cell)).collect();
            rows.push(context! {
                place => row.place, number => number(row.player), name => name(row.player), cells => cells,
                points => halves(row.points), direct => halves(row.direct), berger => quarters(row.berger),
                wins => row.wins,
            });
        }
        let open = games.iter().filter(|game| game.result.is_none()).count();
        sections.push(context! { no => no + 1, rows => rows, open => open });
    }
    sections
}

/// Returns the matches of a player against another, first that in which the player moves first.
fn between(games: &[&Pairing], own: i64, foe: i64, cell: &dyn Fn(&Pairing, Seat) -> Value) -> Vec<Value> {
    let of = |pair: (i64, i64), seat: Seat| {
        let games = games.iter().filter(move |game| (game.first, game.second) == pair);
        games.map(move |game| cell(game, seat))
    };
    of((own, foe), Seat::First).chain(of((foe, own), Seat::Second)).collect()
}

/// A match in the row of the player in this seat.
fn cell(game: &Pairing, seat: Seat, shown: &Shown<'_>) -> Value {
    let listed = game.match_id.as_deref().and_then(|id| shown.matches.get(id));
    let replay = listed.filter(|listed| listed.end.is_some()).map(|listed| listed.id.as_str());
    let result = result(game, seat);
    let turn = listed.and_then(|listed| listed.turn);
    let foe = if seat == Seat::First { game.second } else { game.first };
    context! { result => result, turn => turn, replay => replay, seat => seat.as_str(), foe => name(foe, shown) }
}

/// Returns the points that a match gave, or a cross if it ended without a result.
pub fn result(game: &Pairing, seat: Seat) -> Option<String> {
    game.result.as_ref().map(|result| result.outcome.halves(seat).map_or("×".to_owned(), halves))
}

fn name(player: i64, shown: &Shown<'_>) -> String {
    shown.names.get(&player).map_or_else(|| number(player), |name| (*name).to_owned())
}

/// Writes half points: `4½`.
fn halves(halves: u32) -> String {
    quarters(2 * halves)
}

fn quarters(quarters: u32) -> String {
    let (whole, part) = (quarters / 4, ["", "¼", "½", "¾"][(quarters % 4) as usize]);
    if whole == 0 && !part.is_empty() { part.to_owned() } else { format!("{whole}{part}") }
}

fn day(at: DateTime<Utc>) -> String {
    at.format("%-d %B %Y").to_string()
}
