//! Acts of GMs on events. Each stands in the book with the GM's name and reason.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;

use super::book::{self, close_season, keep, record};
use super::people::take_player;
use super::{clock, entering, import, letters, results, shown};
use crate::club::events::event::{Event, EventStage};
use crate::club::events::plan::{Plan, PlanFault};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedEvent};
use crate::desk::matches::acts;
use crate::desk::outbox::gms;
use crate::game::Seat;
use crate::ledger::Act;
use crate::ledger::book::{BookCause, BookFact, BookOutcome};
use crate::referee::{Absence, EventAction, Stage};
use crate::report::{GmResult, PlanFaultLine};
use crate::store::Player;

/// The outcome of an act: done, or refused with a sentence.
type Done = Decided<Result<(), String>>;

/// Announces an event.
pub fn announce(desk: &mut Desk<'_>, text: &str, check: bool) -> Decided<GmResult> {
    let plan = match Plan::read(&straight(text)) {
        Ok(plan) => plan,
        Err(faults) => {
            return Ok(GmResult::PlanRefused { faults: faults.into_iter().map(shown_fault).collect() });
        }
    };
    let terms = plan.terms(&desk.club.config.terms);
    let opens = plan.opens.map(|day| opening(day, terms.zone, terms.hour));
    if opens.is_some_and(|opens| opens <= desk.at()) {
        let fault = PlanFaultLine {
            line: 0,
            says: "`opens` is in the past".to_owned(),
            example: "opens = 2027-03-01".to_owned(),
        };
        return Ok(GmResult::PlanRefused { faults: vec![fault] });
    }
    if desk.event(&plan.id)?.is_some() {
        return Ok(refused(format!("There is an event {} already.", plan.id)));
    }
    let load = Some(shown::load(desk, &plan));
    let cause = cause(desk, "");
    let (event, entry) = Event::announce(plan, terms, opens, desk.at(), &cause);
    let line = Box::new(shown::line(desk, &event, None, None));
    if !check {
        book::add(desk, entry);
        keep(desk, LoadedEvent { event, told: Default::default(), version: 0 });
    }
    Ok(GmResult::Event { event: line, load, check })
}

/// Carries out an act of the GM on an event.
pub fn act(desk: &mut Desk<'_>, id: &str, action: &EventAction, check: bool) -> Decided<GmResult> {
    let id = id.to_ascii_uppercase();
    let Some(mut loaded) = desk.event(&id)? else {
        let nearest = entering::nearest(desk, &id)?;
        let hint =
            if nearest.is_empty() { String::new() } else { format!(" Nearest: {}.", nearest.join(", ")) };
        return Ok(refused(format!("There is no event {id}.{hint}")));
    };
    if loaded.event.stage == EventStage::Over || loaded.event.stage == EventStage::Cancelled {
        return Ok(refused(format!("{id} is {}; nothing of it changes any more.", loaded.event.stage)));
    }
    // Neither a check nor an act that is refused half way changes anything.
    let before = desk.draft.clone();
    let done = carry_out(desk, &mut loaded, action)?;
    if check || done.is_err() {
        desk.draft = before;
        return Ok(done.err().map_or(GmResult::Would, refused));
    }
    let line = Box::new(shown::line(desk, &loaded.event, None, None));
    keep(desk, loaded);
    Ok(GmResult::Event { event: line, load: None, check })
}

fn carry_out(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, action: &EventAction) -> Done {
    match action {
        EventAction::Open => open(desk, loaded),
        EventAction::Close => {
            let cause = cause(desk, "");
            let fact = BookFact::PlanChanged { opens: None, ends: None, closed: true };
            record(desk, loaded, &cause, fact);
            Ok(Ok(()))
        }
        EventAction::Cancel { reason } => cancel(desk, loaded, reason),
        EventAction::Note { text } => {
            let cause = cause(desk, "");
            record(desk, loaded, &cause, BookFact::Noted { text: text.clone() });
            Ok(Ok(()))
        }
        EventAction::Enter { words } => enter(desk, loaded, words),
        EventAction::Strike { words } => strike(desk, loaded, words),
        EventAction::Replace { words } => replace(desk, loaded, words),
        EventAction::Extend { days, reason } => extend(desk, loaded, *days, reason),
        EventAction::Result { match_id, outcome, reason } => {
            enter_result(desk, loaded, match_id, *outcome, reason)
        }
        EventAction::Import { rows } => {
            let cause = cause(desk, "played elsewhere");
            import::import(desk, loaded, rows, &cause)
        }
    }
}

