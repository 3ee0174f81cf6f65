//! Loads what the pages of a match, a person and an event show.
//!
//! Loads what the lists of matches, people and events show.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use chrono::{Months, TimeDelta};

use super::super::load::ledger_entries;
use super::super::{GmIndex, Office};
use super::agenda::about;
use crate::club::member::{number, read_number};
use crate::club::names::{NamedPlayer, find_player};
use crate::daemon::audit::withheld::matches_sealing;
use crate::daemon::instruct;
use crate::daemon::load::{load_event, stage_in_words};
use crate::desk::gm::without_letter::{event_guard, match_guard};
use crate::desk::matches::applicants::{APPLICANT, Applicant};
use crate::game::{BySeat, Seat};
use crate::referee::{Instruction, Match, MatchOverview, Stage};
use crate::request::{Party, Whom};
use crate::store::{LetterStatus, Player, TokenRow};
use crate::web::screen::event::EventRows;
use crate::web::screen::forms::Form;
use crate::web::screen::game_match::{MatchRows, Sent};
use crate::web::screen::lists::{EventLine, Filtered, PersonLine};
use crate::web::screen::person::{LetterLine, PersonMatch, PersonRows};

/// Maximum letters of the referee about a match that its timeline shows.
const MAX_SENT: u32 = 400;

/// Maximum letters from a person to show, and for how long.
const MAX_LETTERS: u32 = 30;
const LETTERS_FOR: TimeDelta = TimeDelta::days(30);

/// Maximum results of a search.
const MAX_FOUND: u32 = 50;

/// Loads a match from its snapshot, with its seats.
pub async fn match_of(
    office: &Office,
    id: &str,
) -> anyhow::Result<Option<(Match, BySeat<Option<TokenRow>>)>> {
    let ids = [id.to_ascii_uppercase()];
    let Some(snapshot) = office.store.shown_snapshots(&ids).await?.pop() else { return Ok(None) };
    let game_match =
        serde_json::from_str(&snapshot).with_context(|| format!("failed to read the snapshot of {id}"))?;
    let mut seats: BySeat<Option<TokenRow>> = BySeat::default();
    for row in office.store.seats_of(&ids).await? {
        let seat = row.seat;
        seats[seat] = Some(row);
    }
    Ok(Some((game_match, seats)))
}

/// Returns a form with an address in each field that names a person, or a sentence that says why there is none.
pub async fn with_addresses(office: &Office, form: &Form) -> anyhow::Result<Result<Form, String>> {
    if !form.0.iter().any(|(name, _)| name == "who") {
        return Ok(Ok(form.clone()));
    }
    let people = office.store.players().await?;
    let known = people.iter().filter(|player| !player.is_house());
    let known: Vec<NamedPlayer> =
        known.map(|player| NamedPlayer { id: player.id, name: player.name.clone() }).collect();
    Ok(form.with_addresses(|written| match (Party::parse(written.trim()), Whom::read(written)) {
        (Some(_), _) => Ok(written.trim().to_owned()),
        (None, Some(Whom::Address(address))) => Ok(address.as_str().to_owned()),
        (None, Some(Whom::Named(named))) => {
            let id = find_player(&named, &known).only(&named)?;
            let address =
                people.iter().find(|player| player.id == id).and_then(|player| player.addresses.first());
            address.cloned().ok_or_else(|| format!("{} has no address.", number(id)))
        }
        (None, None) => Err("Name a person: Bo, P-12 or bo@example.org.".to_owned()),
    }))
}

/// Returns the guard of a new form for an instruction.
pub async fn guard_of(office: &Office, instruction: &Instruction) -> anyhow::Result<String> {
    Ok(match instruction {
        Instruction::Match { id, .. } => {
            match_of(office, id).await?.map(|(game_match, _)| match_guard(&game_match))
        }
        Instruction::Event { id, .. } => {
            load_event(office, &id.to_ascii_uppercase()).await?.map(|loaded| event_guard(&loaded.event))
        }
        _ => None,
    }
    .unwrap_or_default())
}

