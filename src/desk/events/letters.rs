//! The letters of an event, to its players and to GMs.

use std::collections::BTreeMap;

use super::{people, shown};
use crate::club::events::event::{Event, Season};
use crate::club::events::own_time::{self, own_time, slower};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, or_lacking};
use crate::desk::outbox::gms::{self, GmTopic};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::game::Seat;
use crate::ledger::book::BookOutcome;
use crate::referee::{DispatchKind, Stage};
use crate::report::{ClubLetter, EndingMatch, EventLetter, StartedMatch};

/// Writes a letter to a player of an event, if one reaches them.
fn tell(desk: &mut Desk<'_>, event: &Event, player: i64, what: &str, letter: EventLetter) -> Decided<()> {
    let Some((reader, address)) = desk.reachable(player)? else { return Ok(()) };
    let zone = reader.settings.zone;
    let plain = ClubLetter::Event { event: Box::new(shown::line(desk, event, zone, Some(player))), letter };
    let unique = format!("e.{}.{}.{what}.{player}", event.plan.id.to_lowercase(), event.head.seq);
    let to = PlainEnvelope {
        name: &reader.name,
        address: address.as_str(),
        unique: &unique,
        kind: DispatchKind::Notice,
    };
    mail::send(desk, &plain, &to)
}

/// Writes to the GMs who read about the club.
pub fn tell_gms(desk: &mut Desk<'_>, event: &Event, what: &str, letter: EventLetter) -> Decided<()> {
    let plain = ClubLetter::Event { event: Box::new(shown::line(desk, event, None, None)), letter };
    let unique = format!("e.{}.{}.{what}", event.plan.id.to_lowercase(), event.head.seq);
    let dispatches = gms::gm_letters(desk, &plain, &unique, GmTopic::Club)?;
    desk.draft.changes.dispatches.extend(dispatches);
    Ok(())
}

/// Tells each player of a section their opponents and matches.
pub fn tell_started(desk: &mut Desk<'_>, event: &Event, season: &Season, section: usize) -> Decided<()> {
    for &player in &season.sections[section] {
        let mut matches = Vec::new();
        for (seat, game) in season.open_games_of(player) {
            let Some(id) = game.match_id.clone() else { continue };
            let foe = people::name(desk, if seat == Seat::First { game.second } else { game.first })?;
            matches.push(StartedMatch { id, foe, side: event.plan.game.sides()[seat].to_owned() });
        }
        if matches.is_empty() {
            continue;
        }
        let letter = EventLetter::Started {
            section: section + 1,
            sections: season.sections.len(),
            matches,
            decides: event.plan.unfinished.to_string(),
            missed: event.terms.forfeit_after,
            gm: gms::first_gm(desk).name.clone(),
        };
        tell(desk, event, player, "started", letter)?;
    }
    Ok(())
}

/// Tells the players of unfinished matches what would be decided if the season ended now. The open turn of each
/// match is left out, because its own time would reveal whether the opponent has filed.
pub fn tell_ending(desk: &mut Desk<'_>, event: &Event, season: &Season) -> Decided<()> {
    let mut by_player: BTreeMap<i64, Vec<EndingMatch>> = BTreeMap::new();
    let unfinished = season.games.iter().filter(|game| game.result.is_none());
    let ids: Vec<(i64, i64, String)> =
        unfinished.filter_map(|game| Some((game.first, game.second, game.match_id.clone()?))).collect();
    for (_, _, id) in &ids {
        or_lacking(desk.rows.entries(id))?;
        or_lacking(desk.game_match(id))?;
    }
    desk.rows.check()?;
    for (first, second, id) in ids {
        let Some(found) = desk.game_match(&id)? else { continue };
        let game_match = &found.game_match;
        if game_match.stage == Stage::Over {
            continue;
        }
        let begun = game_match.adjudicated.last().map_or(game_match.opened_at, |(_, _, at)| *at);
        let names = game_match.players.clone();
        let own = own_time(desk.rows.entries(&id)?, begun);
        for (seat, player) in [(Seat::First, first), (Seat::Second, second)] {
            by_player.entry(player).or_default().push(EndingMatch {
                id: id.clone(),
                foe: names[seat.other()].clone(),
                own: own_time::format_own_time(own[seat]),
                theirs: own_time::format_own_time(own[seat.other()]),
                decided: match slower(&own) {
                    None => "drawn".to_owned(),
                    Some(slow) if slow == seat => "lost".to_owned(),
                    Some(_) => "won".to_owned(),
                },
            });
        }
    }
    desk.ask_for_all(&by_player.keys().copied().collect::<Vec<_>>())?;
    let decides = event.plan.unfinished.as_str();
    for (player, matches) in by_player {
        let letter = EventLetter::Ending { matches, decides: decides.to_owned() };
        tell(desk, event, player, "ending", letter)?;
    }
    Ok(())
}

/// Tells the players of a season its standings, and the GMs how it went. `before` is the event before the
/// season was closed, and `event` the event after.
pub fn tell_standings(desk: &mut Desk<'_>, before: &Event, event: &Event) -> Decided<()> {
    let Some(season) = event.season().cloned() else { return Ok(()) };
    desk.ask_for_all(&season.list)?;
    for (section, players) in season.sections.iter().enumerate() {
        for &player in players {
            let zone = desk.reachable(player)?.and_then(|(reader, _)| reader.settings.zone);
            let mut standings = shown::standings(desk, event, &season, Some(section), (Some(player), zone))?;
            standings.acts = shown::acts(desk, before, Some(player))?;
            let on = is_on(event, player);
            tell(
                desk,
                event,
                player,
                "standings",
                EventLetter::Standings { standings: Box::new(standings), on },
            )?;
        }
    }
    let mut top = Vec::new();
    for section in season.ranked().iter().take(1) {
        for player in section.iter().take(3) {
            top.push(people::name(desk, *player)?);
        }
    }
    let mut vanished = Vec::new();
    for player in &season.vanished {
        vanished.push(people::name(desk, *player)?);
    }
    let void = season.games.iter().filter_map(|game| game.result.as_ref());
    let letter = EventLetter::Report {
        players: season.list.len(),
        matches: season.games.len(),
        without: void.filter(|result| result.outcome == BookOutcome::None).count(),
        top,
        vanished,
    };
    tell_gms(desk, event, "report", letter)
}

/// Whether a player is in the next season.
fn is_on(event: &Event, player: i64) -> bool {
    use crate::club::events::seasons::next_list;
    event.goes_on() && next_list(event, &BTreeMap::new()).contains(&player)
}

/// Tells all entrants that the event is cancelled, or continues without standings.
pub fn tell_cancelled(desk: &mut Desk<'_>, event: &Event, gm: &str, reason: &str) -> Decided<()> {
    let mut readers = event.entrants.clone();
    readers.extend(
        event.season().into_iter().filter(|season| season.places.is_none()).flat_map(|s| s.list.clone()),
    );
    readers.sort_unstable();
    readers.dedup();
    desk.ask_for_all(&readers)?;
    for player in readers {
        let has_begun = !event.seasons.is_empty();
        let letter = EventLetter::Cancelled { gm: gm.to_owned(), reason: reason.to_owned(), has_begun };
        tell(desk, event, player, "cancelled", letter)?;
    }
    Ok(())
}
