//! EVENTS, ENTER, LEAVE and STANDINGS: players' commands about events.

use chrono::{DateTime, TimeDelta, Utc};

use super::book::{keep, record};
use super::shown;
use crate::club::events::event::{Event, EventStage};
use crate::club::events::plan::MAX_ENTRANTS;
use crate::club::events::seasons;
use crate::club::names::nearest_events;
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedEvent};
use crate::desk::frame::{ratings, standing};
use crate::desk::matches::meeting;
use crate::desk::matches::player_names::distinct_name;
use crate::ledger::book::{BookCause, BookFact};
use crate::letter::Digest;
use crate::referee::{EventRejection, Reply};
use crate::store::Player;

/// Returns the events that take entries or run.
pub fn list(desk: &Desk<'_>, asker: &Asker) -> Decided<Reply> {
    let open = desk.open_events()?;
    let line = |loaded: &LoadedEvent| shown::line(desk, &loaded.event, asker.zone, asker.player_id);
    Ok(Reply::Events { events: open.iter().map(line).collect() })
}

/// Enters the asker, if the event takes entries and the asker meets its conditions.
pub fn enter(desk: &mut Desk<'_>, asker: &Asker, id: &str) -> Decided<Reply> {
    let (mut loaded, known) = match may_enter(desk, asker, id)? {
        Ok(found) => found,
        Err(refused) => return Ok(refused),
    };
    let player = match known {
        Some(player) => player.id,
        None => {
            let name = distinct_name(desk, &asker.name, &asker.sender)?;
            desk.player_or_new(&asker.from, &name)?.id
        }
    };
    record(desk, &mut loaded, &BookCause::Letter(asker.letter), BookFact::Entered { player });
    let event = shown::line(desk, &loaded.event, asker.zone, Some(player));
    keep(desk, loaded);
    Ok(Reply::EventEntered { event: Box::new(event) })
}

/// Returns the event that the asker wants to enter, and the asker if they are a player; or the refusal.
pub fn may_enter(
    desk: &Desk<'_>,
    asker: &Asker,
    id: &str,
) -> Decided<Result<(LoadedEvent, Option<Player>), Reply>> {
    let refused = |why| Ok(Err(Reply::NoEvent { command: "ENTER", event: id.to_owned(), why }));
    let Some(loaded) = desk.event(id)? else { return refused(no_such(desk, id)?) };
    let known = desk.player(asker.address())?;
    match refusal(desk, &loaded.event, known.as_ref())? {
        Some(why) => refused(why),
        None => Ok(Ok((loaded, known))),
    }
}

/// Returns why somebody cannot enter. If `player` is `None`, they are a newcomer.
fn refusal(desk: &Desk<'_>, event: &Event, player: Option<&Player>) -> Decided<Option<EventRejection>> {
    let plan = &event.plan;
    let id = player.map(|player| player.id);
    if id.is_some_and(|id| event.entrants.contains(&id)) {
        let zone = player.and_then(|player| player.settings.zone);
        let opens = event.opens.map(|opens| desk.local_time_in(zone, opens));
        return Ok(Some(EventRejection::AlreadyIn { opens }));
    }
    if !event.takes_entries() {
        let stage = if event.stage == EventStage::Running { "begun" } else { event.stage.as_str() };
        return Ok(Some(EventRejection::Closed { stage: stage.to_owned() }));
    }
    let most = plan.max_entrants.unwrap_or(MAX_ENTRANTS);
    // Entrants who left count until the next draw, because they too lengthen the book, which is read whole
    // for each letter.
    if event.entrants.len() >= most || event.entrants.len() + event.gone.len() >= MAX_ENTRANTS {
        return Ok(Some(EventRejection::Full { most }));
    }
    let Some(player) = player else { return Ok(rating_refusal(event, 1500)) };
    if let Some(until) = barred_until(desk, player)? {
        let until = desk.local_time_in(player.settings.zone, until);
        return Ok(Some(EventRejection::Barred { until }));
    }
    if event.gone.contains(&player.id) {
        return Ok(Some(EventRejection::Gone));
    }
    if let Some(percent) = plan.reliable {
        let reliability = desk.rows.reliability(player.id)?;
        if !reliability.meets(percent) {
            let says = reliability.sentence(&player.name);
            return Ok(Some(EventRejection::Unreliable { percent, says }));
        }
    }
    let needs = plan.section_size * plan.games;
    if let Some(limit) = player.member.limit.filter(|limit| (*limit as usize) < needs) {
        return Ok(Some(EventRejection::Limit { limit, needs }));
    }
    let rating = ratings::rated_player(desk, player.id, plan.game)?.rating;
    Ok(rating_refusal(event, rating.points()))
}

fn rating_refusal(event: &Event, points: i64) -> Option<EventRejection> {
    let (least, most) = event.plan.rating;
    let fits = least.is_none_or(|least| points >= least) && most.is_none_or(|most| points <= most);
    let wanted = shown::rating_words(&event.plan);
    (!fits).then(|| EventRejection::Rating { wanted, figure: points.to_string() })
}