/// Returns what the page of a match shows.
pub async fn match_rows(office: &Office, gm: GmIndex, id: &str) -> anyhow::Result<Option<MatchRows>> {
    let Some((mut game_match, seats)) = match_of(office, id).await? else { return Ok(None) };
    game_match.away = instruct::fog_on_screen(office, gm).await?.away(&game_match.id, game_match.away);
    let gm = &office.config.club.gm.all()[gm.0];
    let is_own = |row: &TokenRow| row.player.addresses.iter().any(|address| gm.has_address(address));
    let plays = seats.iter().any(|(_, row)| row.as_ref().is_some_and(is_own));
    let entries = ledger_entries(office, &game_match.id).await?;
    let mut sent = Vec::new();
    // The store returns the newest first, so that the limit leaves out the oldest. The page shows the oldest first.
    for row in office.store.dispatches_about(&game_match.id, MAX_SENT).await?.into_iter().rev() {
        let status = match (row.sent_at, row.waiting, row.given_up_at) {
            _ if row.returned => "came back",
            (Some(_), _, _) => "sent",
            (None, true, _) => "waits",
            (None, false, Some(_)) => "given up",
            (None, false, None) => "lapsed",
        };
        sent.push(Sent { at: row.created_at, kind: row.kind.as_str().to_owned(), seat: row.seat, status });
    }
    let dates = office.store.match_dates(std::slice::from_ref(&game_match.id)).await?;
    Ok(Some(MatchRows {
        about: about(&game_match, plays),
        ended_at: dates.first().and_then(|dates| dates.ended_at),
        players: seats
            .map(|row| row.filter(|row| !row.player.addresses.is_empty()).map(|row| number(row.player.id))),
        entries,
        sent,
        answered: None,
        game_match,
    }))
}

/// Returns what the page of a person shows, by number.
pub async fn person_rows(office: &Office, gm: GmIndex, word: &str) -> anyhow::Result<Option<PersonRows>> {
    let Some(id) = read_number(word) else { return Ok(None) };
    let Some(player) = office.store.player_by_id(id).await? else { return Ok(None) };
    let held = office.store.matches_of(player.id).await?;
    let fog = instruct::fog_on_screen(office, gm).await?;
    // Whether the GM holds a seat of a running match together with this player.
    let is_hidden = held.iter().any(|(_, overview)| fog.matches.contains(&overview.id));
    let ids: Vec<String> = held.iter().map(|(_, overview)| overview.id.clone()).collect();
    let dates = office.store.match_dates(&ids).await?;
    let ended_at: BTreeMap<&str, _> = dates.iter().map(|row| (row.id.as_str(), row.ended_at)).collect();
    let mut matches: Vec<PersonMatch> = held.iter().map(|(seat, overview)| line(*seat, overview)).collect();
    matches.sort_by_key(|line| (line.is_over, Reverse(ended_at.get(line.id.as_str()).copied().flatten())));
    let standings = office.store.standings(&player.addresses).await?;
    let since = office.now().checked_sub_months(Months::new(12)).unwrap_or_default();
    let letters = if is_hidden { None } else { Some(letters(office, &player).await?) };
    Ok(Some(PersonRows {
        number: number(player.id),
        blocked_since: standings.iter().find_map(|(_, standing)| standing.blocked_since),
        reliability: office.store.reliability(player.id, since).await?,
        absences: absences(office, &held).await?,
        matches,
        letters,
        name: player.name,
        addresses: player.addresses,
        bouncing: player.bouncing,
    }))
}

fn line(seat: Seat, overview: &MatchOverview) -> PersonMatch {
    PersonMatch {
        id: overview.id.clone(),
        game: overview.game.name(),
        foe: overview.players[seat.other()].clone(),
        turn: overview.due.as_ref().map(|due| due.turn),
        result: overview.result(),
        is_over: overview.stage == Stage::Over,
        awaited: overview.awaited.contains(&seat),
    }
}

