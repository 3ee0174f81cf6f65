//! Acts of GMs on events. The book records each with the GM's name and reason.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::book::{self, close_season, keep, record};
use super::people::{ActRefusal, Done, refuse, take_player};
use super::{clock, entering, import, letters, results, shown};
use crate::club::events::event::{Event, EventStage};
use crate::club::events::keys;
use crate::club::events::plan::Plan;
use crate::club::events::steps::Mailed;
use crate::desk::frame::desk::{Desk, Uncommitted};
use crate::desk::frame::rows::{Decided, LoadedEvent, Undecided, or_lacking};
use crate::desk::matches::acts;
use crate::desk::outbox::gms;
use crate::game::Seat;
use crate::ledger::book::{BookCause, BookFact, BookOutcome};
use crate::ledger::{Act, instant_in};
use crate::referee::{EventAction, PlanFault, Stage};
use crate::report::{GmResult, count_of};
use crate::store::Player;
use crate::zone::Zone;

/// Announces an event.
pub fn announce(desk: &mut Desk<'_>, text: &str, check: bool) -> Decided<GmResult> {
    let plan = match Plan::read(&straight(text)) {
        Ok(plan) => plan,
        Err(faults) => return Ok(GmResult::PlanRefused { faults }),
    };
    let terms = plan.terms(&desk.club.config.terms);
    let opens = plan.opens.map(|day| opening(day, terms.zone, terms.hour));
    if opens.is_some_and(|opens| opens <= desk.at()) {
        let fault = PlanFault {
            line: 0,
            says: "`opens` is in the past".to_owned(),
            example: format!("opens = {}", (desk.at() + keys::UNTIL_OPENING).date_naive()),
        };
        return Ok(GmResult::PlanRefused { faults: vec![fault] });
    }
    if desk.event(&plan.id)?.is_some() {
        return Ok(GmResult::refused(format!(
            "There is an event {} already; the plan needs another `id`.",
            plan.id
        )));
    }
    let load = Some(shown::load(desk, &plan));
    let cause = cause(desk, "");
    let (event, entry) = Event::announce(plan, terms, opens, desk.at(), &cause);
    let line = Box::new(shown::line(desk, &event, None, None));
    if !check {
        book::add(desk, entry);
        keep(desk, LoadedEvent { event, told: Default::default(), version: 0 });
    }
    Ok(GmResult::Event { event: line, load, says: String::new(), check })
}

/// Carries out an act of the GM on an event.
pub fn act(desk: &mut Desk<'_>, id: &str, action: &EventAction, check: bool) -> Decided<GmResult> {
    let id = id.to_ascii_uppercase();
    let Some(mut loaded) = desk.event(&id)? else {
        let nearest = entering::nearest(desk, &id)?;
        let hint =
            if nearest.is_empty() { String::new() } else { format!(" Nearest: {}.", nearest.join(", ")) };
        return Ok(GmResult::refused(format!("There is no event {id}.{hint}")));
    };
    if loaded.event.stage == EventStage::Over || loaded.event.stage == EventStage::Cancelled {
        let says = format!("{id} is {}; nothing of it changes any more.", loaded.event.stage);
        return Ok(GmResult::refused(says));
    }
    // A check changes nothing, nor does an act that is refused halfway.
    let before = desk.draft.clone();
    let says = match carry_out(desk, &mut loaded, action, check) {
        Ok(who) => format!("{who}{}", what_follows(desk, &before, check)).trim().to_owned(),
        Err(ActRefusal::Says(says)) => {
            desk.draft = before;
            return Ok(GmResult::refused(says));
        }
        Err(ActRefusal::Undecided(undecided)) => return Err(undecided),
    };
    let line = Box::new(shown::line(desk, &loaded.event, None, None));
    if check {
        desk.draft = before;
        return Ok(GmResult::Would { says, line: None, event: Some(line), terms: None, told: Vec::new() });
    }
    keep(desk, loaded);
    Ok(GmResult::Event { event: line, load: None, says, check })
}