/// Returns the time until which a player cannot enter, if it is in the future.
fn barred_until(desk: &Desk<'_>, player: &Player) -> Decided<Option<DateTime<Utc>>> {
    let until = seasons::barred_until(desk.rows.losses(player.id)?, player.member.left_event);
    Ok(until.filter(|until| *until > desk.at()))
}

/// Lets the asker leave an event. After its start the clock resigns the running matches.
pub fn leave(desk: &mut Desk<'_>, asker: &Asker, id: &str, confirmed: bool) -> Decided<Reply> {
    let (mut loaded, mut player) = match may_leave(desk, asker, id, confirmed)? {
        Ok(found) => found,
        Err(refused) => return Ok(refused),
    };
    let running = running_matches(&loaded.event, &player);
    record(desk, &mut loaded, &BookCause::Letter(asker.letter), BookFact::Left { player: player.id });
    let has_begun = loaded.event.running().is_some_and(|season| season.list.contains(&player.id));
    let until = has_begun.then(|| desk.local_time_in(asker.zone, desk.at() + TimeDelta::days(30)));
    if has_begun {
        // Leaving costs others their games, so the player cannot enter another event until then.
        player.member.left_event = Some(desk.at());
        desk.draft.changes.players.push(player);
    }
    keep(desk, loaded);
    Ok(Reply::EventLeft { event: id.to_owned(), running, until })
}

/// Returns the event that the asker wants to leave, and the asker; or the refusal.
pub fn may_leave(
    desk: &Desk<'_>,
    asker: &Asker,
    id: &str,
    confirmed: bool,
) -> Decided<Result<(LoadedEvent, Player), Reply>> {
    let refused = |why| Ok(Err(Reply::NoEvent { command: "LEAVE", event: id.to_owned(), why }));
    let Some(loaded) = desk.event(id)? else { return refused(no_such(desk, id)?) };
    let entrant = desk.player(asker.address())?.filter(|player| loaded.event.entrants.contains(&player.id));
    let Some(player) = entrant else { return refused(EventRejection::NotIn) };
    if let Some(change) = standing::refuse_new_address(desk, &player, &asker.sender, "LEAVE")? {
        return Ok(Err(Reply::Change { change }));
    }
    if !confirmed {
        return refused(EventRejection::Unconfirmed { running: running_matches(&loaded.event, &player) });
    }
    Ok(Ok((loaded, player)))
}

/// Returns how many matches of a player run in an event.
fn running_matches(event: &Event, player: &Player) -> usize {
    event.running().map_or(0, |season| season.open_games_of(player.id).count())
}

/// Removes a player who leaves the club from all events.
pub fn leave_all(desk: &mut Desk<'_>, player: i64, letter: Digest) -> Decided<()> {
    for mut loaded in desk.open_events()? {
        if loaded.event.entrants.contains(&player) {
            record(desk, &mut loaded, &BookCause::Letter(letter), BookFact::Left { player });
            keep(desk, loaded);
        }
    }
    Ok(())
}

/// Shows the standings of a season; without a name, those of the only event in which the asker plays.
pub fn standings(desk: &Desk<'_>, asker: &Asker, named: Option<&str>, season: Option<u32>) -> Decided<Reply> {
    let id = match named {
        Some(id) => id.to_owned(),
        None => {
            let mut own = desk.open_events()?;
            own.retain(|loaded| asker.player_id.is_some_and(|player| loaded.event.has(player)));
            let own: Vec<String> = own.into_iter().map(|loaded| loaded.event.plan.id).collect();
            match &own[..] {
                [only] => only.clone(),
                _ => {
                    let why = EventRejection::NoSuchEvent { nearest: own };
                    return Ok(Reply::NoEvent { command: "STANDINGS", event: String::new(), why });
                }
            }
        }
    };
    let refused = |why| Ok(Reply::NoEvent { command: "STANDINGS", event: id.clone(), why });
    let Some(loaded) = desk.event(&id)? else { return refused(no_such(desk, &id)?) };
    let event = &loaded.event;
    let is_own = asker.player_id.is_some_and(|player| event.has(player));
    if !is_own && !meeting::reads_names(desk, asker)? {
        return refused(EventRejection::NamesForPlayers);
    }
    let wanted = match season {
        Some(no) => event.seasons.iter().find(|season| season.no == no),
        None => event.season(),
    };
    let seasons = event.season().map_or(0, |season| season.no);
    let Some(season) = wanted else { return refused(EventRejection::NoSeason { seasons }) };
    let reader = (asker.player_id, asker.zone);
    let standings = Box::new(shown::standings(desk, event, season, None, reader)?);
    Ok(Reply::Standings { standings })
}

/// Returns the rejection of an unknown event name, with the most similar names.
fn no_such(desk: &Desk<'_>, id: &str) -> Decided<EventRejection> {
    Ok(EventRejection::NoSuchEvent { nearest: nearest(desk, id)? })
}

/// Returns the names of events most similar to this one.
pub fn nearest(desk: &Desk<'_>, id: &str) -> Decided<Vec<String>> {
    Ok(nearest_events(id, desk.event_names()?.into_keys()))
}