fn open(desk: &mut Desk<'_>, loaded: &mut LoadedEvent) -> Done {
    if loaded.event.stage != EventStage::Entries {
        return Ok(Err(format!("{} runs already.", loaded.event.plan.id)));
    }
    let (count, least) = (loaded.event.next_entrants(), loaded.event.plan.least());
    if count < least {
        return Ok(Err(format!("{count} have entered, and {least} are needed. Entries stay open.")));
    }
    let cause = cause(desk, "");
    clock::draw(desk, loaded, &cause)?;
    Ok(Ok(()))
}

fn cancel(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, reason: &str) -> Done {
    let gm = gms::acting_gm(desk).name.clone();
    let cause = cause(desk, reason);
    let before = loaded.event.clone();
    record(desk, loaded, &cause, BookFact::Cancelled {});
    close_season(desk, loaded);
    letters::tell_cancelled(desk, &before, &gm, reason)?;
    Ok(Ok(()))
}

fn enter(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, words: &[String]) -> Done {
    let (player, reason) = match player_and_reason(desk, words)? {
        Ok(found) => found,
        Err(says) => return Ok(Err(says)),
    };
    if loaded.event.entrants.contains(&player.id) {
        return Ok(Err(format!("{} is in already.", player.name)));
    }
    if !shown::takes_entries(&loaded.event) {
        return Ok(Err(format!("Nobody can enter {} any more.", loaded.event.plan.id)));
    }
    let cause = cause(desk, &reason);
    record(desk, loaded, &cause, BookFact::Entered { player: player.id });
    Ok(Ok(()))
}

fn strike(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, words: &[String]) -> Done {
    let (player, reason) = match player_and_reason(desk, words)? {
        Ok(found) => found,
        Err(says) => return Ok(Err(says)),
    };
    if !loaded.event.entrants.contains(&player.id) {
        return Ok(Err(format!("{} is not in.", player.name)));
    }
    let cause = cause(desk, &reason);
    record(desk, loaded, &cause, BookFact::Struck { player: player.id });
    Ok(Ok(()))
}

/// Gives the running matches, the points and the place of one player to another.
fn replace(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, words: &[String]) -> Done {
    let (from, rest) = match take_player(desk, words)? {
        Ok((from, rest)) => (from, rest.to_vec()),
        Err(says) => return Ok(Err(says)),
    };
    let (to, reason) = match player_and_reason(desk, &rest)? {
        Ok(found) => found,
        Err(says) => return Ok(Err(says)),
    };
    if !loaded.event.has(from.id) {
        return Ok(Err(format!("{} is not in.", from.name)));
    }
    if loaded.event.has(to.id) {
        return Ok(Err(format!("{} is in already.", to.name)));
    }
    let games = loaded.event.running().map(|season| season.games.clone()).unwrap_or_default();
    for game in games.iter().filter(|game| game.result.is_none()) {
        let seat = match from.id {
            id if id == game.first => Seat::First,
            id if id == game.second => Seat::Second,
            _ => continue,
        };
        let Some(id) = &game.match_id else { continue };
        let Some(found) = desk.game_match(id)?.cloned() else { continue };
        if found.game_match.stage != Stage::Over {
            let (name, settings) = (to.name.clone(), to.settings.clone());
            let act = Act::Replace { seat, name, house: None, settings, excused: true };
            acts::act_as_gm(desk, found, &act, Some(to.clone()))?;
        }
    }
    let cause = cause(desk, &reason);
    record(desk, loaded, &cause, BookFact::Replaced { from: from.id, to: to.id });
    Ok(Ok(()))
}