/// Says how many letters follow at once from an act.
fn what_follows(desk: &Desk<'_>, before: &Uncommitted, check: bool) -> String {
    let letters = desk.draft.changes.dispatches.len().saturating_sub(before.changes.dispatches.len());
    let go = if check { "would go out" } else { "go out" };
    if letters > 0 { format!(" {} {go}.", count_of(letters, "letter", "letters")) } else { String::new() }
}

/// Carries out an act, and says about whom it is; with `check`, about whom it would be.
fn carry_out(
    desk: &mut Desk<'_>,
    loaded: &mut LoadedEvent,
    action: &EventAction,
    check: bool,
) -> Done<String> {
    let about_nobody = |()| String::new();
    match action {
        EventAction::Open => {
            open(desk, loaded)?;
            Ok(opened(loaded, check))
        }
        EventAction::Enter { words } => enter(desk, loaded, words, check),
        EventAction::Strike { words } => strike(desk, loaded, words, check),
        EventAction::Replace { words } => replace(desk, loaded, words, check),
        EventAction::Close => close(desk, loaded).map(about_nobody),
        EventAction::Cancel { reason } => cancel(desk, loaded, reason).map(about_nobody),
        EventAction::Note { text } => {
            note(desk, loaded, "", BookFact::Noted { text: text.clone() }).map(about_nobody)
        }
        EventAction::Extend { days, reason } => extend(desk, loaded, *days, reason).map(about_nobody),
        EventAction::Result { match_id, outcome, reason } => {
            enter_result(desk, loaded, match_id, *outcome, reason).map(about_nobody)
        }
        EventAction::Import { rows } => {
            let cause = cause(desk, "played elsewhere");
            import::import(desk, loaded, rows, &cause).map(about_nobody)
        }
    }
}

/// Replaces one player with another, who is the same person, in all events.
pub fn merge(desk: &mut Desk<'_>, from: i64, to: i64) -> Decided<()> {
    for mut loaded in desk.open_events()? {
        if loaded.event.has(from) {
            let cause = cause(desk, "They are one person.");
            record(desk, &mut loaded, &cause, BookFact::Replaced { from, to });
            keep(desk, loaded);
        }
    }
    Ok(())
}

/// Records an act of the GM, with its reason.
fn note(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, reason: &str, fact: BookFact) -> Done {
    let cause = cause(desk, reason);
    record(desk, loaded, &cause, fact);
    Ok(())
}

fn open(desk: &mut Desk<'_>, loaded: &mut LoadedEvent) -> Done {
    if loaded.event.stage != EventStage::Entries {
        return refuse(format!("{} runs already.", loaded.event.plan.id));
    }
    let (count, least) = (loaded.event.next_entrants(), loaded.event.least());
    if count < least && loaded.event.is_begun_cup() {
        let id = &loaded.event.plan.id;
        let (terminal, letter) =
            (format!("`fogpost event cancel {id} TEXT`"), format!("GM EVENT {id} CANCEL and a reason"));
        let how = desk.worded(&terminal, &letter);
        return refuse(format!("Nobody is left who goes on in {id}. To end it, write {how}."));
    }
    if count < least {
        return refuse(format!("{count} have entered, and {least} are needed. Entries stay open."));
    }
    let cause = cause(desk, "");
    clock::draw(desk, loaded, &cause)?;
    // Drawing has first struck the entrants whom no letter reaches, so try again with the rest.
    if loaded.event.stage == EventStage::Entries { open(desk, loaded) } else { Ok(()) }
}

/// Says how many matches and letters a season that was just drawn brings.
fn opened(loaded: &LoadedEvent, check: bool) -> String {
    let Some(season) = loaded.event.running() else { return String::new() };
    let (matches, players) = (season.games.len(), season.list.len());
    let (open, go) = if check { ("would open", "would go out") } else { ("open", "go out") };
    let letters = count_of(shown::letters_at_opening(matches, players), "letter", "letters");
    format!("{} {open}, and {letters} {go}.", count_of(matches, "match", "matches"))
}