/// Returns the absences that a player has announced in running matches.
async fn absences(office: &Office, held: &[(Seat, MatchOverview)]) -> anyhow::Result<Vec<String>> {
    let running = held.iter().filter(|(_, overview)| overview.stage != Stage::Over);
    let seats: BTreeMap<&str, Seat> = running.map(|(seat, overview)| (overview.id.as_str(), *seat)).collect();
    let ids: Vec<String> = seats.keys().map(|id| (*id).to_owned()).collect();
    let mut found = BTreeSet::new();
    for snapshot in office.store.shown_snapshots(&ids).await? {
        let game_match: Match = serde_json::from_str(&snapshot)?;
        let Some(seat) = seats.get(game_match.id.as_str()) else { continue };
        found.extend(game_match.absences[*seat].iter().map(|absence| (absence.from, absence.to)));
    }
    Ok(found.into_iter().rev().map(|(from, to)| format!("{from} to {to}")).collect())
}

async fn letters(office: &Office, player: &Player) -> anyhow::Result<Vec<LetterLine>> {
    let since = office.now() - LETTERS_FOR;
    let rows = office.store.letters_from(&player.addresses, since, MAX_LETTERS).await?;
    let mut lines = Vec::new();
    for row in rows {
        let is_sealed = !matches_sealing(office, &row).await?.is_empty();
        let can_accept = matches!(row.status, LetterStatus::Automatic | LetterStatus::SetAside);
        // How often a seat writes while its match runs is as private as when it does.
        if is_sealed && !can_accept {
            continue;
        }
        lines.push(LetterLine {
            received_at: (!is_sealed).then_some(row.received_at),
            status: row.status.as_str(),
            match_id: row.seat.map(|(id, _)| id),
            accept: can_accept.then(|| row.digest.to_string()[..12].to_owned()),
        });
    }
    Ok(lines)
}

/// Returns what the page of an event shows.
pub async fn event_rows(office: &Office, id: &str) -> anyhow::Result<Option<EventRows>> {
    let Some(loaded) = load_event(office, &id.to_ascii_uppercase()).await? else { return Ok(None) };
    let players = office.store.listed_players().await?;
    let mut turns = BTreeMap::new();
    let mut take = |overview: MatchOverview| {
        if overview.event.as_deref() == Some(&loaded.event.plan.id) {
            turns.insert(overview.id, overview.due.map_or(0, |due| due.turn));
        }
    };
    for stage in [Stage::Running, Stage::Paused] {
        office.store.list_matches(Some(stage), &mut take).await?;
    }
    Ok(Some(EventRows {
        guard: event_guard(&loaded.event),
        names: players.into_iter().map(|player| (player.id, player.name)).collect(),
        turns,
        event: loaded.event,
    }))
}

/// Returns the pages that a search finds, each by its address and a label.
pub async fn search_pages(office: &Office, words: &str) -> anyhow::Result<Vec<(String, String)>> {
    let id = words.trim().to_ascii_uppercase();
    if match_of(office, &id).await?.is_some() {
        return Ok(vec![(format!("/match/{id}"), id)]);
    }
    if let Some(event) = office.store.event(&id).await? {
        return Ok(vec![(format!("/event/{id}"), event.name)]);
    }
    let mut players = Vec::new();
    if let Some(id) = read_number(&id) {
        players.extend(office.store.player_by_id(id).await?);
    }
    if players.is_empty() && !words.trim().is_empty() {
        players = office.store.players_named(words.trim(), MAX_FOUND).await?;
    }
    let is_meant = |applicant: &Applicant| {
        let wanted = words.trim().to_lowercase();
        !wanted.is_empty()
            && [&applicant.name, &applicant.address].iter().any(|own| own.to_lowercase().contains(&wanted))
    };
    let applicants = Applicant::read_all(&office.store.remembered_under(APPLICANT).await?);
    let waiting = applicants.into_iter().filter(is_meant).map(|applicant| {
        ("/".to_owned(), format!("{} ({}), who waits to be admitted", applicant.name, applicant.address))
    });
    let line = |player: Player| {
        let label = format!("{} ({})", player.name, player.addresses.join(", "));
        (format!("/person/{}", number(player.id)), label)
    };
    let found: Vec<(String, String)> = players.into_iter().map(line).chain(waiting).collect();
    Ok(match words.trim() {
        "" => found,
        words => found.into_iter().chain(named_like(office, words).await?).collect(),
    })
}

