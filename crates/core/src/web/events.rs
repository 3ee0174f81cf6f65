//! The pages of events: the announcement, and the grid of each section with its standings.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use minijinja::{Value, context};

use crate::club::events::event::{Event, EventStage, Pairing, Season};
use crate::club::events::keys::Format;
use crate::club::events::seasons;
use crate::club::member::number;
use crate::game::Seat;
use crate::ledger::book::BookPlace;

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

/// The data that the grid shows: names of players, open turns of running matches, and matches that have a
/// replay.
pub struct Shown<'a> {
    pub names: BTreeMap<i64, &'a str>,
    pub running: BTreeMap<&'a str, Option<u32>>,
    pub replays: BTreeSet<&'a str>,
}

/// Returns an event as lists of events show it.
pub fn line(listed: &ListedEvent) -> Value {
    let plan = &listed.event.plan;
    context! {
        id => &plan.id, name => &plan.name, game => plan.game.name(), format => plan.format.as_str(),
        stage => listed.event.stage_in_words(), span => plan.format.span(), season => listed.event.season().map(|season| season.no),
    }
}

/// Returns the announcement.
pub fn announcement(listed: &ListedEvent, shown: &Shown<'_>) -> Value {
    let Event { plan, terms, stage, opens, entrants, seasons, head, .. } = &listed.event;
    let opens = opens.filter(|_| *stage == EventStage::Entries).map(day);
    context! {
        id => &plan.id, name => &plan.name, game => plan.game.name(), key => plan.game.key(),
        options => plan.options.to_string(), format => plan.format.as_str(), section_size => plan.section_size,
        games => plan.games, most => plan.max_entrants, season_days => plan.season_days,
        days => terms.days, bank => terms.bank, rated => plan.rated, stage => listed.event.stage_in_words(),
        span => plan.format.span(),
        opens => opens, entrants => entrants.len(), takes => *stage == EventStage::Entries && listed.event.takes_entries(),
        seasons => seasons.iter().map(|season| season.no).collect::<Vec<_>>(), head => head.hash.to_string(),
        announced => listed.news.first().map(|(at, _)| day(*at)),
        champion => listed.event.champion().map(|player| name(player, shown)),
    }
}

/// Returns a season with its sections, and the list of a ladder or the rounds of a cup.
pub fn season(event: &Event, season: &Season, shown: &Shown<'_>) -> Value {
    let (from, to, sections) = (day(season.drawn_at), day(season.ends), sections(event, season, shown));
    context! {
        no => season.no, from => from, to => to, closed => season.places.is_some(), sections => sections,
        ladder => (event.plan.format == Format::Ladder).then(|| ladder(event, season, shown)),
        rounds => (event.plan.format == Format::Cup).then(|| rounds(event, season.no, shown)),
    }
}

/// Returns the list of a ladder after a season, from the first place on, with the places that each player has risen.
fn ladder(event: &Event, season: &Season, shown: &Shown<'_>) -> Vec<Value> {
    let moves = seasons::moves(event, season);
    let after = seasons::after_ladder(&season.list, &season.ranked());
    let line = |player: &i64| {
        context! { number => number(*player), name => name(*player, shown), rise => moves.get(player) }
    };
    after.iter().map(line).collect()
}

/// Returns the rounds of a cup up to this season, each as its sections in the order of their tables, with who went on.
fn rounds(event: &Event, no: u32, shown: &Shown<'_>) -> Vec<Value> {
    let round = |season: &Season| {
        let on = seasons::went_on(event, season);
        let person = |player: &i64| context! { name => name(*player, shown), on => on.contains(player) };
        let sections: Vec<Vec<Value>> =
            season.ranked().iter().map(|section| section.iter().map(person).collect()).collect();
        context! { no => season.no, sections => sections }
    };
    event.seasons.iter().filter(|season| season.no <= no).map(round).collect()
}

/// Returns the sections of a season, each with a row of results for each player.
pub fn sections(event: &Event, season: &Season, shown: &Shown<'_>) -> Vec<Value> {
    let (moves, on) = (seasons::moves(event, season), seasons::went_on(event, season));
    season
        .tables()
        .iter()
        .enumerate()
        .map(|(no, table)| {
            let games: Vec<&Pairing> = season.games.iter().filter(|game| game.section == no).collect();
            let row = |row: &BookPlace| {
                let (rise, on) = (moves.get(&row.player), on.contains(&row.player));
                context! { rise => rise, on => on, ..player(row, table, &games, shown) }
            };
            let rows: Vec<Value> = table.iter().map(row).collect();
            let open = games.iter().filter(|game| game.result.is_none()).count();
            context! { no => no + 1, rows => rows, open => open }
        })
        .collect()
}

fn player(row: &BookPlace, table: &[BookPlace], games: &[&Pairing], shown: &Shown<'_>) -> Value {
    let cells: Vec<Value> = table
        .iter()
        .map(|other| {
            let between = |(first, second)| {
                games.iter().filter(move |game| (game.first, game.second) == (first, second))
            };
            let (own, foe) = (row.player, other.player);
            let of = |seat: Seat| move |game: &&Pairing| cell(game, seat, shown);
            let cells: Vec<Value> = between((own, foe))
                .map(of(Seat::First))
                .chain(between((foe, own)).map(of(Seat::Second)))
                .collect();
            Value::from(cells)
        })
        .collect();
    context! {
        place => row.place, number => number(row.player), name => name(row.player, shown), cells => cells,
        points => halves(row.points), direct => halves(row.direct), berger => quarters(row.berger), wins => row.wins,
    }
}

/// A match in the row of the player in this seat.
fn cell(game: &Pairing, seat: Seat, shown: &Shown<'_>) -> Value {
    let id = game.match_id.as_deref();
    let running = id.and_then(|id| shown.running.get(id));
    let result =
        game.result.as_ref().map(|result| result.outcome.halves(seat).map_or("×".to_owned(), halves));
    let foe = if seat == Seat::First { game.second } else { game.first };
    context! {
        id => id, runs => running.is_some(), turn => running.copied().flatten(), result => result,
        replay => id.filter(|id| shown.replays.contains(id)), seat => seat.as_str(), foe => name(foe, shown),
    }
}

/// Returns the name of a player, or the number if the name is not shown.
pub fn name(player: i64, shown: &Shown<'_>) -> String {
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