/// Lets nobody enter any more.
fn close(desk: &mut Desk<'_>, loaded: &mut LoadedEvent) -> Done {
    if loaded.event.is_begun_cup() {
        let id = &loaded.event.plan.id;
        return refuse(format!("{id} has begun: nobody can enter it any more, and it ends with its final."));
    }
    note(desk, loaded, "", BookFact::PlanChanged { opens: None, ends: None, closed: true })
}

fn cancel(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, reason: &str) -> Done {
    let before = loaded.event.clone();
    note(desk, loaded, reason, BookFact::Cancelled {})?;
    close_season(desk, loaded);
    let gm = gms::acting_gm(desk).name.clone();
    Ok(letters::tell_cancelled(desk, &before, &gm, reason)?)
}

fn enter(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, words: &[String], check: bool) -> Done<String> {
    let (player, reason) = player_and_reason(desk, words, "fogpost event enter", &loaded.event.plan.id)?;
    if loaded.event.entrants.contains(&player.id) {
        return refuse(format!("{} is in already.", player.name));
    }
    if !loaded.event.takes_entries() {
        return refuse(format!("Nobody can enter {} any more.", loaded.event.plan.id));
    }
    note(desk, loaded, &reason, BookFact::Entered { player: player.id })?;
    Ok(format!("{} {} in.", player.name, if check { "would be" } else { "is" }))
}

fn strike(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, words: &[String], check: bool) -> Done<String> {
    let (player, reason) = player_and_reason(desk, words, "fogpost event strike", &loaded.event.plan.id)?;
    if !loaded.event.entrants.contains(&player.id) {
        return refuse(format!("{} is not in.", player.name));
    }
    note(desk, loaded, &reason, BookFact::Struck { player: player.id })?;
    let season = loaded.event.running().into_iter();
    let open = season.flat_map(|season| season.open_games_of(player.id)).count();
    let (is, resigns) = if check { ("would be", "would resign") } else { ("is", "resigns") };
    Ok(match open {
        0 => format!("{} {is} out.", player.name),
        _ => format!("{} {is} out, and {resigns} {}.", player.name, count_of(open, "match", "matches")),
    })
}

/// Gives one player's running matches, points and place to another.
fn replace(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, words: &[String], check: bool) -> Done<String> {
    let (from, rest) = take_player(desk, words)?;
    let (to, reason) = player_and_reason(desk, rest, "fogpost event replace", &loaded.event.plan.id)?;
    if !loaded.event.has(from.id) {
        return refuse(format!("{} is not in.", from.name));
    }
    if loaded.event.has(to.id) {
        return refuse(format!("{} is in already.", to.name));
    }
    let season = loaded.event.running().into_iter();
    let games = season.flat_map(|season| season.open_games_of(from.id));
    let games: Vec<(Seat, String)> =
        games.filter_map(|(seat, game)| Some((seat, game.match_id.clone()?))).collect();
    let seats = count_of(games.len(), "running match", "running matches");
    for (seat, id) in games {
        let found = or_lacking(desk.game_match(&id)).map_err(Undecided::from)?;
        let Some(found) = found.flatten().cloned() else { continue };
        if found.game_match.stage != Stage::Over {
            let (name, settings) = (to.name.clone(), to.settings.clone());
            let act = Act::Replace { seat, name, house: None, settings, excused: true };
            or_lacking(acts::act_as_gm(desk, found, &act, Some(to.clone()))).map_err(Undecided::from)?;
        }
    }
    desk.rows.check()?;
    note(desk, loaded, &reason, BookFact::Replaced { from: from.id, to: to.id })?;
    let takes = if check { "would take" } else { "takes" };
    Ok(format!("{} {takes} the place of {}, with {seats} that rate nobody.", to.name, from.name))
}