/// Returns the pages of the events and matches with these words in their names.
async fn named_like(office: &Office, words: &str) -> anyhow::Result<Vec<(String, String)>> {
    let events = events(office, words).await?.rows;
    let mut found: Vec<(String, String)> =
        events.into_iter().map(|event| (format!("/event/{}", event.id), event.name)).collect();
    let id = words.to_ascii_uppercase();
    let matches = matches(office, words).await?.rows;
    for overview in matches.into_iter().filter(|overview| overview.id.contains(&id)) {
        let players = format!("{}: {} – {}", overview.id, overview.players.first, overview.players.second);
        found.push((format!("/match/{}", overview.id), players));
    }
    Ok(found)
}

/// Returns the matches that contain each of these words in their ID, names, game, event or state: those that run first.
pub(super) async fn matches(office: &Office, words: &str) -> anyhow::Result<Filtered<MatchOverview>> {
    let now = office.now();
    let wanted = Wanted::of(words);
    let mut found = Filtered::of(words);
    let mut take = |overview: MatchOverview| {
        let MatchOverview { id, players, game, stage, event, protest, .. } = &overview;
        let state = [(overview.is_late(now), "late"), (protest.is_some(), "protest")];
        let state = state.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word);
        let text = [id.as_str(), &players.first, &players.second, game.name(), game.key(), stage.as_str()];
        if wanted.are_in(text.into_iter().chain(event.as_deref()).chain(state)) {
            found.add(overview);
        }
    };
    for stage in [Stage::Running, Stage::Paused, Stage::Over] {
        office.store.list_matches(Some(stage), &mut take).await?;
    }
    Ok(found)
}

/// Returns the people who have each of these words in their number, name or addresses.
pub(super) async fn people(office: &Office, words: &str) -> anyhow::Result<Filtered<PersonLine>> {
    let wanted = Wanted::of(words);
    let mut found = Filtered::of(words);
    for player in office.store.players().await? {
        let number = number(player.id);
        let text = [number.as_str(), &player.name].into_iter();
        if !player.is_house() && wanted.are_in(text.chain(player.addresses.iter().map(String::as_str))) {
            let name = player.name;
            let addresses = player.addresses;
            let bouncing = player.bouncing;
            found.add(PersonLine { number, name, addresses, bouncing });
        }
    }
    Ok(found)
}

/// Returns the events that have each of these words in their ID, name, game or stage.
pub(super) async fn events(office: &Office, words: &str) -> anyhow::Result<Filtered<EventLine>> {
    let wanted = Wanted::of(words);
    let mut found = Filtered::of(words);
    for row in office.store.events().await? {
        let stage = stage_in_words(office, &row).await?;
        if wanted.are_in([row.id.as_str(), &row.name, row.game.name(), row.game.key(), stage].into_iter()) {
            found.add(EventLine { id: row.id, name: row.name, game: row.game, stage });
        }
    }
    Ok(found)
}

/// The words of a filter, in lower case.
struct Wanted(Vec<String>);

impl Wanted {
    fn of(words: &str) -> Wanted {
        Wanted(words.split_whitespace().map(str::to_lowercase).collect())
    }

    /// Whether each of the words is in one of the texts.
    fn are_in<'a>(&self, texts: impl Iterator<Item = &'a str>) -> bool {
        let texts: Vec<String> = texts.map(str::to_lowercase).collect();
        self.0.iter().all(|word| texts.iter().any(|text| text.contains(word)))
    }
}