/// Moves the end of the season that runs, or the next opening.
fn extend(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, days: u32, reason: &str) -> Done {
    let by = TimeDelta::days(i64::from(days));
    let (opens, ends) = match (loaded.event.running(), loaded.event.opens) {
        (Some(season), _) => (None, Some(season.ends + by)),
        (None, Some(opens)) => (Some(opens.max(desk.at()) + by), None),
        (None, None) => return Ok(Err("It opens when it is full: there is no day to move.".to_owned())),
    };
    let cause = cause(desk, reason);
    record(desk, loaded, &cause, BookFact::PlanChanged { opens, ends, closed: false });
    // Whoever was asked or told about the earlier day is told again about the new one.
    loaded.told.too_few = 0;
    loaded.told.ending = 0;
    Ok(Ok(()))
}

/// Enters a result for a match that ended without one.
fn enter_result(
    desk: &mut Desk<'_>,
    loaded: &mut LoadedEvent,
    match_id: &str,
    outcome: BookOutcome,
    reason: &str,
) -> Done {
    let id = match_id.to_ascii_uppercase();
    let games = loaded.event.running().map(|season| season.games.clone()).unwrap_or_default();
    let Some(game) = games.into_iter().find(|game| game.match_id.as_ref() == Some(&id)) else {
        return Ok(Err(format!("{id} is no match of the season that runs.")));
    };
    let Some(ended) = results::end_of(desk, &id)? else {
        return Ok(Err(format!(
            "{id} runs. To close it, write GM MATCH {id} FORFEIT first, or second; or GM MATCH {id} ABANDON, and then this line again."
        )));
    };
    if game.result.is_some() || BookOutcome::of(&ended.outcome) != BookOutcome::None {
        return Ok(Err(format!(
            "{id} ended with a result. It is corrected as a match: GM MATCH {id} ANNUL and a reason."
        )));
    }
    let cause = cause(desk, reason);
    results::enter(desk, loaded, &game, &ended, outcome, &cause);
    Ok(Ok(()))
}

/// Returns the player whom the words begin with, and the reason that follows.
fn player_and_reason(desk: &mut Desk<'_>, words: &[String]) -> Decided<Result<(Player, String), String>> {
    Ok(match take_player(desk, words)? {
        Ok((_, [])) => Err("A reason is missing at the end of the line; it stands in the book.".to_owned()),
        Ok((player, reason)) => Ok((player, reason.join(" "))),
        Err(says) => Err(says),
    })
}

fn cause(desk: &Desk<'_>, reason: &str) -> BookCause {
    BookCause::Gm { name: gms::acting_gm(desk).name.clone(), reason: reason.to_owned() }
}

fn refused(says: String) -> GmResult {
    GmResult::Refused { says }
}

fn shown_fault(PlanFault { line, says, example }: PlanFault) -> PlanFaultLine {
    PlanFaultLine { line, says, example }
}

/// Returns the hour of the terms on the opening day.
fn opening(day: NaiveDate, zone: Tz, hour: u32) -> DateTime<Utc> {
    let (midnight, _) = Absence { from: day, to: day, zone: None }.instants(zone);
    midnight.with_timezone(&Utc) + TimeDelta::hours(i64::from(hour))
}

/// Replaces the quotation marks that mail programs make of straight ones.
fn straight(text: &str) -> String {
    text.replace(['“', '”', '„', '«', '»'], "\"").replace(['‘', '’'], "'")
}

/// Whether a GM plays in an event, and another GM is there to act on it.
pub fn plays_there(desk: &Desk<'_>, event_id: &str) -> Decided<bool> {
    let gms = desk.club.config.club.gm.all();
    let gm = gms::acting_gm(desk);
    if gms.len() < 2 {
        return Ok(false);
    }
    let Some(loaded) = desk.event(event_id)? else { return Ok(false) };
    let people = desk.rows.listed_players()?.iter();
    let own =
        people.filter(|listed| listed.address.as_deref().is_some_and(|address| gm.has_address(address)));
    Ok(own.map(|listed| listed.id).any(|player| loaded.event.has(player)))
}