/// Moves the end of the running season, or the next opening.
fn extend(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, days: u32, reason: &str) -> Done {
    let (now, zone) = (desk.at(), loaded.event.terms.zone);
    // The hour stays the same across a change of the clocks.
    let moved = |moment: DateTime<Utc>| {
        let local = moment.max(now).with_timezone(&zone).naive_local();
        instant_in(zone, local + TimeDelta::days(i64::from(days)))
    };
    let (opens, ends) = match (loaded.event.running(), loaded.event.opens) {
        (Some(season), _) => (None, moved(season.ends)),
        (None, Some(opens)) => (moved(opens), None),
        (None, None) => return refuse("It opens when it is full: there is no day to move."),
    };
    note(desk, loaded, reason, BookFact::PlanChanged { opens, ends, closed: false })?;
    // Forget the letters about the earlier day, so that they are sent again for the new one.
    loaded.told = Mailed { resigned: std::mem::take(&mut loaded.told.resigned), ..Mailed::default() };
    Ok(())
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
    let games = loaded.event.running().map(|season| season.games.as_slice()).unwrap_or_default();
    let Some(game) = games.iter().find(|game| game.match_id.as_ref() == Some(&id)).cloned() else {
        return refuse(format!("{id} is no match of the season that runs."));
    };
    let Some(ended) = results::end_of(desk, &id)? else {
        let terminal =
            format!("`fogpost match forfeit {id} first`, or second; or `fogpost match abandon {id}`");
        let letter = format!("GM MATCH {id} FORFEIT first, or second; or GM MATCH {id} ABANDON");
        let how = desk.worded(&terminal, &letter);
        return refuse(format!("{id} runs. To close it, write {how}, and then this line again."));
    };
    if game.result.is_some() || ended.outcome != BookOutcome::None {
        let terminal = format!("`fogpost match annul {id} --reason TEXT`");
        let letter = format!("GM MATCH {id} ANNUL and a reason");
        let how = desk.worded(&terminal, &letter);
        return refuse(format!("{id} ended with a result. It is corrected as a match: {how}."));
    }
    let cause = cause(desk, reason);
    results::enter(desk, loaded, &game, &ended, outcome, &cause);
    Ok(())
}

/// Returns the player named at the beginning of the words, and the reason that follows. `command` is the one of the
/// terminal that does the same, for an example.
fn player_and_reason(
    desk: &mut Desk<'_>,
    words: &[String],
    command: &str,
    event: &str,
) -> Done<(Player, String)> {
    match take_player(desk, words)? {
        (_, []) => {
            let verb = command.rsplit(' ').next().unwrap_or_default();
            let who = if verb == "replace" { format!("Eve {}", words.join(" ")) } else { words.join(" ") };
            // A shell would obey some characters of a name.
            let is_plain = who.chars().all(|c| c.is_alphanumeric() || " @._+-".contains(c));
            let quoted = if is_plain { who.clone() } else { format!("\"{who}\"") };
            let terminal = format!("`{command} {event} {quoted} They asked for it.`");
            let letter = format!("GM EVENT {event} {} {who} They asked for it.", verb.to_uppercase());
            let example = desk.worded(&terminal, &letter);
            refuse(format!(
                "A reason is missing at the end of the line; it stands in the book. For example: {example}"
            ))
        }
        (player, reason) => Ok((player, reason.join(" "))),
    }
}

fn cause(desk: &Desk<'_>, reason: &str) -> BookCause {
    BookCause::Gm { name: gms::acting_gm(desk).name.clone(), reason: reason.to_owned() }
}

/// Returns the hour of the terms on the opening day.
fn opening(day: NaiveDate, zone: Zone, hour: u32) -> DateTime<Utc> {
    let local = day.and_hms_opt(hour.min(23), 0, 0).expect("an hour up to 23 is a time");
    instant_in(zone, local).unwrap_or_else(|| local.and_utc())
}

/// Turns typographic quotation marks, which mail programs insert, back into straight ones.
fn straight(text: &str) -> String {
    text.replace(['“', '”', '„', '«', '»'], "\"").replace(['‘', '’'], "'")
}

/// Whether the acting GM plays in an event.
pub fn plays_there(desk: &Desk<'_>, event_id: &str) -> Decided<bool> {
    let Some(loaded) = desk.event(event_id)? else { return Ok(false) };
    for address in gms::acting_gm(desk).addresses() {
        if desk.player(address.as_str())?.is_some_and(|player| loaded.event.has(player.id)) {
            return Ok(true);
        }
    }
    Ok(false)
}
